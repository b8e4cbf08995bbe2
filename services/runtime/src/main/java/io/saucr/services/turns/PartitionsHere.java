package io.saucr.services.turns;

import io.saucr.services.Halt;
import io.saucr.services.RunningPartitions;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.once.TurnGuard;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Partitions of a service in this process, each a service of its own with name, head, generation
 * and folder (K18). A protection says how one starts and leaves. Any thread.
 */
public abstract class PartitionsHere<S extends RunningService> implements RunningPartitions {

    /** Starts wait for the ensemble most of the time, ends for other members. */
    private static final int THREADS = 8;

    private final Place place;
    private final int count;
    private final Halt halt;
    private final Map<Integer, S> running = new ConcurrentSkipListMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile String halted;

    /**
     * @param place of the service
     * @param count how many partitions it has
     * @param halt is called for each partition that halts
     */
    protected PartitionsHere(Place place, int count, Halt halt) {
        this.place = place;
        this.count = count;
        this.halt = halt;
    }

    /**
     * The numbers of the partitions that are to run here.
     *
     * @param which none for all
     * @throws IllegalArgumentException where there is no partition of a number
     */
    protected static Set<Integer> numbers(Place place, int count, int... which) {
        Set<Integer> numbers = new TreeSet<>();
        if (which.length == 0) {
            for (int number = 0; number < count; number++) {
                numbers.add(number);
            }
        }
        for (int number : which) {
            check(place, count, number);
            numbers.add(number);
        }
        return numbers;
    }

    private static void check(Place place, int count, int number) {
        if (number < 0 || number >= count) {
            throw new IllegalArgumentException(
                    place.name()
                            + " has the partitions 0 to "
                            + (count - 1)
                            + ", not one with number "
                            + number);
        }
    }

    /**
     * Starts one.
     *
     * @param own its place
     * @param halted hears that it must not continue
     */
    protected abstract S start(Place own, int number, Halt halted)
            throws IOException, InterruptedException;

    /** Ends one, which may run elsewhere from then on. */
    protected abstract void release(S partition, Place own) throws IOException;

    /** Ends what the partitions share, after the last of them. */
    protected void closeShared() {}

    /** Starts several at the same time; where one does not start, the others may run. */
    protected final void startAll(Set<Integer> numbers) throws IOException, InterruptedException {
        ExecutorService starting = Executors.newFixedThreadPool(Math.min(THREADS, numbers.size()));
        try {
            List<Future<?>> starts = new ArrayList<>();
            for (int number : numbers) {
                starts.add(
                        starting.submit(
                                () -> {
                                    start(number);
                                    return null;
                                }));
            }
            for (Future<?> each : starts) {
                each.get();
            }
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException known) {
                throw known;
            }
            throw cause instanceof RuntimeException known
                    ? known
                    : new ServiceException(place.name() + " does not start", cause);
        } finally {
            starting.shutdownNow();
            // What a start that was interrupted opened is closed by it, or found among those here.
            boolean unused = starting.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    private void start(int number) throws IOException, InterruptedException {
        running.put(number, start(place.partition(number), number, this::halted));
    }

    private void halted(String reason, Throwable cause) {
        halted = reason;
        over.countDown();
        halt.halt(reason, cause);
    }

    @Override
    public final int count() {
        return count;
    }

    @Override
    public final Set<Integer> here() {
        return new TreeSet<>(running.keySet());
    }

    @Override
    public final S partition(int number) {
        check(place, count, number);
        S found = running.get(number);
        if (found == null) {
            throw new IllegalArgumentException(
                    "partition " + number + " does not run here; " + running.keySet() + " do");
        }
        return found;
    }

    @Override
    public final synchronized void release(int number) throws IOException {
        TurnGuard.refuse("release", "a partition cannot wait in a turn for its own end");
        release(partition(number), place.partition(number));
        running.remove(number);
    }

    @Override
    public final synchronized void take(int number) throws IOException, InterruptedException {
        TurnGuard.refuse("take", "a start waits");
        check(place, count, number);
        if (running.containsKey(number)) {
            throw new IllegalArgumentException("partition " + number + " runs here already");
        }
        start(number);
    }

    @Override
    public final void join() throws InterruptedException {
        over.await();
        String reason = halted;
        if (reason != null) {
            throw new ServiceException(reason);
        }
    }

    @Override
    public final synchronized void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        try {
            closeAll();
        } finally {
            closeShared();
            over.countDown();
        }
    }

    /** Ends all at the same time, whatever one of them or an interrupt comes to. */
    private void closeAll() {
        if (running.isEmpty()) {
            return;
        }
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, running.size()));
        List<CompletableFuture<Void>> ends =
                running.values().stream()
                        .map(it -> CompletableFuture.runAsync(it::close, threads))
                        .toList();
        threads.shutdown();
        try {
            CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new)).join();
        } catch (CompletionException e) {
            throw new ServiceException(
                    place.name() + " was not closed: " + e.getCause().getMessage(), e.getCause());
        }
    }
}
