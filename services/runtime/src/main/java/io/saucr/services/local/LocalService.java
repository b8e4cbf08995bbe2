package io.saucr.services.local;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.ensemble.Leadership;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Halting;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnLoop;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process whose turns are final once they are on its own disk: its folder, its
 * place in the ensemble, and its one {@link Engine}, which lasts as long as it runs.
 */
public final class LocalService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(LocalService.class);

    /** So long a turn may take before connections are closed all the same. */
    private static final Duration SOON = Duration.ofSeconds(1);

    /** So long who closes a service that halted waits for the turn that runs. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** So long a snapshot may take that all of it goes into. */
    private static final Duration RELEASED_WITHIN = Duration.ofMinutes(5);

    /** Closed in reverse, whatever the start came to. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private final Place place;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);
    private final Halting halting;
    private OwnDisk guard;
    private Engine engine;
    private Http.Served page;
    private Leadership leadership;
    private boolean confirming;

    private LocalService(Place place, Halt halt) {
        this.place = place;
        halting = new Halting(place.name(), halt, this::closeHalted);
    }

    /**
     * Starts a service; see {@link io.saucr.services.Services#run}.
     *
     * @param disk of this machine, or one of a test that holds up or kills at a step
     * @param halt hears that the service must not go on
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
                halt);
    }

    /** Opens what the service's turns are kept in. */
    interface Opening {
        OwnDisk open(SecureRandom random) throws IOException;
    }

    /** The same with its turns in any log. */
    static LocalService start(
            Place place, Function<State, ? extends Service> constructor, Opening opening, Halt halt)
            throws IOException, InterruptedException {
        LocalService service = new LocalService(place, halt);
        boolean started = false;
        try {
            service.begin(constructor, opening);
            service.halting.throwIfHalted();
            started = true;
            return service;
        } finally {
            if (!started) {
                service.withdraw();
                service.closeOpened();
            }
            service.decided.countDown();
        }
    }

    /** A start of which nobody outside knows leaves no line in the folder. */
    private void withdraw() {
        if (guard == null || confirming || (leadership != null && leadership.mayBeKnown())) {
            return;
        }
        try {
            guard.withdraw();
        } catch (IOException e) {
            LOG.warn("{}: a start that was refused stays in its list of starts", place.name(), e);
        }
    }

    private void begin(Function<State, ? extends Service> constructor, Opening opening)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        SecureRandom random = new SecureRandom();
        guard = opening.open(random);
        opened.push(guard);
        engine = Engine.open(place, constructor, guard, random, this::over);
        opened.push(this::endEngine);
        Address address = engine.listen();
        if (place.page().isPresent()) {
            page = Http.found().page(this, place.page().get());
            opened.push(page);
        }
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
        leadership =
                new Leadership(
                        place.servicePath(Optional.of(address.toString())),
                        guard.incarnation(),
                        guard.incarnations(),
                        guard.confirmed(),
                        guard.replaces(),
                        engine::lost);
        opened.push(leadership);
        try {
            leadership.take();
        } catch (Leadership.RefusedException e) {
            throw new ServiceException(place.name() + " does not start: " + e.getMessage(), e);
        }
    }

    private void over(Ending why) {
        halting.halt(why.reason(), why.cause());
    }

    @Override
    public String name() {
        return place.name();
    }

    @Override
    public Address address() {
        return engine.address();
    }

    @Override
    public Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(Http.Served::address);
    }

    @Override
    public Optional<Address> http() {
        return engine.http();
    }

    @Override
    public ServiceStatus status() {
        return engine.status();
    }

    @Override
    public void measure(Measures those) {
        engine.measure(those);
    }

    @Override
    public void retry(long parked) {
        engine.retry(parked);
    }

    @Override
    public void discard(long parked) {
        engine.discard(parked);
    }

    @Override
    public void declareLost(String service, String birth) {
        engine.declareLost(service, birth);
    }

    @Override
    public void returnUndelivered(String service) {
        engine.returnUndelivered(service);
    }

    @Override
    public void resume(String channel) {
        engine.resume(channel);
    }

    @Override
    public void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(PATIENCE);
            return;
        }
        boolean unused = engine.stop(TurnLoop.AS_LONG_AS_IT_TAKES);
        closeOpened();
        ended.countDown();
    }

    /**
     * Ends it with all that it did in its folder, which may then be opened anywhere.
     *
     * @throws ServiceException where its base cannot be written in time: it goes on
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

    @Override
    public void join() throws InterruptedException {
        ended.await();
        halting.throwIfHalted();
    }

    @Override
    public Optional<String> halted() {
        return halting.reason();
    }

    /** Connections end soon, though a turn hangs; the folder is in use until that has ended. */
    private void endEngine() {
        if (!engine.end(SOON)) {
            boolean unused = engine.end(TurnLoop.AS_LONG_AS_IT_TAKES);
        }
    }

    /** On a thread of its own. */
    private void closeHalted() {
        ended.countDown();
        try {
            decided.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeOpened();
    }

    private synchronized void closeOpened() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("{}: not everything of it could be closed", place.name(), e);
            }
        }
    }
}
