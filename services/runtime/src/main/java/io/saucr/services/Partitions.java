package io.saucr.services;

import io.saucr.services.client.PartitionsClient;
import io.saucr.services.journal.Disk;
import io.saucr.services.local.LocalPartitions;
import io.saucr.services.standby.StandbyPartitions;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Routing;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * A service in partitions, from {@link Services#partitions}: each has the state of some keys, and
 * runs turns of its own at the same time as the others. A message goes to the partition of its key
 * ({@link Keyed}). With {@link Protection#local} the partitions of one process share one fsync.
 * Immutable; any thread.
 */
public final class Partitions {

    private final Place place;
    private final Halt halt;
    private final int count;

    Partitions(Place place, Halt halt, int count) {
        this.place = place.withPartitions(place.name(), count);
        this.halt = halt;
        this.count = count;
    }

    /**
     * Starts partitions in this process. Each has a folder of its number in the service's folder, a
     * name with its number, as in {@code bank.3}, a head in the ensemble, and an address: at {@link
     * Services#listen}'s port and the number more, unless the system chooses.
     *
     * @param constructor makes the service of each partition from its state
     * @param protection what they are to survive
     * @param which numbers of partitions; none for all. Those whose turns are in this folder must
     *     be among them
     * @throws IllegalArgumentException where the service, one of its types or a number is not
     *     allowed
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where the ensemble refuses the start, or the service has another
     *     number of partitions
     */
    public RunningPartitions run(
            Function<State, ? extends Service> constructor,
            Protection.Local protection,
            int... which)
            throws IOException, InterruptedException {
        return LocalPartitions.start(
                Disk.local(), place, count, constructor, protection, halt, which);
    }

    /**
     * Starts a member of each partition in this process. Start the same line in other processes,
     * with folders of their own: each partition has its own primary among these, and another member
     * takes over within a second. Each has a folder of its number, a name, a head and addresses as
     * with {@link Protection#local}; at {@link Protection.Standby#members} other members reach
     * partition 0, and the others at the ports behind it. Partitions with standbys share no fsync.
     *
     * @param constructor makes the service of each partition from its state, in each life
     * @param protection of each partition
     * @param which numbers of partitions that this process has a member of; none for all
     * @throws IllegalArgumentException where the service, one of its types or a number is not
     *     allowed, or there is no ensemble
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where a head is not for its folder, or the service has another
     *     number of partitions
     */
    public RunningPartitions run(
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            int... which)
            throws IOException, InterruptedException {
        return StandbyPartitions.start(
                Disk.local(), place, count, constructor, protection, halt, which);
    }

    /**
     * Refuses: partitions are no members of a group yet.
     *
     * @throws IllegalArgumentException always
     */
    @SuppressWarnings("DoNotCallSuggester") // Its message says what to do instead.
    public RunningPartitions run(
            Function<State, ? extends Service> constructor,
            Protection.Speculative protection,
            int... which) {
        throw new IllegalArgumentException(
                place.name()
                        + " has partitions, and these run with Protection.local(), not with"
                        + " Protection.speculative(...)");
    }

    /** How many there are. */
    public int partitions() {
        return count;
    }

    /** The number of the partition of a key, from 0. */
    public int of(String key) {
        return Routing.partition(key, count);
    }

    /** The name by which a partition is a service, as peers and tools know it. */
    public String name(int number) {
        return Routing.name(place.name(), number);
    }

    /**
     * A client that sends each message to the partition of its key; see {@link Services#client()}.
     * Messages of one key are consumed in the order of the calls.
     *
     * @throws ServiceException where the service has another number of partitions
     * @throws IOException where keys cannot be used, or the ensemble does not answer
     */
    public Client client() throws IOException, InterruptedException {
        return PartitionsClient.open(place, count, Optional.empty(), Optional.empty());
    }

    /** The same with a birth in memory; see {@link Services#client(String)}. */
    public Client client(String name) throws IOException, InterruptedException {
        Place.checkName(name);
        return PartitionsClient.open(place, count, Optional.of(name), Optional.empty());
    }

    /** The same with a birth in a folder; see {@link Services#client(String, Path)}. */
    public Client client(String name, Path folder) throws IOException, InterruptedException {
        Place.checkName(name);
        return PartitionsClient.open(place, count, Optional.of(name), Optional.of(folder));
    }
}
