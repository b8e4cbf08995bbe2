package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.tests.ensemble.AdminServer.Answer;
import io.saucr.tests.ensemble.SaucrEnsemble.LogLine;
import io.saucr.tests.ensemble.ToolProcess.Said;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
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
import org.junit.jupiter.api.io.TempDir;

/** Why is it slow, and who does it? Asked of three servers, by log, AdminServer and tool. */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SlowRequestsIT {
    private static final int VOTERS = 3;
    private static final Duration SLOW_DISK = Duration.ofMillis(900);
    private static final String USER = "operator:secret";

    @TempDir static Path folder;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        AdminServer.describe("slow-requests", VOTERS)
                                .set("admin.serverAddress", "127.0.0.1")
                                // Nobody is elected while both followers stand still.
                                .set("saucr.missedHeartbeatsBeforeElection", "1000")
                                .set("syncLimit", "80")
                                .set("saucr.slowRequestTime", "400ms"));
        try (Client client = ensemble.connect()) {
            client.create("/orders", new byte[3], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            client.create("/calm", new byte[3], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    private static Said saucr(String... arguments) throws Exception {
        String endpoints =
                ensemble.all().stream()
                        .map(id -> ensemble.server(id).address().client())
                        .collect(Collectors.joining(","));
        String admins =
                ensemble.all().stream()
                        .map(id -> ensemble.server(id).address().admin())
                        .collect(Collectors.joining(","));
        ProcessBuilder builder = ToolProcess.builder(folder, endpoints, admins, arguments);
        builder.environment().put("SAUCR_TIMEOUT", "30s");
        return ToolProcess.run(List.of(builder), SaucrEnsemble.PATIENCE).get(0);
    }

    private static AdminServer admin(int id) {
        return new AdminServer(ensemble.server(id));
    }

    private static String session(Client client) {
        return "0x" + Long.toHexString(client.getSessionId());
    }

    private static List<String> lines(int id, LocalTime from, String... words) throws IOException {
        return ensemble.log(id, from, "Slow request: ").stream()
                .map(LogLine::text)
                .filter(line -> List.of(words).stream().allMatch(line::contains))
                .toList();
    }

    // ---- Why is it slow ----

    /** With one server gone, a write needs the disk that is slow. */
    @Test
    @Order(1)
    void aSlowDiskIsNamedWithItsServerAndItsStage() throws Exception {
        int leader = ensemble.awaitFast();
        int slow = ensemble.followers().get(0);
        int gone = ensemble.followers().get(1);
        LocalTime before = SaucrEnsemble.now();
        try (Client own = ensemble.connect(leader);
                Client other = ensemble.connect(slow)) {
            ensemble.pinSlow();
            ensemble.kill(gone);
            ensemble.shim(slow).delay(SLOW_DISK);
            own.setData("/orders", new byte[120], -1);
            other.setData("/orders", new byte[60], -1);
            ensemble.shim(slow).delay(Duration.ZERO);

            SaucrEnsemble.await(
                    "the line of the leader's client",
                    () ->
                            !lines(
                                            leader,
                                            before,
                                            "setData /orders of session " + session(own),
                                            " at 127.0.0.1:",
                                            "120 bytes",
                                            ": queue ",
                                            " ms, commit ",
                                            "on the leader: slow mode",
                                            "acks: server " + leader + " after ",
                                            "server " + slow + " after ",
                                            " ms (completed the quorum)",
                                            "none yet of server " + gone)
                                    .isEmpty());
            SaucrEnsemble.await(
                    "the leader's line of the follower's client",
                    () ->
                            !lines(
                                            leader,
                                            before,
                                            "of session " + session(other),
                                            "a client of server " + slow,
                                            "60 bytes",
                                            "(completed the quorum)")
                                    .isEmpty());
            SaucrEnsemble.await(
                    "the line of the follower's client",
                    () -> !lines(slow, before, session(other), "60 bytes", "commit ").isEmpty());

            ensemble.restart(gone);
            ensemble.awaitServing();
            SaucrEnsemble.await("all reports", () -> saucr("slow-requests").exitCode() == 0);
            JsonNode json = saucr("slow-requests", "-o", "json").json();
            JsonNode ofFollower = null;
            for (JsonNode each : json.path("requests")) {
                if (each.path("session").asText().equals(session(other))
                        && each.path("bytes").asInt() == 60) {
                    assertThat(ofFollower).as("joined, so once").isNull();
                    ofFollower = each;
                }
            }
            assertThat(ofFollower.path("endpoint").asText())
                    .isEqualTo(ensemble.server(slow).address().client());
            assertThat(ofFollower.path("stageMillis").path("commit").asLong())
                    .isGreaterThanOrEqualTo(400);
            JsonNode replication = ofFollower.path("replication");
            assertThat(replication.path("completedBy").asInt()).isEqualTo(slow);
            assertThat(replication.path("missing").path(0).asInt()).isEqualTo(gone);
            assertThat(replication.path("mode").asText()).isEqualTo("slow");
            Said table = saucr("slow-requests");
            assertThat(table.out())
                    .contains("slow from 400 ms on")
                    .contains("setData")
                    .contains("(last needed), none yet of " + gone);
            assertThat(ensemble.mntr(leader))
                    .containsKey("zk_p99_saucr_commit_time_us")
                    .containsKey("zk_max_" + slow + "_saucr_ack_time_us");
            assertThat(ensemble.metric(leader, "zk_max_saucr_commit_time_us"))
                    .isGreaterThan(400_000);
            assertThat(ensemble.metric(slow, "zk_saucr_slow_requests")).isPositive();
        }
    }

    /** Nobody acknowledges for a while: it is said while the client waits. */
    @Test
    @Order(2)
    void aWriteThatWaitsIsNamedWhileItWaits() throws Exception {
        int leader = ensemble.leader();
        Integer[] followers = ensemble.followers().toArray(Integer[]::new);
        LocalTime before = SaucrEnsemble.now();
        try (Client client = ensemble.connect(leader)) {
            CountDownLatch done = new CountDownLatch(1);
            ensemble.pause(followers);
            try {
                client.setData(
                        "/orders",
                        new byte[5],
                        -1,
                        (code, path, context, stat) -> done.countDown(),
                        null);
                SaucrEnsemble.await(
                        "the line",
                        () ->
                                !lines(leader, before, session(client), "waits for", "5 bytes")
                                        .isEmpty());
            } finally {
                ensemble.resume(followers);
            }
            String line = lines(leader, before, session(client), "waits for").get(0);
            for (int each : followers) {
                assertThat(line.substring(line.indexOf("none yet of"))).contains("" + each);
            }
            assertThat(line).contains("not committed");
            assertThat(done.await(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
        ensemble.awaitServing();
    }

    @Test
    @Order(3)
    void theThresholdIsChangedWhileItRuns() throws Exception {
        Said off = saucr("slow-requests", "--threshold", "off");
        assertThat(off.exitCode()).isZero();
        assertThat(off.out().lines().filter(line -> line.endsWith("yes   off"))).hasSize(VOTERS);
        for (int id : ensemble.all()) {
            JsonNode now =
                    new ObjectMapper()
                            .readTree(admin(id).get("saucr/slowRequests", "ip self").body());
            assertThat(now.path("thresholdMillis").asInt()).isZero();
        }
        Said wrong = saucr("slow-requests", "--threshold", "2h");
        assertThat(wrong.exitCode()).isEqualTo(1);
        assertThat(wrong.out()).contains("saucr.slowRequestTime=2h is not allowed");
        assertThat(saucr("slow-requests", "--threshold", "400ms").exitCode()).isZero();
    }

    // ---- Who does it ----

    @Test
    @Order(4)
    void topShowsTheBusiestPrefixSessionAndOperation() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Semaphore window = new Semaphore(16);
        try (Client busy = ensemble.connect(ensemble.followers().get(0));
                Client calm = ensemble.connect(ensemble.leader())) {
            busy.create("/orders/one", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            Thread writing =
                    new Thread(
                            () -> {
                                while (!over.get()) {
                                    window.acquireUninterruptibly();
                                    busy.setData(
                                            "/orders/one",
                                            new byte[100],
                                            -1,
                                            (code, path, context, stat) -> window.release(),
                                            null);
                                }
                            },
                            "load");
            Thread reading =
                    new Thread(
                            () -> {
                                while (!over.get()) {
                                    calm.getData(
                                            "/calm",
                                            false,
                                            (rc, path, ctx, data, stat) -> {},
                                            null);
                                    try {
                                        TimeUnit.MILLISECONDS.sleep(20);
                                    } catch (InterruptedException e) {
                                        Thread.currentThread().interrupt();
                                    }
                                }
                            },
                            "calm");
            writing.start();
            reading.start();
            try {
                JsonNode prefixes = top("--by", "prefix");
                JsonNode first = prefixes.path("entries").path(0);
                assertThat(first.path("key").asText()).isEqualTo("/orders");
                assertThat(first.path("writesPerSecond").asDouble()).isPositive();
                assertThat(first.path("readsPerSecond").asDouble()).isZero();
                assertThat(first.path("bytesWrittenPerSecond").asDouble())
                        .isGreaterThan(99 * first.path("writesPerSecond").asDouble());
                JsonNode second = prefixes.path("entries").path(1);
                assertThat(second.path("key").asText()).isEqualTo("/calm");
                assertThat(second.path("bytesReadPerSecond").asDouble())
                        .isGreaterThan(second.path("readsPerSecond").asDouble());

                JsonNode deep = top("--depth", "2");
                assertThat(deep.path("entries").path(0).path("key").asText())
                        .isEqualTo("/orders/one");

                JsonNode sessions = top("--by", "session").path("entries").path(0);
                assertThat(sessions.path("key").asText()).isEqualTo(session(busy));
                assertThat(sessions.path("client").asText()).startsWith("127.0.0.1:");
                assertThat(sessions.path("endpoint").asText())
                        .isEqualTo(ensemble.server(ensemble.followers().get(0)).address().client());

                JsonNode operations = top("--by", "operation");
                assertThat(operations.path("entries").path(0).path("key").asText())
                        .isEqualTo("setData");
                assertThat(keys(operations))
                        .containsExactly(
                                "by", "depth", "entries", "millis", "other", "servers", "total");
                assertThat(keys(operations.path("total")))
                        .isEqualTo(keys(sessions))
                        .isEqualTo(keys(operations.path("other")))
                        .containsExactly(
                                "bytesReadPerSecond",
                                "bytesWrittenPerSecond",
                                "client",
                                "endpoint",
                                "key",
                                "maxMillis",
                                "meanMillis",
                                "readsPerSecond",
                                "writesPerSecond");
                Said table = saucr("top", "--once", "--interval", "500ms");
                assertThat(table.exitCode()).isZero();
                assertThat(table.row("PREFIX")).contains("WRITES/S").contains("MAX MS");
                assertThat(table.out().lines().toList().get(1)).startsWith("/orders ");
            } finally {
                over.set(true);
                window.release(16);
                writing.join();
                reading.join();
            }
        }
    }

    private static JsonNode top(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("top", "--once", "--interval=1s", "-o", "json"));
        all.addAll(List.of(arguments));
        Said said = saucr(all.toArray(String[]::new));
        assertThat(said.exitCode()).as(said.out() + said.err()).isZero();
        return said.json();
    }

    private static List<String> keys(JsonNode object) {
        TreeSet<String> keys = new TreeSet<>();
        object.fieldNames().forEachRemaining(keys::add);
        return List.copyOf(keys);
    }

    // ---- Bad input, and who may ask ----

    @Test
    @Order(5)
    void badParametersAreRefusedWithWhatIsAllowed() throws Exception {
        int id = ensemble.leader();
        assertRefused(id, "saucr/top?by=paths", "by is prefix, session or operation");
        assertRefused(id, "saucr/top?millis=99", "millis is 100 to 10000");
        assertRefused(id, "saucr/top?millis=99999999999", "millis is 100 to 10000");
        assertRefused(id, "saucr/top?depth=0", "depth is 1 to 100");
        assertRefused(id, "saucr/top?most=-1", "most is 1 to 1000");
        Answer wrong = admin(id).post("saucr/slowRequestTime", "ip self", "soon because");
        assertThat(wrong.status()).isEqualTo(400);
        assertThat(wrong.body().path("error").asText())
                .isEqualTo(
                        "admin command: saucr.slowRequestTime=soon is not allowed; it must be 1ms"
                                + " to 1h, for example 500ms, or off");
    }

    private static void assertRefused(int id, String command, String sentence) throws Exception {
        var answer = admin(id).get(command, "ip self");
        assertThat(answer.statusCode()).as(command).isEqualTo(400);
        assertThat(answer.body()).contains(sentence);
    }

    @Test
    @Order(6)
    void pathsAndAddressesAreForThoseWhoMayDoEverything() throws Exception {
        int id = ensemble.leader();
        try (Client client = ensemble.connect(id)) {
            client.addAuthInfo("digest", USER.getBytes(StandardCharsets.UTF_8));
            client.setACL(
                    "/",
                    // ZooKeeper's client looks for null in it.
                    Collections.singletonList(
                            new ACL(
                                    Perms.ALL,
                                    new Id(
                                            "digest",
                                            DigestAuthenticationProvider.generateDigest(USER)))),
                    -1);
            for (String command : List.of("saucr/top?millis=100", "saucr/slowRequests")) {
                assertThat(admin(id).get(command, "ip self").statusCode())
                        .as(command)
                        .isEqualTo(403);
                assertThat(admin(id).get(command, "digest " + USER).statusCode())
                        .as(command)
                        .isEqualTo(200);
            }
            assertThat(admin(id).post("saucr/slowRequestTime", "ip self", "1s").status())
                    .isEqualTo(403);
            client.setACL("/", Ids.OPEN_ACL_UNSAFE, -1);
        }
    }
}
