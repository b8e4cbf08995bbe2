package io.saucr.services.local;

import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningPartitions;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.ensemble.PartitionCount;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.journal.SharedJournal;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Routing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Partitions of a service in this process (K18, K19). Each is a service of its own, with name,
 * head, generation and folder; they share a journal, so that one fsync covers the turns of all. Any
 * thread.
 */
public final class LocalPartitions implements RunningPartitions {

    private static final Logger LOG = LoggerFactory.getLogger(LocalPartitions.class);

    /** The folder of the journal, beside those of partitions, which are numbers. */
    private static final String JOURNAL = "journal";

    /** Starts wait for the ensemble most of the time. */
    private static final int STARTING_THREADS = 8;

    private final Place place;
    private final int count;
    private final Function<State, ? extends Service> constructor;
    private final Halt halt;
    private final SharedJournal journal;
    private final Map<Integer, LocalService> running = new ConcurrentSkipListMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile String halted;

    private LocalPartitions(
            Place place,
            int count,
            Function<State, ? extends Service> constructor,
            Halt halt,
            SharedJournal journal) {
        this.place = place;
        this.count = count;
        this.constructor = constructor;
        this.halt = halt;
        this.journal = journal;
    }

    /**
     * Starts some partitions; see {@link io.saucr.services.Partitions#run}.
     *
     * @param disk of this machine, or a test's
     * @param which their numbers; none for all
     */
    public static LocalPartitions start(
            Disk disk,
            Place place,
            int count,
            Function<State, ? extends Service> constructor,
            Protection.Local protection,
            Halt halt,
            int... which)
            throws IOException, InterruptedException {
        Set<Integer> numbers = numbers(place, count, which);
        if (place.ensemble().isPresent()) {
            PartitionCount.fix(place.servicePath(Optional.empty()), count);
        }
        SharedJournal journal =
                SharedJournal.open(
                        disk,
                        place.folder().resolve(JOURNAL),
                        SharedJournal.name(place.name(), count),
                        new JournalOptions(protection.force(), place.segmentBytes()),
                        new SecureRandom());
        LocalPartitions made =
                new LocalPartitions(
                        place.inLanes(protection.lanes()), count, constructor, halt, journal);
        boolean started = false;
        try {
            made.check(numbers);
            made.startAll(numbers);
            started = true;
            return made;
        } finally {
            if (!started) {
                made.close();
            }
        }
    }

    private static Set<Integer> numbers(Place place, int count, int... which) {
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

    /** Turns of a partition that does not run here would never leave the journal. */
    private void check(Set<Integer> numbers) throws IOException {
        List<String> started = numbers.stream().map(it -> Routing.name(place.name(), it)).toList();
        for (String each : journal.partitions()) {
            if (!started.contains(each)) {
                throw new IOException(
                        "the journal in "
                                + place.folder().resolve(JOURNAL)
                                + " has turns of "
                                + each
                                + ": start it here, too, and release it if it is to run elsewhere");
            }
        }
    }

    private void startAll(Set<Integer> numbers) throws IOException, InterruptedException {
        ExecutorService starting =
                Executors.newFixedThreadPool(Math.min(STARTING_THREADS, numbers.size()));
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
        Place own = place.partition(number);
        running.put(
                number,
                LocalService.start(
                        own,
                        constructor,
                        random -> {
                            ServiceFolder folder = journal.open(own.folder(), own.name());
                            return OwnDisk.of(folder, journal::join, own.segmentBytes());
                        },
                        this::halted));
    }

    private void halted(String reason, Throwable cause) {
        halted = reason;
        over.countDown();
        halt.halt(reason, cause);
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public Set<Integer> here() {
        return new TreeSet<>(running.keySet());
    }

    @Override
    public RunningService partition(int number) {
        check(place, count, number);
        LocalService found = running.get(number);
        if (found == null) {
            throw new IllegalArgumentException(
                    "partition " + number + " does not run here; " + running.keySet() + " do");
        }
        return found;
    }

    @Override
    public synchronized void release(int number) throws IOException {
        TurnGuard.refuse("release", "a partition cannot wait in a turn for its own end");
        ((LocalService) partition(number)).release();
        running.remove(number);
        LOG.info(
                "{} has left this process: {} holds all of it",
                Routing.name(place.name(), number),
                place.partition(number).folder());
    }

    @Override
    public synchronized void take(int number) throws IOException, InterruptedException {
        TurnGuard.refuse("take", "a start waits");
        check(place, count, number);
        if (running.containsKey(number)) {
            throw new IllegalArgumentException("partition " + number + " runs here already");
        }
        start(number);
    }

    @Override
    public void join() throws InterruptedException {
        over.await();
        String reason = halted;
        if (reason != null) {
            throw new ServiceException(reason);
        }
    }

    @Override
    public synchronized void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        running.values().forEach(LocalService::close);
        try {
            journal.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            over.countDown();
        }
    }
}
