package io.saucr.services.tests.standby;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Lost;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Member;
import io.saucr.services.tests.once.ClientLine;
import io.saucr.services.tests.once.Fate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two real members whose turns write to the ensemble: whatever becomes of the primary, each write
 * is made once, in order, and its outcome is told once (E1 to E6, C7).
 */
class StandbyWritesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final int TICK_MILLIS = 500;
    private static final int MARKS = 16;

    @TempDir private Path work;

    private final List<MemberProcess> members = new ArrayList<>();
    private final AtomicReference<Runnable> held = new AtomicReference<>();
    private NIOServerCnxnFactory ensemble;
    private ClientLine line;
    private ZooKeeper zooKeeper;
    private Client client;
    private long marked;

    @BeforeEach
    void start() throws Exception {
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        String servers = "127.0.0.1:" + ensemble.getLocalPort();
        CountDownLatch connected = new CountDownLatch(1);
        zooKeeper =
                new ZooKeeper(
                        servers,
                        10_000,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        assertThat(connected.await(PATIENCE.toSeconds(), SECONDS)).isTrue();
        String unused =
                zooKeeper.create(
                        Registers.MARKS,
                        new byte[0],
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
        line =
                new ClientLine(
                        "127.0.0.1",
                        servers,
                        request -> {
                            boolean writes =
                                    request.contains("/once/registers/m-")
                                            && request.contains(Registers.MARKS);
                            Runnable then = writes ? held.getAndSet(null) : null;
                            return then == null ? Fate.PASS : Fate.of(Fate.Kind.HOLD).and(then);
                        });
    }

    private void start(boolean fast, long everyMillis) throws IOException {
        String place = line.connectString() + "/registers";
        for (String name : List.of("a", "b")) {
            members.add(
                    new MemberProcess(
                            place, work.resolve(name), 2, fast, everyMillis, Member.SMALL_JVM));
        }
        client = Services.at(place).client("caller");
        client.onLost(reply -> Lost.Decision.REPEAT);
    }

    @AfterEach
    void end() throws Exception {
        if (client != null) {
            client.close();
        }
        for (MemberProcess each : members) {
            each.close();
        }
        line.close();
        zooKeeper.close();
        ensemble.shutdown();
    }

    private List<CompletableFuture<Registers.Counted>> mark() {
        List<CompletableFuture<Registers.Counted>> calls = new ArrayList<>();
        for (int i = 1; i <= MARKS; i++) {
            calls.add(
                    client.ask(new Registers.Mark("caller", marked + i), Registers.Counted.class));
        }
        return calls;
    }

    private void areMarked(List<CompletableFuture<Registers.Counted>> calls) throws Exception {
        for (CompletableFuture<Registers.Counted> each : calls) {
            marked++;
            assertThat(each.get(PATIENCE.toSeconds(), SECONDS).number()).isEqualTo(marked);
        }
    }

    /** Whoever is in office while the other one follows. */
    private MemberProcess primary() {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (MemberProcess each : members) {
                                if (each.isPrimary()
                                        && each.status().get("followers").equals("1")) {
                                    return each;
                                }
                            }
                            return null;
                        },
                        it -> it != null);
    }

    private boolean handsOver() throws IOException {
        try {
            primary().handOver();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** Every mark that was acknowledged was made once, in order, and its outcomes are told. */
    private void assertEachIsMadeOnce() throws Exception {
        await().atMost(PATIENCE)
                .untilAsserted(
                        () ->
                                assertThat(
                                                client.ask(
                                                                new Registers.AskMarks(),
                                                                Registers.Marked.class)
                                                        .get(PATIENCE.toSeconds(), SECONDS))
                                        .isEqualTo(new Registers.Marked(3 * marked, 0)));
        Stat stat = new Stat();
        byte[] last = zooKeeper.getData(Registers.MARKS, false, stat);
        assertThat(stat.getVersion()).isEqualTo((int) marked);
        assertThat(new String(last, UTF_8)).isEqualTo(Long.toString(marked));
        List<String> children = zooKeeper.getChildren(Registers.MARKS, false);
        List<String> inOrder = new ArrayList<>();
        for (String name : children.stream().filter(it -> it.startsWith("m-")).sorted().toList()) {
            inOrder.add(
                    new String(
                            zooKeeper.getData(Registers.MARKS + "/" + name, false, null), UTF_8));
        }
        assertThat(inOrder)
                .isEqualTo(LongStream.rangeClosed(1, marked).mapToObj(Long::toString).toList());
        assertThat(children).hasSize((int) (2 * marked));
        assertThat(zooKeeper.getChildren("/once/registers", false)).hasSize(1);
        Registers.Books books =
                client.ask(new Registers.Ask(), Registers.Books.class)
                        .get(PATIENCE.toSeconds(), SECONDS);
        assertThat(books.counts()).containsEntry("caller", marked);
        assertThat(books.disorder()).isZero();
    }

    private void strike(int rounds) throws Exception {
        for (int round = 0; round < rounds; round++) {
            MemberProcess killed = primary();
            List<CompletableFuture<Registers.Counted>> calls = mark();
            // Some are written, the others are not.
            calls.get(MARKS / 2).get(PATIENCE.toSeconds(), SECONDS);
            killed.kill();
            areMarked(calls);
            killed.start();

            MemberProcess frozen = primary();
            calls = mark();
            calls.get(MARKS / 2).get(PATIENCE.toSeconds(), SECONDS);
            frozen.freeze(true);
            areMarked(calls);
            frozen.freeze(false);

            calls = mark();
            await().atMost(PATIENCE).until(this::handsOver);
            areMarked(calls);
        }
    }

    @Test
    void eachWriteIsMadeOnceWhateverBecomesOfThePrimary() throws Exception {
        start(false, 0);
        strike(1);
        assertEachIsMadeOnce();
    }

    /** Replies leave before the head covers them, and may be lost; writes wait for it (C7). */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"false, 0", "false, 200", "true, 0", "true, 200"})
    void eachWriteIsMadeOnceHoweverOften(boolean fast, long everyMillis) throws Exception {
        start(fast, everyMillis);
        strike(5);
        assertEachIsMadeOnce();
    }

    /** What a primary had sent comes to the servers behind its successor's writes (E3). */
    @Test
    void whatWasUnderWayHappensNoMoreOnceASuccessorWrites() throws Exception {
        start(false, 0);
        MemberProcess killed = primary();
        CountDownLatch dead = new CountDownLatch(1);
        held.set(
                () -> {
                    killed.kill();
                    dead.countDown();
                });
        List<CompletableFuture<Registers.Counted>> calls = mark();
        assertThat(dead.await(PATIENCE.toSeconds(), SECONDS)).isTrue();
        areMarked(calls);
        assertEachIsMadeOnce();

        assertThat(line.held()).isPositive();
        assertThat(line.release()).isNotEmpty().doesNotContain(0);
        assertEachIsMadeOnce();
        areMarked(mark());
        assertEachIsMadeOnce();
    }
}
