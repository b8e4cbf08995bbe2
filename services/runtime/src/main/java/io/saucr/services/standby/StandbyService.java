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
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.Primary;
import io.saucr.services.core.standby.Standby;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLinks;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Halting;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Turns;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of which this process is one member: its folder, its links with other members, its
 * place in the ensemble, and one {@link Engine} after the other while it is in office. One thread
 * decides, one writes the folder, one opens and ends terms; in office those of the term come on
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

    /** So long a turn may take to end, once its term is over; then the process ends (C7). */
    private static final Duration TURN_PATIENCE = Duration.ofSeconds(10);

    private static final Duration FOR_EVER = Duration.ofDays(365);

    /** So long a standby may say nothing and still counts, and so long it may take to force. */
    private static final long SILENT_MILLIS = 300;

    private static final long LATE_MILLIS = 1_000;

    /** The same where it takes the place of a disk (C15): two heartbeats, and 100 ms. */
    private static final long FAST_SILENT_MILLIS = 100;

    private static final long FAST_LATE_MILLIS = 100;

    /** Two bases may be on their way, while a third member is given what it lacks. */
    private static final int READING_THREADS = 3;

    /** So long a successor may take. */
    private static final long HANDOVER_SECONDS = 10;

    private final Place place;
    private final Function<State, ? extends Service> constructor;
    private final Protection.Standby protection;
    private final Halting halting;
    private final SecureRandom random = new SecureRandom();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final BlockingQueue<Replicated> lives = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);
    private volatile Engine engine;
    private volatile boolean closing;
    private volatile CompletableFuture<Void> handing;
    private volatile Measures measures = Measures.NONE;
    private MemberFolder folder;
    private Member member;
    private StandbyNode node;
    private Thread terms;
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
     * Starts a member; returns once the head was read, and this member follows or is in office.
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
        String name = place.name();
        ServicePath servicePath = servicePath(place);
        // Before anything is made: what is not allowed is thrown here, not in a life.
        Turns.check(name, constructor);
        folder = MemberFolder.open(disk, place.folder(), name, random);
        opened.push(folder);
        Store store =
                new Store(
                        name,
                        folder,
                        protection.inMemory(),
                        cause ->
                                halt(
                                        "the folder "
                                                + place.folder()
                                                + " failed; fix the disk, then start again",
                                        cause));
        opened.push(store);
        ScheduledExecutorService thread = threads(1, "member " + name);
        opened.push(thread::shutdownNow);
        ScheduledExecutorService reading = threads(READING_THREADS, "reading " + name);
        opened.push(reading::shutdownNow);
        ScheduledExecutorService folding = threads(1, "bases " + name);
        opened.push(folding::shutdown);
        Optional<Sharing.Shared> shared = shared(disk, servicePath);
        long nonce = random.nextLong();
        member =
                new Member(
                        new Member.Parts(
                                name,
                                folder.member(),
                                nonce,
                                folder,
                                new Primary.Rules(
                                        protection.copies(),
                                        protection.stalls(),
                                        protection.inMemory(),
                                        protection.inMemory() ? FAST_SILENT_MILLIS : SILENT_MILLIS,
                                        protection.inMemory() ? FAST_LATE_MILLIS : LATE_MILLIS,
                                        protection.leaseMillis()),
                                Standby.Rules.standard(),
                                protection.every().map(Duration::toMillis).orElse(0L),
                                place.options().foldBytes(),
                                batchBytes(),
                                () -> disk.usableBytes(place.folder()),
                                birth -> outbox(disk, birth),
                                () -> new Birth(random.nextLong(), random.nextLong()),
                                thread,
                                reading,
                                folding,
                                shared,
                                Optional.empty()),
                        store,
                        new OfMember());
        MemberLinks links =
                MemberLinks.open(
                        Transport.shared(),
                        place.net(),
                        new MemberFrame.Hello(
                                name, folder.birth(), folder.member(), nonce, MemberLinks.FORMAT),
                        member,
                        thread,
                        member::heartbeat);
        opened.push(links);
        Address at =
                links.listen(protection.members().orElse(new Address(place.listen().host(), 0)));
        node = new StandbyNode(servicePath, folder.member(), at.toString(), thread, member);
        opened.push(node);
        if (place.page().isPresent()) {
            page = Http.found().page(this, place.page().get());
            opened.push(page);
        }
        terms = new Thread(this::runTerms, "terms " + name);
        terms.setDaemon(true);
        terms.start();
        member.begin(node, links, at.toString());
        awaitStart();
    }

    /** What members share; a folder that cannot be shared is refused here. */
    private Optional<Sharing.Shared> shared(Disk disk, ServicePath servicePath)
            throws IOException, InterruptedException {
        SharedStore.Opener opener;
        ScheduledExecutorService segments = threads(1, "store " + place.name());
        opened.push(segments::shutdownNow);
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
        opened.push(opener);
        ScheduledExecutorService bases = threads(1, "store of bases " + place.name());
        opened.push(bases::shutdownNow);
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

    /** Fresh files for each life: what waited is in its base and segments. */
    private OutboxFiles outbox(Disk disk, Birth birth) {
        Incarnation start = new Incarnation(birth, 1, random.nextLong());
        return new OutboxFiles(disk, place.folder(), start, start::equals, place.segmentBytes());
    }

    private void awaitStart() throws InterruptedException {
        long waited = 0;
        for (; ; ) {
            try {
                started.get(10, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                waited += 10;
                LOG.info(
                        "{}: no answer of {} for {} s; waiting for the head",
                        place.name(),
                        place.ensemble().orElse(""),
                        waited);
            } catch (ExecutionException e) {
                throw new ServiceException(
                        place.name() + " does not start: " + e.getCause().getMessage(),
                        e.getCause());
            }
        }
    }

    private static ScheduledExecutorService threads(int count, String name) {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        count,
                        task -> {
                            Thread thread = new Thread(task, name);
                            thread.setDaemon(true);
                            return thread;
                        });
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        return executor;
    }

    // ---- terms, on a thread of their own

    private void runTerms() {
        try {
            while (!closing) {
                Replicated life = lives.take();
                live(life);
            }
        } catch (InterruptedException e) {
            LOG.debug("{}: closed", place.name());
        }
    }

    private void live(Replicated life) throws InterruptedException {
        Engine made = null;
        try {
            long begun = System.nanoTime();
            made = Engine.open(place, constructor, life, random, this::over);
            Address address = made.listen();
            member.serves(address);
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
            if (!closing) {
                halt(place.name() + " can't serve: " + e.getMessage(), e);
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
        if (!made.end(TURN_PATIENCE)) {
            halt(
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
        if (!closing && !(why instanceof Ending.Deposed)) {
            halt(why.reason(), why.cause());
        }
    }

    /** Ends the service: no step of its term begins after this. Any thread. */
    private void halt(String reason, Throwable cause) {
        halting.halt(reason, cause);
        if (!started.completeExceptionally(new ServiceException(reason, cause))) {
            Engine now = engine;
            if (now != null) {
                now.lost(reason);
            }
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

    /** On the member's thread. */
    private final class OfMember implements Member.Lives {

        @Override
        public void begin(Replicated life) {
            lives.add(life);
            started.complete(null);
        }

        @Override
        public void over(Replicated life, String reason) {
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.complete(null);
            }
        }

        @Override
        public void notHanded(String to) {
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.completeExceptionally(
                        new ServiceException("member " + to + " was not there to take over"));
            }
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
        public void refused(String reason) {
            if (!started.completeExceptionally(new ServiceException(reason))) {
                LOG.error("{}: {}", place.name(), reason);
                halt(place.name() + " must not continue: " + reason, null);
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
                                place.name(), folder.birth().map(Birth::toString).orElse(""))
                        : now.status();
        return of.with(member.status());
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
        CompletableFuture<Void> done = new CompletableFuture<>();
        handing = done;
        boolean handed = false;
        try {
            // Turns go on until somebody could answer in this member's place.
            String successor =
                    member.successor(to).orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            now.hold(true);
            member.handOver(successor).join();
            done.orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            handed = true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(
                    place.name() + " was not handed over: " + e.getCause().getMessage(), e);
        } finally {
            handing = null;
            if (!handed) {
                now.hold(false);
            }
        }
    }

    /** Hands over where a standby is ready, then ends. */
    @Override
    public void close() {
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(TURN_PATIENCE.multipliedBy(2));
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
            member.cutAtOnce();
            long until = System.nanoTime() + TURN_PATIENCE.toNanos();
            while (member.bytesNotFinal() > 0 && System.nanoTime() - until < 0) {
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

    /** Ends all; the folder, which was opened first, once no turn can touch it. */
    private void shutDown() {
        closing = true;
        synchronized (opened) {
            if (opened.isEmpty()) {
                return;
            }
        }
        if (member != null) {
            member.close();
        }
        if (terms != null) {
            terms.interrupt();
            await(terms, TURN_PATIENCE.plusSeconds(1));
        }
        synchronized (opened) {
            while (opened.size() > 1) {
                closeNext();
            }
            if (terms != null) {
                await(terms, FOR_EVER);
            }
            while (!opened.isEmpty()) {
                closeNext();
            }
        }
    }

    private static void await(Thread thread, Duration patience) {
        boolean interrupted = false;
        long until = System.nanoTime() + patience.toNanos();
        for (long left = patience.toMillis(); left > 0 && thread.isAlive(); ) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeNext() {
        try {
            opened.pop().close();
        } catch (Exception e) {
            LOG.warn("{}: not everything of it could be closed", place.name(), e);
        }
    }
}
