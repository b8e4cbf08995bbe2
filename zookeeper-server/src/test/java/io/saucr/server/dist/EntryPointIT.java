package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The image's entry point with real servers: an ensemble from variables, then the same data with
 * the configuration of {@code packaging/kubernetes}; and what it refuses.
 */
@Tag("trial")
class EntryPointIT {
    private static final String HOST = "127.0.0.1";
    private static final String THREE =
            "server.1=a:2888:3888;2181 server.2=b:2888:3888;2181 server.3=c:2888:3888;2181";
    private static final int SERVERS = 3;

    @TempDir static Path unpacked;
    private static Path home;

    @TempDir Path folder;
    private final List<Process> processes = new ArrayList<>();

    @BeforeAll
    static void unpack() throws Exception {
        home = Scripts.unpack(unpacked);
    }

    @AfterEach
    void leaveNoProcess() {
        processes.forEach(Process::destroyForcibly);
    }

    // ---- What it refuses ----

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            nullValues = "-",
            value = {
                "ZOO_TICK_TIME | often | ZOO_TICK_TIME='often' | whole number from 1 on",
                "ZOO_INIT_LIMIT | 0 | ZOO_INIT_LIMIT='0' | whole number from 1 on",
                "ZOO_MAX_CLIENT_CNXNS | -1 | ZOO_MAX_CLIENT_CNXNS='-1' | whole number from 0 on",
                "ZOO_STANDALONE_ENABLED | yes | ZOO_STANDALONE_ENABLED='yes' | true or false",
                "ZOO_DATA_LOG_DIR | log | ZOO_DATA_LOG_DIR='log' | absolute path",
                "ZOO_4LW_COMMANDS_WHITELIST | srvr, mntr | 'srvr, mntr' | without blanks",
                "ZOO_MY_ID | 0 | ZOO_MY_ID: '0' is no server's id | 1 to 255",
                "ZOO_MY_ID | 256 | ZOO_MY_ID: '256' is no server's id | 1 to 255",
                "ZOO_MY_ID | first | ZOO_MY_ID: 'first' is no server's id | 1 to 255",
                "ZOO_MY_ID | 2 | there is no server.2 | ZOO_MY_ID says that this is server 2",
                "ZOO_SERVERS | zk1:2888:3888 | 'zk1:2888:3888' | server.ID=HOST:",
                "ZOO_SERVERS | server.1=a:2888;2181 | 'server.1=a:2888;2181' | server.ID=HOST:",
                "ZOO_SERVERS | server.1=a:2888:3888 | without a port for clients | :3888;2181'",
                "ZOO_SERVERS | server.1=a:2888:70000;2181 | port 70000 | 1 to 65535",
                "ZOO_SERVERS | server.1=a:2888:3888;0 | port 0 | 1 to 65535",
                "ZOO_SERVERS | server.300=a:2888:3888;2181 | server.300 | 1 to 255",
                "ZOO_SERVERS | server.1=a:1:2;3 server.1=b:1:2;3 | names server.1 twice | -",
                "ZOO_SERVERS | server.1=a:1:2;3,server.2=b:1:2;3 | blanks between servers | -",
                "ZOO_SERVERS | server.1=a:1:2;3 server.2=b:1:2;3 | Set ZOO_MY_ID | 1 2",
                "ZOO_CFG_EXTRA | reconfigEnabled | 'reconfigEnabled' | KEY=VALUE",
                "ZOO_CFG_EXTRA | -fips=false | '-fips=false' | KEY=VALUE",
                "ZOO_CFG_EXTRA | globalOutstandingLimit = 5 | 'globalOutstandingLimit' | KEY=VALUE",
                "SAUCR_ENABLED | on | SAUCR_ENABLED='on' | true or false",
                "SAUCR_ENABLED | true | needs at least 3 voters | ZOO_SERVERS has 1",
                "SAUCR_HEARTBEAT_INTERVAL | 50 ms | SAUCR_HEARTBEAT_INTERVAL='50 ms' | us, ms, s",
                "SAUCR_DISK_TIMEOUT | 1d | SAUCR_DISK_TIMEOUT='1d' | us, ms, s, m or h",
                "SAUCR_FAST_MODE_CONFIRMATIONS | 0 | CONFIRMATIONS='0' | whole number from 1 on",
                "SAUCR_ENSEMBLE_NAME | our zoo | SAUCR_ENSEMBLE_NAME='our zoo' | 64 letters",
                "SAUCR_ENABLE | true | unknown variable SAUCR_ENABLE | SAUCR_ENABLED",
                "SAUCR_BOOT_ID | 1 | unknown variable SAUCR_BOOT_ID | known are",
                "ZOO_SERVER | a | unknown variable ZOO_SERVER; | ZOO_SERVERS",
                "SAUCR_FIRST_ID | 1 | a host name that ends with -NUMBER | 'somewhere'",
                "SAUCR_FIRST_ID | one | SAUCR_FIRST_ID: 'one' is no server's id | 1 to 255"
            })
    void aWrongValueIsRefusedAndNothingIsWritten(
            String variable, String value, String first, String second) throws Exception {
        EntryPoint entry =
                new EntryPoint(home, folder)
                        .withFolders()
                        .set("HOSTNAME", "somewhere")
                        .set(variable, value);
        refused(entry, first, second);
        assertThat(files()).containsExactly("output.txt");
    }

    private static void refused(EntryPoint entry, String... words) throws Exception {
        Scripts.Result result = entry.run("zkServer.sh", "start-foreground");
        assertThat(result.exitCode()).as(result.output()).isEqualTo(1);
        assertThat(result.output()).startsWith("docker-entrypoint: ");
        for (String word : words) {
            if (word != null) {
                assertThat(result.output()).contains(word);
            }
        }
    }

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> folder.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void twoWordsAboutOneKeyAreRefused() throws Exception {
        EntryPoint entry =
                new EntryPoint(home, folder)
                        .withFolders()
                        .set("ZOO_TICK_TIME", "2000")
                        .set("ZOO_CFG_EXTRA", "tickTime=3000");
        refused(entry, "ZOO_TICK_TIME and ZOO_CFG_EXTRA both say what tickTime is");
        assertThat(files()).containsExactly("output.txt");
    }

    @Test
    void theVolumeOfAnotherServerIsRefused() throws Exception {
        EntryPoint entry =
                new EntryPoint(home, folder)
                        .withFolders()
                        .set("ZOO_SERVERS", THREE)
                        .set("HOSTNAME", "zk-1")
                        .set("SAUCR_FIRST_ID", "1");
        Files.createDirectories(entry.data());
        Files.writeString(entry.data().resolve("myid"), "1\n");
        refused(
                entry,
                "myid says that this is server 1",
                "the host name zk-1 with SAUCR_FIRST_ID says 2",
                "Nothing was changed");
        assertThat(files()).containsExactly("data/myid", "output.txt");
    }

    @Test
    void aVolumeWhoseNumberIsEmptyIsRefused() throws Exception {
        EntryPoint entry =
                new EntryPoint(home, folder)
                        .withFolders()
                        .set("ZOO_SERVERS", THREE)
                        .set("ZOO_MY_ID", "2");
        Files.createDirectories(entry.data());
        Files.writeString(entry.data().resolve("myid"), "\n");
        refused(entry, "data/myid is empty", "known are: 1 2 3", "Nothing was changed");
        assertThat(files()).containsExactly("data/myid", "output.txt");
    }

    @Test
    void aFileThatIsNotOnTheDiskIsNotPutInPlace() throws Exception {
        EntryPoint entry = new EntryPoint(home, folder).withFolders();
        Path failing = Files.createDirectories(folder.resolve("programs")).resolve("sync");
        Files.writeString(failing, "#!/bin/sh\nexit 1\n");
        assertThat(failing.toFile().setExecutable(true)).isTrue();
        entry.set("PATH", failing.getParent() + ":" + System.getenv("PATH"));
        refused(entry, "conf/zoo.cfg cannot be synced to disk");
        assertThat(files()).containsExactly("output.txt", "programs/sync");
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws Exception {
        EntryPoint entry = new EntryPoint(home, folder).set("ZOO_DATA_DIR", "/proc/data");
        refused(entry, "cannot write in the folder /proc/data", "chown", "fsGroup");
        assertThat(files()).containsExactly("output.txt");
    }

    @Test
    void withoutACommandItSaysWhichIsTheUsualOne() throws Exception {
        Scripts.Result result = new EntryPoint(home, folder).run();
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.output()).contains("zkServer.sh start-foreground");
    }

    // ---- What it writes ----

    @Test
    void anotherCommandIsRunAndNothingIsWritten() throws Exception {
        EntryPoint entry = new EntryPoint(home, folder).withFolders().set("ZOO_TICK_TIME", "often");
        Scripts.Result result = entry.run("sh", "-c", "echo hello; exit 3");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.output()).isEqualTo("hello\n");
        assertThat(files()).containsExactly("output.txt");
    }

    /** The command line of the server is not reached: there is no Java here. */
    @Test
    void theFilesSayWhatTheVariablesSay() throws Exception {
        EntryPoint entry =
                new EntryPoint(home, folder)
                        .withFolders()
                        .set("JAVA_HOME", "/nowhere")
                        .set("ZOO_SERVERS", THREE)
                        .set("ZOO_TICK_TIME", "1000")
                        .set("ZOO_4LW_COMMANDS_WHITELIST", "*")
                        .set(
                                "ZOO_CFG_EXTRA",
                                "initLimit=7 globalOutstandingLimit=5 fips-mode=false")
                        .set("SAUCR_ENABLED", "true")
                        .set("SAUCR_IDLE_FLUSH", "1s")
                        .set("HOSTNAME", "zk-2")
                        .set("SAUCR_FIRST_ID", "1")
                        // As Kubernetes sets them for services that are called zoo and saucr-zk.
                        .set("ZOO_SERVICE_HOST", "10.0.0.1")
                        .set("ZOO_PORT_2181_TCP_ADDR", "10.0.0.1")
                        .set("SAUCR_ZK_PORT", "tcp://10.0.0.1:2181");
        assertThat(entry.run("zkServer.sh", "start-foreground").output()).contains("/nowhere");
        assertThat(entry.data().resolve("myid")).hasContent("3");
        String config = Files.readString(entry.conf().resolve("zoo.cfg"));
        assertThat(config.lines())
                .contains(
                        "tickTime=1000",
                        "initLimit=7",
                        "globalOutstandingLimit=5",
                        "fips-mode=false",
                        "autopurge.purgeInterval=24",
                        "4lw.commands.whitelist=*",
                        "saucr.enabled=true",
                        "saucr.idleFlush=1s",
                        "server.3=c:2888:3888;2181")
                .doesNotHaveDuplicates()
                .doesNotContain("initLimit=10");
        // What is there stays, and it is said which variables are not used.
        entry.set("ZOO_TICK_TIME", "often").set("SAUCR_IDLE_FLUSH", "2s");
        assertThat(entry.run("zkServer.sh", "start-foreground").output())
                .contains("zoo.cfg is kept as it is; not used: ZOO_TICK_TIME")
                .contains("SAUCR_IDLE_FLUSH");
        assertThat(entry.conf().resolve("zoo.cfg")).hasContent(config);
        // From here on with Java: the server's own reader reads the file.
        entry.set("JAVA_HOME", System.getProperty("java.home"));
        Files.writeString(entry.conf().resolve("zoo.cfg"), "server.1=a:1:2;3\n");
        refused(entry, "has no dataDir");
        Files.writeString(
                entry.conf().resolve("zoo.cfg"),
                "# f\u00fcr uns\n dataDir : \\\n  " + entry.data() + "\nserver.7 = a:1:2;3\n",
                StandardCharsets.ISO_8859_1);
        refused(entry, "there is no server.3", "known are: 7");
    }

    // ---- Servers ----

    private final int[] ports = new int[SERVERS + 1];
    private final int[] quorumPorts = new int[SERVERS + 1];
    private final int[] adminPorts = new int[SERVERS + 1];
    private final int[] electionPorts = new int[SERVERS + 1];

    private void choosePorts() throws IOException {
        Set<Integer> taken = new HashSet<>();
        for (int[] kind : List.of(ports, quorumPorts, electionPorts, adminPorts)) {
            for (int id = 1; id <= SERVERS; id++) {
                do {
                    kind[id] = Scripts.freePort();
                } while (!taken.add(kind[id]));
            }
        }
    }

    private EntryPoint entry(int id) throws IOException {
        return new EntryPoint(home, folder.resolve("server-" + id));
    }

    private Process start(EntryPoint entry) throws IOException {
        Process process = entry.start();
        processes.add(process);
        return process;
    }

    private Map<String, String> mntr(int id) {
        Map<String, String> values = new TreeMap<>();
        try (Socket socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), ports[id]), 1000);
            socket.setSoTimeout(5000);
            socket.getOutputStream().write("mntr".getBytes(UTF_8));
            new String(socket.getInputStream().readAllBytes(), UTF_8)
                    .lines()
                    .map(line -> line.split("\t", 2))
                    .filter(pair -> pair.length == 2)
                    .forEach(pair -> values.put(pair[0], pair[1]));
        } catch (IOException notYet) {
            return Map.of();
        }
        return values;
    }

    private boolean serves(int id) {
        String state = mntr(id).getOrDefault("zk_server_state", "");
        return state.equals("leader") || state.equals("follower");
    }

    private boolean leadsFast(int id) {
        Map<String, String> said = mntr(id);
        return said.getOrDefault("zk_server_state", "").equals("leader")
                && said.getOrDefault("zk_saucr_mode", "").equals("1");
    }

    private void awaitFast() {
        await().atMost(Scripts.LIMIT)
                .until(
                        () ->
                                Stream.of(1, 2, 3).allMatch(this::serves)
                                        && Stream.of(1, 2, 3).anyMatch(this::leadsFast));
    }

    private interface Request {
        void of(ZooKeeper client) throws Exception;
    }

    private void ask(int id, Request request) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client =
                new ZooKeeper(
                        HOST + ":" + ports[id],
                        10_000,
                        event -> {
                            if (event.getState() == KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        try {
            assertThat(connected.await(Scripts.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            request.of(client);
        } finally {
            client.close();
        }
    }

    /** As a container is stopped. Java ends with 143 after SIGTERM. */
    private static void stop(Process process) throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(Scripts.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(143);
    }

    @Test
    void anEnsembleFromVariablesAndThenWithTheConfigurationOfTheManifests() throws Exception {
        choosePorts();
        StringBuilder servers = new StringBuilder();
        for (int id = 1; id <= SERVERS; id++) {
            servers.append(
                    "server.%d=%s:%d:%d;%s:%d "
                            .formatted(
                                    id, HOST, quorumPorts[id], electionPorts[id], HOST, ports[id]));
        }
        List<Process> running = new ArrayList<>();
        for (int id = 1; id <= SERVERS; id++) {
            EntryPoint entry = entry(id);
            entry.set("ZOO_DATA_DIR", entry.data().toString())
                    .set("ZOO_DATA_LOG_DIR", entry.data().toString())
                    .set("ZOO_MY_ID", Integer.toString(id))
                    .set("ZOO_SERVERS", servers.toString())
                    .set("ZOO_TICK_TIME", "500")
                    .set("ZOO_ADMINSERVER_ENABLED", "false")
                    .set("SAUCR_ENABLED", "true")
                    .set("SAUCR_HEARTBEAT_INTERVAL", "2s")
                    .set("SAUCR_FAST_MODE_CONFIRMATIONS", "1")
                    .set("SAUCR_ENSEMBLE_NAME", "zookeeper");
            running.add(start(entry));
        }
        awaitFast();
        ask(1, client -> client.create("/kept", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        // No logback.xml in its folder: the distribution's counts, and that is not the finest
        // level.
        assertThat(entry(1).output()).content().contains("INFO").doesNotContain("DEBUG");
        for (Process process : running) {
            stop(process);
        }

        running.clear();
        for (int id = 1; id <= SERVERS; id++) {
            running.add(start(pod(id)));
        }
        await().atMost(Scripts.LIMIT).until(() -> Stream.of(1, 2, 3).allMatch(this::serves));
        ask(SERVERS, client -> assertThat(client.exists("/kept", false)).isNotNull());
        assertThat(probe(1, "readinessProbe")).isEqualTo(200);
        assertThat(probe(1, "livenessProbe")).isEqualTo(200);
        Scripts.Result healthy = health(1);
        assertThat(healthy.output()).isEqualTo("ok\n");
        assertThat(healthy.exitCode()).isZero();

        // One that waits for a quorum is alive, and not ready.
        stop(running.get(1));
        stop(running.get(2));
        await().atMost(Scripts.LIMIT).until(() -> !serves(1));
        assertThat(probe(1, "readinessProbe")).isEqualTo(503);
        assertThat(probe(1, "livenessProbe")).isEqualTo(200);
        Scripts.Result waiting = health(1);
        assertThat(waiting.output()).contains("[-]quorum failed", "readyz check failed");
        assertThat(waiting.exitCode()).isEqualTo(1);
        // Nothing listens there, and then there is no AdminServer at all.
        assertThat(health(SERVERS + 1, "admin.serverPort=" + Scripts.freePort()).exitCode())
                .isEqualTo(1);
        assertThat(health(SERVERS + 1, "admin.enableServer=false").output())
                .contains("admin.enableServer=false; health needs the AdminServer");
    }

    /** The health check of the image, in the container of a server. */
    private Scripts.Result health(int id, String... config) throws Exception {
        EntryPoint entry = new EntryPoint(home, folder.resolve("health-" + id));
        Files.createDirectories(entry.conf());
        Files.write(
                entry.conf().resolve("zoo.cfg"),
                config.length > 0
                        ? List.of(config)
                        : List.of("admin.serverPort = " + adminPorts[id]));
        return entry.run("health");
    }

    /** The status that a probe of the manifests gets from a server. */
    private int probe(int id, String probe) throws Exception {
        URI address =
                URI.create(
                        "http://%s:%d%s"
                                .formatted(HOST, adminPorts[id], ManifestsTest.path(probe)));
        HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }

    /** With the manifests' configuration, but for the addresses of this machine. */
    private EntryPoint pod(int id) throws Exception {
        EntryPoint entry = entry(id);
        String config =
                ManifestsTest.configuration("three")
                        .replace("dataDir=/data", "dataDir=" + entry.data())
                        .replaceFirst("(?m)^clientPort=.*$", "clientPort=" + ports[id])
                        .replace("metricsProvider.httpPort=7000", "metricsProvider.httpPort=0")
                        .replaceFirst(
                                "(?m)^admin.serverPort=.*$", "admin.serverPort=" + adminPorts[id]);
        for (int server = 1; server <= SERVERS; server++) {
            config +=
                    "\nserver.%d=%s:%d:%d"
                            .formatted(server, HOST, quorumPorts[server], electionPorts[server]);
        }
        Files.writeString(entry.conf().resolve("zoo.cfg"), config);
        return entry.set("SAUCR_FIRST_ID", "1").set("HOSTNAME", "zookeeper-" + (id - 1));
    }
}
