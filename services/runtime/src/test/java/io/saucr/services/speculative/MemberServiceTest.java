package io.saucr.services.speculative;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Caller;
import io.saucr.services.Client;
import io.saucr.services.GroupStatus;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.client.BirthClient;
import io.saucr.services.client.PlainClient;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.Vertex;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.local.LocalService;
import io.saucr.services.net.Awaited;
import io.saucr.services.turns.Guard.Speculation.Taking;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.SilentFor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Services of one group in one process, with a server of ZooKeeper, disks that can be held up and
 * lose what was not synced: messages between members leave before they are on disk, all else waits,
 * and after a loss exactly what depended on it is undone (D1 to D16).
 */
class MemberServiceTest {

    private static final String GROUP = "/groups/travel";
    private static final Duration SOON = Duration.ofMillis(400);

    @TempDir Path work;

    private TestServer server;
    private final List<AutoCloseable> open = Collections.synchronizedList(new ArrayList<>());

    /** What handlers ran, those of turns that were undone included: "service id". */
    private final Map<String, Integer> handled = new ConcurrentHashMap<>();

    /** Calls to the world by "service id" and the id of the call. */
    private final Map<String, Integer> charged = new ConcurrentHashMap<>();

    /** Book that, at the next ones in this order. */
    public record Book(int id, List<String> next) {}

    /** That is booked everywhere. */
    public record Booked(int id) {}

    /** Charge for it. */
    public record Charge(int id) {}

    /** What is booked? */
    public record Asked() {}

    /** That is, in this order. */
    public record Bookings(List<Integer> ids) {}

    /** Books, and passes on. */
    private final class Bookable implements Service {

        private final String name;
        private final ListState<Integer> booked;
        private final MapState<Integer, Caller> callers;

        Bookable(String name, State state) {
            this.name = name;
            booked = state.list("booked", Integer.class);
            callers = state.map("callers", Integer.class, Caller.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Book.class,
                    (book, turn) -> {
                        booked.add(book.id());
                        turn.output(new Charge(book.id()));
                        if (book.next().isEmpty()) {
                            turn.reply(new Booked(book.id()));
                        } else {
                            callers.put(book.id(), turn.detach());
                            List<String> rest = book.next().subList(1, book.next().size());
                            turn.send(book.next().get(0), new Book(book.id(), rest));
                        }
                        handled.merge(name + " " + book.id(), 1, Integer::sum);
                    });
            on.message(
                    Booked.class,
                    (it, turn) -> {
                        turn.reply(callers.remove(it.id()), it);
                        handled.merge(name + " booked " + it.id(), 1, Integer::sum);
                    });
            on.output(
                    Charge.class,
                    (charge, id) -> {
                        charged.merge(name + " " + charge.id() + " " + id, 1, Integer::sum);
                        return null;
                    });
            on.query(
                    Asked.class,
                    (asked, turn) -> {
                        List<Integer> all = new ArrayList<>();
                        booked.forEach(all::add);
                        return new Bookings(all);
                    });
        }
    }

    /** A service with its disk, through its processes. */
    private final class Member {

        final String name;
        final HeldDisk disk;
        MemberService service;

        /** Of the process that runs. */
        CompletableFuture<String> halted;

        Member(String name) throws Exception {
            this.name = name;
            disk = new HeldDisk(name.hashCode());
            start();
            open.add(this::close);
        }

        void start() throws Exception {
            CompletableFuture<String> its = new CompletableFuture<>();
            halted = its;
            service =
                    MemberService.start(
                            disk,
                            place(name),
                            state -> new Bookable(name, state),
                            options,
                            (reason, cause) -> its.complete(reason));
        }

        /** As when the power fails: what is not synced is lost, or a part of it is. */
        void kill() {
            disk.halt();
            // Else it would leave its group.
            if (service != null) {
                service.guard().deposed("the power fails");
            }
            close();
            disk.simulated.powerFails();
        }

        void close() {
            disk.release();
            if (service != null) {
                service.close();
                service = null;
            }
        }

        List<Integer> booked() throws Exception {
            Client asks = new PlainClient(place(name));
            try {
                return asks.ask(new Asked(), Bookings.class).get(30, TimeUnit.SECONDS).ids();
            } finally {
                asks.close();
            }
        }
    }

    // ---- places

    private static NetOptions soon() {
        NetOptions plain = SilentFor.options(SOON);
        return new NetOptions(
                plain.frameBytes(),
                plain.unsentBytes(),
                plain.untakenBytes(),
                plain.connections(),
                plain.strangers(),
                plain.connectTimeout(),
                plain.helloTimeout(),
                plain.silence(),
                Duration.ofMillis(1),
                Duration.ofMillis(20),
                Optional.empty());
    }

    private Place place(String name) {
        return Place.at(server.connect() + "/apps/" + name, Optional.empty())
                .withFolder(Path.of("/simulated/" + name))
                .withListen(new Address("127.0.0.1", 0))
                .withNet(soon())
                .withSegmentBytes(16 << 10)
                .withSessionTimeout(Duration.ofSeconds(4))
                .withOptions(TurnOptions.standard().foldBytes(foldBytes));
    }

    private ServicePath group() {
        return new ServicePath(
                server.connect(),
                GROUP,
                Optional.empty(),
                Duration.ofSeconds(4),
                Optional.empty(),
                ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    private long foldBytes = 64 << 20;
    private Duration calm = Duration.ZERO;
    private MemberGuard.Options options;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        options = options(false, Duration.ofMinutes(5));
    }

    private MemberGuard.Options options(boolean off, Duration lag) {
        return new MemberGuard.Options(
                group(),
                new Address("127.0.0.1", 0),
                soon(),
                new GroupMember.Timing(SOON, Duration.ofMinutes(5)),
                Duration.ofMillis(2),
                off,
                lag,
                calm);
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    // ---- one member

    private CompletableFuture<Booked> book(Client at, int id, String... next) {
        return at.ask(new Book(id, List.of(next)), Booked.class);
    }

    private Client client(String service) throws IOException {
        Client client = new PlainClient(place(service));
        open.add(client);
        return client;
    }

    /** One that asks again over another link. */
    private Client named(String name, String service) throws IOException {
        Client client = BirthClient.open(place(service), name, Optional.empty());
        open.add(client);
        return client;
    }

    private void awaitHandled(String what) {
        Awaited.until(what + " was handled", () -> handled.containsKey(what));
    }

    private static Booked get(CompletableFuture<Booked> call) throws Exception {
        return call.get(30, TimeUnit.SECONDS);
    }

    @Test
    void d7WhatLeavesALoneMemberWaitsForItsOwnDisk() throws Exception {
        Member trips = new Member("trips");
        Client ann = client("trips");
        get(book(ann, 1));
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2);
        awaitHandled("trips 2");
        Awaited.until("its disk is waited for", trips.disk::isWaitedFor);
        CompletableFuture<Bookings> seen = ann.ask(new Asked(), Bookings.class);
        assertThat(second).isNotDone();
        assertThat(seen).isNotDone();
        assertThat(charged.keySet()).noneMatch(it -> it.startsWith("trips 2 "));
        trips.disk.release();
        assertThat(get(second)).isEqualTo(new Booked(2));
        assertThat(seen.get(30, TimeUnit.SECONDS).ids()).containsExactly(1, 2);
        Awaited.until("both are charged", () -> charged.size() == 2);
    }

    @Test
    void d5WhatIsFinalIsThereAfterAPowerCutAndWhatIsNotNeverWas() throws Exception {
        Member trips = new Member("trips");
        Client ann = named("ann", "trips");
        for (int id = 1; id <= 20; id++) {
            get(book(ann, id));
        }
        trips.disk.hold();
        CompletableFuture<Booked> last = book(ann, 21);
        awaitHandled("trips 21");
        trips.kill();
        assertThat(last).isNotDone();
        trips.start();
        get(last);
        assertThat(trips.booked()).isEqualTo(IntStream.rangeClosed(1, 21).boxed().toList());
        Awaited.until("all are charged", () -> charged.size() >= 21);
        assertThat(charged.keySet()).extracting(it -> it.split(" ")[1]).doesNotHaveDuplicates();
    }

    /** Without a coordinator nothing is announced; what is final by its own disk never stops. */
    @Test
    void d14VersionsThatAreFinalByTheirOwnFsyncDoNotCount() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        // Who joins coordinates.
        Awaited.until("hotels coordinates", () -> hotels.service.guard().coordinates());
        Client ann = client("trips");
        get(book(ann, 0));
        server.stop();
        hotels.kill();
        for (int id = 1; id <= 2 * MemberGuard.MOST_NOT_FINAL; id++) {
            get(book(ann, id));
        }
        assertThat(trips.service.guard().isSpeculating()).isFalse();
    }

    /** Else what a start says of itself would be as long as its journal. */
    @Test
    void d14AStartListsFewVersionsThoughItsJournalHasMany() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = client("trips");
        int most = MemberGuard.MOST_NOT_FINAL + MemberGuard.NOTED_AFTER;
        int next = 1;
        Deque<CompletableFuture<Booked>> asked = new ArrayDeque<>();
        while (hotels.service.guard().status().finalVersion() < 2L * most) {
            asked.add(book(ann, next++, "hotels"));
            if (asked.size() > 8) {
                get(asked.remove());
            }
        }
        for (CompletableFuture<Booked> each : asked) {
            get(each);
        }
        hotels.kill();
        JournalOptions options = new JournalOptions(ForceMode.always(), 16 << 10);
        Path path = Path.of("/simulated/hotels");
        try (ServiceFolder folder =
                        ServiceFolder.openMember(
                                hotels.disk, path, "hotels", GROUP, new SecureRandom());
                VersionLog log = VersionLog.open(folder, GROUP, options)) {
            Listing listing = log.versions(1).listing();
            assertThat(log.newest()).isGreaterThanOrEqualTo(2L * most);
            assertThat(listing.base()).isPositive();
            assertThat(listing.versions().size()).isLessThanOrEqualTo(most);
            int[] versions = new int[1];
            log.turns((turn, bytes) -> versions[0]++);
            assertThat(versions[0]).isGreaterThan(most);
        }
        hotels.start();
        assertThat(hotels.booked()).hasSize(next - 1).isEqualTo(trips.booked());
    }

    @Test
    void d14NoInputIsTakenBeyondAsManyVersionsThatAreNotFinal() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = client("trips");
        Client bob = client("hotels");
        get(book(ann, 1, "hotels"));
        trips.disk.hold();
        CompletableFuture<Booked> waits = book(ann, 2, "hotels");
        awaitHandled("hotels 2");
        List<CompletableFuture<Booked>> behind = new ArrayList<>();
        int next = 3;
        while (hotels.service.guard().bytesNotFinal() < Long.MAX_VALUE) {
            assertThat(next).isLessThan(10 * MemberGuard.MOST_NOT_FINAL);
            int id = next++;
            behind.add(book(bob, id));
            Awaited.until(
                    "it is handled, or none is any more",
                    () ->
                            handled.containsKey("hotels " + id)
                                    || hotels.service.guard().bytesNotFinal() == Long.MAX_VALUE);
        }
        int last = next++;
        behind.add(book(bob, last));
        assertThat(next).isGreaterThan(MemberGuard.MOST_NOT_FINAL);
        assertThat(handled).doesNotContainKey("hotels " + last);
        trips.disk.release();
        get(waits);
        for (CompletableFuture<Booked> each : behind) {
            get(each);
        }
        assertThat(hotels.booked()).isEqualTo(IntStream.range(1, next).boxed().toList());
    }

    @Test
    void aMemberThatLeftIsBackWithoutADecision() throws Exception {
        Member trips = new Member("trips");
        Client ann = named("ann", "trips");
        get(book(ann, 1));
        trips.service.close();
        trips.start();
        get(book(ann, 2));
        assertThat(trips.service.guard().world()).isEqualTo(1);
        assertThat(trips.booked()).containsExactly(1, 2);
    }

    /** K10: snapshots are of ends of versions, and later lives begin from them. */
    @Test
    void snapshotsLetRecordsGoAndAreReadBack() throws Exception {
        foldBytes = 1 << 10;
        Member trips = new Member("trips");
        Client ann = named("ann", "trips");
        for (int id = 1; id <= 100; id++) {
            get(book(ann, id));
        }
        Awaited.until(
                "a snapshot is there", () -> trips.service.guard().bytesAboveBase() < 8 << 10);
        trips.kill();
        trips.start();
        get(book(ann, 101));
        assertThat(trips.booked()).isEqualTo(IntStream.rangeClosed(1, 101).boxed().toList());
    }

    @Test
    void k8AFailedFsyncHaltsTheService() throws Exception {
        Member trips = new Member("trips");
        Client ann = named("ann", "trips");
        get(book(ann, 1));
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2);
        awaitHandled("trips 2");
        trips.disk.halt();
        Awaited.until("it halts", () -> trips.service.halted().isPresent());
        assertThat(trips.service.halted().get()).contains("turns can no longer be made final");
        assertThat(second).isNotDone();
        trips.service.close();
        trips.disk.simulated.powerFails();
        trips.start();
        get(second);
        assertThat(trips.booked()).containsExactly(1, 2);
    }

    /** Each call to the disk fails once, in one process after the other. */
    @Test
    void k8WhateverCallToTheDiskFailsNothingThatWasToldIsLost() throws Exception {
        Member trips = new Member("trips");
        Client ann = named("ann", "trips");
        get(book(ann, 1));
        int next = 2;
        int failed = 0;
        for (int call = 1; failed == call - 1; call++) {
            trips.close();
            trips.disk.simulated.restarted();
            trips.disk.simulated.failAt(call);
            CompletableFuture<Booked> told = book(ann, next++);
            try {
                trips.start();
                CompletableFuture<?> either = CompletableFuture.anyOf(told, trips.halted);
                either.get(30, TimeUnit.SECONDS);
            } catch (IOException | ServiceException e) {
                assertThat(e).hasMessageContaining("simulated failure");
            }
            failed += trips.disk.simulated.failed().isEmpty() ? 0 : 1;
            trips.kill();
            trips.start();
            get(told);
        }
        assertThat(failed).isGreaterThan(10);
        assertThat(trips.booked()).isEqualTo(IntStream.range(1, next).boxed().toList());
    }

    @Test
    void theFolderOfAMemberIsRefusedByLocal() throws Exception {
        Member trips = new Member("trips");
        get(book(client("trips"), 1));
        trips.service.close();
        Disk disk = trips.disk;
        Place place = place("trips");
        assertThatThrownBy(
                        () ->
                                LocalService.start(
                                        disk,
                                        place,
                                        state -> new Bookable("trips", state),
                                        Protection.local().force(ForceMode.always()),
                                        (reason, cause) -> {}))
                .hasMessageContaining(GROUP);
    }

    // ---- several members

    @Test
    void d2MessagesBetweenMembersLeaveBeforeTheyAreOnDiskAndNothingElseDoes() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = client("trips");
        // Both have to know their pair.
        get(book(ann, 1, "hotels"));
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2, "hotels");
        // The answer of hotels came back, too, while nothing of trips is on disk.
        awaitHandled("trips booked 2");
        Awaited.until("a disk is waited for", trips.disk::isWaitedFor);
        Client bob = client("hotels");
        // What took nothing of it does not wait behind it, as it is asked first.
        CompletableFuture<Bookings> seen = bob.ask(new Asked(), Bookings.class);
        assertThat(second).isNotDone();
        assertThat(seen).isNotDone();
        assertThat(charged.keySet()).noneMatch(it -> it.contains(" 2 "));
        trips.disk.release();
        assertThat(get(second)).isEqualTo(new Booked(2));
        assertThat(seen.get(30, TimeUnit.SECONDS).ids()).containsExactly(1, 2);
        Awaited.until("all are charged", () -> charged.size() == 4);
        assertThat(hotels.service.guard().rollbacks()).isZero();
    }

    @Test
    void d4MessagesOfAnotherWorldAreNotTakenAndThoseOfNoMemberAreRefused() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        get(book(client("trips"), 1, "hotels"));
        MemberGuard guard = trips.service.guard();
        assertThat(guard.world()).isEqualTo(1);
        assertThat(guard.heard("hotels", message(1, 2))).isEqualTo(Taking.DROPPED);
        assertThat(guard.heard("hotels", message(1, 1))).isEqualTo(Taking.TAKEN);
        assertThat(guard.heard("hotels", message(0, 1))).isEqualTo(Taking.REFUSED);
        assertThat(guard.heard("trips", message(0, 1))).isEqualTo(Taking.REFUSED);
        assertThat(guard.heard("planes", message(2, 1))).isEqualTo(Taking.REFUSED);
        assertThat(hotels.service.guard().heard("trips", message(0, 1))).isEqualTo(Taking.TAKEN);
    }

    private static Frame.Tagged message(int member, long world) {
        Body body = new Body("none", new byte[0]);
        return new Frame.Tagged(
                new Vertex(member, world, 1), new Frame.Msg(9, 0, Optional.empty(), body));
    }

    @Test
    void d10NothingOfAWorldIsSaidBeforeThePassageToItIsOnDisk() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        get(book(client("trips"), 1, "hotels"));
        hotels.disk.hold();
        trips.kill();
        trips.start();
        MemberGuard guard = hotels.service.guard();
        Awaited.until("hotels hears the decision", () -> guard.world() == 2);
        Awaited.until("its disk is waited for", hotels.disk::isWaitedFor);
        assertThat(guard.listing()).isEmpty();
        CompletableFuture<Booked> second = book(named("bob", "hotels"), 2);
        // Another member is not held up by that.
        assertThat(trips.booked()).containsExactly(1);
        assertThat(guard.listing()).isEmpty();
        assertThat(second).isNotDone();
        hotels.disk.release();
        assertThat(get(second)).isEqualTo(new Booked(2));
        assertThat(guard.listing()).isPresent();
    }

    @Test
    void d16WhileItIsOffMessagesWaitUntilTheyAreFinal() throws Exception {
        options = options(true, Duration.ofMinutes(5));
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = client("trips");
        get(book(ann, 1, "hotels"));
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2, "hotels");
        awaitHandled("trips 2");
        Awaited.until("a disk is waited for", trips.disk::isWaitedFor);
        get(book(client("hotels"), 3));
        assertThat(handled).doesNotContainKey("hotels 2");
        trips.disk.release();
        get(second);
        assertThat(hotels.booked()).containsExactly(1, 3, 2);
    }

    /** Nobody would decide what is undone, or say what is final. */
    @Test
    void d16WhileNoCoordinatorHearsItMessagesWait() throws Exception {
        options = options(false, Duration.ofMinutes(5));
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Member cars = new Member("cars");
        // Who joins coordinates.
        Awaited.until(
                "cars coordinates",
                () -> cars.service.guard().coordinates() && !hotels.service.guard().coordinates());
        Client ann = client("trips");
        get(book(ann, 1, "hotels"));
        Client bob = client("hotels");
        get(book(bob, 2));
        Awaited.until("cars hears it", () -> trips.service.guard().isSpeculating());
        server.stop();
        cars.kill();
        Awaited.until("nobody hears it", () -> !trips.service.guard().isSpeculating());
        trips.disk.hold();
        CompletableFuture<Booked> third = book(ann, 3, "hotels");
        awaitHandled("trips 3");
        Awaited.until("a disk is waited for", trips.disk::isWaitedFor);
        get(book(bob, 4));
        assertThat(handled).doesNotContainKey("hotels 3");
        trips.disk.release();
        get(third);
        assertThat(bob.ask(new Asked(), Bookings.class).get(30, TimeUnit.SECONDS).ids())
                .containsExactly(1, 2, 4, 3);
    }

    @Test
    void d16WhileTheBoundaryLagsMessagesWait() throws Exception {
        options = options(false, SOON);
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = client("trips");
        get(book(ann, 1, "hotels"));
        assertThat(trips.service.guard().isSpeculating()).isTrue();
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2, "hotels");
        Awaited.until("it lags", () -> !trips.service.guard().isSpeculating());
        CompletableFuture<Booked> third = book(ann, 3, "hotels");
        awaitHandled("trips 3");
        CompletableFuture<Booked> fourth = book(client("hotels"), 4);
        awaitHandled("hotels 4");
        assertThat(handled).doesNotContainKey("hotels 3");
        trips.disk.release();
        get(second);
        get(third);
        get(fourth);
        assertThat(trips.service.guard().isSpeculating()).isTrue();
        assertThat(hotels.booked()).containsExactlyInAnyOrder(1, 2, 3, 4);
    }

    @Test
    void d16AfterAStartThatWasAFailureMessagesWait() throws Exception {
        calm = Duration.ofMinutes(5);
        options = options(false, Duration.ofMinutes(5));
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = named("ann", "trips");
        get(book(ann, 1, "hotels"));
        assertThat(trips.service.guard().isSpeculating()).isTrue();
        trips.kill();
        trips.start();
        get(book(ann, 2, "hotels"));
        assertThat(trips.service.guard().isSpeculating()).isFalse();
        assertThat(hotels.service.guard().isSpeculating()).isTrue();
        // A start that had left is no failure.
        trips.close();
        trips.start();
        get(book(ann, 3, "hotels"));
        assertThat(trips.service.guard().isSpeculating()).isTrue();
    }

    @Test
    void d11ALossUndoesWhatDependedOnItAndNothingElse() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Member cars = new Member("cars");
        Client ann = named("ann", "trips");
        get(book(ann, 1, "hotels", "cars"));
        Client bob = named("bob", "hotels");
        get(book(bob, 100));
        trips.disk.hold();
        CompletableFuture<Booked> second = book(ann, 2, "hotels", "cars");
        awaitHandled("trips booked 2");
        // It takes nothing speculative, but runs behind what did.
        CompletableFuture<Booked> behind = book(bob, 101);
        awaitHandled("hotels 101");
        trips.kill();
        assertThat(second).isNotDone();
        assertThat(behind).isNotDone();
        trips.start();
        get(second);
        get(behind);
        assertThat(hotels.service.guard().rollbacks()).isEqualTo(1);
        assertThat(cars.service.guard().rollbacks()).isEqualTo(1);
        for (Member each : List.of(trips, hotels, cars)) {
            assertThat(each.service.guard().world()).as(each.name).isEqualTo(2);
        }
        assertThat(trips.booked()).containsExactly(1, 2);
        assertThat(hotels.booked()).containsExactlyInAnyOrder(1, 100, 2, 101).startsWith(1, 100);
        assertThat(cars.booked()).containsExactly(1, 2);
        assertThat(handled.get("hotels 2")).isEqualTo(2);
        Awaited.until("all are charged, each with one id", () -> charged.size() >= 8);
        assertThat(charged).hasSize(8);
        GroupStatus of = hotels.service.status().group();
        assertThat(of.group()).isEqualTo(GROUP);
        assertThat(of.members()).containsExactly("trips", "hotels", "cars");
        assertThat(of.world()).isEqualTo(2);
        assertThat(of.rollbacks()).isEqualTo(1);
        // Of ann's booking, its answer from cars, and of bob's.
        assertThat(of.undoneTurns()).isGreaterThanOrEqualTo(3);
        assertThat(cars.service.status().group().undoneTurns()).isPositive();
        assertThat(trips.service.status().group().undoneTurns()).isZero();
        Awaited.until("all of it is final", () -> hotels.service.status().group().notFinal() == 0);
        assertThat(List.of(trips, hotels, cars))
                .filteredOn(it -> it.service.status().group().coordinates())
                .extracting(it -> it.name)
                .containsExactly(of.coordinator());
        assertThat(undoneLog(hotels))
                .contains(
                        " world 2: turns ", " are undone, as version ", " of trips, which has kept")
                .contains(": message 2 of trips; had sent 1 to cars, calls: 1\n");
        assertThat(trips.disk.exists(folder(trips).resolve(UndoneLog.NAME))).isFalse();
    }

    private static Path folder(Member of) {
        return Path.of("/simulated/" + of.name);
    }

    private static String undoneLog(Member of) throws IOException {
        try (Disk.File file = of.disk.open(folder(of).resolve(UndoneLog.NAME))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) file.size());
            file.read(bytes, 0);
            return new String(bytes.array(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void whatWasSyncedIsNotUndoneThoughItWasNotReported() throws Exception {
        Member trips = new Member("trips");
        Member hotels = new Member("hotels");
        Client ann = named("ann", "trips");
        get(book(ann, 1, "hotels"));
        trips.kill();
        trips.start();
        get(book(ann, 2, "hotels"));
        assertThat(hotels.service.guard().rollbacks()).isZero();
        assertThat(handled.values()).containsOnly(1);
        assertThat(hotels.booked()).containsExactly(1, 2);
    }

    /** Chains of bookings go through all members, each of which is killed in turn. */
    @Test
    void membersAreKilledAgainAndAgain() throws Exception {
        foldBytes = 2 << 10;
        Map<String, Member> members =
                Map.of(
                        "trips", new Member("trips"),
                        "hotels", new Member("hotels"),
                        "cars", new Member("cars"));
        Client ann = named("ann", "trips");
        Client bob = named("bob", "cars");
        get(book(ann, 1, "hotels", "cars"));
        get(book(bob, 1_000, "hotels", "trips"));
        List<CompletableFuture<Booked>> calls = new ArrayList<>();
        int next = 2;
        List<String> order = List.of("trips", "hotels", "cars", "hotels", "trips", "cars");
        for (String name : order) {
            Member dies = members.get(name);
            for (int count = 0; count < 10; count++, next++) {
                calls.add(book(ann, next, "hotels", "cars"));
                calls.add(book(bob, 1_000 + next, "hotels", "trips"));
            }
            dies.disk.hold();
            calls.add(book(ann, next++, "hotels", "cars"));
            Awaited.until("something of it is not on disk", dies.disk::isWaitedFor);
            dies.kill();
            dies.start();
        }
        for (CompletableFuture<Booked> each : calls) {
            get(each);
        }
        List<Integer> anns = IntStream.range(1, next).boxed().toList();
        for (Member each : members.values()) {
            List<Integer> all = each.booked();
            assertThat(all).as(each.name).doesNotHaveDuplicates();
            assertThat(all.stream().filter(it -> it < 1_000)).as(each.name).isEqualTo(anns);
            assertThat(all.stream().filter(it -> it >= 1_000)).isSorted();
            assertThat(all).hasSize(next - 1 + 1 + 10 * order.size());
        }
        int outputs = 3 * (next - 1 + 1 + 10 * order.size());
        Awaited.until("all are charged", () -> charged.size() >= outputs);
        assertThat(charged).hasSize(outputs);
    }
}
