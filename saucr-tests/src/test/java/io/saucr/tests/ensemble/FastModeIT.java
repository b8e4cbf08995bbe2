package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.Markers;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.time.Duration;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Five servers, all up: they are in fast mode; and what fast mode leaves on disk. */
@Tag("quick")
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FastModeIT {
    private static final Duration FLUSH_INTERVAL = Duration.ofMillis(200);
    private static final Duration IDLE_FLUSH = Duration.ofSeconds(2);
    private static final int ATTEMPTS = 5;
    private static final int WRITES = 5_000;

    /** At either end a flush may be under way, and the log may go on to its next file. */
    private static final int MORE_FORCES = 3;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("fast-mode", 5)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set(
                                        "saucr.backgroundFlushInterval",
                                        FLUSH_INTERVAL.toMillis() + "ms")
                                .set("saucr.idleFlush", IDLE_FLUSH.toMillis() + "ms")
                                .disk(Disk.SHIM));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    @Order(1)
    void r3R11NoForceOfTheLogStandsOnTheWritePath() throws Exception {
        int leader = ensemble.awaitFast();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(), "/fast", 32, 2 * WRITES)) {
            writes.awaitMore(500);
            long slowBefore = ensemble.metric(leader, "zk_saucr_slow_commits");
            long fastBefore = ensemble.metric(leader, "zk_saucr_fast_commits");
            long switchesBefore = ensemble.metric(leader, "zk_saucr_mode_switches");
            Map<Integer, Long> shimBefore = new HashMap<>();
            Map<Integer, Long> countBefore = new HashMap<>();
            long start = System.nanoTime();
            for (int id : ensemble.all()) {
                shimBefore.put(id, ensemble.shim(id).forces().transactionLog());
                countBefore.put(id, ensemble.metric(id, "zk_saucr_log_forces"));
            }
            writes.awaitMore(WRITES);
            Map<Integer, Long> forced = new HashMap<>();
            Map<Integer, Long> counted = new HashMap<>();
            for (int id : ensemble.all()) {
                forced.put(id, ensemble.shim(id).forces().transactionLog() - shimBefore.get(id));
                counted.put(id, ensemble.metric(id, "zk_saucr_log_forces") - countBefore.get(id));
            }
            Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
            long allowed = elapsed.dividedBy(FLUSH_INTERVAL) + MORE_FORCES;
            System.out.println(
                    "fast mode: "
                            + WRITES
                            + " writes in "
                            + elapsed.toMillis()
                            + " ms, forces of the log per server "
                            + forced
                            + ", at most "
                            + allowed
                            + " allowed");
            assertThat(forced.values()).allSatisfy(n -> assertThat(n).isLessThanOrEqualTo(allowed));
            assertThat(counted.values())
                    .allSatisfy(n -> assertThat(n).isLessThanOrEqualTo(allowed));
            assertThat(ensemble.metric(leader, "zk_saucr_slow_commits")).isEqualTo(slowBefore);
            assertThat(ensemble.metric(leader, "zk_saucr_fast_commits") - fastBefore)
                    .isGreaterThanOrEqualTo(WRITES);
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switchesBefore);
        }
    }

    @Test
    @Order(2)
    void r13AnIdleEnsembleIsOnDiskAndR12TheNextFastWriteSaysSoFirst() throws Exception {
        int leader = ensemble.awaitFast();
        try (Client client = ensemble.connect()) {
            client.create("/idle", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            ensemble.awaitOnDisk(ensemble.all());
            assertThat(ensemble.fast(leader)).isTrue();
            for (int id : ensemble.all()) {
                assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
            }
            Stat stat = new Stat();
            int armed = 0;
            boolean inTime = false;
            // Where this process stands still meanwhile, the markers say "on disk" once more.
            for (int attempt = 0; attempt < ATTEMPTS && !inTime; attempt++) {
                ensemble.awaitOnDisk(ensemble.all());
                ensemble.awaitFast();
                long begin = System.nanoTime();
                stat = client.setData("/idle", new byte[1], -1);
                armed = 0;
                for (int id : ensemble.all()) {
                    Markers markers = ensemble.markers(id);
                    if (markers.crashedInFastMode()) {
                        assertThat(markers.fastSwitch()).isLessThanOrEqualTo(stat.getMzxid());
                        assertThat(markers.latestOnDisk()).isLessThan(stat.getMzxid());
                        armed++;
                    }
                }
                inTime = System.nanoTime() - begin < IDLE_FLUSH.toNanos();
            }
            assertThat(armed).as("servers whose markers say fast").isGreaterThanOrEqualTo(4);
            ensemble.awaitOnDisk(ensemble.all());
            for (int id : ensemble.all()) {
                assertThat(ensemble.markers(id).latestOnDisk())
                        .isGreaterThanOrEqualTo(stat.getMzxid());
                // What goes with every pause of the clients is counted, and does not fill the log.
                assertThat(ensemble.metric(id, "zk_idle_saucr_flush_causes")).isPositive();
                assertThat(ensemble.log(id, LocalTime.MIN, ": idle")).isEmpty();
            }
        }
    }

    /** As Apache's leader counts them with its switch that forwards none. */
    @Test
    @Order(3)
    void aLeaderCountsRequestsOfFollowersThatItFilesNowhere() throws Exception {
        String metric = "zk_requests_not_forwarded_to_commit_processor";
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        try (Client local = ensemble.connect(leader);
                Client forwarding = ensemble.connect(follower)) {
            forwarding.create("/counted", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            long before = ensemble.metric(leader, metric);
            for (int i = 0; i < 10; i++) {
                local.setData("/counted", null, -1);
            }
            assertThat(ensemble.metric(leader, metric)).isEqualTo(before);
            for (int i = 0; i < 10; i++) {
                forwarding.setData("/counted", null, -1);
            }
            assertThat(ensemble.metric(leader, metric)).isEqualTo(before + 10);
        }
    }

    @Test
    @Order(4)
    void r10SigtermLeavesOnDiskMarkersUnderLoad() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        int asked = ensemble.followers().get(1);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(asked), "/sigterm", 32)) {
            writes.awaitMore(200);
            ensemble.terminate(follower);
            assertThat(ensemble.markers(follower).crashedInFastMode()).isFalse();
            writes.awaitMore(200);
            long acked = writes.lastZxid();
            ensemble.terminate(leader);
            assertThat(ensemble.markers(leader).crashedInFastMode()).isFalse();
            assertThat(ensemble.markers(leader).latestOnDisk()).isGreaterThanOrEqualTo(acked);
            writes.awaitMore(200);
            ensemble.restart(leader, follower);
            ensemble.awaitServing();
            ensemble.awaitFast();
            writes.awaitMore(200);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }
}
