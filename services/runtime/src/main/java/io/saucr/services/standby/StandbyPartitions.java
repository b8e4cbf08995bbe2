package io.saucr.services.standby;

import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.ensemble.PartitionCount;
import io.saucr.services.journal.Disk;
import io.saucr.services.turns.PartitionsHere;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.util.Set;
import java.util.function.Function;

/**
 * Members of partitions with standbys in this process (K18): one member of each partition, which is
 * primary or standby on its own. Any thread.
 */
public final class StandbyPartitions extends PartitionsHere<RunningService> {

    private final Disk disk;
    private final Function<State, ? extends Service> constructor;
    private final Protection.Standby protection;

    private StandbyPartitions(
            Disk disk,
            Place place,
            int count,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            Halt halt) {
        super(place, count, halt);
        this.disk = disk;
        this.constructor = constructor;
        this.protection = protection;
    }

    /**
     * Starts members of some partitions; see {@link io.saucr.services.Partitions#run}.
     *
     * @param disk of this machine, or a test's
     * @param which numbers of partitions; none for all
     */
    public static StandbyPartitions start(
            Disk disk,
            Place place,
            int count,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            Halt halt,
            int... which)
            throws IOException, InterruptedException {
        Set<Integer> numbers = numbers(place, count, which);
        PartitionCount.fix(StandbyService.servicePath(place), count);
        StandbyPartitions made =
                new StandbyPartitions(disk, place, count, constructor, protection, halt);
        boolean started = false;
        try {
            made.startAll(numbers);
            started = true;
            return made;
        } finally {
            if (!started) {
                made.close();
            }
        }
    }

    @Override
    protected RunningService start(Place own, int number, Halt halted)
            throws IOException, InterruptedException {
        Protection.Standby its =
                protection
                        .members()
                        .map(first -> protection.members(Place.next(first, number)))
                        .orElse(protection);
        return StandbyService.start(disk, own, constructor, its, halted);
    }

    /** Hands over where another member is ready; the folder stays this member's. */
    @Override
    protected void release(RunningService partition, Place own) {
        partition.close();
    }
}
