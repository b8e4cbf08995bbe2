package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The life of the Debian package on a machine: built, installed, run, upgraded, removed, installed
 * again and purged, by dpkg, on a copy of this machine that is gone afterwards. systemd does not
 * run there: the server is started as the unit says, as its user.
 */
@Tag("trial")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DebianPackageIT {
    private static final String MAIN_PID = "/tmp/main.pid";
    private static final String NAME = DebianPackage.NAME;
    private static final String PROGRAMS = "/usr/share/saucr-zookeeper/";
    private static final String CONFIG = "/etc/saucr-zookeeper/";
    private static final String DATA = "/var/lib/saucr-zookeeper";
    private static final String LOGS = "/var/log/saucr-zookeeper";
    private static final String UNIT = "/usr/lib/systemd/system/saucr-zookeeper.service";

    @TempDir static Path folder;

    private static IsolatedRoot machine;
    private static String users;
    private static int port;

    @BeforeAll
    static void prepare() throws Exception {
        assumeTrue(
                DebianPackage.canBeInstalled(),
                "packages are installed by root, on Debian, and ours needs adduser");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/systemd-analyze")), "no systemd-analyze");
        users = Files.readString(Path.of("/etc/passwd"));
        machine = new IsolatedRoot(Files.createDirectory(folder.resolve("machine")), "");
        port = Scripts.freePort();
    }

    @AfterAll
    static void theMachineIsAsItWas() throws Exception {
        if (machine != null) {
            machine.close();
            assertThat(Path.of(PROGRAMS)).doesNotExist();
            assertThat(Path.of("/etc/passwd")).hasContent(users);
        }
    }

    private static String status() throws Exception {
        return machine.run("dpkg-query", "--show", "--showformat=${Status}", NAME).output();
    }

    private static String ownerAndMode(String path) throws Exception {
        return machine.succeed("stat", "--format=%U %G %a", path).trim();
    }

    private static String read(String path) throws Exception {
        return machine.succeed("cat", path);
    }

    private static boolean exists(String path) throws Exception {
        return machine.run("test", "-e", path).exitCode() == 0;
    }

    /** The values of a key of the unit, in order. */
    private static List<String> unit(String key) throws Exception {
        return read(UNIT)
                .lines()
                .filter(line -> line.startsWith(key + "="))
                .map(line -> line.substring(key.length() + 1))
                .toList();
    }

    private static List<String> asTheUnitSays(String commandLine) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "setpriv",
                                "--reuid=" + unit("User").get(0),
                                "--regid=" + unit("Group").get(0),
                                "--init-groups",
                                "env"));
        command.addAll(unit("Environment"));
        command.addAll(List.of("ZK_SERVER_HEAP=128", "JVMFLAGS=-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(commandLine.split(" ")));
        return command;
    }

    private static Process server() throws Exception {
        // As systemd: what follows knows the process that was started.
        machine.succeed("rm", "-f", MAIN_PID);
        List<String> main =
                new ArrayList<>(
                        List.of("sh", "-c", "echo $$ >" + MAIN_PID + "; exec \"$@\"", "sh"));
        main.addAll(asTheUnitSays(unit("ExecStart").get(0)));
        IsolatedRoot.Started started = machine.start(main);
        List<String> wait =
                new ArrayList<>(
                        List.of(
                                "sh",
                                "-c",
                                "until [ -s "
                                        + MAIN_PID
                                        + " ]; do sleep 0.1; done;"
                                        + " export MAINPID=\"$(cat "
                                        + MAIN_PID
                                        + ")\"; exec \"$@\"",
                                "sh"));
        wait.addAll(asTheUnitSays(unit("ExecStartPost").get(0) + " 60"));
        Scripts.Result serves = machine.run(wait.toArray(String[]::new));
        assertThat(serves.exitCode())
                .as("%s%n%s", serves.output(), Files.readString(started.output()))
                .isZero();
        return started.process();
    }

    private static String client(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(PROGRAMS + "bin/zkCli.sh", "-server", "127.0.0.1:" + port));
        command.addAll(Arrays.asList(arguments));
        return machine.succeed(command.toArray(String[]::new));
    }

    /** As systemd does: SIGTERM to the process that the unit has started. */
    private static void stop(Process server) throws Exception {
        String pid = read(DATA + "/zookeeper_server.pid").trim();
        machine.succeed("sh", "-c", "kill -TERM " + pid); // A small system has no program for it.
        await().atMost(Scripts.LIMIT).until(() -> !server.isAlive());
    }

    @Test
    @Order(1)
    void aWrongCallIsRefused() throws Exception {
        Scripts.Result version =
                DebianPackage.build("-v", "first", System.getProperty("saucr.distribution"));
        assertThat(version.exitCode()).isEqualTo(1);
        assertThat(version.output()).contains("version 'first'", "allowed are a digit");
        Scripts.Result none = DebianPackage.build("/no/saucr-zookeeper-1-bin.tar.gz");
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.output()).contains("there is no file /no/");
        Path other = Files.createFile(folder.resolve("zookeeper.tar.gz"));
        assertThat(DebianPackage.build(other.toString()).output())
                .contains("is not called saucr-zookeeper-");
        assertThat(DebianPackage.build("a", "b").output()).contains("one tarball at most");
        assertThat(DebianPackage.build("--sign").exitCode()).isEqualTo(2);
    }

    @Test
    @Order(2)
    void installed() throws Exception {
        machine.succeed("dpkg", "--install", DebianPackage.built(machine, folder, "1.0"));
        assertThat(status()).isEqualTo("install ok installed");
        assertThat(machine.succeed("dpkg", "--verify", NAME)).isEmpty();
        assertThat(machine.succeed("getent", "passwd", NAME)).endsWith(":/usr/sbin/nologin\n");
        assertThat(ownerAndMode(DATA)).isEqualTo(NAME + " " + NAME + " 750");
        assertThat(ownerAndMode(LOGS)).isEqualTo(NAME + " " + NAME + " 750");
        assertThat(ownerAndMode(PROGRAMS + "lib")).isEqualTo("root root 755");
        assertThat(read(CONFIG + "zoo.cfg"))
                .contains("dataDir=" + DATA + "\n", "saucr.enabled=true");
        assertThat(read(UNIT)).contains(PROGRAMS).doesNotContain("/opt/");
        assertThat(unit("User")).containsExactly(NAME);
        machine.succeed("systemd-analyze", "verify", "--man=no", UNIT);
        assertThat(machine.succeed("/usr/bin/saucr-recovery", "--help")).contains("inspect");
        assertThat(machine.succeed("ls", PROGRAMS + "bin")).doesNotContain(".cmd");
    }

    @Test
    @Order(3)
    void theScriptsOfThePackageMayRunTwice() throws Exception {
        machine.succeed("chmod", "700", DATA);
        String scripts = "/var/lib/dpkg/info/saucr-zookeeper.";
        machine.succeed(scripts + "postinst", "configure", "1.0");
        assertThat(ownerAndMode(DATA)).as("the operator's choice").endsWith(" 700");
        machine.succeed(scripts + "prerm", "upgrade", "1.1");
        machine.succeed(scripts + "prerm", "upgrade", "1.1");
        machine.succeed(scripts + "postrm", "upgrade", "1.1");
        machine.succeed(scripts + "postinst", "configure", "1.0");
    }

    @Test
    @Order(4)
    void runAsTheUnitSays() throws Exception {
        machine.succeed(
                "sh",
                "-c",
                "printf '%s\\n' tickTime=500 admin.enableServer=false clientPortAddress=127.0.0.1 "
                        + ("clientPort=" + port + " dataDir=" + DATA + " > " + CONFIG)
                        + "zoo.cfg");
        Process server = server();
        assertThat(client("create", "/kept", "1")).contains("Created /kept");
        machine.succeed("saucr", "endpoint", "health", "--endpoints", "127.0.0.1:" + port);
        stop(server);
        assertThat(ownerAndMode(DATA + "/version-2")).startsWith(NAME + " ");
    }

    @Test
    @Order(5)
    void anUpgradeKeepsConfigurationAndData() throws Exception {
        // As "zkServer.sh class-archive" leaves it.
        machine.succeed("touch", PROGRAMS + "lib/server.jsa", PROGRAMS + "lib/server.jsa.txt");
        machine.succeed("dpkg", "--install", DebianPackage.built(machine, folder, "1.1"));
        assertThat(status()).isEqualTo("install ok installed");
        assertThat(read(CONFIG + "zoo.cfg")).contains("clientPort=" + port);
        assertThat(machine.succeed("ls", PROGRAMS + "lib")).doesNotContain("server.jsa");
        Process server = server();
        assertThat(client("ls", "/")).contains("kept");
        stop(server);
    }

    @Test
    @Order(6)
    void removalKeepsConfigurationLogsAndData() throws Exception {
        machine.succeed("touch", LOGS + "/zookeeper.log");
        String output = machine.succeed("dpkg", "--remove", NAME);
        assertThat(output).doesNotContain("not empty");
        assertThat(status()).isEqualTo("deinstall ok config-files");
        assertThat(exists(PROGRAMS)).isFalse();
        assertThat(exists(UNIT)).isFalse();
        assertThat(exists("/usr/bin/saucr-recovery")).isFalse();
        assertThat(read(CONFIG + "zoo.cfg")).contains("clientPort=" + port);
        assertThat(exists(LOGS + "/zookeeper.log")).isTrue();
        assertThat(exists(DATA + "/version-2")).isTrue();
    }

    @Test
    @Order(7)
    void whatIsInstalledAgainHasItsData() throws Exception {
        machine.succeed("dpkg", "--install", "/tmp/saucr-zookeeper_1.1_all.deb");
        assertThat(read(CONFIG + "zoo.cfg")).contains("clientPort=" + port);
        assertThat(exists(DATA + "/version-2")).isTrue();
        assertThat(ownerAndMode(DATA)).startsWith(NAME + " ");
    }

    @Test
    @Order(8)
    void aPurgeKeepsTheDataAndSaysSo() throws Exception {
        machine.succeed("touch", CONFIG + "zoo.cfg.dynamic.100000000");
        assertThat(machine.succeed("dpkg", "--purge", NAME))
                .contains("the data in " + DATA + " stay", "rm -r " + DATA);
        assertThat(machine.run("dpkg-query", "--show", NAME).exitCode()).isNotZero();
        assertThat(exists(CONFIG)).isFalse();
        assertThat(exists(LOGS)).isFalse();
        assertThat(exists(DATA + "/version-2")).isTrue();
        assertThat(machine.succeed("getent", "passwd", NAME)).isNotEmpty();
    }

    @Test
    @Order(9)
    void withoutDataAPurgeLeavesNoFolder() throws Exception {
        machine.succeed("rm", "-r", DATA);
        machine.succeed("dpkg", "--install", "/tmp/saucr-zookeeper_1.1_all.deb");
        assertThat(machine.succeed("dpkg", "--purge", NAME)).doesNotContain("the data in");
        assertThat(exists(DATA)).isFalse();
    }
}
