package io.saucr.services.local;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.ensemble.Leadership;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.EngineService;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnLoop;
import io.saucr.services.turns.TurnThreads;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process whose turns are final once they are on its own disk: its folder, its
 * place in the ensemble, and its one {@link Engine}, which lasts as long as it runs.
 */
public final class LocalService extends EngineService {

    private static final Logger LOG = LoggerFactory.getLogger(LocalService.class);

    /** So long a snapshot may take that all of it goes into. */
    private static final Duration RELEASED_WITHIN = Duration.ofMinutes(5);

    private OwnDisk guard;
    private boolean confirming;

    private LocalService(Place place, Halt halt) {
        super(place, halt);
    }

    /**
     * Starts a service; see {@link io.saucr.services.Services#run}.
     *
     * @param disk of this machine, or one of a test that holds up or kills at a step
     * @param halt hears that the service must not continue
     */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Local protection,
            Halt halt)
            throws IOException, InterruptedException {
        JournalOptions options = new JournalOptions(protection.force(), place.segmentBytes());
        return start(
                place.inLanes(protection.lanes()),
                constructor,
                random -> OwnDisk.open(disk, place.folder(), place.name(), options, random),
                TurnThreads.own(),
                halt);
    }

    /** Opens what the service's turns are kept in. */
    interface Opening {
        OwnDisk open(SecureRandom random) throws IOException;
    }

    /** The same with its turns in any log, and on any threads. */
    static LocalService start(
            Place place,
            Function<State, ? extends Service> constructor,
            Opening opening,
            TurnThreads threads,
            Halt halt)
            throws IOException, InterruptedException {
        LocalService service = new LocalService(place, halt);
        service.start(() -> service.begin(constructor, opening, threads));
        return service;
    }

    @Override
    protected void withdraw() throws IOException {
        if (guard != null && !confirming) {
            guard.withdraw();
        }
    }

    private void begin(
            Function<State, ? extends Service> constructor, Opening opening, TurnThreads threads)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        SecureRandom random = new SecureRandom();
        guard = opening.open(random);
        opened(guard);
        Address address = listen(constructor, guard, random, threads);
        takeHead(address);
        confirming = true;
        engine.begin();
        LOG.info(
                "{} answers at {}: start {} of generation {}, recovered up to turn {} in {} ms",
                place.name(),
                address,
                guard.incarnation().number(),
                guard.incarnation().birth(),
                engine.recovered(),
                (System.nanoTime() - begun) / 1_000_000);
    }

    private void takeHead(Address address) throws InterruptedException {
        if (place.ensemble().isEmpty()) {
            return;
        }
        take(
                new Leadership(
                        place.servicePath(Optional.of(address.toString())),
                        guard.incarnation(),
                        guard.incarnations(),
                        guard.confirmed(),
                        guard.replaces(),
                        engine::lost));
    }

    /**
     * Ends it with all that it did in its folder, which may then be opened anywhere.
     *
     * @throws ServiceException where its base cannot be written in time: it continues
     * @throws IOException where the disk fails: it is closed, and is to be released once more
     */
    void release() throws IOException {
        if (!engine.finish(RELEASED_WITHIN)) {
            throw new ServiceException(
                    place.name()
                            + " was not released: its snapshot was not written within "
                            + RELEASED_WITHIN.toSeconds()
                            + " s. It continues here");
        }
        boolean unused = engine.end(TurnLoop.AS_LONG_AS_IT_TAKES);
        try {
            guard.release();
        } finally {
            close();
        }
    }
}
