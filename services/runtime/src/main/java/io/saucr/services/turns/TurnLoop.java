package io.saucr.services.turns;

import io.saucr.services.core.Finals;
import io.saucr.services.journal.DeadJournalException;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The loop in which all of a service happens, on one thread at a time: its turns, one at a time
 * (K1), what arrives, and what may leave since it is final (K4). Turns run ahead of the force: the
 * loop never waits for a disk or a peer (K8). Whatever goes wrong in it halts the service, as a
 * core that failed half way cannot be trusted. {@link TurnThreads} gives it its thread.
 *
 * <p>Other threads hand it events; they are run in the order in which one thread handed them.
 */
public final class TurnLoop implements Guard.Listener, TurnThreads.Loop {

    /** So many events at most come before the next turn, so that a flood does not stop turns. */
    private static final int EVENTS_BETWEEN_TURNS = 64;

    private static final long LONGEST_WAIT_MILLIS = 1000;

    /** Who ends a service waits for its turn. */
    public static final Duration AS_LONG_AS_IT_TAKES = Duration.ofDays(365);

    /** So long a wait for the end lasts before the loop is woken once more. */
    private static final Duration LOOKS_AGAIN = Duration.ofMillis(100);

    /** What happens in the loop. */
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

    private final String service;
    private final TurnThreads.Runner runner;
    private final Steps steps;
    private final Consumer<Ending> hears;
    private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger backlog = new AtomicInteger();
    private final AtomicReference<Finals> newest = new AtomicReference<>(Finals.NONE);

    /** What the steps heard of that; written by the loop's thread. */
    private volatile Finals told = Finals.NONE;

    private volatile long stepSinceNanos;
    private final AtomicReference<Ending> ending = new AtomicReference<>();
    private volatile boolean over;

    /** With a thread of its own. */
    public TurnLoop(String service, Steps steps, Consumer<Ending> hears) {
        this(service, steps, hears, TurnThreads.own());
    }

    /**
     * Makes the loop; {@link #begin} starts it.
     *
     * @param service its name
     * @param steps of this loop alone from now on
     * @param hears why it is over; must not wait. Once, but for a failure of the last step
     * @param threads give it a thread
     */
    public TurnLoop(String service, Steps steps, Consumer<Ending> hears, TurnThreads threads) {
        this.service = service;
        this.steps = steps;
        this.hears = hears;
        runner = threads.of(this);
    }

    public void begin() {
        runner.begin();
    }

    @Override
    public String name() {
        return service;
    }

    /** Runs something between two turns. Any thread; dropped once the loop is over. */
    public void post(Runnable event) {
        backlog.incrementAndGet();
        events.add(event);
        runner.wake();
    }

    /** How many events wait: who reads from connections stops when these are many. Any thread. */
    int backlog() {
        return backlog.get();
    }

    @Override
    public void moved(Finals now) {
        newest.accumulateAndGet(now, Finals::and);
        runner.wake();
    }

    /**
     * Ends turns at once: no step begins after this one, but the last one where turns are undone.
     * The first reason counts. Any thread.
     */
    @Override
    public void over(Ending why) {
        if (ending.compareAndSet(null, why)) {
            over = true;
            runner.wake();
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
        if (runner.isCurrent()) {
            throw new IllegalStateException("a service cannot wait in a turn for its own end");
        }
        over = true;
        long until = System.nanoTime() + patience.toNanos();
        boolean ended = false;
        boolean interrupted = false;
        do {
            runner.wake();
            try {
                ended = runner.await(LOOKS_AGAIN.compareTo(patience) < 0 ? LOOKS_AGAIN : patience);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        } while (!ended && System.nanoTime() - until < 0);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return ended;
    }

    /** One step at least, if there is one. On the loop's thread. */
    @Override
    public long run() {
        try {
            long wait = over ? OVER : step();
            if (!over) {
                return wait;
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
        return OVER;
    }

    private long step() {
        runEvents();
        stepSinceNanos = System.nanoTime();
        Finals now = newest.get();
        if (!now.equals(told) && !over) {
            told = now;
            steps.moved(now);
        }
        if (over) {
            return OVER;
        }
        stepSinceNanos = System.nanoTime();
        // At least one, so that a step which is due but may not run yet keeps no core busy.
        return steps.turn() ? 0 : Math.max(1, Math.min(steps.waitMillis(), LONGEST_WAIT_MILLIS));
    }

    @Override
    public boolean isReady() {
        return over || !events.isEmpty() || !newest.get().equals(told);
    }

    private void undone(Ending.Undone why) {
        try {
            steps.undone(why.upTo(), why.reason());
        } catch (RuntimeException | Error e) {
            // Whether a request happened is not known: no other life may take it.
            hears.accept(new Ending.Failed("the last step of turns that are undone failed", e));
        }
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
}
