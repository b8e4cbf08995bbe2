package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.quorum.View;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code zkServer.sh start} says STARTED of a server that has started and of no other one: neither
 * of one that was refused, nor of another process that has the port, nor of one that hangs. Of a
 * refused start the reason is in the line that says so, no process is left, and the data are as
 * they were.
 */
@Tag("trial")
class RefusedStartsIT {
    @TempDir static Path unpacked;
    private static Path home;

    @TempDir Path folder;
    private Scripts scripts;
    private Path data;
    private int clientPort;
    private int electionPort;

    @BeforeAll
    static void unpack() throws Exception {
        home = Scripts.unpackWithClassArchive(unpacked);
    }

    @BeforeEach
    void configure() throws IOException {
        scripts = new Scripts(home, folder);
        data = Files.createDirectories(folder.resolve("data"));
        clientPort = Scripts.freePort();
        electionPort = Scripts.freePort();
        Files.writeString(data.resolve("myid"), "1\n");
    }

    @AfterEach
    void leaveNoProcess() {
        List<ProcessHandle> left = servers();
        left.forEach(ProcessHandle::destroyForcibly);
        left.forEach(server -> server.onExit().join());
    }

    private void ensemble(String... more) throws IOException {
        String[] lines = {
            "clientPort=" + clientPort,
            "initLimit=10",
            "syncLimit=5",
            "server.1=127.0.0.1:" + Scripts.freePort() + ":" + electionPort,
            "server.2=127.0.0.1:1:2",
            "server.3=127.0.0.1:3:4",
            "saucr.enabled=true"
        };
        scripts.writeConfig(
                "zoo.cfg", Stream.concat(Stream.of(lines), Stream.of(more)).toArray(String[]::new));
    }

    private void alone(String... more) throws IOException {
        scripts.writeConfig(
                "zoo.cfg",
                Stream.concat(Stream.of("clientPort=" + clientPort), Stream.of(more))
                        .toArray(String[]::new));
    }

    /** Processes whose command line names this test's folder, or one in it. */
    private List<ProcessHandle> servers() {
        return ProcessHandle.allProcesses()
                .filter(
                        process ->
                                process.info().commandLine().orElse("").contains(folder.toString()))
                .toList();
    }

    private Map<Path, String> contents() throws IOException {
        Map<Path, String> found = new TreeMap<>();
        if (!Files.isDirectory(data)) {
            return found;
        }
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.toList()) {
                found.put(
                        file,
                        Files.isDirectory(file)
                                ? ""
                                : Files.getLastModifiedTime(file)
                                        + HexFormat.of().formatHex(Files.readAllBytes(file)));
            }
        }
        return found;
    }

    /**
     * @param reason the line that says that the start has failed contains all of it
     */
    private void refused(String... reason) throws Exception {
        Map<Path, String> before = contents();
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).as(start.output()).isEqualTo(1);
        assertThat(start.output()).doesNotContain("STARTED");
        String line =
                start.output()
                        .lines()
                        .filter(each -> each.startsWith("Starting the server ... FAILED"))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(start.output()));
        assertThat(line).contains(reason);
        assertThat(servers()).isEmpty();
        assertThat(contents()).isEqualTo(before);
    }

    // ---- Refused ----

    @Test
    void anotherProcessHasThePortForClients() throws Exception {
        ensemble();
        try (ServerSocket taken = new ServerSocket(clientPort)) {
            refused(
                    "exit code 1",
                    "Address already in use; port "
                            + taken.getLocalPort()
                            + " is in use by process "
                            + ProcessHandle.current().pid()
                            + ", ");
        }
    }

    @Test
    void anotherProcessHasThePortForElections() throws Exception {
        ensemble("electionPortBindRetry=1");
        try (ServerSocket taken =
                new ServerSocket(electionPort, 1, InetAddress.getLoopbackAddress())) {
            Scripts.Result start = scripts.server("start");
            assertThat(start.exitCode()).as(start.output()).isEqualTo(1);
            assertThat(start.output())
                    .contains(
                            "FAILED (exit code 14): Cannot listen for elections on 127.0.0.1:"
                                    + electionPort
                                    + ", as the line server.N of this server says: Address already"
                                    + " in use; port ")
                    .contains("port " + taken.getLocalPort() + " is in use by process ");
            assertThat(servers()).isEmpty();
        }
    }

    /** A server alone ends without its AdminServer, and every one without its metrics. */
    @Test
    void anotherProcessHasThePortForTheAdminServerOrTheMetrics() throws Exception {
        try (ServerSocket taken = new ServerSocket(0)) {
            int port = taken.getLocalPort();
            String owner =
                    "port " + port + " is in use by process " + ProcessHandle.current().pid();
            alone("admin.enableServer=true", "admin.serverPort=" + port);
            Scripts.Result start = scripts.server("start");
            assertThat(start.exitCode()).isEqualTo(1);
            assertThat(start.output())
                    .contains("Problem starting AdminServer on address 0.0.0.0, port " + port)
                    .contains(owner);
            for (String provider :
                    List.of(
                            "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
                            "io.saucr.server.metrics.SaucrPrometheusMetricsProvider")) {
                ensemble(
                        "metricsProvider.className=" + provider,
                        "metricsProvider.httpPort=" + port);
                refused("Cannot boot MetricsProvider", "Address already in use", owner);
            }
        }
    }

    @Test
    void theAddressForElectionsIsNotOfThisMachine() throws Exception {
        ensemble("electionPortBindRetry=1", "server.1=192.0.2.1:1:" + electionPort);
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).as(start.output()).isEqualTo(1);
        assertThat(start.output())
                .contains(
                        "FAILED (exit code 14): Cannot listen for elections on 192.0.2.1:"
                                + electionPort
                                + ", as the line server.N of this server says: Cannot assign"
                                + " requested address");
        assertThat(servers()).isEmpty();
    }

    @Test
    void theNumberOfTheServerIsMissingOrAStrangers() throws Exception {
        ensemble();
        Path id = data.resolve("myid");
        Files.writeString(id, "9\n");
        refused(
                "exit code 2",
                "zoo.cfg: the file " + id + " says that this is server 9",
                "server.* names only 1, 2, 3");
        Files.delete(id);
        refused("exit code 2", "zoo.cfg: the file " + id + " is missing", "one of 1, 2, 3");
    }

    @Test
    void aFileIsInThePlaceOfTheDataFolder() throws Exception {
        ensemble("dataLogDir=" + Files.writeString(folder.resolve("file"), ""));
        refused(
                "exit code 2",
                "dataLogDir=" + folder.resolve("file") + " is not allowed; it must be a folder");
        data = folder.resolve("file");
        scripts.writeConfig("zoo.cfg", "dataDir=" + data, "clientPort=" + clientPort);
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output()).doesNotContain("STARTED").contains(data.toString());
        assertThat(servers()).isEmpty();
        assertThat(data).isEmptyFile();
    }

    @Test
    void aSettingIsWrongOrTheFileIsMissing() throws Exception {
        Files.delete(data.resolve("myid"));
        Files.delete(data);
        alone("tickTime=often");
        refused("exit code 2", "zoo.cfg: tickTime=often is not allowed; it must be a number");
        assertThat(data).as("a folder that the script has made goes, too").doesNotExist();
        alone("dataLogDir=");
        refused(
                "exit code 2",
                "zoo.cfg: dataLogDir= is not allowed; it must be the absolute path of a folder");
        alone("saucrEnabled=true");
        refused("exit code 2", "unknown key saucrEnabled, probably saucr.enabled");
        Scripts.Result missing = scripts.server("start", "none.cfg");
        assertThat(missing.exitCode()).isEqualTo(1);
        assertThat(missing.output())
                .contains("there is no configuration file " + scripts.conf().resolve("none.cfg"));
        assertThat(servers()).isEmpty();
    }

    @Test
    void aMarkerIsDamagedOrOfAnotherServer() throws Exception {
        ensemble();
        Path version = Files.createDirectories(data.resolve("version-2"));
        byte[] marker = MarkerFile.encodeLatestOnDisk(0x100000009L, LleMap.empty(), View.FIRST);
        marker[marker.length / 2] ^= 1;
        Path damaged = Files.write(version.resolve("saucr.latestOnDisk"), marker);
        refused("exit code 2", damaged + " cannot be used", "Delete the file");
        Files.delete(damaged);
        Files.write(
                version.resolve("saucr.identity"),
                MarkerFile.encodeIdentity(new LogIdentity("", 2, 77, 0, 0, 0)));
        refused("exit code 2", "the data are those of server 2, not of server 1");
    }

    @Test
    void javaDoesNotStart() throws Exception {
        alone();
        scripts.set("SERVER_JVMFLAGS", "-XX:+NoSuchOption");
        refused("exit code 1", "Unrecognized VM option 'NoSuchOption'");
        scripts.set("SERVER_JVMFLAGS", "-Xms100g -Xmx1m");
        refused(
                "exit code 1",
                "Initial heap size set to a larger value than the maximum heap size");
        scripts.set("SERVER_JVMFLAGS", "");
        scripts.set("JDK_JAVA_OPTIONS", "-XX:+NoOptionEither");
        refused("exit code 1", "Unrecognized VM option 'NoOptionEither'");
    }

    @Test
    void theFilesOfTheScriptCannotBeWritten() throws Exception {
        alone();
        Path output = Files.createDirectories(folder.resolve("log/server.out"));
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output()).contains("cannot write " + output + "; no server was started");
        Files.delete(output);
        Path pidFile = Files.createDirectories(folder.resolve("pid"));
        scripts.set("ZOOPIDFILE", pidFile.toString());
        Scripts.Result second = scripts.server("start");
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.output()).contains(pidFile + " is in the way: it must be a file");
        assertThat(servers()).isEmpty();
    }

    /** A signal to process 0 ends the shell that runs the script; a pipe kept it for ever. */
    @Test
    void thePidFileNamesNoProcessOrIsAPipe() throws Exception {
        alone();
        Files.createDirectories(scripts.pidFile().getParent());
        for (String content : List.of("0", "", "00\n", "none")) {
            Files.writeString(scripts.pidFile(), content);
            assertThat(scripts.server("status").output()).contains("probably not running");
            assertThat(scripts.server("stop").output()).contains("No server to stop");
        }
        new ProcessBuilder("mkfifo", scripts.pidFile().toString()).start().waitFor();
        for (String command : List.of("start", "stop", "flush")) {
            Scripts.Result refused = scripts.server(command);
            assertThat(refused.exitCode()).as(command).isEqualTo(1);
            assertThat(refused.output())
                    .contains(scripts.pidFile() + " is in the way: it must be a file");
        }
        assertThat(servers()).isEmpty();
    }

    // ---- Not refused, and not started ----

    @Test
    void aServerThatIsKilledOrHangsWhileItStarts() throws Exception {
        alone();
        scripts.set("ZOO_START_TIMEOUT", "4");
        Path output = folder.resolve("killed.txt");
        Process start = scripts.start(output, List.of(), "zkServer.sh", "start");
        signal("KILL");
        assertThat(start.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(start.exitValue()).as(Files.readString(output)).isEqualTo(1);
        assertThat(Files.readString(output)).contains("FAILED (ended by signal 9, KILL)");
        assertThat(scripts.pidFile()).doesNotExist();

        Path hanging = folder.resolve("hanging.txt");
        Process hangs = scripts.start(hanging, List.of(), "zkServer.sh", "start");
        String pid = signal("STOP");
        assertThat(hangs.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(hangs.exitValue()).as(Files.readString(hanging)).isEqualTo(1);
        assertThat(Files.readString(hanging))
                .contains("NOT STARTED after 4 s (ZOO_START_TIMEOUT): process " + pid + " runs")
                .contains("(" + clientPort + ")");
        kill("CONT", pid);
        assertThat(scripts.server("await", "30").output()).contains("Mode: standalone");
        assertThat(scripts.server("stop").output()).contains("STOPPED (process " + pid + ")");
    }

    /** Sends a signal to the server as soon as its process is there; returns its id. */
    private String signal(String name) throws Exception {
        Path file = scripts.pidFile();
        // Long before a JVM can listen.
        await().atMost(Scripts.LIMIT)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> Files.exists(file) && !Files.readString(file).isBlank());
        String pid = Files.readString(file).trim();
        kill(name, pid);
        return pid;
    }

    private static void kill(String name, String pid) throws Exception {
        assertThat(
                        new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid)
                                .inheritIO()
                                .start()
                                .waitFor())
                .isZero();
    }

    @Test
    void ofTwoStartsAtOnceOneIsRefused() throws Exception {
        alone();
        Path one = folder.resolve("one.txt");
        Path other = folder.resolve("other.txt");
        Process first = scripts.start(one, List.of(), "zkServer.sh", "start");
        Process second = scripts.start(other, List.of(), "zkServer.sh", "start");
        assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();
        String said = Files.readString(one) + Files.readString(other);
        assertThat(List.of(first.exitValue(), second.exitValue()))
                .as(said)
                .containsExactlyInAnyOrder(0, 1);
        String pid = Files.readString(scripts.pidFile()).trim();
        assertThat(said)
                .contains("STARTED (process " + pid + "). Mode: standalone")
                .containsPattern(
                        "Error: the server is already (running|being started,) as process " + pid);
        assertThat(servers()).extracting(ProcessHandle::pid).containsExactly(Long.valueOf(pid));
    }

    @Test
    void aPidFileThatCannotBeMadeIsRefusedWithTheReason() throws Exception {
        alone();
        Path file = data.resolve("x".repeat(256));
        scripts.set("ZOOPIDFILE", file.toString());
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output())
                .contains("cannot write " + file + ": File name too long; no server was started.");
        assertThat(servers()).isEmpty();
    }

    // ---- A pid file that another start replaces between the look at it and its removal ----

    /** Puts another process into the pid file, once. */
    private String replacement(String pid) {
        return """
        if mkdir '%1$s/replaced' 2>/dev/null; then
            rm -f '%2$s'
            echo %3$s >'%2$s'
        fi
        """
                .formatted(folder, scripts.pidFile(), pid);
    }

    /** The file is replaced as soon as a command runs one of these programs on it. */
    private void replacePidFileBefore(String pid, String... programs) throws Exception {
        Path folders = Files.createDirectories(folder.resolve("programs"));
        for (String program : programs) {
            Path file = folders.resolve(program);
            Files.writeString(
                    file,
                    "#!/bin/sh\nPATH=$OTHER_PATH\ncase \"$*\" in *'%s'*)\n%s;;\nesac\nexec %s \"$@\"\n"
                            .formatted(scripts.pidFile(), replacement(pid), program));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        scripts.set("OTHER_PATH", System.getenv("PATH"));
        scripts.set("PATH", folders + ":" + System.getenv("PATH"));
    }

    private boolean pidFileWasReplaced() {
        return Files.isDirectory(folder.resolve("replaced"));
    }

    private void onlyThePidFileIsThere(String pid) throws Exception {
        assertThat(pidFileWasReplaced()).isTrue();
        assertThat(scripts.pidFile()).hasContent(pid);
        try (Stream<Path> files = Files.list(data)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .filteredOn(name -> name.startsWith("zookeeper_server.pid"))
                    .containsExactly("zookeeper_server.pid");
        }
    }

    /** A process that the scripts take for the server of this configuration; it does nothing. */
    private Process anotherServer() throws Exception {
        String script = Files.writeString(folder.resolve("next.sh"), "read -r line\n").toString();
        String config = scripts.conf().resolve("zoo.cfg").toString();
        return new ProcessBuilder("bash", script, "-Dzookeeper.log.dir=/", config).start();
    }

    /** A server that runs; its pid file names another process, which does not. */
    private String startAndNameAnother() throws Exception {
        alone();
        assertThat(scripts.server("start").exitCode()).isZero();
        String pid = Files.readString(scripts.pidFile()).trim();
        Files.writeString(scripts.pidFile(), "999999999\n");
        return pid;
    }

    @Test
    void aStartTakesNoPidFileFromAnotherOne() throws Exception {
        String pid = startAndNameAnother();
        replacePidFileBefore(pid, "mv", "rm");
        Scripts.Result second = scripts.server("start");
        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.output())
                .contains("Error: the server is already being started, as process " + pid);
        onlyThePidFileIsThere(pid);
        assertThat(servers()).extracting(ProcessHandle::pid).containsExactly(Long.valueOf(pid));
    }

    /** It must not end with "No server to stop" either, without the file. */
    @Test
    void aStopFindsTheServerThatHasJustReplacedAnOldPidFile() throws Exception {
        String pid = startAndNameAnother();
        replacePidFileBefore(pid, "mv", "rm");
        Scripts.Result stop = scripts.server("stop");
        assertThat(pidFileWasReplaced()).isTrue();
        assertThat(stop.exitCode()).as(stop.output()).isZero();
        assertThat(stop.output()).contains("STOPPED (process " + pid + ")");
        assertThat(servers()).isEmpty();
        assertThat(scripts.pidFile()).doesNotExist();
    }

    @Test
    void aStopLeavesThePidFileOfTheNextStart() throws Exception {
        alone();
        assertThat(scripts.server("start").exitCode()).isZero();
        String pid = Files.readString(scripts.pidFile()).trim();
        Process next = anotherServer();
        try {
            replacePidFileBefore(Long.toString(next.pid()), "mv", "rm");
            Scripts.Result stop = scripts.server("stop");
            assertThat(stop.exitCode()).as(stop.output()).isZero();
            assertThat(stop.output()).contains("STOPPED (process " + pid + ")");
            onlyThePidFileIsThere(Long.toString(next.pid()));
            assertThat(next.isAlive()).isTrue();
        } finally {
            next.destroyForcibly().waitFor();
        }
    }

    @Test
    void aStartThatFailsLeavesThePidFileOfTheNextOne() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            clientPort = taken.getLocalPort();
            alone("clientPortAddress=127.0.0.1");
            Process next = anotherServer();
            try {
                replacePidFileBefore(Long.toString(next.pid()), "mv", "rm");
                Scripts.Result start = scripts.server("start");
                assertThat(start.exitCode()).isEqualTo(1);
                assertThat(start.output()).contains("Address already in use");
                onlyThePidFileIsThere(Long.toString(next.pid()));
            } finally {
                next.destroyForcibly().waitFor();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "999999999\n"})
    void aStartInTheForegroundTakesNoPidFileFromAnotherOne(String old) throws Exception {
        Process other = anotherServer();
        replacePidFileBefore(Long.toString(other.pid()), "dirname");
        foregroundLeavesPidFileTo(other, old);
    }

    /** The script has looked, and the shell that becomes the server finds the file. */
    @ParameterizedTest
    @ValueSource(strings = {"", "999999999\n"})
    void aShellThatBecomesTheServerTakesNoPidFileFromAnotherStart(String old) throws Exception {
        Process other = anotherServer();
        Path hook =
                Files.writeString(
                        folder.resolve("hook.sh"),
                        "case \"$(tr '\\0' ' ' </proc/$$/cmdline)\" in *' -c '*'%s'*)\n%s;;\nesac\n"
                                .formatted(
                                        scripts.pidFile(),
                                        replacement(Long.toString(other.pid()))));
        scripts.set("BASH_ENV", hook.toString());
        foregroundLeavesPidFileTo(other, old);
    }

    /**
     * The server itself starts: here the other process does not use its folders.
     *
     * @param old content of the pid file before; empty for none
     */
    private void foregroundLeavesPidFileTo(Process other, String old) throws Exception {
        alone();
        if (!old.isEmpty()) {
            Files.writeString(scripts.pidFile(), old);
        }
        Path output = folder.resolve("foreground.txt");
        scripts.start(output, List.of(), "zkServer.sh", "start-foreground");
        try {
            await().atMost(Scripts.LIMIT)
                    .until(() -> Files.readString(output).contains("PrepRequestProcessor"));
            onlyThePidFileIsThere(Long.toString(other.pid()));
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void anImpossibleLimitIsRefused() throws Exception {
        alone();
        scripts.set("ZOO_START_TIMEOUT", "soon");
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output()).contains("ZOO_START_TIMEOUT is 'soon'; it must be a number");
        assertThat(servers()).isEmpty();
        Scripts.Result wait = scripts.server("await", "zoo.cfg");
        assertThat(wait.exitCode()).isEqualTo(1);
        assertThat(wait.output()).contains("SECONDS of await is 'zoo.cfg'; it must be a number");
    }

    /** It would be stopped, and not come back, or be told to end and not be waited for. */
    @Test
    void anImpossibleLimitStopsNothing() throws Exception {
        alone();
        assertThat(scripts.server("start").exitCode()).isZero();
        String pid = Files.readString(scripts.pidFile());
        scripts.set("ZOO_START_TIMEOUT", "soon");
        Scripts.Result restart = scripts.server("restart");
        assertThat(restart.exitCode()).isEqualTo(1);
        assertThat(restart.output()).contains("ZOO_START_TIMEOUT is 'soon'");
        scripts.set("ZOO_STOP_TIMEOUT", "late");
        Scripts.Result stop = scripts.server("stop");
        assertThat(stop.exitCode()).isEqualTo(1);
        assertThat(stop.output()).contains("ZOO_STOP_TIMEOUT is 'late'; it must be a number");
        assertThat(servers())
                .extracting(ProcessHandle::pid)
                .containsExactly(Long.valueOf(pid.trim()));
        scripts.set("ZOO_STOP_TIMEOUT", "060");
        assertThat(scripts.server("stop").exitCode()).isZero();
        assertThat(servers()).isEmpty();
    }

    /** It has options of the shell, and of a script that it was copied from. */
    @Test
    void theEnvironmentDoesNotEndTheScript() throws Exception {
        alone();
        Files.writeString(scripts.conf().resolve("java.env"), "set -eu -o pipefail\n");
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        assertThat(start.output()).contains("STARTED (process ");
    }

    /** Somebody has started it again before "stop" looks for the second time. */
    @Test
    void whoStopsAServerWaitsForThatOneAlone() throws Exception {
        alone();
        assertThat(scripts.server("start").exitCode()).isZero();
        String pid = Files.readString(scripts.pidFile()).trim();
        kill("STOP", pid);
        scripts.set("ZOO_STOP_TIMEOUT", "60");
        Path output = folder.resolve("stop.txt");
        Process stop = scripts.start(output, List.of(), "zkServer.sh", "stop");
        assertThat(stop.waitFor(1, TimeUnit.SECONDS)).isFalse();
        Process next = anotherServer();
        try {
            Files.writeString(scripts.pidFile(), next.pid() + "\n");
            kill("CONT", pid);
            assertThat(stop.waitFor(90, TimeUnit.SECONDS)).isTrue();
            assertThat(Files.readString(output)).contains("STOPPED (process " + pid + ")");
            assertThat(stop.exitValue()).isZero();
            assertThat(scripts.pidFile()).hasContent(Long.toString(next.pid()));
            assertThat(next.isAlive()).isTrue();
        } finally {
            next.destroyForcibly().waitFor();
        }
    }

    // ---- Started ----

    /** A second server on the same folders has the ports of its own, and ends a while later. */
    @Test
    void whoWaitsForOthersHasStartedAndWhoseFoldersAreInUseHasNot() throws Exception {
        ensemble();
        Scripts.Result start = scripts.server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        assertThat(start.output())
                .contains("STARTED (process ")
                .contains(", waiting for a quorum. \"zkServer.sh await\" returns when it serves.");
        String pid = Files.readString(scripts.pidFile()).trim();

        clientPort = Scripts.freePort();
        electionPort = Scripts.freePort();
        ensemble();
        scripts.set("ZOOPIDFILE", folder.resolve("second.pid").toString());
        scripts.set("ZOO_LOG_FILE", "second.log");
        scripts.setImpatient();
        Scripts.Result second = scripts.server("start");
        assertThat(second.exitCode()).as(second.output()).isEqualTo(1);
        assertThat(second.output()).contains("FAILED (exit code 1): Another process uses " + data);
        assertThat(servers()).extracting(ProcessHandle::pid).containsExactly(Long.valueOf(pid));
    }

    /** Apache's second one starts, and writes into the folders of the first. */
    @Test
    void theFoldersOfAServerWithoutSaucrAreInUseUntilItsProcessEnds() throws Exception {
        Path logs = Files.createDirectories(folder.resolve("logs"));
        alone("dataLogDir=" + logs);
        foldersAreOfOneProcess(data, "dataDir=" + data);
        ensemble("saucr.enabled=false", "dataLogDir=" + logs);
        foldersAreOfOneProcess(
                logs,
                "dataLogDir=" + logs,
                "server.1=127.0.0.1:" + Scripts.freePort() + ":" + Scripts.freePort(),
                "server.2=127.0.0.1:1:2",
                "server.3=127.0.0.1:3:4");
    }

    private void foldersAreOfOneProcess(Path shared, String... configurationOfAnother)
            throws Exception {
        Scripts.Result first = scripts.server("start");
        assertThat(first.exitCode()).as(first.output()).isZero();
        String pid = Files.readString(scripts.pidFile()).trim();

        Path own = Files.createTempDirectory(folder, "another");
        Scripts another = new Scripts(home, own);
        another.set("ZOOPIDFILE", own.resolve("another.pid").toString());
        another.setImpatient();
        Files.createDirectories(own.resolve("data"));
        Files.writeString(own.resolve("data/myid"), "1\n");
        another.writeConfig(
                "zoo.cfg",
                Stream.concat(
                                Stream.of(
                                        "clientPort=" + Scripts.freePort(),
                                        "initLimit=10",
                                        "syncLimit=5"),
                                Stream.of(configurationOfAnother))
                        .toArray(String[]::new));
        Scripts.Result second = another.server("start");
        assertThat(second.exitCode()).as(second.output()).isNotZero();
        assertThat(second.output()).contains("Another process uses " + shared.resolve("version-2"));
        assertThat(servers()).extracting(ProcessHandle::pid).containsExactly(Long.valueOf(pid));

        kill("KILL", pid);
        assertThat(scripts.server("start").exitCode()).isZero();
        assertThat(scripts.server("stop").exitCode()).isZero();
    }

    /** As systemd runs it, which would wait for it after the end of the server. */
    @Test
    void whoWaitsForAServerThatHasEndedIsToldSo() throws Exception {
        alone();
        Process ended = new ProcessBuilder("true").start();
        assertThat(ended.waitFor()).isZero();
        scripts.set("MAINPID", Long.toString(ended.pid()));
        Scripts.Result wait = scripts.server("await");
        assertThat(wait.exitCode()).isEqualTo(1);
        assertThat(wait.output()).contains("the server's process " + ended.pid() + " has ended");
    }
}
