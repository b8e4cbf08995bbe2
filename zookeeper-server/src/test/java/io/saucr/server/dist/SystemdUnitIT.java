package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The package under a real systemd, which runs on a copy of this machine that is gone afterwards:
 * when the server is started, stopped and started again, in particular by an upgrade. Where systemd
 * cannot run so, DebianPackageIT remains.
 */
@Tag("trial")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SystemdUnitIT {
    private static final Path SYSTEMD = Path.of("/lib/systemd/systemd");
    private static final String UNIT = DebianPackage.NAME + ".service";
    private static final String DATA = "/var/lib/saucr-zookeeper";

    @TempDir static Path folder;

    private static IsolatedRoot machine;

    @BeforeAll
    static void startTheMachine() throws Exception {
        assumeTrue(
                DebianPackage.canBeInstalled() && Files.exists(SYSTEMD),
                "root's rights, systemd and adduser are needed, on Debian");
        machine = started();
        assumeTrue(machine != null, "systemd cannot run in namespaces here");
        machine.succeed("dpkg", "--install", DebianPackage.built(machine, folder, "1.0"));
    }

    /** Null if systemd does not get far. */
    private static IsolatedRoot started() throws Exception {
        IsolatedRoot started;
        try {
            started = new IsolatedRoot(Files.createDirectory(folder.resolve("machine")), "systemd");
        } catch (IOException e) {
            return null;
        }
        try {
            await().atMost(Scripts.LIMIT)
                    .until(() -> started.run("systemctl", "is-system-running").exitCode() == 0);
            return started;
        } catch (org.awaitility.core.ConditionTimeoutException e) {
            started.close();
            return null;
        }
    }

    @AfterAll
    static void stopTheMachine() throws Exception {
        if (machine != null) {
            machine.close();
        }
    }

    private static String property(String name) throws Exception {
        return machine.succeed("systemctl", "show", "--value", "--property=" + name, UNIT).trim();
    }

    private static void serves() throws Exception {
        machine.succeed("saucr", "endpoint", "health", "--endpoints", "localhost:2181");
    }

    private static void configure(String... lines) throws Exception {
        String[] command = {
            "sh", "-c", "printf '%s\\n' \"$@\" > /etc/saucr-zookeeper/zoo.cfg", "sh"
        };
        String[] always = {
            "tickTime=500",
            "initLimit=10",
            "syncLimit=5",
            "admin.enableServer=false",
            "clientPort=2181",
            "dataDir=" + DATA
        };
        machine.succeed(
                Stream.of(command, always, lines).flatMap(Arrays::stream).toArray(String[]::new));
    }

    /** The command of the page that begins so. */
    private static String documented(String beginning) throws Exception {
        return Files.readString(
                        Path.of("").toAbsolutePath().resolveSibling("docs/operate/packaging.md"))
                .lines()
                .filter(line -> line.startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Order(1)
    void theInstallationStartsNothing() throws Exception {
        assertThat(property("UnitFileState")).isEqualTo("disabled");
        assertThat(property("ActiveState")).isEqualTo("inactive");
    }

    @Test
    @Order(2)
    void startReturnsWhenTheServerServes() throws Exception {
        configure();
        machine.succeed(
                "sh",
                "-c",
                "printf 'ZK_SERVER_HEAP=128\\nJVMFLAGS=-XX:TieredStopAtLevel=1\\n'"
                        + " > /etc/saucr-zookeeper/java.env");
        machine.succeed("systemctl", "enable", "--now", UNIT);
        serves();
        assertThat(property("ActiveState")).isEqualTo("active");
        assertThat(machine.succeed("stat", "--format=%U", "/proc/" + property("MainPID")).trim())
                .isEqualTo(DebianPackage.NAME);
    }

    @Test
    @Order(3)
    void anUpgradeStopsTheServerAndStartsItAgain() throws Exception {
        String before = property("MainPID");
        machine.succeed("dpkg", "--install", DebianPackage.built(machine, folder, "1.1"));
        await().atMost(Scripts.LIMIT).until(() -> property("ActiveState").equals("active"));
        serves();
        assertThat(property("MainPID")).isNotEqualTo(before);
        assertThat(machine.succeed("ls", "/run")).doesNotContain(DebianPackage.NAME);
    }

    @Test
    @Order(4)
    void aServerThatDiesIsStartedAgain() throws Exception {
        String before = property("MainPID");
        machine.succeed("sh", "-c", "kill -KILL " + before);
        await().atMost(Scripts.LIMIT)
                .until(
                        () ->
                                !property("MainPID").equals(before)
                                        && property("ActiveState").equals("active"));
        serves();
    }

    @Test
    @Order(5)
    void anUpgradeLeavesAStoppedServerAlone() throws Exception {
        machine.succeed("systemctl", "stop", UNIT);
        assertThat(property("Result")).isEqualTo("success");
        machine.succeed("dpkg", "--install", "/tmp/saucr-zookeeper_1.0_all.deb");
        assertThat(property("ActiveState")).isEqualTo("inactive");
    }

    /** One of three servers: it looks for the others for ever. */
    @Test
    @Order(6)
    void anUpgradeDoesNotWaitForAServerThatWaitsForOthers() throws Exception {
        configure(
                "server.1=127.0.0.1:2888:3888",
                "server.2=127.0.0.1:2889:3889",
                "server.3=127.0.0.1:2890:3890");
        machine.succeed("sh", "-c", documented("echo 1 | "));
        machine.succeed("systemctl", "start", "--no-block", UNIT);
        await().atMost(Scripts.LIMIT).until(() -> !property("MainPID").equals("0"));
        assertThat(property("ActiveState")).isEqualTo("activating");
        String before = property("MainPID");
        machine.succeed("dpkg", "--install", "/tmp/saucr-zookeeper_1.1_all.deb");
        assertThat(property("ActiveState")).isEqualTo("activating");
        await().atMost(Scripts.LIMIT).until(() -> !property("MainPID").equals("0"));
        assertThat(property("MainPID")).isNotEqualTo(before);
    }

    @Test
    @Order(7)
    void removalStopsThatServerToo() throws Exception {
        String pid = property("MainPID");
        machine.succeed("dpkg", "--remove", DebianPackage.NAME);
        assertThat(machine.run("test", "-e", "/proc/" + pid).exitCode()).isNotZero();
        assertThat(property("LoadState")).isEqualTo("not-found");
        assertThat(machine.succeed("ls", "/etc/systemd/system/multi-user.target.wants"))
                .doesNotContain(DebianPackage.NAME);
    }
}
