package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.FsyncShim.WriteError;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Disks that fail under running servers (R14), and a power cut of all servers while they are idle.
 */
@NeedsCompiler
class DiskFailureIT {
    private static final Duration FORCE = Duration.ofMillis(100);
    private static final int TIMED_WRITES = 21;

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("disk-failure", 3)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "50ms")
                                .set("saucr.idleFlush", "1s")
                                .disk(Disk.SHIM_WITH_JOURNAL));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    void r14AServerWhoseForcesFailStopsAndClaimsNothingAndRecoversOnAMendedDisk() throws Exception {
        int leader = ensemble.awaitFast();
        int failing = ensemble.followers().get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/failing", 8)) {
            writes.awaitMore(100);
            ensemble.awaitMemoryAlone(failing);
            ensemble.shim(failing).failForces(true);
            ensemble.awaitFailure(failing);
            assertThat(ensemble.markers(failing).crashedInFastMode()).isTrue();
            ensemble.awaitSlow(leader);
            writes.awaitMore(100);
            ensemble.shim(failing).failForces(false);
            ensemble.restart(failing);
            ensemble.awaitServing();
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
            writes.awaitMore(100);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /**
     * After a force that failed the kernel shows the pages as clean, and the next process serves
     * what is in them. Unless it writes them once more, a later loss of power takes them from all
     * servers.
     */
    @Tag("long")
    @Test
    void r14WhatWasLoggedBeforeAFailedForceIsWrittenOnceMore() throws Exception {
        Integer[] all = ensemble.all().toArray(Integer[]::new);
        ensemble.awaitFast();
        ensemble.pinSlow();
        try (AckedWrites before = new AckedWrites(ensemble.connect(), "/before", 16)) {
            before.awaitMore(100);
            for (int id : all) {
                ensemble.shim(id).failForces(true);
            }
            for (int id : all) {
                ensemble.awaitFailure(id);
                ensemble.shim(id).failForces(false);
            }
            ensemble.restart(all);
            ensemble.awaitServing();
            ensemble.pinSlow();
            ensemble.awaitOnDisk(ensemble.all());
            try (AckedWrites after = new AckedWrites(ensemble.connect(), "/after", 16)) {
                after.awaitMore(100);
                ensemble.losePower(all);
                after.stop();
                before.stop();
                ensemble.restart(all);
                ensemble.awaitServing();
                before.assertAllOnEachOf(ensemble);
                after.assertAllOnEachOf(ensemble);
            }
        }
        ensemble.awaitFast();
    }

    @Test
    void r14AFullDiskStopsTheServerAndOnlyThat() throws Exception {
        int leader = ensemble.awaitFast();
        int full = ensemble.followers().get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/full", 8)) {
            writes.awaitMore(100);
            ensemble.shim(full).fullDisk(true);
            ensemble.awaitFailure(full);
            // The path says which disk it is.
            assertThat(Files.readString(ensemble.server(full).logFile()))
                    .containsPattern(
                            " failed: /.*/version-2/[\\w.]+: No space left on device; what the disk");
            writes.awaitMore(100);
            ensemble.shim(full).fullDisk(false);
            ensemble.restart(full);
            ensemble.awaitServing();
            ensemble.awaitFast();
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /**
     * What the refused write held is in no later write. A server that went on would claim it with
     * its next force all the same.
     */
    @Tag("long")
    @Test
    void r14OneRefusedWriteEndsTheServerWhetherFastOrSlow() throws Exception {
        Integer[] all = ensemble.all().toArray(Integer[]::new);
        ensemble.awaitFast();
        AckedWrites fast = refuseOneWrite("/refused-fast", WriteError.IO, Mode.FAST);
        ensemble.awaitFast();
        ensemble.pinSlow();
        AckedWrites slow = refuseOneWrite("/refused-slow", WriteError.NO_SPACE, Mode.SLOW);
        ensemble.killAtOneInstant(all);
        ensemble.restart(all);
        ensemble.awaitServing();
        ensemble.awaitFast();
        fast.assertAllOnEachOf(ensemble);
        slow.assertAllOnEachOf(ensemble);
    }

    /**
     * While clients write, nearly all writes are those of the log; the others are of the markers.
     */
    private static AckedWrites refuseOneWrite(String parent, WriteError error, Mode mode)
            throws Exception {
        int leader = ensemble.leader();
        int refused = ensemble.followers().get(0);
        FsyncShim shim = ensemble.shim(refused);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), parent, 8)) {
            writes.awaitMore(100);
            if (mode == Mode.FAST) {
                ensemble.awaitMemoryAlone(refused);
            }
            long before = shim.refusedWrites();
            LocalTime from = SaucrEnsemble.now();
            shim.refuseWrites(1, error);
            ensemble.awaitFailure(refused);
            assertThat(shim.refusedWrites() - before).isEqualTo(1);
            assertThat(ensemble.log(refused, from, "what the disk holds is unknown now"))
                    .hasSize(1);
            writes.awaitMore(100);
            ensemble.restart(refused);
            ensemble.awaitServing();
            writes.awaitMore(100);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
            return writes;
        }
    }

    /** A server that tries to elect for ever must not fill the rest of its disk with messages. */
    @Tag("long")
    @Test
    void anEpochFileThatCannotBeWrittenStopsTheServer() throws Exception {
        int leader = ensemble.awaitFast();
        int refused = ensemble.followers().get(0);
        LocalTime before = SaucrEnsemble.now();
        Path inTheWay =
                ensemble.server(refused).dataDirectory().resolve("version-2/acceptedEpoch.tmp");
        Files.createDirectory(inTheWay);
        ensemble.kill(leader);
        ensemble.awaitFailure(refused);
        assertThat(ensemble.log(refused, before, "acceptedEpoch cannot be written")).hasSize(1);
        Files.delete(inTheWay);
        ensemble.restart(leader, refused);
        ensemble.awaitServing();
        ensemble.awaitFast();
    }

    @Test
    void r3SlowWritesWaitForOneForceEachAndFastOnesForNone() throws Exception {
        int leader = ensemble.awaitFast();
        int victim = ensemble.followers().get(0);
        for (int id : ensemble.all()) {
            ensemble.shim(id).delay(FORCE);
        }
        try (Client client = ensemble.connect(leader)) {
            client.create("/forced", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            Duration fast = medianWrite(client);
            assertThat(fast).as("median of a fast write").isLessThan(FORCE);
            ensemble.kill(victim);
            ensemble.awaitSlow(leader);
            client.setData("/forced", new byte[0], -1);
            List<Integer> left = ensemble.running();
            Map<Integer, Long> before = new HashMap<>();
            for (int id : left) {
                before.put(id, ensemble.shim(id).forces().total());
            }
            long begin = System.nanoTime();
            Duration slow = medianWrite(client);
            // The extent of the log is noted once in a second (R26), in two forces at most.
            long noted = 2 + 2 * Duration.ofNanos(System.nanoTime() - begin).toSeconds();
            assertThat(slow).as("median of a slow write").isGreaterThanOrEqualTo(FORCE);
            for (int id : left) {
                assertThat(ensemble.shim(id).forces().total() - before.get(id))
                        .as("forces of server " + id)
                        .isBetween((long) TIMED_WRITES, TIMED_WRITES + noted);
            }
            System.out.println(
                    "forces of "
                            + FORCE.toMillis()
                            + " ms: fast write "
                            + fast.toNanos() / 1_000
                            + " us, slow write "
                            + slow.toNanos() / 1_000
                            + " us");
        } finally {
            for (int id : ensemble.all()) {
                ensemble.shim(id).delay(Duration.ZERO);
            }
        }
        ensemble.restart(victim);
        ensemble.awaitServing();
        ensemble.awaitFast();
    }

    private static Duration medianWrite(Client client) throws Exception {
        long[] nanos = new long[TIMED_WRITES];
        for (int i = 0; i < TIMED_WRITES; i++) {
            long start = System.nanoTime();
            client.setData("/forced", new byte[0], -1);
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return Duration.ofNanos(nanos[TIMED_WRITES / 2]);
    }

    @Test
    void r13AnIdleEnsembleSurvivesTheLossOfPowerOfAllItsServersAtOnce() throws Exception {
        int leader = ensemble.awaitFast();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/quiet", 8)) {
            writes.awaitMore(300);
            writes.stop();
            ensemble.awaitOnDisk(ensemble.all());
            List<Integer> all = ensemble.all();
            ensemble.losePower(all.toArray(Integer[]::new));
            for (int id : all) {
                assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
            }
            ensemble.restart(all.toArray(Integer[]::new));
            ensemble.awaitServing();
            ensemble.awaitFast();
            writes.assertAllOnEachOf(ensemble);
        }
    }
}
