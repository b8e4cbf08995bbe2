package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts of the distribution, as an operator of Apache's uses them. */
class ServerScriptsIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir static Path unpacked;
    private static Path home;

    @TempDir Path folder;
    private final Map<String, String> variables = new HashMap<>();
    private int clientPort;

    @BeforeAll
    static void unpack() throws Exception {
        Process tar =
                new ProcessBuilder(
                                "tar",
                                "-xzf",
                                System.getProperty("saucr.distribution"),
                                "-C",
                                unpacked.toString())
                        .inheritIO()
                        .start();
        assertThat(tar.waitFor()).isZero();
        try (Stream<Path> entries = Files.list(unpacked)) {
            List<Path> folders = entries.toList();
            assertThat(folders).as("one folder in the tarball").hasSize(1);
            home = folders.get(0);
        }
    }

    @BeforeEach
    void configure() throws IOException {
        clientPort = freePort();
        Files.createDirectories(conf());
        Files.copy(home.resolve("conf/logback.xml"), conf().resolve("logback.xml"));
        writeConfig("zoo.cfg", "clientPort=" + clientPort);
        variables.put("JAVA_HOME", System.getProperty("java.home"));
        variables.put("ZOO_LOG_DIR", folder.resolve("log").toString());
        variables.put("ZK_SERVER_HEAP", "128");
        variables.put("SERVER_JVMFLAGS", "-XX:TieredStopAtLevel=1 -Xshare:auto");
    }

    @AfterEach
    void leaveNoProcess() throws Exception {
        if (Files.exists(pidFile())) {
            server("stop");
        }
    }

    @Test
    void startStatusRestartStop() throws Exception {
        assertThat(server("status").exitCode).isEqualTo(1);
        assertThat(server("await", "0").exitCode).isEqualTo(1);
        Result nobody = server("flush");
        assertThat(nobody.exitCode).isEqualTo(1);
        assertThat(nobody.output).contains("no server runs here");

        Result start = server("start");
        assertThat(start.exitCode).as(start.output).isZero();
        assertThat(start.output).contains("STARTED");
        String pid = Files.readString(pidFile()).trim();
        awaitServing();
        Result status = server("status");
        assertThat(status.output)
                .contains("Client port found: " + clientPort)
                .contains("Client SSL: false")
                .contains("Mode: standalone");

        assertThat(server("await", "30").output).contains("Mode: standalone");
        Result flush = server("flush");
        assertThat(flush.exitCode).isEqualTo(1);
        assertThat(flush.output).contains("runs no server with saucr.enabled=true");

        Result twice = server("start");
        assertThat(twice.exitCode).isEqualTo(1);
        assertThat(twice.output).contains("already running as process " + pid);

        assertThat(client("create", "/kept", "1").output).contains("Created /kept");
        assertThat(server("restart").exitCode).isZero();
        assertThat(Files.readString(pidFile()).trim()).isNotEqualTo(pid);
        awaitServing();
        assertThat(client("ls", "/").output).contains("kept");

        Result stop = server("stop");
        assertThat(stop.exitCode).isZero();
        assertThat(stop.output).contains("STOPPED");
        assertThat(pidFile()).doesNotExist();
        assertThat(server("stop").exitCode).isZero();
        assertThat(Files.readString(folder.resolve("log/server.log"))).contains("binding to port");
    }

    @Test
    void aStalePidFileIsNoObstacle() throws Exception {
        Files.createDirectories(pidFile().getParent());
        for (String pid : new String[] {"999999999", "", "1"}) {
            Files.writeString(pidFile(), pid + "\n");
            Result stop = server("stop");
            assertThat(stop.exitCode).isZero();
            assertThat(stop.output).contains("No server to stop");
            assertThat(pidFile()).doesNotExist();
        }
        Files.writeString(pidFile(), "999999999\n");
        Result start = server("start");
        assertThat(start.exitCode).isZero();
        assertThat(start.output).contains("Removing " + pidFile());
    }

    @Test
    void aServerThatCannotStartIsReportedWithItsLog() throws Exception {
        writeConfig("bad.cfg", "clientPort=" + clientPort, "tickTime=often");
        Result start = server("start", "bad.cfg");
        assertThat(start.exitCode).isEqualTo(1);
        assertThat(start.output).contains("FAILED").contains("often");
        assertThat(pidFile()).doesNotExist();

        Result missing = server("start", "none.cfg");
        assertThat(missing.exitCode).isEqualTo(1);
        assertThat(missing.output).contains("no configuration file " + conf().resolve("none.cfg"));
    }

    @Test
    void aMissingDataFolderIsAnErrorIfItMustNotBeCreated() throws Exception {
        variables.put("ZOO_DATADIR_AUTOCREATE_DISABLE", "1");
        Result start = server("start");
        assertThat(start.exitCode).isEqualTo(1);
        assertThat(start.output).contains(folder.resolve("data") + " does not exist");
        assertThat(folder.resolve("data")).doesNotExist();
    }

    @Test
    void statusFindsTheClientPortOfADynamicConfiguration() throws Exception {
        Path dynamic = conf().resolve("members");
        Files.writeString(
                dynamic,
                "server.1=127.0.0.1:"
                        + freePort()
                        + ":"
                        + freePort()
                        + ":participant;127.0.0.1:"
                        + clientPort
                        + "\n");
        writeConfig(
                "dynamic.cfg",
                "initLimit=10",
                "syncLimit=5",
                "standaloneEnabled=false",
                "reconfigEnabled=true",
                "dynamicConfigFile=" + dynamic);
        Files.createDirectories(folder.resolve("data"));
        Files.writeString(folder.resolve("data/myid"), "1\n");
        // With a path instead of a name of the configuration folder.
        String file = conf().resolve("dynamic.cfg").toString();
        assertThat(server("start", file).exitCode).isZero();
        await().atMost(LIMIT).until(() -> server("status", file).exitCode == 0);
        assertThat(server("status", file).output)
                .contains("Client port found: " + clientPort + ". Client address: 127.0.0.1")
                .contains("Mode: leader");
    }

    @Test
    void prometheusMetricsAreServed() throws Exception {
        int port = freePort();
        writeConfig(
                "zoo.cfg",
                "clientPort=" + clientPort,
                "metricsProvider.className="
                        + "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
                "metricsProvider.httpPort=" + port);
        assertThat(server("start").exitCode).isZero();
        awaitServing();
        try (var body = URI.create("http://127.0.0.1:" + port + "/metrics").toURL().openStream()) {
            assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("znode_count")
                    .contains("jvm_memory_bytes_used");
        }
    }

    @Test
    void theCommandLineHonoursTheVariables() throws Exception {
        variables.put("JVMFLAGS", "-Dfrom.all=1");
        variables.put("SERVER_JVMFLAGS", "-Dfrom.server=1");
        variables.put("ZOO_LOG_FILE", "named.log");
        variables.put("CLASSPATH", "/extra/classes");
        variables.put("JMXPORT", "21399");
        variables.put("JMXSSL", "true");
        variables.put("JMXAUTH", "true");
        variables.put("JMXHOSTNAME", "jmx.example");
        variables.put("JMXLOG4J", "true");
        Files.writeString(conf().resolve("java.env"), "JVMFLAGS=\"$JVMFLAGS -Dfrom.env=1\"\n");
        String command = server("print-cmd").output;
        assertThat(command)
                .contains("-Xmx128m -XX:PerfDataSamplingInterval=1000 -Dfrom.server=1")
                .contains("-Dfrom.server=1 -Dfrom.all=1 -Dfrom.env=1")
                .contains("-Dzookeeper.log.file=named.log")
                .contains("-Dzookeeper.log.dir=" + folder.resolve("log"))
                .contains("/extra/classes")
                .contains("jmxremote.port=21399")
                .contains("jmxremote.ssl=true")
                .contains("jmxremote.authenticate=true")
                .contains("java.rmi.server.hostname=jmx.example")
                .contains("JMXLOG4J is ignored")
                .contains("org.apache.zookeeper.server.quorum.QuorumPeerMain")
                .contains(conf().resolve("zoo.cfg").toString());

        variables.put("JMXDISABLE", "true");
        assertThat(server("print-cmd").output).doesNotContain("jmxremote");
        variables.put("ZOOMAIN", "-Dmine=1 example.Main");
        assertThat(server("print-cmd").output)
                .contains("-Dmine=1 example.Main")
                .doesNotContain("QuorumPeerMain");
        variables.put("ZOOCFG", "other.cfg");
        assertThat(server("print-cmd").output).contains(conf().resolve("other.cfg").toString());
    }

    @Test
    void versionNamesBoth() throws Exception {
        assertThat(server("version").output)
                .contains("Apache ZooKeeper, version 3.9.5")
                .contains("SAUCR ZooKeeper, version ");
    }

    @Test
    void wrongUsageAndAMissingJavaAreSaid() throws Exception {
        assertThat(server("begin").exitCode).isEqualTo(2);
        assertThat(server().output).contains("Usage: zkServer.sh").contains("print-cmd");
        variables.put("JAVA_HOME", folder.toString());
        Result java = server("start");
        assertThat(java.exitCode).isEqualTo(1);
        assertThat(java.output).contains("JAVA_HOME is '" + folder + "'");
    }

    @Test
    void thereIsOneCopyOfZooKeeperAndNothingOfTheBuild() throws IOException {
        try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
            List<String> names = jars.map(jar -> jar.getFileName().toString()).toList();
            assertThat(names).noneMatch(name -> name.matches("zookeeper-[0-9].*"));
            assertThat(names).noneMatch(name -> name.contains("byte-buddy"));
            assertThat(names).anyMatch(name -> name.startsWith("saucr-zookeeper-server-"));
            assertThat(names).anyMatch(name -> name.startsWith("saucr-core-"));
            assertThat(names).noneMatch(name -> name.contains("agent"));
        }
        for (String file :
                new String[] {
                    "LICENSE",
                    "NOTICE",
                    "README.md",
                    "conf/zoo.cfg",
                    "conf/samples/lan-3.cfg",
                    "docs/architecture.svg",
                    "docs/index.md",
                    "conf/saucr-alerts.yml",
                    "conf/saucr-grafana.json",
                    "conf/saucr-zookeeper.service"
                }) {
            assertThat(home.resolve(file)).exists();
        }
    }

    private Path conf() {
        return folder.resolve("conf");
    }

    private Path pidFile() {
        return folder.resolve("data/zookeeper_server.pid");
    }

    private void writeConfig(String name, String... lines) throws IOException {
        List<String> all = new ArrayList<>(List.of("tickTime=500", "admin.enableServer=false"));
        all.add("dataDir=" + folder.resolve("data"));
        all.addAll(List.of(lines));
        Files.write(conf().resolve(name), all);
    }

    private void awaitServing() {
        await().atMost(LIMIT).until(() -> server("status").exitCode == 0);
    }

    private record Result(int exitCode, String output) {}

    private Result server(String... arguments) throws IOException, InterruptedException {
        variables.putIfAbsent("ZOO_LOG_FILE", "server.log");
        return run("zkServer.sh", arguments);
    }

    private Result client(String... command) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("-server", "127.0.0.1:" + clientPort));
        arguments.addAll(List.of(command));
        return run("zkCli.sh", arguments.toArray(String[]::new));
    }

    /**
     * Runs a script; its output goes through a file, because a started server keeps a pipe open.
     */
    private Result run(String script, String... arguments)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        line.add(home.resolve("bin").resolve(script).toString());
        line.add("--config");
        line.add(conf().toString());
        line.addAll(List.of(arguments));
        Path output = Files.createTempFile(folder, "output", ".txt");
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(variables);
        Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("%s", line).isTrue();
        return new Result(process.exitValue(), Files.readString(output));
    }

    /** Below the ports that the kernel gives to whoever connects to something meanwhile. */
    private static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_768);
            try (ServerSocket socket =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // In use; another one.
            }
        }
    }
}
