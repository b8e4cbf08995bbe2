package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import io.saucr.tests.ensemble.ToolProcess.Said;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.apache.zookeeper.server.auth.SASLAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/saucr} of the built distribution, against servers of ours and of Apache's. */
@Tag("trial")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ToolIT {
    private static final int VOTERS = 3;
    private static final int NODES = 50;
    private static final int BALLAST = 2000;
    private static final String USER = "operator:secret";

    @TempDir static Path folder;

    private static LoopbackHosting hosting;
    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        hosting = new LoopbackHosting(SaucrEnsemble.folder("tool"), VOTERS, Disk.PLAIN);
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describeUnforced("tool", VOTERS)
                                .hosting(hosting)
                                .set("admin.enableServer", "true")
                                .set("admin.serverAddress", "127.0.0.1")
                                .set("admin.rateLimiterIntervalInMS", "0")
                                // A snapshot takes longer, so that something is written meanwhile.
                                .set("snapshot.compression.method", "gz")
                                .set(
                                        "saucr.adminServers",
                                        Stream.of(1, 2, 3)
                                                .map(id -> id + "=" + admin(id))
                                                .collect(Collectors.joining(","))));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    // ---- The tool ----

    private static String client(int id) {
        return hosting.address(id).client();
    }

    private static String admin(int id) {
        ServerAddress address = hosting.address(id);
        return address.clientHost() + ":" + address.adminPort();
    }

    private static String all(Function<Integer, String> address) {
        return ensemble.all().stream().map(address).collect(Collectors.joining(","));
    }

    /** Asks all servers of the ensemble. */
    private static Said saucr(String... arguments) throws Exception {
        return run(begin(all(ToolIT::client), all(ToolIT::admin), arguments));
    }

    /** Asks one server. */
    private static Said saucrOf(int id, String... arguments) throws Exception {
        return run(begin(client(id), admin(id), arguments));
    }

    private static ProcessBuilder begin(String endpoints, String admins, String... arguments)
            throws IOException {
        ProcessBuilder builder = ToolProcess.builder(folder, endpoints, admins, arguments);
        // However busy the machine is.
        builder.environment().put("SAUCR_TIMEOUT", "2m");
        return builder;
    }

    private static Said run(ProcessBuilder builder) throws Exception {
        return together(List.of(builder)).get(0);
    }

    /** Several runs at the same time. */
    private static List<Said> together(List<ProcessBuilder> builders) throws Exception {
        return ToolProcess.run(builders, SaucrEnsemble.PATIENCE.multipliedBy(2));
    }

    private static List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.matches("(out|err)\\d+"))
                    .sorted()
                    .toList();
        }
    }

    // ---- Questions and orders ----

    @Test
    @Order(1)
    void questions() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        Said status = saucr("endpoint", "status");
        assertThat(status.exitCode()).as(status.toString()).isZero();
        assertThat(status.row(client(leader))).containsPattern(" leader +fast +3\\.9\\.5.* 0x");
        assertThat(status.row(client(follower))).containsPattern(" follower +- +3\\.9\\.5.* 0x");
        JsonNode json = saucr("endpoint", "status", "-o", "json").json();
        assertThat(json).hasSize(VOTERS);
        JsonNode first = json.get(leader - 1);
        assertThat(first.path("serves").asBoolean()).isTrue();
        assertThat(first.path("mode").asText()).isEqualTo("fast");
        assertThat(first.path("saucr").path("promptVoters").asInt()).isEqualTo(VOTERS);

        Said health = saucr("endpoint", "health");
        assertThat(health.exitCode()).as(health.toString()).isZero();
        assertThat(health.row(client(1))).containsPattern(" yes +[0-9.]+ ms");
        assertThat(
                        saucr("endpoint", "health", "-o", "json")
                                .json()
                                .get(0)
                                .path("healthy")
                                .asBoolean())
                .isTrue();

        assertThat(saucr("mode").out()).startsWith("fast\n");
        // Its AdminServer asks the leader's.
        assertThat(saucrOf(follower, "mode", "--brief").out()).isEqualTo("fast\n");
        Said unknown = saucrOf(follower, "mode", "--brief", "--admin", "none");
        assertThat(unknown.out()).isEqualTo("unknown\n");
        assertThat(unknown.err())
                .isEqualTo(client(follower) + ": only a leader's mntr tells the mode\n");
        // mntr tells, too.
        assertThat(saucr("mode", "--admin", "none").out()).startsWith("fast\n");
        Said view = saucr("view");
        assertThat(view.exitCode()).isZero();
        assertThat(view.row(client(follower))).containsPattern(" 1,2,3 +0x[0-9a-f]+ +1 ");
        assertThat(view.row(follower + " ")).containsPattern("yes +yes +yes +yes");
        Said recovery = saucr("recovery");
        assertThat(recovery.exitCode()).isZero();
        assertThat(recovery.row(client(follower))).contains("complete");
        assertThat(recovery.err()).isEmpty();
    }

    @Test
    @Order(2)
    void orders() throws Exception {
        int leader = ensemble.awaitFast();
        Said slow = saucr("slow", "a loose cable");
        assertThat(slow.exitCode()).as(slow.toString()).isZero();
        assertThat(slow.row(client(leader))).contains("pinned slow; on disk through 0x");
        Said mode = saucr("mode");
        assertThat(mode.out()).startsWith("slow, pinned\nbecause: operator: a loose cable\n");
        assertThat(mode.row(client(leader))).contains("operator: a loose cable");
        assertThat(statusScript(leader)).contains("Mode: leader\nSAUCR mode: slow, pinned\n");
        assertThat(saucr("fast").exitCode()).isZero();
        ensemble.awaitFast();
        assertThat(saucrOf(leader, "flush", "-o", "json").json().get(0).path("done").asBoolean())
                .isTrue();
        int follower = ensemble.followers().get(0);
        assertThat(statusScript(follower)).contains("Mode: follower\nSAUCR mode: fast\n");
    }

    private static String statusScript(int id) throws IOException {
        return BuiltDistribution.run(
                "env",
                "JAVA_HOME=" + System.getProperty("java.home"),
                BuiltDistribution.home().resolve("bin/zkServer.sh").toString(),
                "--config",
                ensemble.server(id).configurationFile().getParent().toString(),
                "status",
                ensemble.server(id).configurationFile().toString());
    }

    @Test
    @Order(3)
    void ordersAndSnapshotsNeedAllPermissionsOnTheRoot() throws Exception {
        int leader = ensemble.awaitFast();
        Id operator = new Id("digest", DigestAuthenticationProvider.generateDigest(USER));
        try (Client client = ensemble.connect(leader)) {
            client.addAuthInfo("digest", USER.getBytes(StandardCharsets.UTF_8));
            client.setACL("/", Arrays.asList(new ACL(Perms.ALL, operator)), -1);
            for (List<String> command :
                    List.of(
                            List.of("flush"),
                            List.of("slow", "--auth", "digest:operator:wrong"),
                            List.of("snapshot", "save", "file"),
                            List.of("backup", "folder"))) {
                Said said = saucrOf(leader, command.toArray(String[]::new));
                assertThat(said.exitCode()).as(command.toString()).isEqualTo(1);
                assertThat(said.out() + said.err())
                        .contains("needs all permissions on the node / (--auth, --auth-file)");
            }
            Path secret = Files.writeString(folder.resolve("secret"), "digest:" + USER + "\n");
            assertThat(saucrOf(leader, "flush", "--auth-file", secret.toString()).exitCode())
                    .isZero();
            Files.delete(secret);
            client.setACL("/", Ids.OPEN_ACL_UNSAFE, -1);
        }
        assertThat(ensemble.metric(leader, "zk_saucr_pinned_slow")).isZero();
        assertThat(files()).isEmpty();
    }

    @Tag("long")
    @Test
    @Order(4)
    void whatIsWrongIsSaidOfEachAndHoldsUpNobodyElse() throws Exception {
        int leader = ensemble.awaitFast();
        int hanging = ensemble.followers().get(0);
        int other = ensemble.followers().get(1);
        String silence = "accepts connections, but does not answer within 10 s";
        String endpoints = all(ToolIT::client);
        String admins = all(ToolIT::admin);
        ensemble.pause(hanging);
        try {
            List<Said> said =
                    together(
                            List.of(
                                    begin(endpoints, admins, "endpoint", "health", "--timeout=10s"),
                                    begin(endpoints, admins, "endpoint", "status", "--timeout=10s"),
                                    begin(endpoints, admins, "flush", "--timeout=10s")));
            assertThat(said).extracting(Said::exitCode).containsExactly(1, 1, 1);
            Said health = said.get(0);
            assertThat(health.row(client(hanging))).contains(" no ", silence);
            assertThat(health.row(client(leader))).contains(" yes ");
            assertThat(health.row(client(other))).contains(" yes ");
            Said status = said.get(1);
            assertThat(status.row(client(hanging))).contains(silence);
            assertThat(status.row(client(leader))).contains(" leader ");
            Said flush = said.get(2);
            assertThat(flush.row(client(hanging))).contains(" no ", silence);
            assertThat(flush.row(client(leader))).contains("on disk through");
        } finally {
            ensemble.resume(hanging);
        }

        Said swapped = run(begin(admin(other), client(other), "endpoint", "health"));
        assertThat(swapped.exitCode()).isEqualTo(1);
        assertThat(swapped.out()).contains("speaks HTTP");
        assertThat(run(begin(client(other), client(other), "flush")).out())
                .contains("closes the connection without an answer");
        assertThat(saucrOf(other, "endpoint", "health", "--tls").out()).contains("TLS: ");
        Said off = saucrOf(other, "flush", "--admin", "none");
        assertThat(off.exitCode()).isEqualTo(1);
        assertThat(off.out()).contains("AdminServer is not to be asked");

        ensemble.kill(hanging);
        Said dead = saucr("endpoint", "status");
        assertThat(dead.exitCode()).isEqualTo(1);
        assertThat(dead.row(client(hanging))).contains("refuses connections");
        ensemble.restart(hanging);
        ensemble.awaitServing();
        assertThat(saucr("snapshot", "save", "none/file").err())
                .contains("none: there is no such folder");
        assertThat(saucr("nothing").exitCode()).isEqualTo(2);
    }

    // ---- Snapshots and backups ----

    /**
     * One client counts, and writes the numbers into nodes in turn: of any one moment they hold the
     * last numbers without a gap.
     */
    private static final class Counting implements AutoCloseable {
        private final Client client;
        private final AtomicBoolean ends = new AtomicBoolean();
        private final AtomicLong acknowledged = new AtomicLong(-1);
        private final Thread thread;
        private final Semaphore window = new Semaphore(32);

        Counting() throws Exception {
            client = ensemble.connect();
            client.create("/counts", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            for (int i = 0; i < NODES; i++) {
                client.create(node(i), new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            thread = new Thread(this::count, "counting");
            thread.start();
        }

        private static String node(long number) {
            return "/counts/" + number % NODES;
        }

        private void count() {
            for (long number = 0; !ends.get(); number++) {
                long written = number;
                window.acquireUninterruptibly();
                client.setData(
                        node(number),
                        Long.toString(number).getBytes(StandardCharsets.US_ASCII),
                        -1,
                        (code, path, context, stat) -> {
                            if (code == 0) {
                                acknowledged.set(written);
                            }
                            window.release();
                        },
                        null);
            }
        }

        long acknowledged() {
            return acknowledged.get();
        }

        @Override
        public void close() {
            ends.set(true);
            try {
                thread.join();
                client.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The highest number, if the nodes show the state of one moment. */
    private static long counted(Client client) throws Exception {
        TreeSet<Long> numbers = new TreeSet<>();
        for (int i = 0; i < NODES; i++) {
            long number =
                    Long.parseLong(
                            new String(
                                    client.getData("/counts/" + i, false, null),
                                    StandardCharsets.US_ASCII));
            assertThat(number % NODES).isEqualTo(i);
            numbers.add(number);
        }
        assertThat(numbers.last() - numbers.first()).isEqualTo(NODES - 1);
        return numbers.last();
    }

    @Test
    @Order(5)
    void aBackupUnderLoadIsTheStateOfOneMomentAfterItWasOrdered() throws Exception {
        ensemble.awaitFast();
        try (Client client = ensemble.connect()) {
            client.create("/ballast", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            byte[] incompressible = new byte[1000];
            for (int i = 0; i < BALLAST; i++) {
                ThreadLocalRandom.current().nextBytes(incompressible);
                client.create(
                        "/ballast/" + i,
                        incompressible.clone(),
                        Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT,
                        (code, path, context, name) -> {},
                        null);
            }
        }
        long before = -1;
        try (Counting counting = new Counting()) {
            SaucrEnsemble.await("all nodes written", () -> counting.acknowledged() > NODES);
            String made = "";
            for (int i = 0; made.isEmpty() && i < 20; i++) {
                before = counting.acknowledged();
                Said said = saucr("backup", "-o", "json", "backup" + i);
                assertThat(said.exitCode()).as(said.toString()).isZero();
                if (said.json().has("logEntries")) {
                    made = "backup" + i;
                    assertThat(said.json().path("logEntries").asLong()).isPositive();
                }
            }
            assertThat(made).as("a snapshot while something was written").isNotEmpty();
            Files.move(folder.resolve(made), folder.resolve("made"));
        }
        Said again = saucr("snapshot", "status", "made");
        assertThat(again.exitCode()).as(again.toString()).isZero();
        Said twice = saucr("backup", "made");
        assertThat(twice.exitCode()).isEqualTo(1);
        assertThat(twice.err()).contains("made is there already; it is not replaced");

        Said running = saucr("snapshot", "restore", "--running", "made", "--accept-fuzzy");
        assertThat(running.exitCode()).isEqualTo(1);
        assertThat(running.err()).contains("has SAUCR on", "no server was changed");
        Said full =
                saucr(
                        "snapshot",
                        "restore",
                        "made",
                        "--data-dir",
                        ensemble.server(1).dataDirectory().toString());
        assertThat(full.exitCode()).isEqualTo(1);
        assertThat(full.err()).contains("data of a server in", "it is not replaced");

        ensemble.terminate(1, 2, 3);
        for (int id : ensemble.all()) {
            Path data = ensemble.server(id).dataDirectory();
            BuiltDistribution.deleteTree(data.resolve("version-2"));
            Said restored = saucr("snapshot", "restore", "made", "--data-dir", data.toString());
            assertThat(restored.exitCode()).as(restored.toString()).isZero();
        }
        ensemble.restart(1, 2, 3);
        ensemble.awaitServing();
        for (int id : ensemble.all()) {
            try (Client client = ensemble.connect(id)) {
                assertThat(counted(client)).isGreaterThanOrEqualTo(before);
                assertThat(client.getChildren("/ballast", false)).hasSize(BALLAST);
            }
        }
        ensemble.awaitFast();
    }

    @Tag("long")
    @Test
    @Order(6)
    void aSaveThatFailsLeavesNothing() throws Exception {
        Said saved = saucr("snapshot", "save", "-o", "json", "saved");
        assertThat(saved.exitCode()).as(saved.toString()).isZero();
        assertThat(saved.json().path("kind").asText()).isEqualTo("exact");
        assertThat(saved.json().path("bytes").asLong())
                .isEqualTo(Files.size(folder.resolve("saved")));
        byte[] content = Files.readAllBytes(folder.resolve("saved"));
        assertThat(saucr("snapshot", "save", "saved").err()).contains("is there already");
        assertThat(folder.resolve("saved")).hasBinaryContent(content);
        List<String> before = files();

        // As a full disk does, a limit of 100 KB fails the write.
        for (String command : List.of("snapshot save", "backup")) {
            ProcessBuilder limited = begin(client(1), admin(1));
            limited.command(
                    "bash",
                    "-c",
                    "ulimit -f 100; exec " + limited.command().get(0) + " " + command + " limited");
            Said said = run(limited);
            assertThat(said.exitCode()).isEqualTo(1);
            assertThat(said.err()).contains("cannot write limited: File too large");
        }
        assertThat(files()).isEqualTo(before);

        int hanging = ensemble.followers().get(0);
        ensemble.pause(hanging);
        try {
            // Another one gives it.
            Said said =
                    run(
                            begin(
                                    client(hanging) + "," + client(ensemble.leader()),
                                    admin(hanging) + "," + admin(ensemble.leader()),
                                    "snapshot",
                                    "save",
                                    "--timeout=10s",
                                    "another"));
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.err()).contains(client(hanging) + ": accepts connections, but");
            // A kill while it waits.
            Process killed =
                    begin(client(hanging), admin(hanging), "backup", "--timeout", "1m", "killed")
                            .start();
            SaucrEnsemble.await(
                    "the folder that is not whole",
                    () -> files().stream().anyMatch(name -> name.startsWith("killed.partial-")));
            killed.destroy();
            assertThat(killed.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            ensemble.resume(hanging);
        }
        assertThat(files()).noneMatch(name -> name.startsWith("killed"));
        ensemble.awaitServing();
    }

    @Test
    @Order(7)
    void theLogIsForOperatorsAlone() throws Exception {
        int leader = ensemble.awaitFast();
        AdminServer server = new AdminServer(ensemble.server(leader));
        assertThat(server.get("saucr/log?after=0x1").statusCode()).isEqualTo(401);
        URLConnection wrong =
                URI.create(server.url("saucr/log?after=now")).toURL().openConnection();
        wrong.setRequestProperty("Authorization", "ip self");
        assertThat(((HttpURLConnection) wrong).getResponseCode()).isEqualTo(400);
        URLConnection right =
                URI.create(server.url("saucr/log?after=0x7fffffffffffffff"))
                        .toURL()
                        .openConnection();
        right.setRequestProperty("Authorization", "ip self");
        try (InputStream in = right.getInputStream()) {
            assertThat(in.readAllBytes()).hasSize(16);
        }
    }

    // ---- Servers that recover ----

    @Tag("long")
    @Test
    @Order(8)
    void whomAServerWaitsForThatRecovers() throws Exception {
        ensemble.writeAndDie();
        ensemble.all().forEach(hosting::reboot);
        ensemble.restart(1);
        SaucrEnsemble.await(
                "its question to the others",
                () -> ensemble.metric(1, "zk_saucr_recovery_needed") == 1);
        String waits = "waits for 1 more answer; voters [2, 3] did not answer";
        for (List<String> options : List.of(List.<String>of(), List.of("--admin", "none"))) {
            Said recovery = saucr(join(List.of("recovery"), options));
            assertThat(recovery.exitCode()).isEqualTo(1);
            assertThat(recovery.row(client(1))).contains(" recovering ", waits);
            assertThat(recovery.row(client(2))).contains("refuses connections");
        }
        Said health = saucrOf(1, "endpoint", "health");
        assertThat(health.exitCode()).isEqualTo(1);
        assertThat(health.row(client(1))).contains("does not serve at present: recovering", waits);
        assertThat(saucrOf(1, "endpoint", "status").row(client(1))).contains(waits);
        assertThat(saucrOf(1, "flush").out()).contains("zkServer.sh flush on its machine");
        assertThat(saucrOf(1, "mode", "--brief").out()).isEqualTo("unknown\n");
        assertThat(saucrOf(1, "backup", "recovering").err()).contains(waits);
        assertThat(files()).doesNotContain("recovering");
        ensemble.kill(1);
    }

    // ---- A server of Apache's ----

    /** Apache's release with what its AdminServer needs. */
    private static Distribution stock() throws IOException {
        List<Path> classPath = new ArrayList<>(ApacheRelease.base().classPath());
        Path apacheTests = BuiltDistribution.target().resolve("../../apache-tests/target/lib");
        try (Stream<Path> jars = Files.list(apacheTests.normalize())) {
            jars.filter(jar -> jar.getFileName().toString().matches("(jetty|javax.servlet).*"))
                    .forEach(classPath::add);
        }
        return new Distribution("zookeeper", ApacheRelease.base().version(), classPath);
    }

    private static String digest(String entry) {
        return DigestLoginModule.class.getName() + " required " + entry + ";";
    }

    @Tag("long")
    @Test
    @Order(9)
    void aServerOfApachesWithTlsAndSasl() throws Exception {
        Path keys = Certificates.keys(folder.resolve("keys.p12"));
        Path trusted = Certificates.certificateOf(keys, folder.resolve("trusted.p12"));
        Path others =
                Certificates.certificateOf(
                        Certificates.keys(folder.resolve("others.p12")),
                        folder.resolve("othersTrusted.p12"));
        Path password = Files.writeString(folder.resolve("password"), Certificates.PASSWORD);
        Path jaas =
                Files.writeString(
                        folder.resolve("jaas.conf"),
                        """
                        Server { %s };
                        Client { %s };
                        Wrong { %s };
                        """
                                .formatted(
                                        digest("user_operator=\"secret\""),
                                        digest("username=\"operator\" password=\"secret\""),
                                        digest("username=\"operator\" password=\"wrong\"")));
        LoopbackHosting own =
                new LoopbackHosting(SaucrEnsemble.folder("tool-stock"), 2, Disk.PLAIN);
        String secure = "127.0.0.1:" + own.address(2).clientPort();
        String admin = "https://127.0.0.1:" + own.address(1).adminPort();
        Ensemble.Builder builder =
                Ensemble.of(stock(), SaucrEnsemble.folder("tool-stock"))
                        .voters(1)
                        .hosting(own)
                        .jvmFlag("-Djava.security.auth.login.config=" + jaas)
                        .jvmFlag("-Dzookeeper.fips-mode=false")
                        .set("admin.enableServer", "true")
                        .set("admin.serverAddress", "127.0.0.1")
                        .set("admin.forceHttps", "true")
                        .set("admin.rateLimiterIntervalInMS", "0")
                        .set("authProvider.1", SASLAuthenticationProvider.class.getName())
                        .set("sessionRequireClientSASLAuth", "true")
                        .set("serverCnxnFactory", NettyServerCnxnFactory.class.getName())
                        .set("secureClientPortAddress", "127.0.0.1")
                        .set("secureClientPort", Integer.toString(own.address(2).clientPort()));
        for (String prefix : List.of("ssl.", "ssl.quorum.")) {
            builder.set(prefix + "keyStore.location", keys.toString())
                    .set(prefix + "keyStore.password", Certificates.PASSWORD)
                    .set(prefix + "trustStore.location", trusted.toString())
                    .set(prefix + "trustStore.password", Certificates.PASSWORD);
        }
        Said said;
        try (Ensemble one = builder.build()) {
            one.start();
            SaucrEnsemble.await("its role", () -> one.server(1).role().equals("standalone"));
            List<String> trust =
                    List.of("--trust-store=" + trusted, "--trust-store-password-file=" + password);
            List<String> key =
                    List.of(
                            "--tls",
                            "--key-store=" + keys,
                            "--key-store-password-file=" + password);
            List<String> tls = List.of(join(trust, key));
            List<String> login = List.of("--jaas=" + jaas, "--no-fips");

            said = run(begin(secure, admin, join(List.of("endpoint", "health"), tls, login)));
            assertThat(said.exitCode()).as(said.toString()).isZero();
            said = run(begin(secure, admin, join(List.of("endpoint", "status"), tls)));
            assertThat(said.row(secure)).containsPattern(" standalone +off +3\\.9\\.5 ");
            said = run(begin(secure, admin, join(List.of("endpoint", "health"), tls)));
            assertThat(said.exitCode()).isEqualTo(1);
            assertThat(said.out()).contains("it wants a login by SASL (--jaas)");
            said =
                    run(
                            begin(
                                    secure,
                                    admin,
                                    join(
                                            List.of("endpoint", "health", "--jaas-section=Wrong"),
                                            tls,
                                            login)));
            assertThat(said.out()).contains("refuses: the credentials are wrong");

            said =
                    run(
                            begin(
                                    secure,
                                    admin,
                                    join(
                                            List.of(
                                                    "endpoint",
                                                    "status",
                                                    "--trust-store=" + others,
                                                    "--trust-store-password-file=" + password),
                                            key)));
            assertThat(said.exitCode()).isEqualTo(1);
            assertThat(said.row(secure)).contains("its certificate is not trusted");
            said = run(begin(secure, admin, join(List.of("endpoint", "health", "--tls"), trust)));
            assertThat(said.row(secure)).contains(" no ", "certificate");
            assertThat(run(begin(secure, admin, "endpoint", "health", "--admin", "none")).out())
                    .contains("a port with TLS needs --tls");

            said = run(begin(secure, admin, join(List.of("slow"), tls)));
            assertThat(said.exitCode()).isEqualTo(1);
            assertThat(said.row(secure))
                    .contains("does not know this admin command: this is a server of Apache's");
            assertThat(run(begin(secure, admin, join(List.of("mode", "--brief"), tls))).out())
                    .isEqualTo("off\n");

            said =
                    run(
                            begin(
                                    secure,
                                    admin,
                                    join(List.of("snapshot", "save", "stock"), tls, login)));
            assertThat(said.exitCode()).as(said.toString()).isZero();
            said =
                    run(
                            begin(
                                    secure,
                                    admin,
                                    join(
                                            List.of("snapshot", "restore", "--running", "stock"),
                                            tls)));
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.out()).contains("replaced, at 0x");
            assertThat(
                            run(begin(
                                            "none",
                                            "1",
                                            "mode",
                                            "--brief",
                                            "--config",
                                            one.server(1).configurationFile().toString()))
                                    .out())
                    .isEqualTo("off\n");
        }
    }

    private static String[] join(List<String> command, List<String> options) {
        return join(command, options, List.of());
    }

    private static String[] join(List<String> command, List<String> options, List<String> more) {
        return Stream.of(command, options, more).flatMap(List::stream).toArray(String[]::new);
    }
}
