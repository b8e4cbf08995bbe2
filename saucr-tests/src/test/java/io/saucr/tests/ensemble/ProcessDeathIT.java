package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.Markers;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import net.bytebuddy.implementation.ExceptionMethod;
import org.apache.zookeeper.server.ExitCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The death of processes is not the loss of power (R25). */
@NeedsCompiler
class ProcessDeathIT {

    @Test
    void r25AllProcessesDieAtOneInstantInFastMode() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describeUnforced("process-death", 3))) {
            AckedWrites writes = ensemble.writeAndDie();
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            ensemble.awaitServing();
            assertThat(saying(ensemble, restarted, "its machine kept running"))
                    .as("complete without a recovery")
                    .isPositive();
            assertThat(saying(ensemble, restarted, "Recovered through")).isZero();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** The LLE map died with the process, so the others may have whatever this server had. */
    @Tag("long")
    @Test
    void r25WhoIsCompleteTakesItsLastEntryForEverybodys() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describeUnforced("process-death-map", 3))) {
            AckedWrites writes = ensemble.writeAndDie();
            long forced = ensemble.markers(1).latestOnDisk();
            ensemble.restart(1);
            SaucrEnsemble.await("complete", () -> !ensemble.markers(1).crashedInFastMode());
            Markers complete = ensemble.markers(1);
            assertThat(complete.latestOnDisk()).isGreaterThan(forced);
            for (int id : ensemble.all()) {
                assertThat(complete.lleMap().get(id))
                        .as("last entry of server %d", id)
                        .isEqualTo(complete.latestOnDisk());
            }
            ensemble.restart(2, 3);
            ensemble.awaitServing();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** A log that lacks what was acked is not the one that the process left in the page cache. */
    @Tag("long")
    @Test
    void r25ALogThatIsShorterThanWhatWasAckedIsNotBelieved() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describeUnforced("process-death-short", 3))) {
            AckedWrites writes = ensemble.writeAndDie();
            // Of some hundred bytes each: the last few are gone, and one is torn.
            ensemble.cutLog(1, 1_000);
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            ensemble.awaitServing();
            assertThat(ensemble.log(1, restarted, "its machine kept running")).isEmpty();
            assertThat(ensemble.log(1, restarted, "Recovered through")).isNotEmpty();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** What is only in the page cache must be forced first; nothing is lost before that. */
    @Tag("long")
    @Test
    void r25ADiskThatCannotBeWrittenStopsTheStartAndLosesNothing() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describeUnforced("process-death-full", 3).disk(Disk.SHIM))) {
            AckedWrites writes = ensemble.writeAndDie();
            LocalTime restarted = SaucrEnsemble.now();
            for (int id : ensemble.all()) {
                ensemble.shim(id).fullDisk(true);
                ensemble.restart(id);
            }
            for (int id : ensemble.all()) {
                ensemble.awaitFailure(id);
                assertThat(Files.readString(ensemble.server(id).logFile()))
                        .contains("may be in the page cache alone, and cannot be written to")
                        .contains("No space left on device");
                ensemble.shim(id).fullDisk(false);
            }
            ensemble.restart(1, 2, 3);
            ensemble.awaitServing();
            assertThat(saying(ensemble, restarted, "Recovered through")).isZero();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** A supervisor learns from the exit status that it must start the process again. */
    @Test
    void anErrorInZooKeepersMainThreadIsNoOrderlyEnd() throws Exception {
        Distribution failing =
                BuiltDistribution.changed(
                        "process-death-error",
                        "org.apache.zookeeper.server.quorum.SaucrFollower",
                        "followLeader",
                        ExceptionMethod.throwing(OutOfMemoryError.class));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("process-death-error", 3)
                                .distribution(1, failing))) {
            ensemble.restart(2, 3);
            ensemble.awaitServing();
            ensemble.restart(1);
            ensemble.awaitFailure(1);
            assertThat(ensemble.server(1).exitStatus())
                    .hasValue(ExitCode.UNEXPECTED_ERROR.getValue());
            assertThat(ensemble.running()).containsExactly(2, 3);
        }
    }

    /** Nothing proves the page cache to be the same: as after a loss of power, nobody serves. */
    @Test
    void r25WithoutTheProofNobodyIsComplete() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describeUnforced("process-death-unproven", 3))) {
            ensemble.writeAndDie();
            for (int id : ensemble.all()) {
                Path proof = ensemble.server(id).dataDirectory().resolve("version-2/saucr.proof");
                assertThat(Files.deleteIfExists(proof)).isTrue();
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            for (int id : ensemble.all()) {
                SaucrEnsemble.await(
                        "server " + id + " recovers",
                        () -> ensemble.mntr(id).containsKey("zk_saucr_recovery_missing"));
            }
            assertThat(saying(ensemble, restarted, "its machine kept running")).isZero();
        }
    }

    private static long saying(SaucrEnsemble ensemble, LocalTime since, String words)
            throws Exception {
        long count = 0;
        for (int id : ensemble.all()) {
            count += ensemble.log(id, since, words).size();
        }
        return count;
    }
}
