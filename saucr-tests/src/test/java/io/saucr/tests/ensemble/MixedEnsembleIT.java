package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import net.bytebuddy.implementation.FixedValue;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Apache's released server beside ours, with SAUCR off and on (H12). */
@NeedsCompiler
class MixedEnsembleIT {

    @Tag("long")
    @Test
    void withSaucrOffOursAndApachesAreOneEnsemble() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("mixed-off", 3)
                                .set("saucr.enabled", "false")
                                .distribution(1, Distribution.stock())
                                .distribution(2, Distribution.stock()))) {
            survivesEveryDeath(ensemble);
            for (int id : ensemble.all()) {
                Path logs = ensemble.server(id).dataDirectory().resolve("version-2");
                try (Stream<Path> files = Files.list(logs)) {
                    assertThat(files.map(file -> file.getFileName().toString()))
                            .noneMatch(name -> name.startsWith("saucr."));
                }
                // Which program it is, it says even then.
                assertThat(ensemble.mntr(id).keySet())
                        .filteredOn(key -> key.contains("saucr"))
                        .isSubsetOf("zk_saucr_version");
            }
        }
    }

    @Test
    void h12AStockServerServesAmongOursAndNeverCountsForFastMode() throws Exception {
        int stock = 1;
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("mixed-on", 5)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .disk(Disk.SHIM_WITH_JOURNAL)
                                .distribution(stock, Distribution.stock()))) {
            // The highest id wins an election of equals, so one of ours leads.
            int leader = ensemble.awaitFast();
            assertThat(ensemble.metric(leader, "zk_saucr_prompt_voters")).isEqualTo(4);
            try (AckedWrites writes = new AckedWrites(ensemble.connect(stock), "/on", 8)) {
                writes.awaitMore(200);
                int ours =
                        ensemble.followers().stream()
                                .filter(id -> id != stock)
                                .findFirst()
                                .orElseThrow();
                ensemble.losePower(ours);
                ensemble.awaitSlow(leader);
                writes.awaitMore(200);
                assertThat(ensemble.fast(leader)).isFalse();
                ensemble.restart(ours);
                ensemble.awaitServing();
                assertThat(ensemble.awaitFast()).isEqualTo(leader);
                writes.awaitMore(200);
                writes.stop();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    /**
     * R23: a server of a version without views is no member, so it never counts for fast mode; and
     * one with views acknowledges nothing from memory to a leader without them. Here one server
     * takes its leader for such a one, and so does not say that it keeps views.
     */
    @Tag("long")
    @Test
    void r23WithoutViewsNobodyCountsAndNothingIsAcknowledgedFromMemory() throws Exception {
        int old = 1;
        Distribution without =
                BuiltDistribution.changed(
                        "mixed-views",
                        "org.apache.zookeeper.server.quorum.SaucrFollower",
                        "sealsViews",
                        FixedValue.value(false));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describeUnforced("mixed-views", 5)
                                .disk(Disk.SHIM_WITH_JOURNAL)
                                .distribution(old, without))) {
            int leader = ensemble.awaitFast();
            assertThat(ensemble.metric(leader, "zk_saucr_prompt_voters")).isEqualTo(4);
            assertThat(ensemble.mntr(leader).get("zk_saucr_view")).isEqualTo("2,3,4,5");
            assertThat(Files.readString(ensemble.server(old).logFile()))
                    .contains("leads with a version that seals no views");
            assertThat(Files.readString(ensemble.server(leader).logFile()))
                    .contains("Server " + old + " has a version that keeps no sealed views");
            try (AckedWrites writes = new AckedWrites(ensemble.connect(old), "/views", 8)) {
                writes.awaitMore(200);
                for (int id : ensemble.running()) {
                    if (id != old) {
                        ensemble.awaitMemoryAlone(id);
                    }
                }
                assertThat(ensemble.markers(old).crashedInFastMode()).isFalse();
                long last = writes.lastZxid();
                SaucrEnsemble.await(
                        "the marker", () -> ensemble.markers(old).latestOnDisk() >= last);
                int member =
                        ensemble.followers().stream()
                                .filter(id -> id != old)
                                .findFirst()
                                .orElseThrow();
                ensemble.losePower(member);
                ensemble.awaitSlow(leader);
                writes.awaitMore(200);
                writes.stop();
                ensemble.restart(member);
                ensemble.awaitServing();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    /**
     * Apache's followers do not answer numbered heartbeats; a sync needs a majority all the same.
     */
    @Test
    void r22SyncsAreAnsweredWhereMostFollowersAreApaches() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("mixed-sync", 3)
                                .distribution(1, Distribution.stock())
                                .distribution(2, Distribution.stock()))) {
            // Of two equal servers the one with the higher id leads.
            ensemble.restart(2, 3);
            ensemble.awaitServing();
            assertThat(ensemble.leader()).isEqualTo(3);
            ensemble.restart(1);
            ensemble.awaitServing();
            try (Client writer = ensemble.connect(3)) {
                for (int id : ensemble.all()) {
                    String path = "/synced-" + id;
                    writer.create(path, null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                    try (Client reader = ensemble.connect(id)) {
                        reader.sync(path);
                        assertThat(reader.exists(path, false)).isNotNull();
                    }
                }
            }
        }
    }

    /**
     * Apache's leader need not be told that a server has restarted (R20), so its followers answer a
     * server that recovers from a crash in fast mode.
     */
    @Tag("long")
    @Test
    void r16AServerRecoversWhereApachesLeads() throws Exception {
        int stock = 5;
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("mixed-recovery", 5)
                                .disk(Disk.SHIM_WITH_JOURNAL)
                                .distribution(stock, Distribution.stock()))) {
            ensemble.restart(1, 2, 3, 4);
            ensemble.awaitServing();
            int first = ensemble.awaitFast();
            List<Integer> followers = ensemble.followers();
            int recovering = followers.get(0);
            Client client = ensemble.connect(followers.get(1), followers.get(2));
            try (AckedWrites writes = new AckedWrites(client, "/recovery", 8)) {
                writes.awaitMore(200);
                ensemble.losePowerInFastMode(recovering);
                ensemble.restart(stock);
                SaucrEnsemble.await(
                        "Apache's follows", () -> ensemble.role(stock).equals("follower"));
                writes.awaitMore(100);
                writes.stop();
                // Of equal servers the one with the highest id leads.
                SaucrEnsemble.await(
                        "the same log", () -> ensemble.metric(stock, "zk_znode_count") >= 300);
                ensemble.kill(first);
                SaucrEnsemble.await("Apache's leads", () -> ensemble.role(stock).equals("leader"));
                ensemble.restart(recovering);
                SaucrEnsemble.await(
                        "the recovery", () -> ensemble.role(recovering).equals("follower"));
                try (Client reader = ensemble.connect(recovering)) {
                    writes.assertAllIn(reader);
                }
            }
        }
    }

    private static void survivesEveryDeath(SaucrEnsemble ensemble) throws Exception {
        for (int victim : List.of(1, 3)) {
            Integer[] left =
                    ensemble.all().stream().filter(i -> i != victim).toArray(Integer[]::new);
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(left), "/victim-" + victim, 8)) {
                writes.awaitMore(100);
                ensemble.kill(victim);
                ensemble.leader();
                writes.awaitMore(100);
                ensemble.restart(victim);
                ensemble.awaitServing();
                writes.awaitMore(100);
                writes.stop();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }
}
