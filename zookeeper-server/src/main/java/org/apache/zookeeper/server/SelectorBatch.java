package org.apache.zookeeper.server;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * What a thread that selects puts off until it has handled everything that its connections held: so
 * the requests of a round leave in one write. Threads that have not called {@link #begin} have no
 * rounds.
 */
public final class SelectorBatch {
    private static final ThreadLocal<SelectorBatch> OF_THREAD = new ThreadLocal<>();

    private final Queue<Runnable> due = new ArrayDeque<>();

    /**
     * Runs what it gets in this thread, after the round; null if this thread calls {@link #end}.
     */
    private final Executor afterRound;

    /** Whether {@link #end} is given to {@link #afterRound}, or runs. */
    private boolean ends;

    private SelectorBatch(Executor afterRound) {
        this.afterRound = afterRound;
    }

    /** From now on this thread has rounds, and calls {@link #end} after each. */
    public static void begin() {
        begin(null);
    }

    /**
     * From now on this thread has rounds.
     *
     * @param loop the event loop whose thread this is: runs what it gets when it has read what its
     *     connections held
     */
    public static void begin(Executor loop) {
        if (OF_THREAD.get() == null) {
            OF_THREAD.set(new SelectorBatch(loop));
        }
    }

    /** Whether the thread has rounds and is this one: then it runs, and need not be woken. */
    public static boolean isRunning(Thread thread) {
        return thread == Thread.currentThread() && OF_THREAD.get() != null;
    }

    /**
     * @param work done once at the end of this thread's round, however often it was given before;
     *     must not throw
     * @return false if this thread has no rounds: the caller has to do the work
     */
    public static boolean putOff(Runnable work) {
        SelectorBatch batch = OF_THREAD.get();
        if (batch == null || !batch.willEnd()) {
            return false;
        }
        if (!batch.due.contains(work)) {
            batch.due.add(work);
        }
        return true;
    }

    private boolean willEnd() {
        if (afterRound != null && !ends) {
            try {
                afterRound.execute(SelectorBatch::end);
            } catch (RejectedExecutionException e) {
                // The event loop shuts down.
                return false;
            }
            ends = true;
        }
        return true;
    }

    /**
     * Does what was put off. Work that is put off meanwhile is done, too, even if it was done
     * before in this round; and one that throws is not tried again in each later round.
     */
    public static void end() {
        SelectorBatch batch = OF_THREAD.get();
        if (batch != null) {
            batch.run();
        }
    }

    private void run() {
        try {
            for (Runnable work = due.poll(); work != null; work = due.poll()) {
                work.run();
            }
        } finally {
            ends = false;
            if (!due.isEmpty()) {
                willEnd();
            }
        }
    }
}
