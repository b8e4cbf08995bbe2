package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts of the distribution, as an operator of Apache's uses them. */
@Tag("trial")
class ServerScriptsIT {
    private static final Pattern MAIN_CLASS =
            Pattern.compile("(org\\.apache\\.zookeeper|io\\.saucr)\\.[\\w.]+");

    @TempDir static Path unpacked;
    private static Path home;

    @TempDir Path folder;
    private Scripts scripts;
    private int clientPort;

    @BeforeAll
    static void unpack() throws Exception {
        home = Scripts.unpackWithClassArchive(unpacked);
    }

    @BeforeEach
    void configure() throws IOException {
        clientPort = Scripts.freePort();
        scripts = new Scripts(home, folder);
        scripts.writeConfig("zoo.cfg", "clientPort=" + clientPort);
    }

    @AfterEach
    void leaveNoProcess() throws Exception {
        if (Files.exists(pidFile())) {
            server("stop");
        }
    }

    @Test
    void startStatusRestartStop() throws Exception {
        assertThat(server("status").exitCode()).isEqualTo(1);
        assertThat(server("await", "0").exitCode()).isEqualTo(1);
        Scripts.Result nobody = server("flush");
        assertThat(nobody.exitCode()).isEqualTo(1);
        assertThat(nobody.output()).contains("no server runs here");

        Scripts.Result start = server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        assertThat(start.output()).contains("STARTED");
        String pid = Files.readString(pidFile()).trim();
        awaitServing();
        Scripts.Result status = server("status");
        assertThat(status.output())
                .contains("Client port found: " + clientPort)
                .contains("Client SSL: false")
                .contains("Mode: standalone");

        assertThat(server("await", "30").output()).contains("Mode: standalone");
        Scripts.Result flush = server("flush");
        assertThat(flush.exitCode()).isEqualTo(1);
        assertThat(flush.output()).contains("runs no server with saucr.enabled=true");

        Scripts.Result twice = server("start");
        assertThat(twice.exitCode()).isEqualTo(1);
        assertThat(twice.output()).contains("already running as process " + pid);

        assertThat(client("create", "/kept", "1").output()).contains("Created /kept");
        assertThat(server("restart").exitCode()).isZero();
        assertThat(Files.readString(pidFile()).trim()).isNotEqualTo(pid);
        awaitServing();
        assertThat(client("ls", "/").output()).contains("kept");

        Scripts.Result stop = server("stop");
        assertThat(stop.exitCode()).isZero();
        assertThat(stop.output()).contains("STOPPED");
        assertThat(pidFile()).doesNotExist();
        assertThat(server("stop").exitCode()).isZero();
        assertThat(Files.readString(folder.resolve("log/server.log"))).contains("binding to port");
    }

    @Test
    void aStalePidFileIsNoObstacle() throws Exception {
        Files.createDirectories(pidFile().getParent());
        for (String pid : new String[] {"999999999", "", "1"}) {
            Files.writeString(pidFile(), pid + "\n");
            Scripts.Result stop = server("stop");
            assertThat(stop.exitCode()).isZero();
            assertThat(stop.output()).contains("No server to stop");
            assertThat(pidFile()).doesNotExist();
        }
        Files.writeString(pidFile(), "999999999\n");
        Scripts.Result start = server("start");
        assertThat(start.exitCode()).isZero();
        assertThat(start.output()).contains("Removing " + pidFile());
    }

    @Test
    void theNumberOfAnotherProcessInThePidFileIsNoServer() throws Exception {
        Files.createDirectories(pidFile().getParent());
        Path script = Files.writeString(folder.resolve("notes-about-java.sh"), "read -r line\n");
        Path config = conf().resolve("zoo.cfg");
        Files.writeString(conf().resolve("other.cfg"), "dataDir=" + folder.resolve("other") + "\n");
        String[][] others = {
            {"bash", script.toString()},
            {"bash", script.toString(), "zkServer.sh", config.toString()},
            {"bash", script.toString(), "-Dzookeeper.log.dir=/", conf() + "/other.cfg"}
        };
        for (String[] other : others) {
            Process process = new ProcessBuilder(other).start();
            try {
                Files.writeString(pidFile(), process.pid() + "\n");
                assertThat(server("pin").output()).contains("no server runs here");
                Scripts.Result stop = server("stop");
                assertThat(stop.exitCode()).isZero();
                assertThat(stop.output()).contains("No server to stop");
                assertThat(pidFile()).doesNotExist();
                assertThat(process.isAlive()).isTrue();
            } finally {
                process.destroyForcibly().waitFor();
            }
        }
    }

    /** A process that looks like the server; this user must not send it a signal. */
    @Test
    void theServerOfAnotherUserIsNotTakenForStopped() throws Exception {
        Path kept = Files.createDirectories(folder.resolve("data/version-2")).resolve("log.1");
        Files.writeString(kept, "");
        boolean root = "root".equals(System.getProperty("user.name"));
        // Root without this right may still do everything with files.
        List<String> withoutSignals =
                root ? List.of("setpriv", "--bounding-set=-kill", "--inh-caps=-kill") : List.of();
        List<String> stranger =
                new ArrayList<>(
                        root
                                ? List.of("setpriv", "--reuid=65534", "--clear-groups")
                                : List.of("sudo", "-n"));
        stranger.addAll(
                List.of(
                        "bash",
                        "-c",
                        "echo $$; read -r line",
                        "java",
                        "-Dzookeeper.log.dir=/",
                        conf().resolve("zoo.cfg").toString()));
        Process process = new ProcessBuilder(stranger).start();
        try {
            String pid = process.inputReader(StandardCharsets.UTF_8).readLine();
            Files.writeString(pidFile(), pid + "\n");
            for (String verb : new String[] {"stop", "start", "restart"}) {
                Scripts.Result refused = scripts.run(withoutSignals, "zkServer.sh", verb);
                assertThat(refused.exitCode()).as(refused.output()).isEqualTo(1);
                assertThat(refused.output())
                        .contains(
                                verb.equals("start")
                                        ? "already running as process " + pid
                                        : "process " + pid + " runs as another user");
                assertThat(pidFile()).hasContent(pid);
            }
            Scripts.Result initialize =
                    scripts.run(withoutSignals, "zkServer-initialize.sh", "--force");
            assertThat(initialize.exitCode()).isEqualTo(1);
            assertThat(initialize.output()).contains("process " + pid + " uses ");
            assertThat(kept).exists();
        } finally {
            process.getOutputStream().close();
            process.waitFor();
        }
    }

    @Test
    void aPidFileThatCannotBeReadIsNotTakenForNone() throws Exception {
        Path hidden = Files.createDirectories(folder.resolve("hidden"));
        Path file = Files.writeString(hidden.resolve("pid"), "1\n");
        scripts.set("ZOOPIDFILE", file.toString());
        List<String> withoutRights =
                "root".equals(System.getProperty("user.name"))
                        ? List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search")
                        : List.of();
        for (Path unreadable : List.of(file, hidden)) {
            Set<PosixFilePermission> before = Files.getPosixFilePermissions(unreadable);
            Files.setPosixFilePermissions(unreadable, Set.of());
            try {
                for (String verb : new String[] {"stop", "start", "flush"}) {
                    Scripts.Result refused = scripts.run(withoutRights, "zkServer.sh", verb);
                    assertThat(refused.exitCode()).as(refused.output()).isEqualTo(1);
                    assertThat(refused.output()).contains(" cannot read " + file);
                }
            } finally {
                Files.setPosixFilePermissions(unreadable, before);
            }
            assertThat(file).exists();
        }
    }

    @Test
    void aServerThatCannotStartIsReportedWithItsLog() throws Exception {
        scripts.writeConfig("bad.cfg", "clientPort=" + clientPort, "tickTime=often");
        Scripts.Result start = server("start", "bad.cfg");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output()).contains("FAILED").contains("often");
        assertThat(pidFile()).doesNotExist();

        Scripts.Result missing = server("start", "none.cfg");
        assertThat(missing.exitCode()).isEqualTo(1);
        assertThat(missing.output())
                .contains("no configuration file " + conf().resolve("none.cfg"));
    }

    /** The server reads it; "start" found no port, and said that it had not started. */
    @Test
    void aLineOfTheConfigurationMayGoOnInTheNext() throws Exception {
        scripts.writeConfig(
                "zoo.cfg",
                "# a comment does not go on \\",
                "clientPort=\\",
                "    " + clientPort,
                "maxClientCnxns=60 \\");
        Scripts.Result start = server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        assertThat(server("status").output()).contains("Client port found: " + clientPort);
    }

    /** Brackets around an address, a byte that is no UTF-8: the server takes both. */
    @Test
    void theFileIsReadAsTheServerReadsIt() throws Exception {
        int admin = Scripts.freePort();
        Files.write(
                conf().resolve("zoo.cfg"),
                List.of(
                        "# f\u00fcr uns",
                        "tickTime=500",
                        "dataDir=" + folder.resolve("data"),
                        "clientPort=" + clientPort,
                        "clientPortAddress=[::1]",
                        "admin.serverPort=" + admin,
                        "admin.serverAddress=[::1]"),
                StandardCharsets.ISO_8859_1);
        Scripts.Result start = server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        Scripts.Result awaited = server("await", "30");
        assertThat(awaited.exitCode()).as(awaited.output()).isZero();
        Scripts.Result status = server("status");
        assertThat(status.exitCode()).as(status.output()).isZero();
        assertThat(status.output())
                .contains("Client port found: " + clientPort + ". Client address: ::1.")
                .contains("Mode: standalone");
        String file = conf().resolve("zoo.cfg").toString();
        Scripts.Result tool =
                Scripts.run(
                        new ProcessBuilder(
                                home.resolve("bin/saucr").toString(),
                                "endpoint",
                                "status",
                                "--config",
                                file),
                        Scripts.LIMIT);
        assertThat(tool.exitCode()).as(tool.output()).isZero();
        assertThat(tool.output()).contains("[::1]:" + clientPort + " ").doesNotContain("[[");
        assertThat(server("stop").output()).contains("STOPPED");
    }

    /** A server of an ensemble whose mode the tool refuses to ask for, as its file is by now. */
    @Test
    void aFailedPartOfStatusIsAFailedStatus() throws Exception {
        assertThat(server("start").exitCode()).isZero();
        awaitServing();
        scripts.writeConfig(
                "zoo.cfg",
                "clientPort=" + clientPort,
                "saucr.enabled=true",
                "admin.enableServer=true",
                "admin.serverPort=none");
        Scripts.Result status = server("status");
        assertThat(status.exitCode()).as(status.output()).isEqualTo(1);
        assertThat(status.output())
                .contains("Mode: standalone")
                .contains("'none' is not a port")
                .contains("its mode is not known: bin/saucr failed with exit code 2")
                .doesNotContain("SAUCR mode:");
    }

    @Test
    void awaitFailsAtOnceWhereNoServerRuns() throws Exception {
        Scripts.Result nobody = server("await");
        assertThat(nobody.exitCode()).isEqualTo(1);
        assertThat(nobody.output())
                .contains("no server runs here", "port " + clientPort, pidFile().toString());
        Files.createDirectories(pidFile().getParent());
        Files.writeString(pidFile(), "999999999\n");
        assertThat(server("await").output()).contains("no server runs here");
        scripts.set("MAINPID", "999999999");
        assertThat(server("await").output()).contains("process 999999999 has ended");
    }

    /** One of three: it runs, and waits for the others. Then it is killed. */
    @Test
    void awaitSaysWhatItWaitsForAndEndsWithTheServer() throws Exception {
        Files.createDirectories(folder.resolve("data"));
        Files.writeString(folder.resolve("data/myid"), "1\n");
        scripts.writeConfig(
                "zoo.cfg",
                "clientPort=" + clientPort,
                "initLimit=10",
                "syncLimit=5",
                "server.1=127.0.0.1:" + Scripts.freePort() + ":" + Scripts.freePort(),
                "server.2=127.0.0.1:1:2",
                "server.3=127.0.0.1:3:4");
        Scripts.Result start = server("start");
        assertThat(start.output()).contains("waiting for a quorum");
        assertThat(server("await", "0").output())
                .contains("does not serve after 0 s: it waits for a leader")
                .contains("servers 1 2 3");
        Path output = folder.resolve("await.txt");
        Process awaiting = scripts.start(output, List.of(), "zkServer.sh", "await");
        try {
            await().atMost(Scripts.LIMIT)
                    .until(
                            () ->
                                    Files.readString(output)
                                            .contains("Waiting for the server: it waits for a"));
            long pid = Long.parseLong(Files.readString(pidFile()).trim());
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            Scripts.Result ended = Scripts.await(awaiting, output, Scripts.LIMIT);
            assertThat(ended.exitCode()).isEqualTo(1);
            assertThat(ended.output())
                    .containsPattern("process \\d+ has ended|no server runs here");
        } finally {
            awaiting.destroyForcibly();
        }
    }

    @Test
    void aMissingDataFolderIsAnErrorIfItMustNotBeCreated() throws Exception {
        scripts.set("ZOO_DATADIR_AUTOCREATE_DISABLE", "1");
        Scripts.Result start = server("start");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.output()).contains(folder.resolve("data") + " does not exist");
        assertThat(folder.resolve("data")).doesNotExist();
    }

    @Test
    void statusFindsTheClientPortOfADynamicConfiguration() throws Exception {
        Path dynamic = conf().resolve("members");
        Files.writeString(
                dynamic,
                "server.1=127.0.0.1:"
                        + Scripts.freePort()
                        + ":"
                        + Scripts.freePort()
                        + ":participant;127.0.0.1:"
                        + clientPort
                        + "\n");
        scripts.writeConfig(
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
        assertThat(server("start", file).exitCode()).isZero();
        await().atMost(Scripts.LIMIT).until(() -> server("status", file).exitCode() == 0);
        assertThat(server("status", file).output())
                .contains("Client port found: " + clientPort + ". Client address: 127.0.0.1")
                .contains("Mode: leader");
        // Who stops it with another file that has the same dataDir means the same server.
        assertThat(server("stop").output()).contains("STOPPED");
    }

    @Test
    void theToolsForSnapshots() throws Exception {
        Scripts.Result made = initialize("--myid=7");
        assertThat(made.exitCode()).as(made.output()).isZero();
        assertThat(folder.resolve("data/myid")).hasContent("7");
        scripts.set("ZOO_DATADIR_AUTOCREATE_DISABLE", "1");
        assertThat(server("start").exitCode()).isZero();
        assertThat(client("create", "/one", "1234").output()).contains("Created /one");
        assertThat(client("create", "/one/two", "56").output()).contains("Created /one/two");
        Scripts.Result running = initialize("--force");
        assertThat(running.exitCode()).isEqualTo(1);
        assertThat(running.output()).contains("stop that server first");
        assertThat(server("restart").exitCode()).isZero();
        assertThat(client("ls", "/").output()).contains("one");
        assertThat(server("stop").exitCode()).isZero();

        List<String> snapshots;
        try (Stream<Path> files = Files.list(folder.resolve("data/version-2"))) {
            snapshots =
                    files.map(Path::toString)
                            .filter(file -> file.contains("snapshot."))
                            .sorted()
                            .toList();
        }
        String first = snapshots.get(0);
        String last = snapshots.get(snapshots.size() - 1);
        Scripts.Result summary = tool("zkSnapshotRecursiveSummaryToolkit.sh", last, "/", "2");
        assertThat(summary.exitCode()).as(summary.output()).isZero();
        assertThat(summary.output()).contains("-- /one").contains("data: 6");
        Scripts.Result absent = tool("zkSnapshotRecursiveSummaryToolkit.sh", last, "/nope", "1");
        assertThat(absent.exitCode()).isEqualTo(1);
        assertThat(absent.output()).isEqualTo("Error: there is no node /nope in " + last + ".\n");
        Scripts.Result noFile = tool("zkSnapshotRecursiveSummaryToolkit.sh", "/nope", "/", "1");
        assertThat(noFile.exitCode()).isEqualTo(1);
        assertThat(noFile.output()).isEqualTo("Error: there is no file /nope.\n");
        Scripts.Result comparison =
                tool("zkSnapshotComparer.sh", "-l", first, "-r", last, "-b", "1", "-n", "1");
        assertThat(comparison.exitCode()).as(comparison.output()).isZero();
        assertThat(comparison.output()).contains("Node /one found only in right tree");
        assertThat(tool("zkSnapShotToolkit.sh", last).output()).contains("/one");
        Scripts.Result cleanup = tool("zkCleanup.sh", "-n", "3");
        assertThat(cleanup.exitCode()).as(cleanup.output()).isZero();

        Scripts.Result again = initialize();
        assertThat(again.exitCode()).isEqualTo(1);
        assertThat(again.output()).contains("is there already; --force deletes everything in it");
        assertThat(Path.of(last)).exists();
        assertThat(initialize("--force").output()).contains("This is server 7, as ");
        assertThat(folder.resolve("data/version-2")).isEmptyDirectory();
        assertThat(folder.resolve("data/initialize")).exists();
    }

    @Test
    void aServerOfAnEnsembleThatWasEmptiedIsNotNew() throws Exception {
        Path logs = folder.resolve("logs");
        String[] lines = {
            "dataLogDir=" + logs,
            "clientPort=" + clientPort,
            "server.1=127.0.0.1:" + Scripts.freePort() + ":" + Scripts.freePort(),
            "server.2=127.0.0.1:1:2",
            "server.3=127.0.0.1:3:4"
        };
        scripts.writeConfig("zoo.cfg", lines);
        Path isNew = logs.resolve("initialize");
        assertThat(initialize("--force", "--myid=1").exitCode()).isZero();
        assertThat(isNew).as("nothing was deleted").exists();

        Path old = Files.writeString(folder.resolve("data/initialize"), "");
        assertThat(initialize("--force").output()).contains("Deleted everything in " + logs);
        assertThat(isNew).doesNotExist();
        assertThat(old).doesNotExist();
        assertThat(initialize("--force").exitCode()).isZero();
        assertThat(isNew).as("the folders were there, empty").doesNotExist();
    }

    /** It has lost its pid file, or has another one. */
    @Test
    void theDataOfAServerThatListensAreNotDeleted() throws Exception {
        Path kept = Files.createDirectories(folder.resolve("data/version-2")).resolve("log.1");
        Files.writeString(kept, "");
        int electionPort = Scripts.freePort();
        Files.writeString(folder.resolve("data/myid"), "1\n");
        scripts.writeConfig(
                "zoo.cfg",
                "clientPort=" + clientPort,
                "server.1=127.0.0.1:" + Scripts.freePort() + ":" + electionPort,
                "server.2=127.0.0.1:1:2",
                "server.3=127.0.0.1:3:4");
        for (int port : new int[] {clientPort, electionPort}) {
            try (ServerSocket listens =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                Scripts.Result refused = initialize("--force");
                assertThat(refused.exitCode()).isEqualTo(1);
                assertThat(refused.output())
                        .contains("port " + listens.getLocalPort() + " is in use by process ")
                        .contains("stop that server first. Nothing was deleted.");
            }
            assertThat(kept).exists();
        }
        assertThat(initialize("--force").exitCode()).isZero();
        assertThat(kept).doesNotExist();
    }

    /** It may be starting, and has no port and no pid file yet. */
    @Test
    void theDataOfAServerThatHoldsItsLockAreNotDeleted() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data/version-2"));
        Path kept = Files.createFile(data.resolve("log.1"));
        Path marker = Files.createFile(folder.resolve("data/initialize"));
        try (FileChannel lock =
                FileChannel.open(
                        data.resolve("saucr.lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            assertThat(lock.tryLock()).isNotNull();
            Scripts.Result refused = initialize("--force");
            assertThat(refused.exitCode()).as(refused.output()).isEqualTo(1);
            assertThat(refused.output())
                    .contains("process " + ProcessHandle.current().pid() + " uses " + data)
                    .contains("stop that server first. Nothing was deleted.");
        }
        assertThat(kept).exists();
        assertThat(marker).isRegularFile();
        assertThat(initialize("--force").exitCode()).isZero();
        assertThat(data).isEmptyDirectory();
    }

    @Test
    void aFolderThatIsALinkStaysOne() throws Exception {
        Path disk = Files.createDirectories(folder.resolve("disk"));
        Files.createFile(disk.resolve("log.1"));
        Files.createFile(disk.resolve(".hidden"));
        Files.createDirectory(disk.resolve("lost+found"));
        Path link = folder.resolve("data/version-2");
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, disk);
        Scripts.Result result = initialize("--force");
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(link).isSymbolicLink();
        try (Stream<Path> files = Files.list(disk)) {
            assertThat(files).containsExactly(disk.resolve("lost+found"));
        }
        Files.delete(link);
        Files.createFile(link);
        assertThat(initialize("--force").output()).contains(link + " is no folder; move it away");
        assertThat(link).exists();
    }

    /** Of half a log nobody knows that it is half. */
    @Test
    void aDeletionThatIsInterruptedKeepsTheServerFromStarting() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data/version-2"));
        Path kept = Files.createFile(data.resolve("log.1"));
        Files.createFile(folder.resolve("data/initialize"));
        Path programs = Files.createDirectories(folder.resolve("programs"));
        Path find = Files.writeString(programs.resolve("find"), "#!/bin/sh\nexit 1\n");
        Files.setPosixFilePermissions(find, EnumSet.allOf(PosixFilePermission.class));
        scripts.set("PATH", programs + ":" + System.getenv("PATH"));
        Scripts.Result interrupted = initialize("--force");
        assertThat(interrupted.exitCode()).isEqualTo(1);
        assertThat(interrupted.output()).contains("not everything in " + data, "run this again");
        scripts.set("PATH", System.getenv("PATH"));
        Scripts.Result start = server("start-foreground");
        assertThat(start.exitCode()).as(start.output()).isNotZero();
        assertThat(start.output()).contains(folder.resolve("data/initialize") + " is in the way");
        assertThat(kept).exists();
        // It may be interrupted again.
        scripts.set("PATH", programs + ":" + System.getenv("PATH"));
        assertThat(initialize("--force").exitCode()).isEqualTo(1);
        scripts.set("PATH", System.getenv("PATH"));
        assertThat(initialize("--force").exitCode()).isZero();
        assertThat(data).isEmptyDirectory();
        assertThat(folder.resolve("data/initialize")).isRegularFile();
    }

    /**
     * Runs {@code --force} on a small file system, once and after each of the steps but the first
     * one, and shows what is there then. Only these processes see the file system.
     *
     * @param options of the file system
     * @param steps commands of the shell; the first one makes what is there before
     */
    private Scripts.Result onSmallDisk(String options, String... steps) throws Exception {
        Files.createDirectories(folder.resolve("data"));
        String all =
                """
                cd "$1" && mount -t tmpfs -o "$2" none . && cd "$1" || exit 9
                eval "$3"
                steps=$4
                shift 4
                while :; do
                    "$@"
                    echo "exit code $?: $(find . -mindepth 1 -printf '%P %y %l\n' | LC_ALL=C sort | paste -sd,)"
                    [ -n "$steps" ] || exit 0
                    eval "${steps%%|*}"
                    steps="${steps#*|}"
                done
                """;
        List<String> runner =
                List.of(
                        "unshare",
                        "--map-root-user",
                        "--mount",
                        "bash",
                        "-c",
                        all,
                        "bash",
                        folder.resolve("data").toString(),
                        options,
                        steps[0],
                        Stream.of(steps).skip(1).map(it -> it + "|").collect(Collectors.joining()));
        return scripts.run(runner, "zkServer-initialize.sh", "--force");
    }

    /** An operator empties a server because its disk is full. */
    @Test
    void aFullDiskIsNoObstacleToADeletion() throws Exception {
        Scripts.Result result =
                onSmallDisk(
                        "size=64k",
                        "mkdir version-2; : >initialize; cat /dev/zero >version-2/log.1");
        assertThat(result.output())
                .contains("No space left on device")
                .contains("Deleted everything in " + folder.resolve("data/version-2"))
                .endsWith("exit code 0: initialize f ,version-2 d \n");
    }

    /** The file system has all files that it can have. */
    @Test
    void aDeletionThatCannotBeginChangesNothingAndTheNextOneFinishes() throws Exception {
        Scripts.Result result =
                onSmallDisk(
                        "size=64k,nr_inodes=5",
                        "mkdir version-2; : >initialize; : >version-2/log.1; : >other",
                        "rm other");
        assertThat(result.output())
                .contains("initialize could not be made; see above. Nothing was deleted.")
                .contains("exit code 1: initialize f ,other f ,version-2 d ,version-2/log.1 f \n")
                .endsWith("exit code 0: initialize f ,version-2 d \n");
    }

    /** Its disk has room for nothing, then for the folder alone. */
    @Test
    void aServerThatCouldNotBeMadeIsNewTheNextTime() throws Exception {
        scripts.writeConfig(
                "zoo.cfg",
                "clientPort=" + clientPort,
                "server.1=127.0.0.1:" + Scripts.freePort() + ":" + Scripts.freePort(),
                "server.2=127.0.0.1:1:2",
                "server.3=127.0.0.1:3:4");
        Scripts.Result result =
                onSmallDisk(
                        "size=64k,nr_inodes=2",
                        ": >other",
                        "mount -o remount,nr_inodes=3 none .",
                        "mount -o remount,nr_inodes=4 none .");
        assertThat(result.output())
                .contains("version-2 could not be made; see above. Run this again")
                .contains("initialize could not be made; see above. Run this again")
                .contains("exit code 1: other f \n")
                .doesNotContain("exit code 1: other f ,version-2")
                .endsWith("exit code 0: initialize f ,other f ,version-2 d \n");
    }

    @Test
    void wrongUsageOfInitializeChangesNothing() throws Exception {
        for (String[] options :
                new String[][] {
                    {"--mydi=1"}, {"--myid=one"}, {"--myid"}, {"--configfile="}, {"extra"}
                }) {
            Scripts.Result result = initialize(options);
            assertThat(result.exitCode()).as(options[0]).isEqualTo(2);
            assertThat(result.output()).startsWith("Error: ");
        }
        assertThat(initialize("--configfile", "none.cfg").output())
                .contains("there is no configuration file " + conf().resolve("none.cfg"));
        assertThat(folder.resolve("data")).doesNotExist();
        assertThat(initialize("--help").exitCode()).isZero();
    }

    /** Nothing here runs them; what can be told from the outside is told. */
    @Test
    void theCommandFilesForWindowsRunClassesThatExist() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.list(home.resolve("bin"))) {
            files = all.filter(file -> file.toString().endsWith(".cmd")).toList();
        }
        assertThat(files)
                .extracting(file -> file.getFileName().toString())
                .containsExactlyInAnyOrder(
                        "zkCli.cmd",
                        "zkEnv.cmd",
                        "zkServer.cmd",
                        "zkSnapShotToolkit.cmd",
                        "zkSnapshotComparer.cmd",
                        "zkSnapshotRecursiveSummaryToolkit.cmd",
                        "zkTxnLogToolkit.cmd");
        for (Path file : files) {
            String text = Files.readString(file);
            assertThat(text.lines()).as(file.toString()).allMatch(line -> line.length() < 8_000);
            assertThat(text.replace("\r\n", "")).as("line ends of " + file).doesNotContain("\n");
            if (file.endsWith("zkEnv.cmd")) {
                continue;
            }
            assertThat(text).as(file.toString()).contains("call \"%~dp0zkEnv.cmd\" || exit /b 1");
            Matcher main = MAIN_CLASS.matcher(text);
            assertThat(main.find()).as("main class of " + file).isTrue();
            assertThat(Class.forName(main.group()).getMethod("main", String[].class))
                    .as(file.toString())
                    .isNotNull();
        }
    }

    /** Under the name of Apache's provider, too: what is shown is compared elsewhere. */
    @Test
    void bothNamesOfTheProviderForPrometheusShowTheSameMetrics() throws Exception {
        List<String> shown = new ArrayList<>();
        List<Set<String>> mntr = new ArrayList<>();
        for (String provider :
                List.of(
                        "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
                        "io.saucr.server.metrics.SaucrPrometheusMetricsProvider")) {
            int port = Scripts.freePort();
            scripts.writeConfig(
                    "zoo.cfg",
                    "clientPort=" + clientPort,
                    "4lw.commands.whitelist=srvr,mntr",
                    "metricsProvider.className=" + provider,
                    "metricsProvider.httpPort=" + port);
            assertThat(server("start").exitCode()).isZero();
            awaitServing();
            client("create", "/node-" + shown.size(), "1");
            URI metrics = URI.create("http://127.0.0.1:" + port + "/metrics");
            try (var body = metrics.toURL().openStream()) {
                shown.add(
                        new String(body.readAllBytes(), StandardCharsets.UTF_8)
                                .lines()
                                .filter(line -> line.startsWith("# "))
                                .sorted()
                                .collect(Collectors.joining("\n")));
            }
            String answer = FourLetterWordMain.send4LetterWord("127.0.0.1", clientPort, "mntr");
            mntr.add(
                    answer.lines()
                            // Keys have metrics from their first use on.
                            .map(line -> line.replaceAll("(\t|key=\"[^\"]*\"|gc=\"[^\"]*\").*", ""))
                            .collect(Collectors.toCollection(TreeSet::new)));
            assertThat(server("stop").exitCode()).isZero();
        }
        assertThat(shown.get(1))
                .contains("# TYPE znode_count gauge")
                .contains("# TYPE jvm_memory_bytes_used gauge")
                .contains("# TYPE updatelatency summary")
                .isEqualTo(shown.get(0));
        assertThat(mntr.get(1))
                .contains("zk_znode_count", "zk_updatelatency{quantile=\"0.99\"}")
                .isEqualTo(mntr.get(0));
    }

    @Test
    void theCommandLineHonoursTheVariables() throws Exception {
        scripts.set("JVMFLAGS", "-Dfrom.all=1");
        scripts.set("SERVER_JVMFLAGS", "-Dfrom.server=1");
        scripts.set("ZOO_LOG_FILE", "named.log");
        scripts.set("CLASSPATH", "/extra/classes");
        scripts.set("JMXPORT", "21399");
        scripts.set("JMXSSL", "true");
        scripts.set("JMXAUTH", "true");
        scripts.set("JMXHOSTNAME", "jmx.example");
        scripts.set("JMXLOG4J", "true");
        Files.writeString(conf().resolve("java.env"), "JVMFLAGS=\"$JVMFLAGS -Dfrom.env=1\"\n");
        String command = server("print-cmd").output();
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

        scripts.set("JMXDISABLE", "true");
        assertThat(server("print-cmd").output()).doesNotContain("jmxremote");
        scripts.set("ZOOMAIN", "-Dmine=1 example.Main");
        assertThat(server("print-cmd").output())
                .contains("-Dmine=1 example.Main")
                .doesNotContain("QuorumPeerMain");
        scripts.set("ZOOCFG", "other.cfg");
        assertThat(server("print-cmd").output()).contains(conf().resolve("other.cfg").toString());
    }

    @Test
    void versionNamesBoth() throws Exception {
        assertThat(server("version").output())
                .contains("Apache ZooKeeper, version 3.9.5")
                .contains("SAUCR ZooKeeper, version ");
    }

    @Test
    void wrongUsageAndAMissingJavaAreSaid() throws Exception {
        assertThat(server("begin").exitCode()).isEqualTo(2);
        assertThat(server().output()).contains("Usage: zkServer.sh").contains("print-cmd");
        scripts.set("JAVA_HOME", folder.toString());
        Scripts.Result java = server("start");
        assertThat(java.exitCode()).isEqualTo(1);
        assertThat(java.output()).contains("JAVA_HOME is '" + folder + "'");
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
                    "docs/internals/architecture.svg",
                    "docs/index.md",
                    "conf/saucr-alerts.yml",
                    "conf/saucr-grafana.json",
                    "conf/saucr-zookeeper.service"
                }) {
            assertThat(home.resolve(file)).exists();
        }
    }

    private Path conf() {
        return scripts.conf();
    }

    private Path pidFile() {
        return scripts.pidFile();
    }

    private void awaitServing() {
        await().atMost(Scripts.LIMIT).until(() -> server("status").exitCode() == 0);
    }

    /** With {@code --config}, as every script. */
    private Scripts.Result initialize(String... options) throws IOException, InterruptedException {
        return tool("zkServer-initialize.sh", options);
    }

    private Scripts.Result tool(String script, String... arguments)
            throws IOException, InterruptedException {
        return scripts.run(List.of(), script, arguments);
    }

    private Scripts.Result server(String... arguments) throws IOException, InterruptedException {
        return scripts.server(arguments);
    }

    private Scripts.Result client(String... command) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("-server", "127.0.0.1:" + clientPort));
        arguments.addAll(List.of(command));
        return scripts.run(List.of(), "zkCli.sh", arguments.toArray(String[]::new));
    }
}
