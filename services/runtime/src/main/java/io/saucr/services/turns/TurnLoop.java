package io.saucr.services.turns;

import io.saucr.services.core.Finals;
import io.saucr.services.journal.DeadJournalException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The one thread on which all of a service happens: its turns, one at a time (K1), what arrives,
 * and what may leave since it is final (K4). Turns run ahead of the force: the thread never waits
 * for a disk or a peer (K8). Whatever goes wrong on it halts the service, as a core that failed
 * half way cannot be trusted.
 *
 * <p>Other threads hand it events; they are run in the order in which one thread handed them.
 */
public final class TurnLoop implements Guard.Listener {

    /** So many events at most come before the next turn, so that a flood does not stop turns. */
    private static final int EVENTS_BETWEEN_TURNS = 64;

    private static final long LONGEST_PARK_MILLIS = 1000;

    /** Who ends a service waits for its turn. */
    public static final Duration AS_LONG_AS_IT_TAKES = Duration.ofDays(365);

    /** What happens on the thread. */
    interface Steps {

        /**
         * Runs the next turn, if one may run.
         *
         * @return whether one ran
         */
        boolean turn();

        /** Lets out what may leave now (K4, C8). */
        void moved(Finals now);

        /**
         * The last step: turns above this one are undone, all up to it is final. Lets out what may
         * leave of that.
         */
        default void undone(long upTo, String reason) {
            throw new IllegalStateException("nothing of this can be undone: " + reason);
        }

        /**
         * In how many milliseconds something is to happen though nothing arrives; {@link
         * Long#MAX_VALUE} for never. Asked when there was no turn.
         */
        long waitMillis();
    }

    private final Thread thread;
    private final Steps steps;
    private final Consumer<Ending> hears;
    private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger backlog = new AtomicInteger();
    private final AtomicReference<Finals> newest = new AtomicReference<>(Finals.NONE);
    private volatile long stepSinceNanos;
    private volatile boolean parked;
    private final AtomicReference<Ending> ending = new AtomicReference<>();
    private volatile boolean over;

    /**
     * Makes the thread; {@link #begin} starts it.
     *
     * @param service its name
     * @param steps of this thread alone from now on
     * @param hears why it is over; must not wait. Once, but for a failure of the last step
     */
    public TurnLoop(String service, Steps steps, Consumer<Ending> hears) {
        this.steps = steps;
        this.hears = hears;
        thread = new Thread(this::run, "turns " + service);
    }

    public void begin() {
        thread.start();
    }

    /** Runs something between two turns. Any thread; dropped once the loop is over. */
    public void post(Runnable event) {
        backlog.incrementAndGet();
        events.add(event);
        wake();
    }

    /** How many events wait: who reads from connections stops when these are many. Any thread. */
    int backlog() {
        return backlog.get();
    }

    @Override
    public void moved(Finals now) {
        newest.accumulateAndGet(now, Finals::and);
        wake();
    }

    /**
     * Ends turns at once: no step begins after this one, but the last one where turns are undone.
     * The first reason counts. Any thread.
     */
    @Override
    public void over(Ending why) {
        if (ending.compareAndSet(null, why)) {
            over = true;
            wake();
            hears.accept(why);
        }
    }

    /** Begins no step after this one, though nothing failed. On the loop's thread. */
    void finish() {
        over = true;
    }

    /**
     * Lets the turn that runs come to its end, and runs no other. What was handed to the loop
     * before is dropped, as in a crash. Not on the loop's thread.
     */
    public void stop() {
        boolean stopped = stop(AS_LONG_AS_IT_TAKES);
        if (!stopped) {
            throw new IllegalStateException("a turn lasted for " + AS_LONG_AS_IT_TAKES);
        }
    }

    /**
     * The same, for a time.
     *
     * @return whether the turn has come to its end; else the step that it is in is the last one
     */
    public boolean stop(Duration patience) {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException("a service cannot wait in a turn for its own end");
        }
        over = true;
        long until = System.nanoTime() + patience.toNanos();
        boolean interrupted = false;
        while (thread.isAlive() && System.nanoTime() - until < 0) {
            wake();
            try {
                thread.join(Math.min(100, 1 + patience.toMillis()));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    private void wake() {
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        try {
            Finals told = Finals.NONE;
            while (!over) {
                runEvents();
                stepSinceNanos = System.nanoTime();
                Finals now = newest.get();
                if (!now.equals(told) && !over) {
                    told = now;
                    steps.moved(now);
                }
                if (!over && !turn()) {
                    park(told);
                }
            }
            if (ending.get() instanceof Ending.Undone it) {
                undone(it);
            }
        } catch (DeadJournalException e) {
            // The turn met the failure before the thread that found it came to tell of it.
            if (!over) {
                over(Ending.failed(e.getCause()));
            }
        } catch (Throwable e) {
            if (!over) {
                over(
                        new Ending.Failed(
                                "the service failed outside of its handlers; report this", e));
            }
        } finally {
            stepSinceNanos = 0;
        }
    }

    private void undone(Ending.Undone why) {
        try {
            steps.undone(why.upTo(), why.reason());
        } catch (RuntimeException | Error e) {
            // Whether a request happened is not known: no other life may take it.
            hears.accept(new Ending.Failed("the last step of turns that are undone failed", e));
        }
    }

    private boolean turn() {
        stepSinceNanos = System.nanoTime();
        return steps.turn();
    }

    /** When the step began that runs, of {@link System#nanoTime}; 0 where none runs. Any thread. */
    long stepSinceNanos() {
        return stepSinceNanos;
    }

    private void runEvents() {
        for (int count = 0; count < EVENTS_BETWEEN_TURNS && !over; count++) {
            Runnable event = events.poll();
            if (event == null) {
                return;
            }
            backlog.decrementAndGet();
            stepSinceNanos = System.nanoTime();
            event.run();
        }
    }

    private void park(Finals told) {
        long wait = steps.waitMillis();
        stepSinceNanos = 0;
        parked = true;
        // Whoever comes after this look sees that the thread is parked, and wakes it.
        if (events.isEmpty() && newest.get().equals(told) && !over) {
            long millis = Math.min(wait, LONGEST_PARK_MILLIS);
            // At least one, so that a step which is due but may not run yet keeps no core busy.
            LockSupport.parkNanos(this, Math.max(millis, 1) * 1_000_000);
        }
        parked = false;
    }
}
