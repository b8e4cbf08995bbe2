package io.saucr.services.local;

import io.saucr.services.Client;
import io.saucr.services.DataLoss;
import io.saucr.services.NewGeneration;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Moment;
import io.saucr.services.journal.Disk;
import io.saucr.services.net.Transport;
import io.saucr.services.standby.FolderRestore;
import io.saucr.services.standby.MemberLoss;
import io.saucr.services.standby.ProtectionMove;
import io.saucr.services.standby.StandbyService;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Starts services and clients of this process. Any thread. */
public final class Runs {

    /** Made when first needed, and as daemons never ended. */
    private static final class Connections {
        static final Transport TRANSPORT =
                new Transport(Runtime.getRuntime().availableProcessors());
    }

    private Runs() {}

    /** The threads of all connections of this process. */
    public static Transport transport() {
        return Connections.TRANSPORT;
    }

    /** See {@link io.saucr.services.Services#run}. */
    public static RunningService start(
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Local protection)
            throws IOException, InterruptedException {
        return start(Disk.local(), place, constructor, protection);
    }

    /** The same on any disk, for tests that hold up or kill a process at one of its steps. */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Local protection)
            throws IOException, InterruptedException {
        return LocalService.start(disk, place, constructor, protection.force(), Halt.process());
    }

    /** A member of a service with standbys; see {@link io.saucr.services.Services#run}. */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection)
            throws IOException, InterruptedException {
        return StandbyService.start(disk, place, constructor, protection, Halt.process());
    }

    /** See {@link io.saucr.services.Services#client()}. */
    public static Client client(Place place) throws IOException {
        return new PlainClient(place);
    }

    /** See {@link io.saucr.services.Services#client(String, Path)}. */
    public static Client client(Place place, String name, Path folder) throws IOException {
        Place.checkName(name);
        return BirthClient.open(place, name, Optional.of(folder));
    }

    /** See {@link io.saucr.services.Services#client(String)}. */
    public static Client client(Place place, String name) throws IOException {
        Place.checkName(name);
        return BirthClient.open(place, name, Optional.empty());
    }

    /** See {@link io.saucr.services.Services#newGeneration()}. */
    public static NewGeneration newGeneration(Place place)
            throws IOException, InterruptedException {
        return BirthOrder.ofService(Disk.local(), place);
    }

    /** See {@link io.saucr.services.Services#newGeneration(String, Path)}. */
    public static NewGeneration newGeneration(String client, Path folder)
            throws IOException, InterruptedException {
        Place.checkName(client);
        return BirthOrder.ofClient(Disk.local(), folder, client);
    }

    /** See {@link io.saucr.services.Services#dataLoss}. */
    public static DataLoss dataLoss(Place place) throws IOException, InterruptedException {
        return MemberLoss.of(Disk.local(), place);
    }

    /** See {@link io.saucr.services.Services#restore}. */
    public static List<String> restore(Place place, Protection.Store store)
            throws IOException, InterruptedException {
        return FolderRestore.from(Disk.local(), place, store);
    }

    /** See {@link io.saucr.services.Services#moveToStandby}. */
    public static List<String> moveToStandby(Place place, Path member)
            throws IOException, InterruptedException {
        return ProtectionMove.toStandby(Disk.local(), place, member);
    }

    /** See {@link io.saucr.services.Services#moveToLocal}. */
    public static List<String> moveToLocal(Place place, Path folder)
            throws IOException, InterruptedException {
        return ProtectionMove.toLocal(Disk.local(), place, folder);
    }

    /** What the clocks of this machine say. */
    static Moment moment() {
        return new Moment(System.currentTimeMillis(), System.nanoTime() / 1_000_000);
    }
}
