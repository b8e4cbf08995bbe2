package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Quorums;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.tests.ensemble.SaucrEnsemble.LogLine;
import java.nio.file.Files;
import java.time.Duration;
import java.time.LocalTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Followers lose power while all that was acknowledged is in memory only (R4, R6, R12, R13).
 * Background and idle flushes are off, and the heartbeat interval is so long that only the closed
 * socket can tell the leader in time. Then all of them return. Each crashed in fast mode, so it
 * recovers first (R15 to R17), and votes with what it has recovered (H10, H17).
 */
@NeedsCompiler
class CrashReactionIT {
    private static final Duration HEARTBEAT = Duration.ofSeconds(2);

    /** Of five servers one dies in fast mode, before the one that leaves a bare majority. */
    @Test
    void r6AtABareMajorityEverythingIsOnDiskBeforeTheNextAckAndR5FastOnceAllHaveRecovered()
            throws Exception {
        slowAtABareMajorityAndFastOnceAllHaveRecovered(5);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {3, 7})
    void r6OtherSizesReactAtABareMajorityAndR5AreFastOnceAllHaveRecovered(int voters)
            throws Exception {
        slowAtABareMajorityAndFastOnceAllHaveRecovered(voters);
    }

    private static void slowAtABareMajorityAndFastOnceAllHaveRecovered(int voters)
            throws Exception {
        int fastQuorum = Quorums.fastQuorum(voters);
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("crash-reaction-" + voters, voters)
                                .set("saucr.heartbeatInterval", HEARTBEAT.toMillis() + "ms")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            int leader = ensemble.awaitFast();
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(leader), "/load-" + voters, 8)) {
                writes.awaitMore(300);
                Map<Integer, Long> forcesBefore = new HashMap<>();
                for (int id : ensemble.running()) {
                    ensemble.awaitMemoryAlone(id);
                    forcesBefore.put(id, ensemble.shim(id).forces().transactionLog());
                }
                long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
                while (ensemble.running().size() > fastQuorum) {
                    ensemble.losePower(ensemble.followers().get(0));
                    writes.awaitMore(100);
                    assertThat(ensemble.fast(leader)).isTrue();
                    assertThat(ensemble.metric(leader, "zk_saucr_mode_switches"))
                            .isEqualTo(switches);
                }
                for (int id : ensemble.running()) {
                    assertThat(ensemble.shim(id).forces().transactionLog())
                            .as("forces of server " + id)
                            .isEqualTo(forcesBefore.get(id));
                }
                writes.stop();
                fromMemoryToDisk(ensemble, leader, writes.lastZxid());
                assertThat(ensemble.metric(leader, "zk_saucr_mode_switches"))
                        .isEqualTo(switches + 1);
                Integer[] crashed =
                        ensemble.all().stream()
                                .filter(id -> !ensemble.running().contains(id))
                                .toArray(Integer[]::new);
                for (int id : crashed) {
                    assertThat(ensemble.markers(id).crashedInFastMode())
                            .as("server " + id)
                            .isTrue();
                }
                LocalTime back = SaucrEnsemble.now();
                ensemble.restart(crashed);
                ensemble.awaitServing();
                for (int id : crashed) {
                    votesWithWhatItRecovered(ensemble, id, back);
                }
                assertThat(ensemble.awaitFast()).isEqualTo(leader);
                assertThat(ensemble.metric(leader, "zk_saucr_mode_switches"))
                        .isEqualTo(switches + 2);
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    /** ZooKeeper would take the epoch of the tree for it, and there is no tree before (H10). */
    @Test
    void h10WithoutTheFileOfTheAcceptedEpochAServerRecoversToo() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describeUnforced("recovery-without-epoch", 3)
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            int leader = ensemble.awaitFast();
            int follower = ensemble.followers().get(0);
            try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/load", 8)) {
                writes.awaitMore(100);
                LocalTime back = ensemble.losePowerInFastMode(follower);
                writes.awaitMore(100);
                Files.delete(
                        ensemble.server(follower)
                                .dataDirectory()
                                .resolve("version-2/acceptedEpoch"));
                ensemble.restart(follower);
                ensemble.awaitServing();
                writes.stop();
                votesWithWhatItRecovered(ensemble, follower, back);
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    /**
     * H10, H17: what was on the disk before the recovery does not count, so the database is loaded
     * once.
     */
    private static void votesWithWhatItRecovered(SaucrEnsemble ensemble, int id, LocalTime since)
            throws Exception {
        String recovered = zxidAfter(ensemble, id, since, "Recovered through ");
        assertThat(recovered).as("server " + id).isNotEqualTo("0x100000001");
        assertThat(zxidAfter(ensemble, id, since, "proposed zxid=")).isEqualTo(recovered);
        assertThat(ensemble.log(id, since, "Reading snapshot")).as("loads").hasSize(1);
    }

    /** The number in the first line of a server's log that contains the words. */
    private static String zxidAfter(SaucrEnsemble ensemble, int id, LocalTime since, String words)
            throws Exception {
        String line = ensemble.log(id, since, words).get(0).text();
        return line.substring(line.indexOf(words) + words.length()).split("[ ,]")[0];
    }

    private static void fromMemoryToDisk(SaucrEnsemble ensemble, int leader, long lastInMemory)
            throws Exception {
        List<Integer> followers = ensemble.followers();
        int victim = followers.get(followers.size() - 1);
        List<Integer> left = ensemble.running().stream().filter(id -> id != victim).toList();
        Map<Integer, Long> forcesBefore = new HashMap<>();
        for (int id : left) {
            assertThat(ensemble.markers(id).latestOnDisk()).isLessThan(lastInMemory);
            forcesBefore.put(id, ensemble.shim(id).forces().transactionLog());
        }
        try (Client client = ensemble.connect(leader)) {
            LocalTime cut = SaucrEnsemble.now();
            ensemble.losePower(victim);
            // No ack of the dead server can be under way for a write that starts now.
            Stat stat = new Stat();
            client.create(
                    "/next", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat, -1);
            Map<Integer, Markers> markers = new HashMap<>();
            Map<Integer, Long> forces = new HashMap<>();
            for (int id : left) {
                markers.put(id, ensemble.markers(id));
                forces.put(id, ensemble.shim(id).forces().transactionLog());
            }
            for (int id : left) {
                assertThat(markers.get(id).latestOnDisk())
                        .as("on disk at server " + id)
                        .isGreaterThanOrEqualTo(lastInMemory);
                assertThat(markers.get(id).crashedInFastMode()).isFalse();
                assertThat(forces.get(id)).isGreaterThan(forcesBefore.get(id));
            }
            assertThat(ensemble.fast(leader)).isFalse();
            // The end of the connection is what the leader noticed, and not a silence.
            String reason = "the connection of server " + victim + " is lost";
            List<LogLine> switches = ensemble.log(leader, cut, "Switched to slow mode");
            assertThat(switches).anySatisfy(line -> assertThat(line.text()).contains(reason));
            System.out.println(
                    left.size()
                            + " servers left: slow "
                            + Duration.between(cut, switches.get(0).time()).toMillis()
                            + " ms after the cut began");
        }
    }
}
