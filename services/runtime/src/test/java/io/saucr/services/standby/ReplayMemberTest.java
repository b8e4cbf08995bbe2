package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.replay.LaneHandler;
import io.saucr.services.replay.LaneMap;
import io.saucr.services.replay.LaneState;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.replay.ReplayedLanes.Reply;
import io.saucr.services.turns.Halting;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Members in this JVM with folders, links, and a head in a real ZooKeeper. */
@Timeout(180)
class ReplayMemberTest {

    private static final String HEAD = "/apps/tickets/head";
    private static final String CHALLENGE = "/apps/tickets/challenge";

    @TempDir Path work;

    private TestServer server;
    private final List<ReplayMember> members = new CopyOnWriteArrayList<>();
    private final Map<ReplayMember, Halting> haltings = new ConcurrentHashMap<>();

    /** Requests that stop half-run on the member that runs them first. */
    private final CountDownLatch halfRun = new CountDownLatch(1);

    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicBoolean differs = new AtomicBoolean();

    /** Gives tickets, one after the other, and counts those of each sender. */
    private LaneHandler tickets(LaneState state) {
        Lock lock = state.lock("next");
        LaneMap<String, Long> counts = state.map("counts", String.class, Long.class, 4);
        return (body, turn) -> {
            String what = new String(body, UTF_8);
            if (what.equals("differs") && differs.getAndSet(true)) {
                counts.put("race", 1L);
            }
            if (what.equals("free")) {
                return "0".getBytes(UTF_8);
            }
            lock.lock();
            try {
                long ticket = counts.merge("next", 1L, Long::sum);
                if (what.equals("half")) {
                    runs.incrementAndGet();
                    halfRun.await();
                }
                counts.merge(what, 1L, Long::sum);
                return Long.toString(ticket).getBytes(UTF_8);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock.unlock();
            }
        };
    }

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        halfRun.countDown();
        members.forEach(ReplayMember::close);
        server.close();
    }

    private ReplayMember member(String folder) throws Exception {
        return member(folder, new LaneCode(3, "1"));
    }

    private ReplayMember member(String folder, LaneCode code) throws Exception {
        return member(folder, code, this::tickets);
    }

    private ReplayMember member(
            String folder, LaneCode code, Function<LaneState, LaneHandler> handler)
            throws Exception {
        CompletableFuture<ReplayMember> made = new CompletableFuture<>();
        Halting halting = new Halting("tickets", (reason, cause) -> {}, () -> made.join().close());
        ReplayMember member =
                ReplayMember.start(
                        parts(
                                folder,
                                server.connect(),
                                new Address("127.0.0.1", 0),
                                code,
                                handler,
                                halting));
        haltings.put(member, halting);
        members.add(member);
        made.complete(member);
        return member;
    }

    /** Why a member stopped; empty text if it runs. */
    private String halted(ReplayMember member) {
        return haltings.get(member).reason().orElse("");
    }

    private ReplayMember start(String folder, String ensemble, Address at) throws Exception {
        return ReplayMember.start(
                parts(
                        folder,
                        ensemble,
                        at,
                        new LaneCode(3, "1"),
                        this::tickets,
                        (reason, cause) -> {
                            throw new AssertionError(reason, cause);
                        }));
    }

    private ReplayMember.Parts parts(
            String folder,
            String ensemble,
            Address at,
            LaneCode code,
            Function<LaneState, LaneHandler> handler,
            Halt halt) {
        return new ReplayMember.Parts(
                Disk.local(),
                work.resolve(folder),
                new ServicePath(
                        ensemble,
                        "/apps/tickets",
                        Optional.empty(),
                        Duration.ofSeconds(4),
                        Optional.empty(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE),
                "tickets",
                2,
                false,
                false,
                code,
                handler,
                NetOptions.plain(),
                at,
                (lanes, proofs) -> Optional.empty(),
                halt);
    }

    private void kill(ReplayMember member) {
        members.remove(member);
        member.close();
    }

    private ReplayMember primary() {
        return await().until(
                        () ->
                                members.stream()
                                        .filter(it -> it.serving().isPresent())
                                        .findFirst()
                                        .orElse(null),
                        it -> it != null);
    }

    private void awaitFollowers(int count) {
        await().until(() -> members.stream().filter(it -> it.status().linked()).count() == count);
    }

    /** Asks the primary of the moment, again and again, as a client does. */
    private long ask(long sender, long number, String what) throws Exception {
        for (; ; ) {
            ReplayedLanes lanes = primary().serving().orElse(null);
            if (lanes == null) {
                continue;
            }
            try {
                Reply reply =
                        lanes.ask(sender, number, what.getBytes(UTF_8)).get(60, TimeUnit.SECONDS);
                assertThat(reply.threw()).isFalse();
                return Long.parseLong(new String(reply.bytes(), UTF_8));
            } catch (ExecutionException | TimeoutException e) {
                assertThat(members.stream().map(this::halted)).containsOnly("");
            }
        }
    }

    @Test
    void aMemberAloneServesAndReadsItsTraceAgain() throws Exception {
        ReplayMember one = member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        kill(one);
        member("one");
        assertThat(ask(1, 2, "a")).as("X10").isEqualTo(2);
        assertThat(ask(2, 1, "a")).isEqualTo(3);
    }

    @Test
    void x9AHalfRunRequestContinuesOnAnotherMember() throws Exception {
        ReplayMember one = member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        member("two");
        awaitFollowers(1);
        // Not on trial: its channel has ended a request here.
        ReplayedLanes lanes = one.serving().orElseThrow();
        CompletableFuture<Reply> half = lanes.ask(1, 2, "half".getBytes(UTF_8));
        await().until(() -> runs.get() == 1);
        // A cut takes all that lanes have published: the lock's acquisition is in this one.
        assertThat(ask(3, 1, "free")).isZero();
        kill(one);
        assertThat(half).isCompletedExceptionally();
        halfRun.countDown();
        assertThat(ask(2, 1, "a")).as("the lock is held").isEqualTo(3);
        assertThat(ask(1, 2, "half")).isEqualTo(2);
        assertThat(runs.get()).isEqualTo(2);
    }

    /** Clients ask while one primary after the other is killed. */
    @Test
    void x4EachRequestIsHandledOnceThoughPrimariesAreKilled() throws Exception {
        for (String folder : List.of("one", "two", "three")) {
            member(folder);
        }
        primary();
        awaitFollowers(2);
        int clients = 4;
        int requests = 60;
        Set<Long> tickets = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int client = 1; client <= clients; client++) {
            int sender = client;
            done.add(
                    CompletableFuture.runAsync(
                            () -> {
                                try {
                                    for (int number = 1; number <= requests; number++) {
                                        long ticket = ask(sender, number, "client-" + sender);
                                        assertThat(tickets.add(ticket)).isTrue();
                                    }
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            },
                            task -> new Thread(task, "client " + sender).start()));
        }
        CompletableFuture<Void> all =
                CompletableFuture.allOf(done.toArray(CompletableFuture[]::new));
        int killed = 0;
        while (!all.isDone() && killed < 3) {
            int least = tickets.size() + 20;
            await().until(() -> tickets.size() >= least || all.isDone());
            ReplayMember primary = primary();
            kill(primary);
            killed++;
            member("again " + killed);
            awaitFollowers(2);
        }
        all.get(1, TimeUnit.MINUTES);
        assertThat(killed).isEqualTo(3);
        int expected = clients * requests;
        assertThat(tickets).hasSize(expected);
        assertThat(tickets).allMatch(it -> it >= 1 && it <= expected);
    }

    private static void awaitApplied(ReplayMember follower, ReplayMember primary) {
        await().until(() -> follower.status().applied() == primary.status().segment());
    }

    @Test
    void x14AMemberThatDiffersStoresUntilItHasLoadedASnapshot() throws Exception {
        ReplayMember one = member("one");
        primary();
        ReplayMember two = member("two");
        awaitFollowers(1);
        ask(1, 1, "differs");
        // While a request is open there is no quiet cut, and so no snapshot.
        ReplayedLanes lanes = one.serving().orElseThrow();
        CompletableFuture<Reply> half = lanes.ask(5, 1, "half".getBytes(UTF_8));
        await().until(() -> runs.get() == 1);
        await().until(() -> !two.status().differs().isEmpty());
        assertThat(two.status().differs()).contains("request 1 in lane 1");
        assertThat(two.status().lacks())
                .startsWith("a snapshot of the primary as of segment ")
                .contains("its state differs", "request 1 in lane 1");
        assertThat(two.status().ready()).isFalse();
        assertThat(two.status().divergences()).isEqualTo(1);
        assertThat(ask(6, 1, "free")).as("the service continues").isZero();
        await().until(() -> two.status().stored() == one.status().segment());
        assertThat(two.status().applied()).as("it only stores").isZero();

        halfRun.countDown();
        half.get(1, TimeUnit.MINUTES);
        await().until(() -> two.status().differs().isEmpty());
        assertThat(two.snapshot()).isPositive();
        awaitApplied(two, one);
        await().until(() -> two.status().ready());
        assertThat(two.status().divergences()).isEqualTo(1);
        assertThat(ask(1, 2, "a")).isEqualTo(3);
        kill(one);
        assertThat(ask(1, 2, "a")).as("X10").isEqualTo(3);
        assertThat(ask(1, 3, "a")).isEqualTo(4);
        assertThat(halted(two)).isEmpty();
    }

    /**
     * Scenario 5 of a race: a counter that members do not share decides which lock a handler takes.
     */
    @Test
    void x14ARaceThatChoosesAnotherLockIsFoundAndRepaired() throws Exception {
        CountDownLatch laterCounted = new CountDownLatch(1);
        AtomicInteger made = new AtomicInteger();
        Function<LaneState, LaneHandler> racy =
                state -> {
                    List<Lock> locks = state.locks("slice", 2);
                    LaneMap<String, Long> counts = state.map("counts", String.class, Long.class, 4);
                    boolean primary = made.getAndIncrement() == 0;
                    AtomicInteger hidden = new AtomicInteger();
                    CountDownLatch earlierCounted = new CountDownLatch(1);
                    return (body, turn) -> {
                        String what = new String(body, UTF_8);
                        try {
                            if (primary && what.equals("earlier")) {
                                runs.incrementAndGet();
                                laterCounted.await();
                            } else if (!primary && what.equals("later")) {
                                earlierCounted.await();
                            }
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                        Lock lock = locks.get(hidden.getAndIncrement() % 2);
                        if (what.equals("earlier")) {
                            earlierCounted.countDown();
                        } else {
                            laterCounted.countDown();
                        }
                        lock.lock();
                        try {
                            return Long.toString(counts.merge(what, 1L, Long::sum)).getBytes(UTF_8);
                        } finally {
                            lock.unlock();
                        }
                    };
                };
        ReplayMember one = member("one", new LaneCode(2, "1"), racy);
        primary();
        ReplayMember two = member("two", new LaneCode(2, "1"), racy);
        awaitFollowers(1);
        ReplayedLanes lanes = one.serving().orElseThrow();
        CompletableFuture<Reply> earlier = lanes.ask(1, 1, "earlier".getBytes(UTF_8));
        await().until(() -> runs.get() == 1);
        assertThat(ask(2, 1, "later")).isEqualTo(1);
        earlier.get(1, TimeUnit.MINUTES);
        await().until(() -> two.status().divergences() == 1);
        await().until(() -> two.status().differs().isEmpty());
        awaitApplied(two, one);
        kill(one);
        assertThat(ask(1, 1, "earlier")).as("X10").isEqualTo(1);
        assertThat(ask(1, 2, "earlier")).isEqualTo(2);
    }

    /** Nobody is left: the own trace leads to another state, and the primary's is lost. */
    @Test
    void x14AMemberWhoseOwnTraceDiffersDoesNotTakeOver() throws Exception {
        ReplayMember one = member("one");
        ask(1, 1, "differs");
        ask(1, 2, "a");
        kill(one);
        ReplayMember again = member("one");
        await().until(() -> !again.status().differs().isEmpty());
        assertThat(again.status().lacks()).contains("a snapshot of the primary", "request 1");
        assertThat(again.serving()).isEmpty();
        assertThat(halted(again)).isEmpty();
    }

    @Test
    void x14AMemberThatDiffersAsItTakesOverStops() throws Exception {
        CountDownLatch isPrimary = new CountDownLatch(1);
        Function<LaneState, LaneHandler> differs =
                state -> {
                    LaneMap<String, Long> counts = state.map("counts", String.class, Long.class, 4);
                    return (body, turn) -> {
                        if (runs.incrementAndGet() == 2) {
                            try {
                                isPrimary.await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                            counts.put("race", 1L);
                        }
                        return Long.toString(counts.merge("a", 1L, Long::sum)).getBytes(UTF_8);
                    };
                };
        ReplayMember one = member("one", new LaneCode(2, "1"), differs);
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two", new LaneCode(2, "1"), differs);
        awaitFollowers(1);
        await().until(() -> runs.get() == 2);
        kill(one);
        await().until(() -> two.status().role().equals("primary"));
        isPrimary.countDown();
        await().until(() -> !halted(two).isEmpty());
        assertThat(halted(two)).contains("request 1");
        members.remove(two);
        // Another one replays as the primary did.
        member("one", new LaneCode(2, "1"), differs);
        assertThat(ask(1, 1, "a")).as("X10").isEqualTo(1);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
    }

    /** Threads of members in this JVM that this class has not closed. */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(it -> it.endsWith(" tickets"))
                .toList();
    }

    @Test
    void aStartThatFailsReleasesWhatItTook() throws Exception {
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Address address = new Address("127.0.0.1", taken.getLocalPort());
            assertThatThrownBy(() -> start("one", server.connect(), address))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(Integer.toString(taken.getLocalPort()));
        }
        await().until(() -> threads().isEmpty());
        member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
    }

    @Test
    void aStartThatIsInterruptedReleasesWhatItTook() throws Exception {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread starts =
                new Thread(
                        () -> {
                            try {
                                ReplayMember unused =
                                        start("one", "127.0.0.1:1", new Address("127.0.0.1", 0));
                                ended.complete(new AssertionError("it started"));
                            } catch (Throwable e) {
                                ended.complete(e);
                            }
                        });
        starts.start();
        // It waits for an ensemble that does not answer.
        await().until(() -> threads().contains("terms tickets"));
        starts.interrupt();
        assertThat(ended.get(1, TimeUnit.MINUTES)).isInstanceOf(InterruptedException.class);
        await().until(() -> threads().isEmpty());
        member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
    }

    /** The head is another member's, which a primary sees once it is challenged. */
    private void depose() throws Exception {
        ZooKeeper zk = new ZooKeeper(server.connect(), 10_000, event -> {});
        try {
            StandbyHead head = StandbyHead.decode(zk.getData(HEAD, false, null));
            String other = "0123456789abcdef";
            SortedSet<String> holders = new TreeSet<>(head.holders());
            holders.add(other);
            StandbyHead taken =
                    new StandbyHead(
                            new Incarnation(head.holder().birth(), head.holder().number() + 1, 7),
                            other,
                            "127.0.0.1:1",
                            head.segment(),
                            head.turn(),
                            holders,
                            head.copies(),
                            Optional.empty(),
                            head.replaces(),
                            head.lanes());
            zk.setData(HEAD, taken.encode(), -1);
            if (zk.exists(CHALLENGE, false) == null) {
                zk.create(CHALLENGE, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, PERSISTENT);
            } else {
                zk.setData(CHALLENGE, new byte[0], -1);
            }
        } finally {
            zk.close();
        }
    }

    @Test
    void x18AMemberThatIsDeposedAsItTakesOverFollowsAgain() throws Exception {
        AtomicBoolean isSlow = new AtomicBoolean();
        CountDownLatch continues = new CountDownLatch(1);
        LaneCode code = new LaneCode(2, "1");
        ReplayMember one = member("one", code, slow(new AtomicBoolean(), continues));
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two", code, slow(isSlow, continues));
        awaitFollowers(1);
        await().until(() -> two.status().ready());
        isSlow.set(true);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        await().until(() -> two.status().stored() == one.status().segment());
        kill(one);
        // It waits for the replay of the second request.
        await().until(() -> two.status().role().equals("primary"));
        depose();
        await().until(() -> !two.status().role().equals("primary"));
        continues.countDown();
        assertThat(ask(1, 2, "a")).as("X10").isEqualTo(2);
        assertThat(ask(1, 3, "a")).isEqualTo(3);
        assertThat(halted(two)).isEmpty();
    }

    /** A handler that waits while its member is to be slow. */
    private static Function<LaneState, LaneHandler> slow(
            AtomicBoolean slow, CountDownLatch continues) {
        return state -> {
            LaneMap<String, Long> counts = state.map("counts", String.class, Long.class, 4);
            return (body, turn) -> {
                if (slow.get()) {
                    try {
                        continues.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                String what = new String(body, UTF_8);
                return Long.toString(counts.merge(what, 1L, Long::sum)).getBytes(UTF_8);
            };
        };
    }

    @Test
    void x16ThePrimaryWaitsForItsOnlyStandbyAndNotForASlowerOne() throws Exception {
        AtomicBoolean isSlow = new AtomicBoolean();
        CountDownLatch continues = new CountDownLatch(1);
        LaneCode code = new LaneCode(2, "1");
        ReplayMember one = member("one", code, slow(new AtomicBoolean(), continues));
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two", code, slow(new AtomicBoolean(), continues));
        ReplayMember three = member("three", code, slow(isSlow, continues));
        awaitFollowers(2);
        awaitApplied(three, one);
        await().until(() -> three.status().ready());
        isSlow.set(true);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        await().until(() -> three.status().stored() == one.status().segment());
        // The other one is fast.
        for (int number = 3; number < 20; number++) {
            assertThat(ask(1, number, "a")).isEqualTo(number);
        }
        await().until(() -> one.status().millisBehind() <= 1_000);
        kill(two);
        await().until(() -> one.status().millisBehind() > 1_000);
        CompletableFuture<Reply> held = one.serving().orElseThrow().ask(1, 20, "a".getBytes(UTF_8));
        continues.countDown();
        assertThat(new String(held.get(1, TimeUnit.MINUTES).bytes(), UTF_8)).isEqualTo("20");
        await().until(() -> one.status().millisBehind() == 0);
    }

    @Test
    void x16AMemberTakesOverOnceItIsAtMostASecondBehind() throws Exception {
        AtomicBoolean isSlow = new AtomicBoolean(true);
        CountDownLatch continues = new CountDownLatch(1);
        LaneCode code = new LaneCode(2, "1");
        ReplayMember one = member("one", code, slow(new AtomicBoolean(), continues));
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two", code, slow(isSlow, continues));
        // It would be waited for, if it were the only one.
        ReplayMember three = member("three", code, slow(new AtomicBoolean(), continues));
        awaitFollowers(2);
        int[] number = {1};
        await().until(
                        () -> {
                            number[0]++;
                            assertThat(ask(1, number[0], "a")).isEqualTo(number[0]);
                            return two.status().millisBehind() > 1_000;
                        });
        await().until(() -> two.status().stored() == one.status().segment());
        kill(three);
        kill(one);
        await().until(() -> !two.status().linked());
        assertThat(two.status().role()).isEqualTo("standby");
        continues.countDown();
        assertThat(ask(1, number[0], "a")).as("X10").isEqualTo(number[0]);
        assertThat(ask(1, number[0] + 1, "a")).isEqualTo(number[0] + 1);
    }

    @Test
    void x9AHandOverContinuesAHalfRunRequest() throws Exception {
        ReplayMember one = member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two");
        awaitFollowers(1);
        await().until(() -> two.status().ready());
        ReplayedLanes lanes = one.serving().orElseThrow();
        CompletableFuture<Reply> half = lanes.ask(1, 2, "half".getBytes(UTF_8));
        await().until(() -> runs.get() == 1);
        // Its lock is recorded.
        assertThat(ask(3, 1, "free")).isZero();
        one.handOver(Optional.of(two.status().member()));
        await().until(() -> two.status().role().equals("primary"));
        assertThat(half).isCompletedExceptionally();
        halfRun.countDown();
        assertThat(ask(1, 2, "half")).isEqualTo(2);
        assertThat(ask(2, 1, "a")).isEqualTo(3);
        await().until(() -> one.status().linked());
        assertThat(halted(one)).isEmpty();
        assertThat(two.status().epoch()).isEqualTo(2);
        // And back.
        await().until(() -> one.status().ready());
        two.handOver(Optional.empty());
        await().until(() -> one.status().role().equals("primary"));
        assertThat(ask(1, 2, "half")).as("X10").isEqualTo(2);
        assertThat(ask(2, 2, "a")).isEqualTo(4);
    }

    @Test
    void aHandOverToAMemberThatIsNotReadyChangesNothing() throws Exception {
        ReplayMember one = member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        assertThatThrownBy(() -> one.handOver(Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no member is ready to take over");
        assertThatThrownBy(() -> one.handOver(Optional.of("0123456789abcdef")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not linked");
        ReplayMember two = member("two");
        awaitFollowers(1);
        assertThatThrownBy(() -> two.handOver(Optional.empty()))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("is not primary");
        assertThat(ask(1, 2, "a")).isEqualTo(2);
    }

    /** A snapshot of all that this member's head names. */
    private void quietCut(ReplayMember primary) {
        long before = primary.snapshot();
        primary.serving().orElseThrow().quietSoon();
        await().until(() -> primary.snapshot() > before);
        await().until(() -> primary.snapshot() == primary.status().segment());
    }

    @Test
    void x13EachMemberKeepsASnapshotOfAQuietCut() throws Exception {
        ReplayMember one = member("one");
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        ReplayMember two = member("two");
        awaitFollowers(1);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        quietCut(one);
        await().until(() -> two.snapshot() == one.snapshot());
        assertThat(ask(2, 1, "a")).as("requests begin again").isEqualTo(3);
        quietCut(one);
        quietCut(one);
        await().until(() -> two.snapshot() == one.snapshot());
        assertThat(ask(2, 2, "a")).isEqualTo(4);
        kill(one);
        assertThat(ask(1, 2, "a")).as("X10, behind a snapshot").isEqualTo(2);
        assertThat(ask(1, 3, "a")).isEqualTo(5);
        kill(two);
        // The trace up to the older snapshot is let go.
        ReplayMember again = member("two");
        assertThat(ask(2, 2, "a")).isEqualTo(4);
        assertThat(ask(2, 3, "a")).isEqualTo(6);
        assertThat(again.snapshot()).isPositive();
    }

    @Test
    void x13AnEmptyMemberBeginsWithASnapshot() throws Exception {
        ReplayMember one = member("one");
        for (int number = 1; number <= 3; number++) {
            assertThat(ask(1, number, "a")).isEqualTo(number);
            quietCut(one);
        }
        assertThat(ask(1, 4, "a")).isEqualTo(4);
        ReplayMember two = member("two");
        awaitFollowers(1);
        assertThat(ask(1, 5, "a")).isEqualTo(5);
        await().until(() -> two.status().stored() == one.status().segment());
        assertThat(two.snapshot()).isPositive();
        kill(one);
        assertThat(ask(1, 5, "a")).isEqualTo(5);
        assertThat(ask(1, 6, "a")).isEqualTo(6);
    }

    @Test
    void x17AMemberOfOtherCodeStoresAndTakesOverFromASnapshot() throws Exception {
        ReplayMember one = member("one");
        ReplayMember two = member("two");
        primary();
        awaitFollowers(1);
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        kill(two);
        ReplayMember other = member("two", new LaneCode(2, "2"));
        awaitFollowers(1);
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        await().until(() -> other.status().stored() == one.status().segment());
        kill(one);
        await().until(() -> other.status().lacks().contains("a snapshot as of segment"));
        assertThat(other.status().lacks())
                .contains("code 1 in 3 lanes recorded", "this member has code 2 in 2 lanes");
        assertThat(other.serving()).isEmpty();
        kill(other);
        // What knows the code goes on, and keeps a snapshot before it ends.
        ReplayMember again = member("one");
        assertThat(ask(1, 3, "a")).isEqualTo(3);
        quietCut(again);
        kill(again);
        member("one", new LaneCode(2, "2"));
        assertThat(ask(1, 3, "a")).isEqualTo(3);
        assertThat(ask(2, 1, "a")).isEqualTo(4);
    }

    @Test
    void x17ATraceOfOtherCodeIsNotReplayed() throws Exception {
        ReplayMember one = member("one");
        ReplayMember two = member("two");
        primary();
        awaitFollowers(1);
        assertThat(ask(1, 1, "a")).isEqualTo(1);
        await().until(() -> two.status().stored() == one.status().segment());
        kill(two);
        quietCut(one);
        kill(one);
        // It takes over from its snapshot; the other one has none, and the trace of the former
        // code.
        member("one", new LaneCode(2, "2"));
        assertThat(ask(1, 2, "a")).isEqualTo(2);
        ReplayMember late;
        try {
            late = member("two", new LaneCode(2, "2"));
            await().until(() -> !halted(late).isEmpty());
            assertThat(halted(late)).contains("recorded by code 1 in 3 lanes", "empty folder");
            members.remove(late);
        } catch (ServiceException e) {
            assertThat(e).hasMessageContaining("recorded by code 1 in 3 lanes");
        }
        assertThat(ask(1, 3, "a")).as("the service continues").isEqualTo(3);
    }
}
