package io.saucr.services.local;

import io.saucr.services.Address;
import io.saucr.services.Measures;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Link;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.ensemble.Names;
import io.saucr.services.ensemble.Office;
import io.saucr.services.http.DoorRequest;
import io.saucr.services.http.HttpDoor;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.net.Peers;
import io.saucr.services.once.Operation;
import io.saucr.services.status.StatusPage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process: its threads, its folder, its connections and its place in the
 * ensemble. One thread runs its turns, two look after its journal and two after its bases and
 * files, two make calls to the world and tend the folder; those that move frames are the process's.
 */
final class LocalService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(LocalService.class);

    private static final int CALLING_THREADS = 2;

    /** One writes a base, which may take long, and one reads what waits in files meanwhile. */
    private static final int FOLDING_THREADS = 2;

    private static final long TENDED_EVERY_MILLIS = 1_000;

    /** A turn may take long, but who looks on wants to know. */
    private static final long WAITED_SECONDS = 10;

    /** So long a client that speaks HTTP waits for its answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Closed in reverse, whatever the start came to. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private final Place place;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final SecureRandom random = new SecureRandom();
    private Finality finality;
    private Turns turns;
    private TurnLoop loop;
    private Peers peers;
    private Address address;
    private StatusPage page;
    private HttpDoor door;
    private boolean hadRoom = true;
    private boolean wasScarce;
    private Office office;
    private boolean confirming;
    private volatile Measures measures = Measures.NONE;

    private LocalService(Place place) {
        this.place = place;
    }

    static LocalService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            ForceMode force,
            Halt halt)
            throws IOException, InterruptedException {
        LocalService service = new LocalService(place);
        boolean started = false;
        try {
            service.begin(disk, constructor, force, halt);
            started = true;
            return service;
        } finally {
            if (!started) {
                service.withdraw();
                service.closeOpened();
            }
        }
    }

    /** A start of which nobody outside knows leaves no line in the folder. */
    private void withdraw() {
        if (finality == null || confirming || (office != null && office.mayBeKnown())) {
            return;
        }
        try {
            finality.withdraw();
        } catch (IOException e) {
            LOG.warn("{}: a start that was refused stays in its list of starts", place.name(), e);
        }
    }

    private void begin(
            Disk disk, Function<State, ? extends Service> constructor, ForceMode force, Halt halt)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        String name = place.name();
        finality =
                OwnDisk.open(
                        disk,
                        place.folder(),
                        name,
                        new JournalOptions(force, place.segmentBytes()),
                        random);
        opened.push(finality);
        ScheduledExecutorService folding = threads(FOLDING_THREADS, "folding " + name);
        opened.push(folding::shutdown);
        turns =
                Turns.open(
                        name,
                        constructor,
                        finality,
                        place.options().noEnsemble(OwnWrites.refusal(place)),
                        new Turns.Surroundings(
                                Runs::moment, random, folding, event -> loop.post(event)));
        loop = new TurnLoop(name, turns, halt);
        ScheduledExecutorService calling = threads(CALLING_THREADS, "calls of " + name);
        opened.push(calling::shutdownNow);
        OutputCalls calls =
                turns.outputCalls(
                        calling, (output, answer) -> loop.post(() -> turns.result(output, answer)));
        OwnWrites writes =
                new OwnWrites(
                        place,
                        turns,
                        finality,
                        (output, answer) -> loop.post(() -> turns.result(output, answer)));
        opened.push(writes);
        Optional<Names> names =
                place.ensemble()
                        .map(it -> new Names(it, place.sessionTimeout(), place.credentials()));
        names.ifPresent(opened::push);
        Links links = new Links(place, turns, names);
        // What arrives before the service has begun waits behind this.
        loop.post(() -> turns.begin(new ProcessBorder(links, calls, writes, halt)));
        peers =
                Peers.open(
                        Runs.transport(),
                        name,
                        place.net(),
                        links,
                        loop::post,
                        new Random(random.nextLong()));
        opened.push(peers);
        links.over(peers);
        address = peers.listen(place.listen());
        if (place.page().isPresent()) {
            page = new StatusPage(this, place.page().get());
            opened.push(page);
        }
        if (place.door().isPresent()) {
            door =
                    new HttpDoor(
                            name,
                            place.door().get(),
                            place.options().largestMessageBytes(),
                            PATIENCE,
                            new ByHttp());
            opened.push(door);
        }
        takeOffice();
        confirming = true;
        finality.confirm();
        finality.begin(measured(loop));
        loop.begin();
        Future<?> unused =
                calling.scheduleWithFixedDelay(
                        this::tend, 0, TENDED_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        LOG.info(
                "{} answers at {}: start {} of birth {}, recovered up to turn {} in {} ms",
                name,
                address,
                finality.incarnation().number(),
                finality.incarnation().birth(),
                turns.recovered(),
                (System.nanoTime() - begun) / 1_000_000);
    }

    private Finality.Listener measured(Finality.Listener listener) {
        return new Finality.Listener() {
            @Override
            public void finalUpTo(long turn) {
                measures.forced(finality.lastForceMicros() * 1_000);
                listener.finalUpTo(turn);
            }

            @Override
            public void failed(Throwable cause) {
                listener.failed(cause);
            }
        };
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
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return executor;
    }

    private void takeOffice() throws InterruptedException {
        if (place.ensemble().isEmpty()) {
            return;
        }
        office =
                new Office(
                        new Office.Place(
                                place.ensemble().get(),
                                place.path(place.name()),
                                Optional.of(address.toString()),
                                place.sessionTimeout(),
                                place.credentials(),
                                acls(place)),
                        finality.incarnation(),
                        finality.incarnations(),
                        finality.confirmed(),
                        finality.replaces(),
                        reason -> loop.end(reason, null));
        opened.push(office);
        try {
            office.take();
        } catch (Office.RefusedException e) {
            throw new ServiceException(place.name() + " does not start: " + e.getMessage(), e);
        }
    }

    /** With credentials all but reading is the creator's; others have to find the address. */
    static List<ACL> acls(Place place) {
        if (place.credentials().isEmpty()) {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }
        List<ACL> acls = new ArrayList<>(ZooDefs.Ids.CREATOR_ALL_ACL);
        acls.addAll(ZooDefs.Ids.READ_ACL_UNSAFE);
        return Collections.unmodifiableList(acls);
    }

    private void tend() {
        try {
            boolean room = finality.hasRoom();
            turns.room(room);
            boolean scarce = finality.isScarce();
            turns.scarce(scarce);
            if (scarce != wasScarce) {
                wasScarce = scarce;
                LOG.warn(
                        "{}: the disk of {} has {}: inputs of clients {}",
                        place.name(),
                        place.folder(),
                        scarce ? "little room" : "room again",
                        scarce ? "wait" : "are taken");
            }
            if (room != hadRoom) {
                hadRoom = room;
                if (room) {
                    LOG.info("{}: the disk has room again; inputs are taken", place.name());
                } else {
                    LOG.warn(
                            "{}: the disk of {} has no room but a reserve: no inputs are taken,"
                                    + " acks and folding go on. Make room",
                            place.name(),
                            place.folder());
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("{}: the room on the disk of {} is unknown", place.name(), place.folder(), e);
        }
    }

    @Override
    public String name() {
        return place.name();
    }

    @Override
    public Address address() {
        return address;
    }

    @Override
    public Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(StatusPage::address);
    }

    @Override
    public Optional<Address> http() {
        return Optional.ofNullable(door).map(HttpDoor::address);
    }

    @Override
    public ServiceStatus status() {
        TurnGuard.refuse("status", "ask from outside of turns");
        CompletableFuture<ServiceStatus> status = new CompletableFuture<>();
        loop.post(() -> status.complete(statusNow()));
        try {
            return status.orTimeout(WAITED_SECONDS, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            throw new ServiceException(place.name() + " does not answer: " + e.getCause(), e);
        }
    }

    @Override
    public void measure(Measures those) {
        measures = those;
        turns.measure(those);
    }

    @Override
    public void retry(long parked) {
        order("retry", () -> turns.retryParked(parked));
    }

    @Override
    public void discard(long parked) {
        order("discard", () -> turns.discardParked(parked));
    }

    @Override
    public void declareGone(String service, String birth) {
        Birth parsed = Birth.parse(birth);
        order("declareGone", () -> turns.declareGone(service, parsed));
    }

    @Override
    public void giveUp(String service) {
        order("giveUp", () -> turns.giveUp(service));
    }

    @Override
    public void resume(String channel) {
        order("resume", () -> turns.resume(channel));
    }

    /** Between two turns; waits until it is final. */
    private void order(String what, Runnable order) {
        TurnGuard.refuse(what, "it is for people, from outside of turns");
        CompletableFuture<Long> done = new CompletableFuture<>();
        loop.post(
                () -> {
                    try {
                        order.run();
                        done.complete(turns.core().newestTurn());
                    } catch (IllegalArgumentException e) {
                        done.completeExceptionally(e);
                    }
                });
        try {
            long turn = done.orTimeout(WAITED_SECONDS, TimeUnit.SECONDS).join();
            CompletableFuture<Void> isFinal = new CompletableFuture<>();
            loop.post(() -> turns.whenFinal(turn, () -> isFinal.complete(null)));
            isFinal.orTimeout(WAITED_SECONDS, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(place.name() + " does not answer: " + e.getCause(), e);
        }
    }

    private ServiceStatus statusNow() {
        ServiceCore core = turns.core();
        Incarnation self = finality.incarnation();
        long now = core.nowMillis();
        return new ServiceStatus(
                place.name(),
                address.toString(),
                self.birth().toString(),
                self.number(),
                core.newestTurn(),
                core.finalTurn(),
                finality.bytesNotFinal(),
                finality.bytesAboveBase(),
                finality.outbox().bytes(),
                finality.lastForceMicros(),
                core.duplicates(),
                core.timers(),
                core.openOutputs(),
                core.channels().stream().map(it -> channel(it, now)).toList(),
                core.parked().stream()
                        .map(
                                it ->
                                        new ServiceStatus.Parked(
                                                it.id(),
                                                it.channel(),
                                                it.body().type(),
                                                it.body().bytes().length,
                                                it.reason()))
                        .toList(),
                core.stopped(),
                core.waitsFor(),
                unreachable(core));
    }

    private Map<String, String> unreachable(ServiceCore core) {
        Map<String, String> reasons = new TreeMap<>(peers.unreachable());
        reasons.putAll(core.refusedBy());
        return reasons;
    }

    private static ServiceStatus.Channel channel(ServiceCore.Channel channel, long now) {
        return new ServiceStatus.Channel(
                channel.peer(),
                channel.outside(),
                channel.birth().map(Object::toString).orElse(""),
                channel.linked(),
                channel.sent(),
                channel.unacked(),
                channel.inFiles(),
                channel.oldestMillis() == 0 ? 0 : Math.max(0, now - channel.oldestMillis()),
                channel.consumed(),
                channel.held());
    }

    @Override
    public void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        loop.stop();
        closeOpened();
        ended.countDown();
    }

    @Override
    public void join() throws InterruptedException {
        ended.await();
    }

    private void closeOpened() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("{}: not everything of it could be closed", place.name(), e);
            }
        }
    }

    /** What comes by HTTP goes to the thread of turns. */
    private final class ByHttp implements HttpDoor.Requests {

        @Override
        public Optional<Class<?>> type(String type) {
            return turns.asked(type);
        }

        @Override
        public boolean allows(String type) {
            return place.options().allows(type, "", true);
        }

        @Override
        public Body encode(Object message) {
            return turns.encoded(message);
        }

        @Override
        public void request(DoorRequest request) {
            loop.post(() -> turns.request(request));
        }

        @Override
        public void giveUp(long id) {
            loop.post(() -> turns.giveUp(id));
        }
    }

    /** What leaves the service leaves this process. */
    private record ProcessBorder(Links links, OutputCalls calls, OwnWrites writes, Halt halt)
            implements Endpoint.Border {

        @Override
        public void send(Link link, Frame frame) {
            links.send(link, frame);
        }

        @Override
        public void flush() {
            links.flush();
        }

        @Override
        public void close(Link link, String reason) {
            links.close(link, reason);
        }

        @Override
        public void reach(String service) {
            links.reach(service);
        }

        @Override
        public void leave(String service, String reason) {
            links.leave(service, reason);
        }

        @Override
        public void call(long output, String id, Body call) {
            Optional<Operation> write = Turns.ensembleWrite(call);
            if (write.isEmpty()) {
                calls.call(output, id, call);
                return;
            }
            try {
                writes.write(output, id, write.get());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void halt(String reason) {
            halt.halt(reason, null);
        }
    }
}
