package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The set of voters changes while clients write. The mode is slow during the change, and the
 * quorums are those of the current configuration (R7).
 */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ReconfigIT {
    private static final int VOTERS = 5;

    /** A reconfiguration may take long, and pings wait behind it. */
    private static final int SESSION_MILLIS = 30_000;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("reconfig", VOTERS)
                                .set("reconfigEnabled", "true")
                                .set("standaloneEnabled", "false")
                                .set("skipACL", "yes")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .disk(Disk.SHIM_WITH_JOURNAL));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static String member(int id, String role) {
        ServerAddress address = ensemble.server(id).address();
        return "server."
                + id
                + "="
                + address.peer()
                + ":"
                + role
                + ";"
                + address.clientHost()
                + ":"
                + address.clientPort();
    }

    /** Returns the new configuration. */
    private static String reconfigure(int through, String joining, String leaving)
            throws Exception {
        try (Client admin = ensemble.connectFor(SESSION_MILLIS, through)) {
            byte[] configuration = admin.reconfigure(joining, leaving, null, -1, new Stat());
            return new String(configuration, StandardCharsets.UTF_8);
        }
    }

    private static boolean hasLeft(int id, int through) throws Exception {
        try (Client client = ensemble.connect(through)) {
            byte[] configuration = client.getData(ZooDefs.CONFIG_NODE, false, null);
            return !new String(configuration, StandardCharsets.UTF_8)
                    .contains("server." + id + "=");
        } catch (KeeperException.ConnectionLossException e) {
            return false;
        }
    }

    private static void awaitPrompt(int leader, int voters) {
        SaucrEnsemble.await(
                voters + " prompt voters",
                () -> ensemble.metric(leader, "zk_saucr_prompt_voters") == voters);
    }

    @Test
    @Order(1)
    void quorumsThatAreNoMajoritiesAreRefused() throws Exception {
        int leader = ensemble.awaitFast();
        String groups =
                IntStream.rangeClosed(1, VOTERS)
                                .mapToObj(id -> member(id, "participant"))
                                .collect(Collectors.joining(","))
                        + ",group.1=1:2:3,group.2=4:5";
        LocalTime before = SaucrEnsemble.now();
        try (Client admin = ensemble.connectFor(SESSION_MILLIS, leader)) {
            assertThatThrownBy(() -> admin.reconfigure(null, null, groups, -1, new Stat()))
                    .isInstanceOf(KeeperException.NewConfigNoQuorum.class);
        }
        assertThat(ensemble.log(leader, before, "A reconfiguration is refused").get(0).text())
                .contains("needs majority quorums");
        assertThat(ensemble.fast(leader)).isTrue();
    }

    @Test
    @Order(2)
    void r7SlowWhileAFollowerLeavesAndWhileItReturns() throws Exception {
        int leader = ensemble.awaitFast();
        int leaving = ensemble.followers().get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/follower", 8)) {
            writes.awaitMore(100);
            long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
            LocalTime before = SaucrEnsemble.now();
            String without = reconfigure(leader, null, Integer.toString(leaving));
            assertThat(without).doesNotContain("server." + leaving + "=");
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            awaitPrompt(leader, VOTERS - 1);
            assertThat(ensemble.log(leader, before, "Switched to slow mode").get(0).text())
                    .contains("a reconfiguration is proposed");
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switches + 2);
            writes.awaitMore(100);

            String with = reconfigure(leader, member(leaving, "participant"), null);
            assertThat(with).contains("server." + leaving + "=");
            awaitPrompt(leader, VOTERS);
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switches + 4);
            writes.awaitMore(100);
            writes.stop();
            ensemble.awaitServing();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Test
    @Order(3)
    void r7AFollowerBecomesAnObserverAndNoLongerCounts() throws Exception {
        int leader = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        int changing = followers.get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/observer", 8)) {
            writes.awaitMore(100);
            reconfigure(leader, member(changing, "observer"), null);
            SaucrEnsemble.await("an observer", () -> ensemble.role(changing).equals("observer"));
            awaitPrompt(leader, VOTERS - 1);
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            // Of four voters three are a bare majority: one death is enough.
            ensemble.losePower(followers.get(1));
            ensemble.awaitSlow(leader);
            writes.awaitMore(100);
            ensemble.restart(followers.get(1));
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            reconfigure(leader, member(changing, "participant"), null);
            awaitPrompt(leader, VOTERS);
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            writes.awaitMore(100);
            writes.stop();
            ensemble.awaitServing();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Test
    @Order(4)
    void r7TheLeaderItselfIsRemoved() throws Exception {
        int first = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        Integer[] left = followers.toArray(Integer[]::new);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(left), "/leader", 8)) {
            writes.awaitMore(100);
            try {
                reconfigure(followers.get(0), null, Integer.toString(first));
            } catch (KeeperException.ConnectionLossException e) {
                // As with Apache's server: only the configuration counts.
                System.out.println("the answer was lost with the leader that was removed");
            }
            SaucrEnsemble.await("the new configuration", () -> hasLeft(first, followers.get(0)));
            SaucrEnsemble.await(
                    "another leader",
                    () -> followers.stream().anyMatch(id -> ensemble.role(id).equals("leader")));
            writes.awaitMore(100);
            int second = ensemble.awaitFast();
            assertThat(followers).contains(second);
            awaitPrompt(second, VOTERS - 1);
            writes.awaitMore(100);
            writes.stop();
            for (int id : followers) {
                try (Client reader = ensemble.connect(id)) {
                    writes.assertAllIn(reader);
                }
            }
        }
    }
}
