package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.apache.ApacheTestsCommand;
import io.saucr.crash.CrashCommand;
import io.saucr.ensemble.FourLetterWord;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.model.checker.ModelCommand;
import io.saucr.model.simulator.SimCommand;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs every shell command of README.md and below docs as it stands, apart from the places that it
 * names, or in a smaller variant that is given here; {@link SecurityGuideIT} runs those of one
 * page. The last test fails if a page has a command that this class does not know, or this class
 * one that no page shows. One ensemble serves nearly all of them: three servers, installed as
 * README.md says from a sample configuration.
 */
@Tag("trial")
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DocumentationIT {
    private static final Path ROOT = BuiltDistribution.target().getParent().getParent();
    private static final Set<Integer> SERVERS = Set.of(1, 2, 3);
    private static final int PORT_BASE = 23_100;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SERVICES_BENCH = "bin/saucr-bench services";
    private static final String INSPECT = "bin/saucr-recovery inspect --config conf/zoo.cfg";
    private static final String TAR =
            "tar xzf saucr-zookeeper-<version>-bin.tar.gz && cd saucr-zookeeper-<version>";

    /**
     * Programs that take too long, or that build what this test runs on. Here only their parsers
     * read the options that the pages show; other tests show that they work.
     */
    private static final Map<String, String> CAMPAIGNS =
            Map.of(
                    "bin/saucr-bench",
                    "io.saucr.bench.cli.BenchCommand",
                    "bin/saucr-sim",
                    SimCommand.class.getName(),
                    "bin/saucr-model",
                    ModelCommand.class.getName(),
                    "bin/saucr-apache-tests",
                    ApacheTestsCommand.class.getName(),
                    "bin/saucr-crash",
                    CrashCommand.class.getName(),
                    "bin/saucr-client-suites",
                    "io.saucr.suites.ClientSuitesCommand",
                    "bin/saucr-services",
                    "io.saucr.services.tool.ServicesCommand",
                    "bin/saucr-services-crash",
                    "io.saucr.services.tests.crash.ServicesCampaign",
                    SERVICES_BENCH,
                    "io.saucr.services.bench.ServicesBench");

    @TempDir static Path folder;

    private static Set<String> documented;
    private static final Set<String> known = ConcurrentHashMap.newKeySet();
    private static final Set<String> metrics = new TreeSet<>();

    /** The unpacked distribution. */
    private static Path ours;

    /** Where a server is installed: the current folder of whoever types. */
    private static final Map<Integer, Path> homes = new ConcurrentHashMap<>();

    @BeforeAll
    static void read() throws Exception {
        assumeTrue(Shell.knows("curl"), "no curl on the PATH");
        documented = new Documentation(ROOT).commands();
        assertThat(documented).hasSizeGreaterThan(50);
    }

    @AfterAll
    static void leaveNoProcess() throws Exception {
        LocalEnsemble.in(state()).ifPresent(LocalEnsemble::killAll);
        for (int id : SERVERS) {
            if (Files.exists(pidFile(id))) {
                shell(folder, Map.of(), "kill -9 " + pid(id) + " || true");
            }
        }
    }

    // ---- How commands are run ----

    /** In the project's folder. */
    private static String project(String command) throws Exception {
        return project(command, command);
    }

    private static String project(String command, String variant) throws Exception {
        known.add(command);
        return shell(ROOT, Map.of("SAUCR_STATE", state().toString()), variant);
    }

    /** In the distribution's folder of a server. */
    private static String server(int id, String command) throws Exception {
        return server(id, command, command);
    }

    private static String server(int id, String command, String variant) throws Exception {
        known.add(command);
        String text = variant;
        for (Map.Entry<String, String> place : places(id).entrySet()) {
            text = text.replace(place.getKey(), place.getValue());
        }
        return shell(homes.get(id), variables(id), text);
    }

    private static Map<String, String> variables(int id) {
        return Map.of(
                "ZOOCFGDIR", config(id).getParent().toString(),
                "ZOOPIDFILE", pidFile(id).toString(),
                "ZOO_LOG_DIR", log(id).getParent().toString(),
                "ZOO_LOG_FILE", log(id).getFileName().toString(),
                "SAUCR_ADMIN", adminServers(),
                "JMXDISABLE", "true");
    }

    /** What the pages leave to the reader's own values, longest first. */
    private static Map<String, String> places(int id) throws IOException {
        Map<String, String> places = new LinkedHashMap<>();
        places.put(
                "HOST:2888:3888;2181",
                "127.0.0.1:%d:%d:participant;127.0.0.1:%d"
                        .formatted(PORT_BASE + 100 + id, PORT_BASE + 200 + id, PORT_BASE + id));
        places.put("HOST:2181,HOST:2182", connectString());
        places.put("zk1:2181,zk2:2181,zk3:2181", connectString());
        places.put("localhost:2181", "127.0.0.1:" + (PORT_BASE + id));
        places.put("localhost:8080", "127.0.0.1:" + (PORT_BASE + 300 + id));
        places.put("zk1:8080", "127.0.0.1:" + (PORT_BASE + 300 + id));
        places.put("DATADIR", data(id).toString());
        places.put("/var/lib/zookeeper", data(id).toString());
        places.put("conf/zoo.cfg", config(id).toString());
        places.put("/opt/saucr-zookeeper-agent.jar", only(ours.resolve("agent")).toString());
        if (Files.exists(pidFile(id))) {
            places.put("<pid>", Long.toString(pid(id)));
            places.put(" PID ", " " + pid(id) + " ");
        }
        return places;
    }

    private static String shell(Path directory, Map<String, String> variables, String command)
            throws IOException, InterruptedException {
        Shell.Result result = new Shell(folder).run(directory, environment(variables), command);
        assertThat(result.status()).as("%s%n%s", command, result.output()).isZero();
        return result.output();
    }

    private static Map<String, String> environment(Map<String, String> variables) {
        Map<String, String> environment = new HashMap<>();
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("ZK_SERVER_HEAP", "128");
        environment.put(
                "SERVER_JVMFLAGS",
                "-XX:TieredStopAtLevel=1 -Dzookeeper.saucr.bootId=" + (powerFailed ? "2" : "1"));
        environment.put("JVMFLAGS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto");
        environment.put("SAUCR_BENCH_JVMFLAGS", "-XX:TieredStopAtLevel=1 -Xms32m");
        environment.putAll(variables);
        return environment;
    }

    private static String java(Class<?> program) {
        return "%s -Xmx256m -XX:TieredStopAtLevel=1 -cp '%s' %s"
                .formatted(
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        System.getProperty("java.class.path")
                                + ":"
                                + System.getProperty("surefire.test.class.path", ""),
                        program.getName());
    }

    // ---- What they are run on ----

    private static Path state() {
        return folder.resolve("state");
    }

    private static Path data(int id) {
        return folder.resolve("servers/" + id + "/data");
    }

    private static Path config(int id) {
        return folder.resolve("servers/" + id + "/conf/zoo.cfg");
    }

    private static Path log(int id) {
        return folder.resolve("servers/" + id + "/log/zookeeper.log");
    }

    private static Path pidFile(int id) {
        return folder.resolve("servers/" + id + "/zk.pid");
    }

    private static long pid(int id) throws IOException {
        return Long.parseLong(Files.readString(pidFile(id)).trim());
    }

    private static Path only(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findFirst().orElseThrow();
        }
    }

    private static String connectString() {
        return addresses(PORT_BASE);
    }

    private static String adminServers() {
        return addresses(PORT_BASE + 300);
    }

    private static String addresses(int base) {
        return SERVERS.stream()
                .map(id -> "127.0.0.1:" + (base + id))
                .collect(Collectors.joining(","));
    }

    /**
     * What {@code /commands/saucr} of the server says; an empty object while it does not answer.
     */
    private static JsonNode status(int id) {
        try (InputStream answer =
                URI.create("http://127.0.0.1:%d/commands/saucr".formatted(PORT_BASE + 300 + id))
                        .toURL()
                        .openStream()) {
            return JSON.readTree(answer);
        } catch (IOException e) {
            return JSON.createObjectNode(); // It starts, or ends.
        }
    }

    /**
     * Asks the leader only: a follower says how it logged its last write, which may have been slow.
     */
    private static void awaitFast() {
        SaucrEnsemble.await(
                "a leader in fast mode",
                () -> {
                    for (int id : SERVERS) {
                        JsonNode status = status(id);
                        if (status.path("role").asText().equals("leading")
                                && status.path("mode").asText().equals("fast")) {
                            return true;
                        }
                    }
                    return false;
                });
    }

    private static int leader() {
        int[] leader = new int[1];
        SaucrEnsemble.await("a leader", () -> (leader[0] = status(1).path("leader").asInt()) > 0);
        return leader[0];
    }

    private static String client(String command) throws Exception {
        return server(
                1,
                "bin/zkCli.sh -server localhost:2181",
                "bin/zkCli.sh -server " + connectString() + " " + command);
    }

    private static void all(String command) {
        List<Exception> failures = new ArrayList<>();
        SERVERS.parallelStream()
                .forEach(
                        id -> {
                            try {
                                server(id, command);
                            } catch (Exception e) {
                                synchronized (failures) {
                                    failures.add(e);
                                }
                            }
                        });
        assertThat(failures).isEmpty();
    }

    /** What {@code mntr} of a server says, whether it serves or not. */
    private static void noteMetrics(int id) throws Exception {
        String answer =
                shell(
                        folder,
                        Map.of(),
                        "exec 3<>/dev/tcp/127.0.0.1/%d && printf mntr >&3 && cat <&3"
                                .formatted(PORT_BASE + id));
        for (String line : answer.lines().toList()) {
            Matcher metric = Pattern.compile("^zk_(saucr_[a-z_]+)").matcher(line);
            if (metric.find()) {
                metrics.add(metric.group(1).replaceFirst("_(count|sum)$", ""));
            }
        }
    }

    // ---- README: try it, install it ----

    @Test
    @Order(1)
    void tryIt() throws Exception {
        assertThat(project("./saucr up", "./saucr up -n 3 --port-base " + PORT_BASE))
                .contains("leader", "fast");
        project(
                "./saucr status --watch",
                "exec 3< <(exec ./saucr status --watch) && pid=$! && grep -m 1 follower <&3 && kill $pid");
        project("./saucr kill 4", "./saucr kill 3");
        project("./saucr start 4", "./saucr start 3");
        assertThat(project("./saucr cli", "echo 'create /tried 1' | ./saucr cli"))
                .contains("Created /tried");
        // SaucrCommandIT has it from the beginning to the end; here it is interrupted.
        project(
                "./saucr demo",
                "exec 3< <(exec ./saucr demo --phase 1) && pid=$!"
                        + " && grep -m 1 '10 ms per fsync, slow mode' <&3 && kill $pid");
        SaucrEnsemble.await("nobody is pinned, no force is delayed", DocumentationIT::isAsBefore);
        awaitFast();
        assertThat(project("./saucr down --wipe")).contains("3 servers stopped");
        // This test is a part of it.
        known.add("./saucr test");
        assertThat(project("./saucr test --all", "./saucr test --help")).contains("--all");
        assertThat(project("./saucr test --quick", "./saucr test --help")).contains("--quick");
        assertThat(project("./saucr test --trial", "./saucr test --help")).contains("--trial");
    }

    private static boolean isAsBefore() throws IOException {
        for (int id : SERVERS) {
            Path shim = state().resolve("servers/" + id + "/shim/control");
            long delay = ByteBuffer.wrap(Files.readAllBytes(shim)).getLong(Long.BYTES);
            if (delay != 0 || !status(id).path("pinnedSlow").isNull()) {
                return false;
            }
        }
        return true;
    }

    @Test
    @Order(2)
    void useIt() throws Exception {
        Path archive = Path.of(System.getProperty("saucr.distribution"));
        Files.createSymbolicLink(folder.resolve(archive.getFileName()), archive.toAbsolutePath());
        String name = archive.getFileName().toString().replace("-bin.tar.gz", "");
        known.add(TAR);
        shell(folder, Map.of(), TAR.replace("saucr-zookeeper-<version>", name) + " && pwd");
        ours = folder.resolve(name);
        for (int id : SERVERS) {
            homes.put(id, ours);
            Files.createDirectories(config(id).getParent());
            server(id, "cp conf/samples/lan-3.cfg conf/zoo.cfg");
            edit(id);
            server(id, "mkdir -p /var/lib/zookeeper");
            String number = "echo 1 > /var/lib/zookeeper/myid";
            server(id, number, number.replace("1", Integer.toString(id)));
        }
        assertThat(server(1, "bin/zkServer.sh class-archive")).contains("Made ", "server.jsa");
        all("bin/zkServer.sh start");
        all("bin/zkServer.sh await");
        assertThat(server(1, "bin/zkServer.sh status")).contains("Mode: ");
        assertThat(client("create /kept 1")).contains("Created /kept");
    }

    /** What README.md leaves to the reader, on one machine, and what the tests want. */
    private static void edit(int id) throws Exception {
        StringBuilder text = new StringBuilder();
        for (String line : Files.readAllLines(config(id))) {
            if (!line.matches(
                    "(dataDir|dataLogDir|clientPort|admin\\.serverPort|server\\..*)=.*")) {
                text.append(line).append('\n');
            }
        }
        assertThat(text).contains("saucr.enabled=true");
        text.append("dataDir=").append(data(id)).append('\n');
        for (int other : SERVERS) {
            text.append(
                    "server.%d=127.0.0.1:%d:%d%n"
                            .formatted(other, PORT_BASE + 100 + other, PORT_BASE + 200 + other));
        }
        text.append("clientPort=").append(PORT_BASE + id).append('\n');
        text.append("clientPortAddress=127.0.0.1\n");
        text.append("admin.serverPort=").append(PORT_BASE + 300 + id).append('\n');
        text.append("admin.serverAddress=127.0.0.1\n");
        // The names of summaries are whole only with this provider.
        text.append(
                "metricsProvider.className="
                        + "io.saucr.server.metrics.SaucrPrometheusMetricsProvider\n"
                        + "metricsProvider.httpPort=0\n");
        text.append("saucr.heartbeatInterval=2s\nsaucr.idleFlush=1h\n");
        text.append("reconfigEnabled=true\nstandaloneEnabled=false\n");
        text.append("DigestAuthenticationProvider.superDigest=")
                .append(DigestAuthenticationProvider.generateDigest("super:secret"))
                .append('\n');
        Files.writeString(config(id), text);
        Files.copy(ours.resolve("conf/logback.xml"), config(id).resolveSibling("logback.xml"));
    }

    // ---- Operators ----

    @Test
    @Order(3)
    void ordersAndQuestions() throws Exception {
        awaitFast();
        assertThat(server(1, "curl -s http://localhost:8080/commands/saucr"))
                .containsPattern("\"heartbeatInterval\" : \"PT2S\"");
        assertThat(server(1, "curl -s http://localhost:8080/commands/monitor"))
                .contains("saucr_mode");
        noteMetrics(leader());
        assertThat(server(2, "bin/zkServer.sh flush \"before the move\""))
                .contains("on disk through");
        assertThat(
                        server(
                                2,
                                "curl -X POST -H \"Authorization: digest admin:secret\" -d \"before the"
                                        + " move\" http://zk1:8080/commands/saucr/flush"))
                .contains("on disk through");
        assertThat(
                        server(
                                2,
                                "java -cp 'lib/*:/opt/saucr-zookeeper-agent.jar'"
                                        + " io.saucr.server.tool.LocalOrder PID flush \"before the move\"",
                                System.getProperty("java.home")
                                        + "/bin/java -cp 'lib/*:/opt/saucr-zookeeper-agent.jar'"
                                        + " io.saucr.server.tool.LocalOrder PID flush \"before the move\""))
                .contains("on disk through");
        server(2, "kill -PWR <pid>");
        SaucrEnsemble.await("the pin", () -> status(2).hasNonNull("pinnedSlow"));
        assertThat(server(1, "bin/zkServer.sh pin \"planned power cut\"")).contains("pinned");
        for (int id : new int[] {1, 2}) {
            shell(ours, variables(id), "bin/zkServer.sh unpin");
        }
        awaitFast();
    }

    @Test
    @Order(4)
    void ycsb() throws Exception {
        for (String phase : List.of("load", "run ")) {
            String command =
                    "bin/saucr-ycsb "
                            + phase
                            + " -P workloads/workloada -threads 8 -p"
                            + " zookeeper.connectString=HOST:2181,HOST:2182";
            assertThat(
                            project(
                                    command,
                                    command.replace("HOST:2181,HOST:2182", connectString())
                                            + " -p recordcount=20 -p operationcount=20"))
                    .contains("Return=OK");
        }
    }

    /** Whether the next starts must look like starts after a loss of power. */
    private static boolean powerFailed;

    @Test
    @Order(5)
    void backup() throws Exception {
        String endpoints = " --endpoints zk1:2181,zk2:2181,zk3:2181";
        assertThat(server(1, "bin/saucr endpoint status" + endpoints)).contains("leader", "fast");
        assertThat(server(1, "bin/saucr endpoint health --config conf/zoo.cfg")).contains("yes");
        client("create /saved 1");
        assertThat(server(1, "bin/saucr backup BACKUP" + endpoints)).contains("Backed up 0x");
        assertThat(server(1, "bin/saucr snapshot status BACKUP")).contains("through");
        assertThat(server(1, "bin/saucr backup --to ARCHIVE" + endpoints)).contains("Backed up 0x");
        server(1, "bin/saucr backup --to ARCHIVE --every 1h --once" + endpoints);
        assertThat(server(1, "bin/saucr backup status ARCHIVE")).contains("HISTORY");
        server(1, "bin/saucr backup status ARCHIVE --max-age 2h --max-log-age 10m");
        assertThat(server(1, "bin/saucr backup verify ARCHIVE")).contains("as the ensemble had");
        client("create /late 1");
    }

    /** All servers lose power at one instant: the case in which an operator has to decide. */
    @Test
    @Order(6)
    void stuckRecovery() throws Exception {
        awaitFast();
        client("create /unlucky 1");
        for (String signal : List.of("STOP", "KILL")) {
            shell(folder, Map.of(), "kill -%s %d %d %d".formatted(signal, pid(1), pid(2), pid(3)));
        }
        SERVERS.forEach(id -> SaucrEnsemble.await("its end", () -> !alive(id)));
        powerFailed = true;
        all("bin/zkServer.sh start");
        for (int id : SERVERS) {
            SaucrEnsemble.await(
                    "servers that wait for each other",
                    () -> {
                        JsonNode recovery = status(id).path("recovery");
                        return recovery.path("recovering").asBoolean()
                                && recovery.path("answersStillNeeded").asInt() == 1
                                && recovery.path("missing").size() == 2;
                    });
        }
        noteMetrics(1);
        server(1, "bin/zkServer.sh stop");
        String mustRecover = "; [ $? -eq 3 ]";
        assertThat(server(1, INSPECT, INSPECT + mustRecover)).contains("lastLogged");
        String withAgent =
                "java -cp 'lib/*:/opt/saucr-zookeeper-agent.jar'"
                        + " io.saucr.server.tool.RecoveryCommand inspect --config conf/zoo.cfg";
        assertThat(
                        server(
                                1,
                                withAgent,
                                System.getProperty("java.home")
                                        + "/bin/"
                                        + withAgent
                                        + mustRecover))
                .containsPattern("crashedInFastMode +true");
        String accept = "bin/saucr-recovery accept-loss --config conf/zoo.cfg";
        assertThat(server(1, accept, "echo yes | " + accept)).contains("accepted the loss");
        server(1, "bin/zkServer.sh start");
        all("bin/zkServer.sh await");
        // Only their boot ids changed; what they had written is there, so nothing is lost.
        assertThat(client("ls /")).contains("unlucky");
        noteMetrics(leader());
    }

    private static boolean alive(int id) throws IOException {
        return ProcessHandle.of(pid(id)).map(ProcessHandle::isAlive).orElse(false);
    }

    @Test
    @Order(7)
    void restore() throws Exception {
        all("bin/zkServer.sh stop");
        for (int id : SERVERS) {
            server(id, "mv DATADIR/version-2 DATADIR/version-2.before");
            assertThat(server(id, "bin/saucr snapshot restore BACKUP --data-dir DATADIR"))
                    .contains("Restored 0x");
        }
        all("bin/zkServer.sh start");
        all("bin/zkServer.sh await");
        assertThat(client("ls /")).contains("kept", "saved").doesNotContain("late");
        awaitFast();
    }

    /** A marker that cannot be read is deleted, and the server recovers without it. */
    @Test
    @Order(8)
    void lostMarkers() throws Exception {
        int follower = leader() == 3 ? 2 : 3;
        client("create /before 1");
        assertThat(server(follower, "bin/zkServer.sh stop")).contains("STOPPED");
        Path marker = data(follower).resolve("version-2/saucr.latestOnDisk");
        Files.writeString(marker, "not what a server writes");
        Shell.Result refused =
                new Shell(folder)
                        .run(ours, environment(variables(follower)), "bin/zkServer.sh start");
        assertThat(refused.status()).as(refused.output()).isNotZero();
        assertThat(refused.output()).contains(marker.toString());
        server(follower, "rm DATADIR/version-2/saucr.latestOnDisk");
        server(follower, "bin/zkServer.sh start");
        server(follower, "bin/zkServer.sh await");
        assertThat(Files.readString(log(follower))).contains("Recovered through");
        awaitFast();
    }

    // ---- To Apache's server and back ----

    @Tag("long")
    @Test
    @Order(9)
    void backToApachesServerAndThereAgain() throws Exception {
        Path apaches = folder.resolve("apache");
        Files.createDirectories(apaches.resolve("lib"));
        // Its server and our scripts, for its own are in no repository. The libraries are the same.
        shell(folder, Map.of(), "cp -r " + ours.resolve("bin") + " apache");
        List<Path> jars = new ArrayList<>(ApacheRelease.base().classPath());
        jars.removeIf(jar -> !jar.getFileName().toString().matches("zookeeper-3[.0-9]+\\.jar"));
        assertThat(jars).hasSize(1);
        try (Stream<Path> libraries = Files.list(ours.resolve("lib"))) {
            libraries
                    .filter(jar -> jar.toString().endsWith(".jar"))
                    .filter(jar -> !jar.getFileName().toString().startsWith("saucr-"))
                    .forEach(jars::add);
        }
        for (Path jar : jars) {
            Files.createSymbolicLink(apaches.resolve("lib").resolve(jar.getFileName()), jar);
        }
        replaceOneByOne(ours, "false");
        replaceOneByOne(apaches, "false");
        assertThat(client("create /apaches 1")).contains("Created /apaches");
        replaceOneByOne(ours, "true");
        awaitFast();
        assertThat(client("ls /")).contains("kept", "saved", "before", "apaches");
    }

    /** Followers first, the leader last. */
    private static void replaceOneByOne(Path next, String enabled) throws Exception {
        List<Integer> order = new ArrayList<>();
        for (int id : SERVERS) {
            order.add(srvr(id).contains("Mode: leader") ? order.size() : 0, id);
        }
        for (int id : order) {
            assertThat(server(id, "bin/zkServer.sh stop")).contains("STOPPED");
            if (homes.get(id).equals(ours)) {
                server(id, INSPECT);
            }
            homes.put(id, next);
            String text = Files.readString(config(id));
            assertThat(text).contains("saucr.enabled=");
            Files.writeString(
                    config(id), text.replaceAll("saucr.enabled=.*", "saucr.enabled=" + enabled));
            server(id, "bin/zkServer.sh start");
            server(id, "bin/zkServer.sh await");
            assertThat(commandLine(id)).contains(next.resolve("lib").toString());
        }
    }

    private static String commandLine(int id) throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(pid(id)), "cmdline"));
    }

    private static String srvr(int id) throws IOException {
        return FourLetterWord.ask("127.0.0.1", PORT_BASE + id, "srvr", SaucrEnsemble.PATIENCE);
    }

    /**
     * A follower leaves and returns. The client is connected to another server, because the
     * leader's closes connections.
     */
    @Test
    @Order(10)
    void reconfiguration() throws Exception {
        int leader = leader();
        String leaving = leader == 3 ? "2" : "3";
        String login = "printf '%s\\n' 'addauth digest super:secret' ";
        String cli = " | bin/zkCli.sh -server localhost:2181";
        String remove = login + "'reconfig -remove 3'" + cli;
        assertThat(server(leader, remove, remove.replace("remove 3", "remove " + leaving)))
                .contains("Committed new configuration")
                .doesNotContain("server." + leaving + "=");
        String add = login + "'reconfig -add server.3=HOST:2888:3888;2181'" + cli;
        String address = places(Integer.parseInt(leaving)).get("HOST:2888:3888;2181");
        assertThat(
                        server(
                                leader,
                                add,
                                add.replace("server.3=", "server." + leaving + "=")
                                        .replace("HOST:2888:3888;2181", address)))
                .contains("Committed new configuration", "server." + leaving + "=");
        awaitFast();
        all("bin/zkServer.sh stop");
    }

    // ---- Whoever builds, tests and measures ----

    @Test
    @Order(11)
    void developers() throws Exception {
        assertThat(
                        project(
                                "javap -cp zookeeper-server/target/classes -c"
                                        + " org.apache.zookeeper.server.quorum.QuorumPeerMain | grep saucr",
                                System.getProperty("java.home")
                                        + "/bin/javap -cp zookeeper-server/target/classes -c"
                                        + " org.apache.zookeeper.server.quorum.QuorumPeerMain | grep saucr"))
                .contains("io/saucr/server/Boot.quorumPeer");
        // A build within this build would replace what the other tests run on.
        for (String command : documented) {
            if (command.startsWith("mvn ")) {
                project(
                        command,
                        command.replaceFirst("^mvn ", "mvn -q -o ")
                                .replaceFirst(" (package|verify|test)\\b", " validate"));
            }
            if (command.startsWith("bin/saucr-applications ")) {
                // It fetches the application, and takes minutes.
                assertThat(project(command, "bin/saucr-applications --help"))
                        .contains(command.split(" ")[1]);
            }
        }

        assertThat(
                        project(
                                "packaging/debian/build",
                                "packaging/debian/build -o "
                                        + folder
                                        + " "
                                        + Path.of(System.getProperty("saucr.distribution"))
                                                .toAbsolutePath()))
                .contains(folder + "/saucr-zookeeper_");

        project(
                "bin/saucr-sim --count 100000 -n 5 --seed 1",
                java(SimCommand.class) + " --count 200 -n 5 --seed 1");
        String model = " --servers 3 --entries 1 --noops 1 --elections 1 --liveness";
        project("bin/saucr-model" + model, java(ModelCommand.class) + model);
        project(
                "bin/saucr-crash run -n 5 --count 20 --seed 1 --system"
                        + " zk-mem,zk-disk --order leader_first,simultaneous",
                "bin/saucr-crash run -n 5 --count 2 --seed 1 --system"
                        + " vr-ideal --order leader_first,simultaneous -o "
                        + folder.resolve("crash"));
        assertThat(folder.resolve("crash/report.html")).isNotEmptyFile();
    }

    @Test
    @Order(12)
    void campaignsTakeTheOptionsThatTheDocumentsShow() throws Exception {
        try (URLClassLoader loader = programs()) {
            assertThatThrownBy(() -> parse(loader, "bin/saucr-sim --counts 3"))
                    .rootCause()
                    .hasMessageContaining("--counts");
            for (String command : documented) {
                if (CAMPAIGNS.containsKey(program(command))) {
                    assertThat(ROOT.resolve(command.split(" ", 2)[0]))
                            .isExecutable()
                            .content()
                            .contains(CAMPAIGNS.get(program(command)));
                    parse(loader, command);
                    known.add(command);
                }
            }
        }
    }

    private static String program(String command) {
        return command.startsWith(SERVICES_BENCH) ? SERVICES_BENCH : command.split(" ", 2)[0];
    }

    /** All of them, apart from this test's own classes: benchmarks are not on its class path. */
    private static URLClassLoader programs() throws IOException {
        List<String> entries = new ArrayList<>();
        for (String module :
                List.of(
                        "benchmarks",
                        "client-suites",
                        "services/benchmarks",
                        "services/tests",
                        "services/tool")) {
            Path built = ROOT.resolve(module).resolve("target");
            entries.add(built.resolve("classes").toString());
            entries.addAll(
                    List.of(Files.readString(built.resolve("class.path")).trim().split(":")));
        }
        for (String property : List.of("java.class.path", "surefire.test.class.path")) {
            entries.addAll(List.of(System.getProperty(property, "").split(":")));
        }
        List<URL> urls = new ArrayList<>();
        for (String entry : entries) {
            if (!entry.isEmpty()) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    /** As picocli parses it in the program itself; a word that it does not know is an exception. */
    private static void parse(ClassLoader loader, String command) throws Exception {
        Path file = Files.createTempFile(folder, "words", "");
        shell(folder, Map.of(), "printf '%s\\n' " + command.replaceAll(" > .*", "") + " > " + file);
        List<String> arguments = new ArrayList<>(Files.readAllLines(file));
        if (program(command).endsWith("saucr-apache-tests")) {
            // What the script adds.
            arguments.addAll(List.of("--libraries", "lib", "--out", "out"));
            if (arguments.get(1).equals("run")) {
                arguments.addAll(List.of("--server", "jars", "--own-classes", "classes"));
            }
        }
        if (command.startsWith("bin/saucr-client-suites run")) {
            arguments.addAll(List.of("--ours", "tarball"));
        }
        Class<?> parser = loader.loadClass("picocli.CommandLine");
        Object line = commandLine(parser, loader.loadClass(CAMPAIGNS.get(program(command))));
        parser.getMethod("setCaseInsensitiveEnumValuesAllowed", boolean.class).invoke(line, true);
        int words = program(command).split(" ").length;
        Object given = arguments.subList(words, arguments.size()).toArray(String[]::new);
        parser.getMethod("parseArgs", String[].class).invoke(line, given);
    }

    /** As the program makes it, where it adds its subcommands itself. */
    private static Object commandLine(Class<?> parser, Class<?> program) throws Exception {
        for (Method method : program.getDeclaredMethods()) {
            if (method.getName().equals("commandLine") && method.getParameterCount() == 0) {
                method.setAccessible(true);
                return method.invoke(null);
            }
        }
        Constructor<?> constructor = program.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        return parser.getConstructor(Object.class)
                .newInstance(
                        constructor.getParameterCount() == 0
                                ? constructor.newInstance()
                                : constructor.newInstance((Object) new String[0]));
    }

    // ---- Nothing else is documented ----

    @Test
    @Order(13)
    void everyCommandThatIsDocumentedHasBeenRunAndNoOther() {
        assertThat(new TreeSet<>(known)).isEqualTo(documented);
    }

    @Test
    @Order(14)
    void everyMetricThatIsDocumentedExists() throws Exception {
        assertThat(metrics).isNotEmpty();
        for (String metric : new Documentation(ROOT).metrics()) {
            // These servers have Prometheus' provider, where a counter by cause and a time have
            // other names than with the preset one.
            assertThat(metrics)
                    .containsAnyOf(
                            metric,
                            metric + "_total",
                            metric.replaceFirst("_(us|ms)$", "_seconds"));
        }
    }
}
