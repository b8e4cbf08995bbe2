package io.saucr.services.local;

import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ensemble.PartitionCount;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.journal.SharedJournal;
import io.saucr.services.turns.PartitionsHere;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Routing;
import io.saucr.services.turns.SharedTurnThreads;
import io.saucr.services.turns.TurnThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Partitions of a service in this process with a folder each (K18, K19). They share a journal, so
 * that one fsync covers the turns of all, and the threads that run turns. Any thread.
 */
public final class LocalPartitions extends PartitionsHere<LocalService> {

    private static final Logger LOG = LoggerFactory.getLogger(LocalPartitions.class);

    /** The folder of the journal, in addition to those of partitions, which are numbers. */
    private static final String JOURNAL = "journal";

    private final Function<State, ? extends Service> constructor;
    private final SharedJournal journal;
    private final TurnThreads threads;

    private LocalPartitions(
            Place place,
            int count,
            Function<State, ? extends Service> constructor,
            Halt halt,
            SharedJournal journal) {
        super(place, count, halt);
        this.constructor = constructor;
        this.journal = journal;
        threads = new SharedTurnThreads(place.name(), Runtime.getRuntime().availableProcessors());
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
        Path folder = place.folder().resolve(JOURNAL);
        SharedJournal journal =
                SharedJournal.open(
                        disk,
                        folder,
                        SharedJournal.name(place.name(), count),
                        new JournalOptions(protection.force(), place.segmentBytes()),
                        new SecureRandom());
        LocalPartitions made =
                new LocalPartitions(
                        place.inLanes(protection.lanes()), count, constructor, halt, journal);
        boolean started = false;
        try {
            check(journal, folder, place, numbers);
            made.startAll(numbers);
            started = true;
            return made;
        } finally {
            if (!started) {
                made.close();
            }
        }
    }

    /** Turns of a partition that does not run here would never leave the journal. */
    private static void check(SharedJournal journal, Path folder, Place place, Set<Integer> numbers)
            throws IOException {
        List<String> started = numbers.stream().map(it -> Routing.name(place.name(), it)).toList();
        for (String each : journal.partitions()) {
            if (!started.contains(each)) {
                throw new IOException(
                        "the journal in "
                                + folder
                                + " has turns of "
                                + each
                                + ": start it here, too, and release it if it is to run elsewhere");
            }
        }
    }

    @Override
    protected LocalService start(Place own, int number, Halt halted)
            throws IOException, InterruptedException {
        return LocalService.start(
                own,
                constructor,
                random -> {
                    ServiceFolder folder = journal.open(own.folder(), own.name());
                    return OwnDisk.of(folder, journal::join, own.segmentBytes());
                },
                threads,
                halted);
    }

    @Override
    protected void release(LocalService partition, Place own) throws IOException {
        partition.release();
        LOG.info("{} has left this process: {} holds all of it", own.name(), own.folder());
    }

    @Override
    protected void closeShared() {
        try {
            journal.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
