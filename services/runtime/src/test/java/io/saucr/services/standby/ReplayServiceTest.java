package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.saucr.services.Address;
import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.MemberStatus;
import io.saucr.services.Protection;
import io.saucr.services.Query;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForwardingDisk;
import io.saucr.services.metrics.ServiceMetrics;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a user of {@link Protection#replay} sees: members in this JVM, and clients over sockets. */
@Timeout(180)
class ReplayServiceTest {

    /** Takes a ticket. */
    record Take(String who) implements Asks<Ticket> {}

    record Ticket(long number, long taken) {}

    /** Returns only while another one runs. */
    record Meet() implements Asks<Ticket> {}

    record Fail() implements Asks<Ticket> {}

    record Unknown() implements Asks<Ticket> {}

    /** Needs more stack than there is. */
    record Deep() implements Asks<Ticket> {}

    record Look(String who) implements Query<Ticket> {}

    record Wrong() implements Query<Ticket> {}

    @TempDir Path work;

    private TestServer server;
    private final List<RunningService> running = new ArrayList<>();
    private final CyclicBarrier meeting = new CyclicBarrier(2);

    /** Gives tickets. */
    private final class Tickets implements LaneService {

        private final Lock lock;
        private final LaneMap<String, Long> counts;

        Tickets(LaneState state) {
            lock = state.lock("tickets");
            counts = state.map("counts", String.class, Long.class);
        }

        @Override
        public void handlers(LaneHandlers on) {
            on.message(Take.class, (take, turn) -> take(take.who()));
            on.message(
                    Meet.class,
                    (meet, turn) -> {
                        meeting.await(60, SECONDS);
                        return new Ticket(0, 0);
                    });
            on.message(
                    Fail.class,
                    (fail, turn) -> {
                        take("failed");
                        throw new IllegalStateException("this one fails");
                    });
            on.message(Deep.class, (deep, turn) -> deep(0));
            on.query(Look.class, query -> look(query.who()));
            on.query(Wrong.class, query -> take("a query"));
        }

        private Ticket deep(long depth) {
            if (depth == Long.MAX_VALUE) {
                return new Ticket(0, depth);
            }
            Ticket below = deep(depth + 1);
            return new Ticket(below.number() + 1, depth);
        }

        private Ticket look(String who) {
            lock.lock();
            try {
                return new Ticket(counts.getOrDefault("next", 0L), counts.getOrDefault(who, 0L));
            } finally {
                lock.unlock();
            }
        }

        private Ticket take(String who) {
            lock.lock();
            try {
                return new Ticket(
                        counts.merge("next", 1L, Long::sum), counts.merge(who, 1L, Long::sum));
            } finally {
                lock.unlock();
            }
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        running.forEach(RunningService::close);
        server.close();
    }

    private Services at(String folder) {
        return Services.at(server.connect() + "/apps/tickets")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService member(String folder, String code) throws Exception {
        RunningService member = at(folder).run(Tickets::new, Protection.replay(2, code));
        running.add(member);
        return member;
    }

    private static Ticket ask(Client client, Asks<Ticket> message) throws Exception {
        return client.ask(message).get(60, SECONDS);
    }

    private static void awaitRole(RunningService member, String role) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> member.status().member().role().equals(role));
    }

    @Test
    void anotherMemberGoesOnWithTheState() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        try (Client client = at("client").client()) {
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(1, 1));
            RunningService two = member("two", "1");
            await().until(() -> two.status().member().linked());
            assertThat(one.status().member().replays())
                    .isEqualTo("code 1-jdk" + Runtime.version().feature() + " in 2 lanes");
            assertThat(ask(client, new Take("bob"))).isEqualTo(new Ticket(2, 1));
            one.close();
            awaitRole(two, "primary");
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(3, 2));
        }
    }

    @Test
    void handlersRunInParallel() throws Exception {
        awaitRole(member("one", "1"), "primary");
        try (Client client = at("client").client()) {
            CompletableFuture<Ticket> first = client.ask(new Meet());
            assertThat(ask(client, new Meet())).isEqualTo(new Ticket(0, 0));
            assertThat(first.get(60, SECONDS)).isEqualTo(new Ticket(0, 0));
        }
    }

    @Test
    void x12ARequestThatFailsIsRefusedAndWhatItChangedStays() throws Exception {
        awaitRole(member("one", "1"), "primary");
        try (Client client = at("client").client()) {
            assertThatThrownBy(() -> ask(client, new Fail()))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("its handler failed, and what it changed before");
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(2, 1));
            assertThatThrownBy(() -> ask(client, new Unknown()))
                    .hasMessageContaining("no handler takes messages of type Unknown");
        }
    }

    @Test
    void metricsSayHowLongRequestsTakeAndHowAMemberFares() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (Client client = at("client").client();
                ServiceMetrics metrics = new ServiceMetrics(one, Duration.ofMillis(50))) {
            metrics.bindTo(registry);
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(1, 1));
            assertThatThrownBy(() -> ask(client, new Fail()))
                    .isInstanceOf(ExecutionException.class);
            assertThat(registry.get("saucr.services.turn.run").timer().count()).isEqualTo(2);
            assertThat(registry.get("saucr.services.turn.failed").counter().count()).isEqualTo(1);
            await().until(() -> registry.get("saucr.services.turn.final").timer().count() == 2);
            await().until(() -> registry.get("saucr.services.member.primary").gauge().value() == 1);
            assertThat(registry.get("saucr.services.member.quarantined").gauge().value()).isZero();
            assertThat(registry.get("saucr.services.member.divergences").functionCounter().count())
                    .isZero();
        }
    }

    @Test
    void x15QueriesAreAnsweredByAnyMember() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        RunningService two = member("two", "1");
        await().until(() -> two.status().member().linked());
        try (Client client = at("client").client()) {
            for (int times = 1; times <= 20; times++) {
                assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(times, times));
                // A client that was answered sees it.
                assertThat(ask(client, new Look("ann"))).isEqualTo(new Ticket(times, times));
                assertThat(one.query(new Look("ann"), 0)).isEqualTo(new Ticket(times, times));
                long segment = one.status().member().segment();
                assertThat(two.query(new Look("ann"), segment)).isEqualTo(new Ticket(times, times));
            }
            assertThatThrownBy(() -> ask(client, new Wrong()))
                    .hasMessageContaining("map counts in a query");
            assertThatThrownBy(() -> two.query(new Wrong(), 0))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining("map counts in a query");
            assertThat(two.query(new Look("ann"), 0)).isEqualTo(new Ticket(20, 20));
            one.close();
            awaitRole(two, "primary");
            assertThat(ask(client, new Look("ann"))).isEqualTo(new Ticket(20, 20));
        }
    }

    /** Reads a clock in a handler. */
    private static final class Clocked implements LaneService {

        private final LaneMap<String, Long> counts;

        Clocked(LaneState state) {
            counts = state.map("counts", String.class, Long.class);
        }

        @Override
        public void handlers(LaneHandlers on) {
            on.message(
                    Take.class,
                    (take, turn) -> {
                        long nanos = System.nanoTime();
                        counts.put("nanos", nanos);
                        return new Ticket(nanos, 0);
                    });
        }
    }

    @Test
    void codeThatCanNotBeReplayedIsRefusedUnlessItIsNotLookedAt() throws Exception {
        Protection.Replay replay = Protection.replay(2, "1");
        assertThatThrownBy(() -> at("none").run(Clocked::new, replay))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ReplayServiceTest$Clocked does what another member would")
                .hasMessageContaining("Clocked.lambda$handlers$")
                .hasMessageContaining("calls System.nanoTime(): take turn.nowMillis()")
                .hasMessageContaining("withoutScan()");
        assertThat(work.resolve("none")).doesNotExist();
        RunningService one = at("one").run(Clocked::new, replay.withoutScan());
        running.add(one);
        awaitRole(one, "primary");
        RunningService two = at("two").run(Clocked::new, replay.withoutScan());
        running.add(two);
        await().until(() -> two.status().member().linked());
        try (Client client = at("client").client()) {
            assertThat(ask(client, new Take("ann")).number()).isNotZero();
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> two.status().member().divergences() == 1);
    }

    /** More requests than there are channels wait, and each has its own ticket. */
    @Test
    void manyRequestsAreAnsweredOnceEach() throws Exception {
        awaitRole(member("one", "1"), "primary");
        int count = 3 * LaneFront.CHANNELS;
        try (Client client = at("client").client()) {
            List<CompletableFuture<Ticket>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.add(client.ask(new Take("ann")));
            }
            List<Long> numbers = new ArrayList<>();
            for (CompletableFuture<Ticket> each : all) {
                numbers.add(each.get(60, SECONDS).number());
            }
            assertThat(numbers).doesNotHaveDuplicates();
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(count + 1, count + 1));
        }
    }

    /** Clients that ask meanwhile are answered, by the one or by the other. */
    @Test
    void aPrimaryHandsOverAndBack() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        RunningService two = member("two", "1");
        await().atMost(Duration.ofMinutes(1)).until(() -> two.status().member().ready());
        try (Client client = at("client").client()) {
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(1, 1));
            one.handOver(Optional.of(two.status().member().member()));
            awaitRole(two, "primary");
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(2, 2));
            await().atMost(Duration.ofMinutes(1)).until(() -> one.status().member().ready());
            // It hands over as it closes.
            two.close();
            awaitRole(one, "primary");
            assertThat(one.status().member().epoch()).isEqualTo(3);
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(3, 3));
            assertThatThrownBy(() -> one.handOver(Optional.empty()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no member is ready");
        }
    }

    @Test
    void strictAndFastAreSettingsOfReplayToo() throws Exception {
        Protection.Replay strict = Protection.replay(2, "1").strict();
        RunningService one = at("one").run(Tickets::new, strict);
        running.add(one);
        awaitRole(one, "primary");
        try (Client client = at("client").client()) {
            CompletableFuture<Ticket> waits = client.ask(new Take("ann"));
            await().until(() -> one.status().member().waitingMillis() > 0);
            assertThat(waits).as("nobody else has it").isNotDone();
            RunningService two = at("two").run(Tickets::new, strict.fast());
            running.add(two);
            assertThat(waits.get(60, SECONDS)).isEqualTo(new Ticket(1, 1));
            await().until(() -> one.status().member().copies().equals("forced"));
        }
        assertThatThrownBy(() -> Protection.replay(2, "1").copies(1).fast())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 copies or more, not 1");
    }

    /** A disk whose fsyncs fail when they are to. */
    private static final class FaultyDisk extends ForwardingDisk {

        private volatile boolean fails;

        FaultyDisk() {
            super(Disk.local());
        }

        @Override
        protected void beforeForce() {
            if (fails) {
                throw new UncheckedIOException(new IOException("no such device"));
            }
        }
    }

    /** What the owner of a service hears when it halts. */
    private record Heard(String reason, Throwable cause) {}

    private final BlockingQueue<Heard> halts = new LinkedBlockingQueue<>();

    private RunningService onDisk(Disk disk, String folder, Protection.Replay protection)
            throws Exception {
        Place place =
                Place.at(server.connect() + "/apps/tickets", Optional.empty())
                        .withFolder(work.resolve(folder));
        RunningService member =
                ReplayService.start(
                        disk,
                        place,
                        Tickets::new,
                        protection,
                        (reason, cause) -> halts.add(new Heard(reason, cause)));
        running.add(member);
        return member;
    }

    /** C15: two members that have written a segment suffice. */
    @Test
    void c15TheHeadNamesWhatAFastMemberHasNotSynced() throws Exception {
        Protection.Replay fast = Protection.replay(2, "1").strict().fast();
        RunningService one = at("one").run(Tickets::new, fast);
        running.add(one);
        awaitRole(one, "primary");
        RunningService two = at("two").run(Tickets::new, fast);
        running.add(two);
        String member = two.status().member().member();
        try (Client client = at("client").client()) {
            await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> {
                                assertThat(ask(client, new Take("ann")).number()).isPositive();
                                MemberStatus now = one.status().member();
                                return now.followers().getOrDefault(member, Long.MAX_VALUE)
                                        < now.segment();
                            });
        }
    }

    @Test
    void k8TheOwnerHearsTheCauseIfTheDiskFails() throws Exception {
        FaultyDisk disk = new FaultyDisk();
        RunningService one = onDisk(disk, "one", Protection.replay(2, "1"));
        awaitRole(one, "primary");
        try (Client client = at("client").client()) {
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(1, 1));
            disk.fails = true;
            CompletableFuture<Ticket> waits = client.ask(new Take("ann"));
            Heard heard = halts.poll(60, SECONDS);
            assertThat(heard.reason())
                    .startsWith("tickets halts: the folder " + work.resolve("one") + " failed")
                    .contains("fix the disk");
            assertThat(heard.cause()).hasRootCauseMessage("no such device");
            assertThatThrownBy(one::join)
                    .isInstanceOf(ServiceException.class)
                    .hasMessage(heard.reason());
            assertThat(one.halted()).hasValue(heard.reason());
            one.close();
            disk.fails = false;
            RunningService again = onDisk(disk, "one", Protection.replay(2, "1"));
            awaitRole(again, "primary");
            assertThatThrownBy(() -> waits.get(60, SECONDS))
                    .hasMessageContaining("it is unknown whether it was consumed");
            assertThat(ask(client, new Take("bob")).number()).isBetween(2L, 3L);
            assertThat(again.halted()).isEmpty();
            assertThat(halts).isEmpty();
        }
    }

    @Test
    void x12TheOwnerHearsTheCauseIfALaneHasNoStack() throws Exception {
        RunningService one = onDisk(Disk.local(), "one", Protection.replay(2, "1"));
        awaitRole(one, "primary");
        try (Client client = at("client").client()) {
            CompletableFuture<Ticket> unanswered = client.ask(new Deep());
            Heard heard = halts.poll(60, SECONDS);
            assertThat(heard.reason()).contains("a lane failed");
            assertThat(heard.cause()).isInstanceOf(StackOverflowError.class);
            one.close();
            assertThatThrownBy(() -> unanswered.get(60, SECONDS))
                    .hasMessageContaining("it is unknown whether it was consumed");
        }
    }

    @Test
    void aStartThatIsRefusedHasReleasedItsFolder() throws Exception {
        RunningService turns = at("one").run(state -> on -> {}, Protection.standby());
        running.add(turns);
        awaitRole(turns, "primary");
        for (int times = 0; times < 5; times++) {
            assertThatThrownBy(() -> at("two").run(Tickets::new, Protection.replay(2, "1")))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining("tickets does not start: ")
                    .hasMessageContaining("this member would replay");
        }
    }

    /** A primary that is closed keeps a snapshot, from which other code begins. */
    @Test
    void x17AnotherReleaseBeginsWithTheSnapshotOfTheOneThatWasClosed() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        try (Client client = at("client").client()) {
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(1, 1));
            one.close();
            RunningService other = member("one", "2");
            awaitRole(other, "primary");
            assertThat(other.status().member().replays()).startsWith("code 2-jdk");
            assertThat(ask(client, new Take("ann"))).isEqualTo(new Ticket(2, 2));
        }
    }

    @Test
    void aMemberOfAnotherProtectionIsRefusedAndHalts() throws Exception {
        awaitRole(member("one", "1"), "primary");
        assertThatThrownBy(() -> at("two").run(state -> on -> {}, Protection.standby()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("this member would take turns");
    }

    @Test
    void aServiceThatIsNotSupportedIsRefusedBeforeAnythingIsMade() {
        Map<String, Services> places =
                Map.of(
                        "allow(...)", at("none").allow(Take.class, "x"),
                        "checkingValues()", at("none").checkingValues(),
                        "foldBytes(...)", at("none").foldBytes(1 << 20),
                        "outboxBytes(...)", at("none").outboxBytes(1 << 20),
                        "partitioned(...)", at("none").partitioned("other", 2));
        places.forEach(
                (setting, at) ->
                        assertThatThrownBy(() -> at.run(Tickets::new, Protection.replay(2, "1")))
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessageContaining("does not support " + setting));
        refused(on -> {}, "has no handler");
        refused(on -> on.message(Look.class, (look, turn) -> look), "is a Query");
        refused(
                on -> {
                    on.query(Look.class, look -> look);
                    on.query(Look.class, look -> look);
                },
                "have a handler already");
        refused(on -> on.message(String.class, (text, turn) -> text), "is not a record");
        refused(
                on -> {
                    on.message(Take.class, (take, turn) -> take);
                    on.message(Take.class, (take, turn) -> take);
                },
                "have a handler already");
        assertThatThrownBy(
                        () ->
                                Services.without("tickets", Map.of())
                                        .folder(work.resolve("none"))
                                        .run(Tickets::new, Protection.replay(2, "1")))
                .hasMessageContaining("needs an ensemble");
        assertThat(work.resolve("none")).doesNotExist();
        assertThatThrownBy(() -> Protection.replay(0, "1")).hasMessageContaining("not 0");
        assertThatThrownBy(() -> Protection.replay(65, "1")).hasMessageContaining("1 to 64 lanes");
        assertThatThrownBy(() -> Protection.replay(1, "a b")).hasMessageContaining("not \"a b\"");
        assertThatThrownBy(() -> Protection.replay(1, null)).hasMessageContaining("not null");
        assertThatThrownBy(() -> Protection.replay(1, "1").copies(0)).hasMessageContaining("not 0");
    }

    private void refused(Consumer<LaneHandlers> handlers, String says) {
        assertThatThrownBy(
                        () -> at("none").run(state -> handlers::accept, Protection.replay(2, "1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(says);
    }

    @Test
    void commandsThatAreNotSupportedAreRefused() throws Exception {
        RunningService one = member("one", "1");
        for (Consumer<RunningService> command :
                List.<Consumer<RunningService>>of(
                        it -> it.retry(1),
                        it -> it.discard(1),
                        it -> it.declareLost("a", "b"),
                        it -> it.returnUndelivered("a"),
                        it -> it.resume("a"))) {
            assertThatThrownBy(() -> command.accept(one))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining("runs with Protection.replay, which does not support");
        }
    }

    @Test
    void itEndsOnceItIsClosed() throws Exception {
        RunningService one = member("one", "1");
        awaitRole(one, "primary");
        CountDownLatch joined = new CountDownLatch(1);
        Thread waits =
                new Thread(
                        () -> {
                            try {
                                one.join();
                                joined.countDown();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        });
        waits.start();
        one.close();
        one.close();
        assertThat(joined.await(60, SECONDS)).isTrue();
        assertThat(one.halted()).isEmpty();
    }
}
