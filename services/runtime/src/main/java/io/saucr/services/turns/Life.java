package io.saucr.services.turns;

import io.saucr.services.Measures;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.core.Finals;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One start of the engine over a state: the loop of its turns, and the threads that write its
 * snapshots and read its files. A crash ends it, and so do the loss of the primary's role and a
 * rollback ({@link Ending}); nothing of it is undone then, as all that it knew goes with it, and
 * the next one begins from disk or from {@link Memory}. A {@link Front} moves its frames.
 *
 * <p>Any thread but its own.
 */
public final class Life {

    private static final Logger LOG = LoggerFactory.getLogger(Life.class);

    /** One writes a base, which may take long, and one reads what waits in files meanwhile. */
    private static final int FOLDING_THREADS = 2;

    private final String name;
    private final Guard guard;
    private final ScheduledExecutorService folding;
    private final ScheduledExecutorService lanes;
    private final Turns turns;
    private final TurnLoop loop;
    private final CompletableFuture<Object> over = new CompletableFuture<>();
    private volatile Measures measures = Measures.NONE;

    private Life(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            RandomGenerator random,
            TurnThreads threads,
            Consumer<Ending> hears)
            throws IOException {
        this.name = place.name();
        this.guard = guard;
        folding = threads(FOLDING_THREADS, "folding " + name);
        // Without threads until the first handler runs ahead.
        lanes = threads(Math.max(1, place.options().lanes()), "lane of " + name);
        boolean recovered = false;
        try {
            turns =
                    Turns.open(
                            name,
                            constructor,
                            guard,
                            place.options().noEnsemble(OwnWrites.refusal(place)),
                            new Turns.Surroundings(
                                    Turns.Surroundings::moment,
                                    random,
                                    folding,
                                    this::post,
                                    lanes));
            recovered = true;
        } finally {
            if (!recovered) {
                lanes.shutdown();
                folding.shutdown();
            }
        }
        loop =
                new TurnLoop(
                        name,
                        turns,
                        why -> {
                            over.completeExceptionally(new ServiceException(why.reason()));
                            hears.accept(why);
                        },
                        threads);
    }

    /**
     * Constructs the service and recovers what survived; lasts as long as {@link Guard#recover}
     * does.
     *
     * @param guard ended by the caller, after the life
     * @param threads give its turns their thread
     * @param hears once why the life is over, on any thread, and must not wait for its end; no step
     *     begins after that
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     * @throws IOException where what survived cannot be read; says what to do. Nothing is left
     */
    static Life open(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            RandomGenerator random,
            TurnThreads threads,
            Consumer<Ending> hears)
            throws IOException {
        return new Life(place, constructor, guard, random, threads, hears);
    }

    static ScheduledExecutorService threads(int count, String name) {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        count,
                        task -> {
                            Thread thread = new Thread(task, name);
                            thread.setDaemon(true);
                            return thread;
                        });
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return executor;
    }

    /** Runs turns from now on. */
    void begin() {
        guard.begin(
                new Guard.Listener() {
                    @Override
                    public void moved(Finals now) {
                        if (now.outside() > 0) {
                            measures.forced(guard.lastFsyncMicros() * 1_000);
                        }
                        loop.moved(now);
                    }

                    @Override
                    public void over(Ending why) {
                        loop.over(why);
                    }
                });
        loop.begin();
    }

    /** Between two turns; dropped once the life is over. */
    void post(Runnable event) {
        loop.post(event);
    }

    /** Runs no turn any more, where a snapshot holds all of them. Turn thread. */
    boolean endIfFolded() {
        boolean folded = turns.isFolded();
        if (folded) {
            loop.finish();
        } else {
            turns.fold();
        }
        return folded;
    }

    /** Ends turns at once; the first reason counts. */
    void over(Ending why) {
        loop.over(why);
    }

    /** Completes exceptionally once it is over. */
    CompletableFuture<Object> over() {
        return over;
    }

    Turns turns() {
        return turns;
    }

    void measure(Measures those) {
        measures = those;
        turns.measure(those);
    }

    /** How long the turns' thread has waited outside of a handler, in ms. */
    long blockedMillis() {
        return turns.blockedMillis(loop.stepSinceNanos());
    }

    /**
     * Lets the turn that runs come to its end, and runs no other; nothing leaves any more.
     *
     * @return whether it has come to its end; else what it still does stays here
     * @throws IllegalStateException on its turn thread
     */
    boolean stop(Duration patience) {
        boolean stopped = loop.stop(patience);
        over.completeExceptionally(new ServiceException("it has ended"));
        return stopped;
    }

    /**
     * The same, and waits until no snapshot is being written. One that waits for its turn to be
     * final is dropped. May be called again, to wait on.
     *
     * @return whether nothing of it runs any more; the log says what does
     */
    boolean end(Duration patience) {
        long until = System.nanoTime() + patience.toNanos();
        boolean stopped = stop(patience);
        turns.over();
        folding.shutdown();
        lanes.shutdown();
        boolean folded = isOver(folding, until);
        boolean left = isOver(lanes, until);
        if (!stopped || !folded || !left) {
            LOG.warn(
                    "{}: {} has not ended yet",
                    name,
                    !stopped
                            ? "the turn that runs"
                            : folded ? "a handler in a lane" : "a snapshot");
        }
        return stopped && folded && left;
    }

    private static boolean isOver(ScheduledExecutorService threads, long until) {
        boolean interrupted = false;
        try {
            while (true) {
                long left = until - System.nanoTime();
                try {
                    boolean over =
                            threads.awaitTermination(Math.max(0, left), TimeUnit.NANOSECONDS);
                    if (over || left <= 0) {
                        return over;
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
