package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.tools.attach.VirtualMachine;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Orders of an operator: flush, pin slow mode, unpin; by HTTP, script, JMX and SIGPWR (R10). */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ControlIT {
    private static final int VOTERS = 3;
    private static final String USER = "operator:secret";

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        AdminServer.describe("control", VOTERS)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    @Order(1)
    void aPinnedLeaderKeepsTheEnsembleSlowUnderLoadUntilItIsUnpinned() throws Exception {
        int leader = ensemble.awaitFast();
        AdminServer admin = new AdminServer(ensemble.server(leader));
        LocalTime before = SaucrEnsemble.now();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(), "/pinned", 16)) {
            writes.awaitMore(100);
            AdminServer.Answer pin = admin.post("saucr/pin", "digest " + USER, "new\nswitches");
            assertThat(pin.status()).isEqualTo(200);
            assertThat(pin.body().get("pinnedSlow").booleanValue()).isTrue();
            assertThat(pin.body().get("onDisk").booleanValue()).isTrue();
            assertThat(ensemble.fast(leader)).isFalse();
            assertThat(ensemble.metric(leader, "zk_saucr_pinned_slow")).isEqualTo(1);
            assertThat(ensemble.metric(leader, "zk_saucr_prompt_voters")).isEqualTo(VOTERS);

            writes.awaitMore(100);
            long fast = ensemble.metric(leader, "zk_saucr_fast_commits");
            writes.awaitMore(300);
            assertThat(ensemble.metric(leader, "zk_saucr_fast_commits")).isEqualTo(fast);
            for (int id : ensemble.all()) {
                assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
            }
            JsonNode pinned = admin.saucr().get("pinnedSlow");
            assertThat(pinned.get("reason").textValue()).isEqualTo("operator: new switches");

            assertThat(admin.post("saucr/unpin", "digest " + USER, "done").status()).isEqualTo(200);
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            assertThat(ensemble.metric(leader, "zk_saucr_pinned_slow")).isZero();
            writes.awaitMore(100);
            writes.stop();
        }
        assertThat(ensemble.log(leader, before, "Pinned to slow mode")).hasSize(1);
        assertThat(ensemble.log(leader, before, "Switched to slow mode"))
                .singleElement()
                .satisfies(line -> assertThat(line.text()).endsWith(": operator: new switches"));
        assertThat(ensemble.log(leader, before, "taken out (done)")).hasSize(1);
    }

    @Test
    @Order(2)
    void aPinnedFollowerForcesWhatItAcksAndLeavesTheEnsembleFast() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        LocalTime before = SaucrEnsemble.now();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/follower", 16)) {
            writes.awaitMore(100);
            assertThat(script(follower, "pin", "a loose cable"))
                    .contains("slow mode is pinned; on disk through");
            writes.awaitMore(200);
            long fast = ensemble.metric(leader, "zk_saucr_fast_commits");
            writes.awaitMore(200);
            assertThat(ensemble.metric(leader, "zk_saucr_fast_commits")).isGreaterThan(fast);
            assertThat(ensemble.fast(leader)).isTrue();
            assertThat(ensemble.metric(follower, "zk_saucr_on_disk")).isEqualTo(1);
            assertThat(ensemble.markers(leader).crashedInFastMode()).isTrue();
            ensemble.losePower(follower);
            assertThat(ensemble.markers(follower).crashedInFastMode()).isFalse();
            ensemble.restart(follower);
            ensemble.awaitServing();
            assertThat(ensemble.log(follower, before, "crashed in fast mode")).isEmpty();
            SaucrEnsemble.await(
                    "the pin ended with the process",
                    () -> ensemble.metric(follower, "zk_saucr_pinned_slow") == 0);
            ensemble.awaitFast();
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Test
    @Order(3)
    void theScriptFlushesAndJmxShowsIt() throws Exception {
        int leader = ensemble.awaitFast();
        try (Client client = ensemble.connect(leader)) {
            client.setData("/", new byte[] {1}, -1);
            assertThat(script(leader, "flush", "before the move"))
                    .contains("on disk through 0x")
                    .contains("and the markers say so");
            // The end of the session is a write, too.
            assertThat(ensemble.markers(leader).crashedInFastMode()).isFalse();
        }

        SaucrEnsemble.await(
                "the idle flush", () -> ensemble.metric(leader, "zk_saucr_on_disk") == 1);
        try (JMXConnector connector = connectJmx(leader)) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            ObjectName bean = new ObjectName("org.apache.ZooKeeperService:name0=Saucr_id" + leader);
            assertThat(beans.getAttribute(bean, "Role")).isEqualTo("leading");
            assertThat(beans.getAttribute(bean, "Mode")).isEqualTo("fast");
            assertThat(beans.getAttribute(bean, "OnDisk")).isEqualTo(true);
            assertThat(beans.getAttribute(bean, "PinnedSlow")).isEqualTo("");
            assertThat((Long[]) beans.getAttribute(bean, "PromptSet")).containsExactly(1L, 2L, 3L);
            assertThat((String[]) beans.getAttribute(bean, "LastSwitches"))
                    .anySatisfy(line -> assertThat(line).contains(" fast after "));
            assertThat(beans.getAttribute(bean, "Recovery")).isEqualTo("");
            assertThat((long) beans.getAttribute(bean, "FastCommits")).isPositive();
        }
    }

    @Test
    @Order(4)
    void sigpwrPinsAndFlushesAndThePinHoldsThroughAnElection() throws Exception {
        int leader = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(), "/power", 16)) {
            writes.awaitMore(100);
            // Whichever server is elected next, it is pinned.
            for (int id : followers) {
                BuiltDistribution.run("sh", "-c", "kill -PWR " + ensemble.server(id).pid());
                SaucrEnsemble.await(
                        "the pin", () -> ensemble.metric(id, "zk_saucr_pinned_slow") == 1);
                SaucrEnsemble.await(
                        "the flush", () -> ensemble.metric(id, "zk_saucr_on_disk") == 1);
            }
            writes.awaitMore(100);
            ensemble.losePower(leader);
            int elected = ensemble.leader();
            assertThat(followers).contains(elected);
            ensemble.restart(leader);
            ensemble.awaitServing();
            SaucrEnsemble.await(
                    "all are prompt",
                    () -> ensemble.metric(elected, "zk_saucr_prompt_voters") == VOTERS);
            long fastBefore = ensemble.metric(elected, "zk_saucr_fast_commits");
            writes.awaitMore(300);
            assertThat(ensemble.fast(elected)).isFalse();
            assertThat(ensemble.metric(elected, "zk_saucr_fast_commits")).isEqualTo(fastBefore);
            for (int id : followers) {
                assertThat(script(id, "unpin", "power is back")).contains("not pinned any more");
            }
            assertThat(ensemble.awaitFast()).isEqualTo(elected);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    @Test
    @Order(5)
    void ordersNeedAllPermissionsOnTheRoot() throws Exception {
        int leader = ensemble.awaitFast();
        AdminServer admin = new AdminServer(ensemble.server(leader));
        try (Client client = ensemble.connect(leader)) {
            client.addAuthInfo("digest", USER.getBytes(StandardCharsets.UTF_8));
            Id operator = new Id("digest", DigestAuthenticationProvider.generateDigest(USER));
            client.setACL("/", Arrays.asList(new ACL(Perms.ALL, operator)), -1);
        }
        for (String order : List.of("saucr/flush", "saucr/pin", "saucr/unpin")) {
            assertThat(admin.post(order, null, "").status()).as(order).isEqualTo(401);
            assertThat(admin.post(order, "digest operator:wrong", "").status())
                    .as(order)
                    .isEqualTo(403);
            assertThat(admin.get(order).statusCode()).as("GET " + order).isEqualTo(401);
            HttpResponse<String> got = admin.get(order, "digest " + USER);
            assertThat(got.statusCode()).as("GET " + order).isEqualTo(405);
            assertThat(got.body()).contains("it must be a POST");
        }
        assertThat(ensemble.metric(leader, "zk_saucr_pinned_slow")).isZero();
        AdminServer.Answer flush = admin.post("saucr/flush", "digest " + USER, "");
        assertThat(flush.status()).isEqualTo(200);
        assertThat(flush.body().get("result").textValue()).startsWith("on disk through ");
    }

    /** But nothing that could pass for another line of the log, or turn the text around. */
    @Test
    @Order(6)
    void aReasonKeepsItsLetters() throws Exception {
        AdminServer admin = new AdminServer(ensemble.server(ensemble.followers().get(0)));
        String reason = "für Köln\u2028電源\u202e\u0007\ud83d\udd0c";
        assertThat(admin.post("saucr/pin", "digest " + USER, reason).status()).isEqualTo(200);
        assertThat(admin.saucr().get("pinnedSlow").get("reason").textValue())
                .isEqualTo("operator: für Köln 電源  \ud83d\udd0c");
        assertThat(admin.post("saucr/unpin", "digest " + USER, "done").status()).isEqualTo(200);
    }

    @SuppressWarnings("BanJNDI") // a server that this test has started
    private static JMXConnector connectJmx(int id) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(Long.toString(ensemble.server(id).pid()));
        try {
            return JMXConnectorFactory.connect(
                    new JMXServiceURL(machine.startLocalManagementAgent()));
        } finally {
            machine.detach();
        }
    }

    /** Runs {@code zkServer.sh} of the distribution for a server. */
    private static String script(int id, String verb, String reason) throws Exception {
        Path pidFile = ensemble.server(id).home().resolve("pid");
        Files.writeString(pidFile, ensemble.server(id).pid() + "\n");
        return BuiltDistribution.run(
                "env",
                "JAVA_HOME=" + System.getProperty("java.home"),
                "ZOOPIDFILE=" + pidFile,
                BuiltDistribution.home().resolve("bin/zkServer.sh").toString(),
                "--config",
                ensemble.server(id).configurationFile().getParent().toString(),
                verb,
                reason);
    }
}
