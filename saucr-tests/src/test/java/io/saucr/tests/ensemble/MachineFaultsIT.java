package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Machines whose disk turns read-only, whose folder may not be written any more, or whose clock
 * jumps. A server that cannot keep its markers true ends at once and says why (R14); it returns
 * with everything when that is mended. Jumps of a clock change nothing (R9).
 */
@NeedsCompiler
class MachineFaultsIT {
    private static final Duration DAY = Duration.ofDays(1);

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        Path folder = SaucrEnsemble.folder("machine-faults");
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("machine-faults", 3)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "50ms")
                                .set("saucr.idleFlush", "2s")
                                .hosting(
                                        new LoopbackHosting(
                                                folder,
                                                3,
                                                Disk.SHIM_WITH_JOURNAL,
                                                boundByPermissions())));
    }

    /** Root is bound by permissions of files only after it has dropped its capabilities. */
    private static List<String> boundByPermissions() {
        return "root".equals(System.getProperty("user.name"))
                ? List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all")
                : List.of();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** It does not start, says so, and starts when what was broken is mended. */
    private static void refusesToStart(int id, String reason) throws Exception {
        ensemble.restart(id);
        ensemble.awaitFailure(id);
        assertThat(ensemble.server(id).logTail(200)).contains(reason);
    }

    private static void comesBack(int id, AckedWrites writes) throws Exception {
        ensemble.restart(id);
        ensemble.awaitServing();
        ensemble.awaitFast();
        writes.assertAllOnEachOf(ensemble);
    }

    @Tag("long")
    @Test
    void r14AReadOnlyDiskEndsTheServerAndLosesNothing() throws Exception {
        int leader = ensemble.awaitFast();
        int victim = ensemble.followers().get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/read-only", 8)) {
            writes.awaitMore(100);
            ensemble.awaitMemoryAlone(victim);
            ensemble.shim(victim).readOnlyDisk(true);
            ensemble.awaitFailure(victim);
            assertThat(ensemble.markers(victim).crashedInFastMode()).isTrue();
            writes.awaitMore(100);
            refusesToStart(victim, "Read-only file system");
            assertThat(ensemble.markers(victim).crashedInFastMode()).isTrue();
            ensemble.shim(victim).readOnlyDisk(false);
            writes.stop();
            comesBack(victim, writes);
        }
    }

    @Tag("long")
    @Test
    void r14AFolderWithoutPermissionEndsTheServerAtTheNextMarkerAndLosesNothing() throws Exception {
        int leader = ensemble.awaitFast();
        int victim = ensemble.followers().get(0);
        Path folder = ensemble.server(victim).dataDirectory().resolve("version-2");
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/forbidden", 8)) {
            writes.awaitMore(100);
            ensemble.awaitMemoryAlone(victim);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
            writes.stop(); // The marker of an idle server is due.
            ensemble.awaitFailure(victim);
            assertThat(ensemble.server(victim).logTail(200))
                    .contains("this server stops")
                    .contains("saucr.latestOnDisk");
            assertThat(ensemble.markers(victim).crashedInFastMode()).isTrue();
            refusesToStart(victim, folder.toString());
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            comesBack(victim, writes);
        }
    }

    @Tag("long")
    @Test
    void r9ClocksThatJumpChangeNothing() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        int other = ensemble.followers().get(1);
        long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
        long elections = elections();
        try (Client session = ensemble.connect(other);
                AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/clocks", 8)) {
            session.create("/session", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            for (Duration jump : List.of(DAY, DAY.negated(), Duration.ZERO)) {
                writes.awaitMore(100);
                ensemble.shim(leader).shiftClock(jump);
                ensemble.shim(follower).shiftClock(jump.negated());
                writes.awaitMore(300);
                Stat stat = new Stat();
                session.create(
                        "/now", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat);
                session.delete("/now", -1);
                Duration ahead = Duration.ofMillis(stat.getCtime() - System.currentTimeMillis());
                assertThat(ahead.minus(jump)).isBetween(Duration.ofMinutes(-5), Duration.ZERO);
            }
            assertThat(session.exists("/session", false)).isNotNull();
            assertThat(ensemble.fast(leader)).isTrue();
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switches);
            assertThat(elections()).isEqualTo(elections);
            // Recovery, too, with clocks that differ.
            ensemble.shim(leader).shiftClock(DAY);
            ensemble.shim(follower).shiftClock(DAY.negated());
            writes.awaitMore(100);
            ensemble.losePowerInFastMode(follower);
            writes.awaitMore(100);
            writes.stop();
            comesBack(follower, writes);
        } finally {
            for (int id : ensemble.all()) {
                ensemble.shim(id).shiftClock(Duration.ZERO);
            }
        }
    }

    private static long elections() throws Exception {
        long lines = 0;
        for (int id : ensemble.all()) {
            lines +=
                    Files.readAllLines(ensemble.server(id).logFile()).stream()
                            .filter(line -> line.contains("New election"))
                            .count();
        }
        return lines;
    }
}
