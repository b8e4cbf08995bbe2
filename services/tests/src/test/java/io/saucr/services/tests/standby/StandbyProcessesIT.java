package io.saucr.services.tests.standby;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Member;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three real members over a server of ZooKeeper, of which the primary is killed, frozen and
 * relieved.
 */
class StandbyProcessesIT {

    /** Less than members wait for whoever sends no heartbeats. */
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private static final int TICK_MILLIS = 500;

    @TempDir private Path work;

    private final List<MemberProcess> members = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private Client client;
    private long counted;

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        String place = "127.0.0.1:" + ensemble.getLocalPort() + "/registers";
        for (String name : List.of("a", "b", "c")) {
            members.add(
                    new MemberProcess(place, work.resolve(name), 2, false, 0, Member.SMALL_JVM));
        }
        client = Services.at(place).client("caller");
    }

    @AfterEach
    void end() throws Exception {
        client.close();
        for (MemberProcess each : members) {
            each.close();
        }
        ensemble.shutdown();
    }

    private List<CompletableFuture<Registers.Counted>> count(int more) {
        List<CompletableFuture<Registers.Counted>> calls = new ArrayList<>();
        for (int i = 0; i < more; i++) {
            calls.add(
                    client.ask(
                            new Registers.Count("caller", counted + i + 1),
                            Registers.Counted.class));
        }
        return calls;
    }

    private void areCounted(List<CompletableFuture<Registers.Counted>> calls) throws Exception {
        for (CompletableFuture<Registers.Counted> each : calls) {
            counted++;
            assertThat(each.get(PATIENCE.toSeconds(), SECONDS).number()).isEqualTo(counted);
        }
    }

    /** A machine under load may move the office for no other reason: who has it, has it now. */
    private MemberProcess primary(List<MemberProcess> among) {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (MemberProcess each : among) {
                                if (each.isPrimary()) {
                                    return each;
                                }
                            }
                            return null;
                        },
                        it -> it != null);
    }

    private long epoch(List<MemberProcess> among) throws IOException {
        return Long.parseLong(primary(among).status().get("epoch"));
    }

    /** All members have the same, so that each may take over. */
    private void awaitFollowers() {
        await().atMost(PATIENCE)
                .until(() -> primary(members).status().get("followers").equals("2"));
    }

    private List<MemberProcess> without(MemberProcess one) {
        return members.stream().filter(it -> it != one).toList();
    }

    private boolean handsOver() throws IOException {
        try {
            primary(members).handOver();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    @Test
    void callsGoOnWhateverBecomesOfThePrimary() throws Exception {
        areCounted(count(50));
        awaitFollowers();

        MemberProcess killed = primary(members);
        long epoch = epoch(members);
        List<CompletableFuture<Registers.Counted>> calls = count(50);
        killed.kill();
        areCounted(calls);
        assertThat(epoch(without(killed))).isGreaterThan(epoch);
        killed.start();
        awaitFollowers();

        MemberProcess frozen = primary(members);
        epoch = epoch(members);
        calls = count(50);
        frozen.freeze(true);
        areCounted(calls);
        assertThat(epoch(without(frozen))).isGreaterThan(epoch);
        frozen.freeze(false);
        awaitFollowers();

        epoch = epoch(members);
        calls = count(50);
        await().atMost(PATIENCE).until(this::handsOver);
        areCounted(calls);
        assertThat(epoch(members)).isGreaterThan(epoch);

        Registers.Books books =
                client.ask(new Registers.Ask(), Registers.Books.class)
                        .get(PATIENCE.toSeconds(), SECONDS);
        assertThat(books.counts()).containsEntry("caller", counted);
        assertThat(books.disorder()).isZero();
    }
}
