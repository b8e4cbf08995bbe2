package org.apache.zookeeper.server;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * What a selecting thread puts off until it has handled everything that its connections held: so
 * the requests of a round leave in one write. Threads that have not called {@link #begin} have no
 * rounds.
 */
public final class SelectorBatch {
    private static final ThreadLocal<Queue<Runnable>> PUT_OFF = new ThreadLocal<>();

    private SelectorBatch() {}

    /** From now on this thread has rounds: whoever runs it calls {@link #end} after each. */
    public static void begin() {
        if (PUT_OFF.get() == null) {
            PUT_OFF.set(new ArrayDeque<>());
        }
    }

    /** Whether the thread has rounds and is this one: then it runs, and need not be woken. */
    public static boolean isRunning(Thread thread) {
        return thread == Thread.currentThread() && PUT_OFF.get() != null;
    }

    /**
     * @param work done once at the end of this thread's round, however often it was given before;
     *     must not throw
     * @return false if this thread has no rounds: whoever calls has to do the work
     */
    public static boolean putOff(Runnable work) {
        Queue<Runnable> due = PUT_OFF.get();
        if (due == null) {
            return false;
        }
        if (!due.contains(work)) {
            due.add(work);
        }
        return true;
    }

    /**
     * Does what was put off. Work that is put off meanwhile is done, too, even if it was done
     * before in this round; and one that throws is not tried again in each later round.
     */
    public static void end() {
        Queue<Runnable> due = PUT_OFF.get();
        if (due == null) {
            return;
        }
        for (Runnable work = due.poll(); work != null; work = due.poll()) {
            work.run();
        }
    }
}
