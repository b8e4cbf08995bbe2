package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock ZooKeeper from its released artifacts as an ensemble of processes. */
@Tag("slow")
class StockEnsembleTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final byte[] DATA = "value".getBytes(StandardCharsets.UTF_8);

    @TempDir Path work;

    private static void create(ZooKeeper client, String path) throws Exception {
        client.create(path, DATA, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @Test
    void everyWriteWaitsForOneDelayedForcePerServer() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        try (Ensemble ensemble =
                Ensemble.of(Distribution.stock(), work).disk(LoopbackHosting.Disk.SHIM).build()) {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            ClientSession client = ClientSession.connected(ensemble.connectString(), PATIENCE);
            for (int i = 0; i < 50; i++) {
                create(client, "/warm-" + i);
            }
            for (int id = 1; id <= 3; id++) {
                ensemble.shim(id).orElseThrow().delay(Duration.ofMillis(10));
            }
            create(client, "/slow");
            FsyncShim leader = ensemble.shim(ensemble.awaitLeader(PATIENCE)).orElseThrow();
            FsyncShim.Forces before = leader.forces();
            Duration timeBefore = leader.timeInForces();
            long start = System.nanoTime();
            int writes = 50;
            for (int i = 0; i < writes; i++) {
                create(client, "/node-" + i);
            }
            Duration perWrite = Duration.ofNanos((System.nanoTime() - start) / writes);
            // The quorum's second force may come after the answer, so let the counters settle.
            Awaitility.await()
                    .until(() -> leader.forces().since(before).transactionLog() >= writes);
            long forces = leader.forces().since(before).transactionLog();
            Duration perForce = leader.timeInForces().minus(timeBefore).dividedBy(forces);
            System.out.println(
                    "10 ms delay: "
                            + perWrite.toNanos() / 1000
                            + " us per write, "
                            + perForce.toNanos() / 1000
                            + " us per force, "
                            + forces
                            + " forces");
            assertThat(perWrite).isGreaterThanOrEqualTo(Duration.ofMillis(10));
            assertThat(perForce).isGreaterThanOrEqualTo(Duration.ofMillis(10));
            assertThat(forces).isBetween((long) writes, writes + 3L);
            client.close();
        }
    }

    @Test
    void killPauseAndRestartAndWhatTheServersSayOfThemselves() throws Exception {
        try (Ensemble ensemble = Ensemble.of(Distribution.stock(), work).build()) {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            int leader = ensemble.awaitLeader(PATIENCE);
            ServerProcess follower = ensemble.server(leader % 3 + 1);
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> "follower".equals(follower.mntr().get("zk_server_state")));
            follower.pause();
            assertThat(follower.role()).isEmpty();
            assertThat(follower.isAlive()).isTrue();
            follower.resume();
            Awaitility.await().atMost(PATIENCE).until(() -> follower.role().equals("follower"));
            ensemble.server(leader).kill();
            Awaitility.await().atMost(PATIENCE).until(() -> ensemble.leader().isPresent());
            assertThatThrownBy(() -> follower.start()).isInstanceOf(IllegalStateException.class);
            ensemble.server(leader).start();
            ensemble.awaitServing(PATIENCE);
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> ensemble.server(leader).role().equals("follower"));
            assertThat(follower.terminate(PATIENCE)).isTrue();
            assertThat(follower.logTail(5)).isNotEmpty();
        }
    }

    @Test
    void aServerThatServesNobodySaysWhereItStands() throws Exception {
        try (Ensemble ensemble = Ensemble.of(Distribution.stock(), work).build()) {
            ServerProcess alone = ensemble.server(1);
            alone.start();
            Awaitility.await()
                    .atMost(PATIENCE)
                    .untilAsserted(
                            () ->
                                    assertThat(Explanation.of(alone))
                                            .startsWith("silent: ")
                                            .contains(" WARN ")
                                            .contains("; its main thread in ")
                                            .contains("FastLeaderElection.lookForLeader"));
            alone.pause();
            assertThat(alone.threads()).isEmpty();
            alone.resume();
        }
    }

    @Test
    void whatIsSetReplacesWhatWouldBeWritten() throws Exception {
        try (Ensemble ensemble =
                Ensemble.of(Distribution.stock(), work)
                        .jvm(Ensemble.SMALL_JVM)
                        .set("clientPort", "1")
                        .set("server.2", "127.0.0.1:2:3")
                        .build()) {
            Properties read = new Properties();
            try (Reader file = Files.newBufferedReader(ensemble.server(1).configurationFile())) {
                read.load(file);
            }
            assertThat(read)
                    .containsEntry("clientPort", "1")
                    .containsEntry("server.2", "127.0.0.1:2:3")
                    .containsEntry("server.1", ensemble.server(1).address().peer());
        }
    }

    @Test
    void aServerThatCannotStartIsNamedWithItsLog() throws Exception {
        try (Ensemble ensemble =
                Ensemble.of(Distribution.stock(), work).set("tickTime", "soon").build()) {
            ensemble.start();
            assertThatThrownBy(() -> ensemble.awaitServing(PATIENCE))
                    .hasMessageContaining("has ended")
                    .hasMessageContaining("soon");
        }
    }
}
