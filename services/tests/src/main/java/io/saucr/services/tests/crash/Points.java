package io.saucr.services.tests.crash;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Named points that a process passes. One of them can be armed: who comes to it says so by the line
 * {@code at <point>} and stands still there, until it is let go or the process is killed. So a test
 * kills a process where it wants to, by a condition and not by luck. Any thread.
 */
public final class Points {

    /** Armed with this name, every point counts. */
    public static final String ANY = "any";

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition letGo = lock.newCondition();
    private String armed = "";
    private int passes;

    /**
     * From now on the process stands still where it comes to this point for so many times.
     *
     * @param point its name, or {@link #ANY}
     * @param count from 1 on
     */
    public void arm(String point, int count) {
        lock.lock();
        try {
            armed = point;
            passes = count;
            letGo.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Lets go who stands at a point; none is armed any more. */
    public void go() {
        arm("", 0);
    }

    /** A process is here. */
    public void pass(String point) {
        lock.lock();
        try {
            if (armed.isEmpty() || !(armed.equals(ANY) || armed.equals(point)) || --passes != 0) {
                return;
            }
            String here = armed;
            Lines.say("at " + point);
            while (armed.equals(here) && passes <= 0) {
                letGo.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }
}
