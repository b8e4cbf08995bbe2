package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.checkpoint.EnsembleStore;
import io.saucr.services.checkpoint.FolderStore;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.Birth;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Disk;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Halting;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of which this process is one member: its folder, its links with other members, its
 * place in the ensemble, and one {@link Engine} after the other while it is primary. One thread
 * decides, one writes the folder, one opens and ends terms; as primary those of the term come on
 * top.
 */
public final class StandbyService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(StandbyService.class);

    /** Segments end at so many bytes of turns, roughly. */
    private static final long BATCH_BYTES = 16L << 20;

    /** The same in the ensemble, so that most take one znode. */
    private static final long ENSEMBLE_BATCH_BYTES = 8L << 10;

    private static final long ENSEMBLE_FOLD_BYTES = 256L << 10;

    /** So long a shared folder may take to say whether it can be used. */
    private static final long FOLDER_SECONDS = 10;

    private static final Duration FOR_EVER = Duration.ofDays(365);

    private final Place place;
    private final Function<State, ? extends Service> constructor;
    private final Protection.Standby protection;
    private final Halting halting;
    private final SecureRandom random = new SecureRandom();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);
    private volatile Engine engine;
    private volatile Measures measures = Measures.NONE;
    private Membership membership;
    private Http.Served page;

    private StandbyService(
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            Halt halt) {
        Place inLanes = place.inLanes(protection.lanes());
        this.place = inEnsemble(protection) ? foldingSoon(inLanes) : inLanes;
        this.constructor = constructor;
        this.protection = protection;
        halting = new Halting(place.name(), halt, this::closeHalted);
    }

    private static boolean inEnsemble(Protection.Standby protection) {
        return protection.store() instanceof Protection.Store.Ensemble;
    }

    /** The ensemble keeps all that is above the older base in memory. */
    private static Place foldingSoon(Place place) {
        return place.withOptions(
                place.options()
                        .foldBytes(Math.min(place.options().foldBytes(), ENSEMBLE_FOLD_BYTES)));
    }

    /**
     * Starts a member; returns once the head was read, and this member follows or is primary.
     *
     * @throws IOException where folder, port or keys cannot be used; says what to do
     * @throws ServiceException where the head is not for this folder; says why, and what to do
     */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            Halt halt)
            throws IOException, InterruptedException {
        StandbyService service = new StandbyService(place, constructor, protection, halt);
        boolean done = false;
        try {
            service.begin(disk);
            service.halting.throwIfHalted();
            done = true;
            return service;
        } finally {
            if (!done) {
                service.shutDown();
            }
            service.decided.countDown();
        }
    }

    /**
     * Where the head of a service with standbys is.
     *
     * @throws IllegalArgumentException where the place has no ensemble
     */
    public static ServicePath servicePath(Place place) {
        if (place.ensemble().isEmpty()) {
            throw new IllegalArgumentException(
                    place.name() + " has standbys, and needs an ensemble: Services.at(...)");
        }
        return place.servicePath(Optional.empty());
    }

    private void begin(Disk disk) throws IOException, InterruptedException {
        ServicePath servicePath = servicePath(place);
        // Before anything is made: what is not allowed is thrown here, not in a life.
        Turns.check(place.name(), constructor);
        membership =
                new Membership(
                        new Membership.Parts(
                                disk,
                                place.folder(),
                                servicePath,
                                place.name(),
                                place.net(),
                                protection.members().orElse(new Address(place.listen().host(), 0)),
                                Membership.rules(
                                        protection.copies(),
                                        protection.stalls(),
                                        protection.inMemory(),
                                        protection.leaseMillis()),
                                protection.every().map(Duration::toMillis).orElse(0L),
                                place.options().foldBytes(),
                                batchBytes(),
                                place.segmentBytes(),
                                Optional.empty(),
                                halting),
                        new Terms());
        membership.open();
        membership.begin(shared(disk, servicePath));
        if (place.page().isPresent()) {
            page = membership.opens(Http.found().page(this, place.page().get()));
        }
        membership.awaitStart();
    }

    /** What members share; a folder that cannot be shared is refused here. */
    private Optional<Sharing.Shared> shared(Disk disk, ServicePath servicePath)
            throws IOException, InterruptedException {
        SharedStore.Opener opener;
        ScheduledExecutorService segments = membership.threads(1, "store");
        if (protection.store() instanceof Protection.Store.Folder it) {
            if (it.path().toAbsolutePath().startsWith(place.folder().toAbsolutePath())) {
                throw new IllegalArgumentException(
                        "members share the folder "
                                + it.path()
                                + ", so it is not within this member's own, "
                                + place.folder());
            }
            check(segments, disk, it.path());
            opener = FolderStore.in(disk, it.path(), place.name(), random);
        } else if (inEnsemble(protection)) {
            opener = EnsembleStore.below(servicePath, place.name());
        } else {
            return Optional.empty();
        }
        membership.opens(opener);
        ScheduledExecutorService bases = membership.threads(1, "store of bases");
        return Optional.of(new Sharing.Shared(opener, segments, bases, Sharing.RETRY_MILLIS));
    }

    /** A network's folder may hang. */
    private void check(ScheduledExecutorService on, Disk disk, Path path)
            throws IOException, InterruptedException {
        try {
            on.submit(
                            () -> {
                                FolderStore.check(disk, path, random);
                                return path;
                            })
                    .get(FOLDER_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IOException(
                    path
                            + ", which members are to share, does not answer for "
                            + FOLDER_SECONDS
                            + " s: fix the mount, then start again",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException it) {
                throw it;
            }
            throw new IOException(path + " cannot be shared: " + e.getCause(), e);
        }
    }

    /** Clients do not wait for more room before the time of a cut has come. */
    private long batchBytes() {
        if (inEnsemble(protection)) {
            return ENSEMBLE_BATCH_BYTES;
        }
        return protection.every().isEmpty()
                ? BATCH_BYTES
                : Math.min(BATCH_BYTES, place.options().unforcedBytes() / 4);
    }

    // ---- terms, on a thread of their own

    private void live(Replicated life) throws InterruptedException {
        Engine made = null;
        try {
            long begun = System.nanoTime();
            made = Engine.open(place, constructor, life, random, this::over);
            Address address = made.listen();
            membership.member().serves(address);
            made.measure(measures);
            made.begin();
            engine = made;
            LOG.info(
                    "{} answers at {}: epoch {}, turn {}, {} ms after its life began",
                    place.name(),
                    address,
                    life.incarnation().number(),
                    made.recovered(),
                    (System.nanoTime() - begun) / 1_000_000);
            if (life.needsBase()) {
                made.fold();
            }
            life.awaitEnd();
        } catch (Replicated.EndedException e) {
            LOG.debug("{}: a life ended: {}", place.name(), e.getMessage());
        } catch (IOException | RuntimeException e) {
            if (!membership.isClosing()) {
                membership.halt(place.name() + " can't serve: " + e.getMessage(), e);
            }
        } finally {
            engine = null;
            if (made != null) {
                endEngine(made);
            }
            closeQuietly(life);
        }
    }

    private void endEngine(Engine made) {
        if (!made.end(Membership.PATIENCE)) {
            membership.halt(
                    "a turn of "
                            + place.name()
                            + " does not end, and its term is over: nothing of it counts",
                    null);
            // It may touch files of this life until it ends: they stay open, the folder in use.
            boolean unused = made.end(FOR_EVER);
        }
    }

    private void closeQuietly(Replicated life) {
        try {
            life.close();
        } catch (IOException e) {
            LOG.warn("{}: a life could not be closed", place.name(), e);
        }
    }

    /** One that was deposed is followed by the next life, as its own says, not by a halt. */
    private void over(Ending why) {
        if (!membership.isClosing() && !(why instanceof Ending.Deposed)) {
            membership.halt(why.reason(), why.cause());
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
        shutDown();
    }

    /** What this member does in its lives. */
    private final class Terms implements Membership.Living {

        @Override
        public void live(Replicated life) throws InterruptedException {
            StandbyService.this.live(life);
        }

        @Override
        public void over(Replicated life, String reason) {
            // The life ends its turns itself.
        }

        @Override
        public long handlerMillis() {
            Engine now = engine;
            return now == null ? 0 : now.handlerMillis();
        }

        @Override
        public long blockedMillis() {
            Engine now = engine;
            return now == null ? 0 : now.blockedMillis();
        }

        @Override
        public void halts(String reason) {
            Engine now = engine;
            if (now != null) {
                now.lost(reason);
            }
        }
    }

    // ---- what people ask and order

    @Override
    public String name() {
        return place.name();
    }

    @Override
    public Address address() {
        Engine now = engine;
        return now == null ? place.listen() : now.address();
    }

    @Override
    public Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(Http.Served::address);
    }

    @Override
    public Optional<Address> http() {
        Engine now = engine;
        return now == null ? Optional.empty() : now.http();
    }

    @Override
    public ServiceStatus status() {
        Engine now = engine;
        ServiceStatus of =
                now == null
                        ? ServiceStatus.none(
                                place.name(),
                                membership.folder().birth().map(Birth::toString).orElse(""))
                        : now.status();
        return of.with(membership.member().status());
    }

    @Override
    public void measure(Measures those) {
        measures = those;
        Engine now = engine;
        if (now != null) {
            now.measure(those);
        }
    }

    private Engine inOffice() {
        Engine now = engine;
        if (now == null) {
            throw new ServiceException(
                    "this member of "
                            + place.name()
                            + " is not primary: send the admin command to the primary");
        }
        return now;
    }

    @Override
    public void retry(long parked) {
        inOffice().retry(parked);
    }

    @Override
    public void discard(long parked) {
        inOffice().discard(parked);
    }

    @Override
    public void declareLost(String service, String birth) {
        inOffice().declareLost(service, birth);
    }

    @Override
    public void returnUndelivered(String service) {
        inOffice().returnUndelivered(service);
    }

    @Override
    public void resume(String channel) {
        inOffice().resume(channel);
    }

    @Override
    public synchronized void handOver(Optional<String> to) {
        Engine now = inOffice();
        try {
            membership.handOver(
                    to,
                    new Membership.Held() {
                        @Override
                        public void hold(String successor) {
                            now.hold(true);
                        }

                        @Override
                        public void resume() {
                            now.hold(false);
                        }
                    });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException(place.name() + " was interrupted as it was handed over", e);
        }
    }

    /** Hands over where a standby is ready, then ends. */
    @Override
    public void close() {
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(Membership.PATIENCE.multipliedBy(2));
            return;
        }
        if (ended.getCount() == 0) {
            return;
        }
        if (engine != null) {
            try {
                handOver(Optional.empty());
            } catch (IllegalArgumentException | ServiceException e) {
                LOG.info("{}: ends without a successor: {}", place.name(), e.getMessage());
                awaitNamed();
            }
        }
        shutDown();
        ended.countDown();
    }

    /** What was done is made final, as far as that is possible soon. */
    private void awaitNamed() {
        Engine now = engine;
        if (now == null) {
            return;
        }
        try {
            now.hold(true);
            membership.member().cutAtOnce();
            long until = System.nanoTime() + Membership.PATIENCE.toNanos();
            while (membership.member().bytesNotFinal() > 0 && System.nanoTime() - until < 0) {
                Thread.sleep(1);
            }
        } catch (ServiceException e) {
            LOG.info("{}: {}", place.name(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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

    private void shutDown() {
        if (membership != null) {
            membership.close();
        }
    }
}
