package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.process.Signal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The death of processes is not the loss of power (R25). */
class ProcessDeathIT {

    @Test
    void r25AllProcessesDieAtOneInstantInFastMode() throws Exception {
        try (SaucrEnsemble ensemble = start("process-death")) {
            int leader = ensemble.awaitFast();
            AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/writes", 16);
            try (writes) {
                writes.awaitMore(500);
                for (int id : ensemble.all()) {
                    ensemble.awaitMemoryAlone(id);
                }
                killAtOneInstant(ensemble);
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            ensemble.awaitServing();
            assertThat(saying(ensemble, restarted, "its machine kept running"))
                    .as("complete without a recovery")
                    .isPositive();
            assertThat(saying(ensemble, restarted, "Recovered through")).isZero();
            for (int id : ensemble.all()) {
                try (Client reader = ensemble.connect(id)) {
                    writes.assertAllIn(reader);
                }
            }
        }
    }

    /** Whatever proves the page cache is gone: as after a loss of power, nobody serves. */
    @Test
    void r25WithoutTheProofNobodyIsComplete() throws Exception {
        try (SaucrEnsemble ensemble = start("process-death-unproven")) {
            int leader = ensemble.awaitFast();
            AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/writes", 16);
            try (writes) {
                writes.awaitMore(500);
                for (int id : ensemble.all()) {
                    ensemble.awaitMemoryAlone(id);
                }
                killAtOneInstant(ensemble);
            }
            for (int id : ensemble.all()) {
                Path proof = ensemble.server(id).dataDirectory().resolve("version-2/saucr.proof");
                assertThat(Files.deleteIfExists(proof)).isTrue();
            }
            LocalTime restarted = SaucrEnsemble.now();
            ensemble.restart(1, 2, 3);
            for (int id : ensemble.all()) {
                SaucrEnsemble.await(
                        "server " + id + " recovers",
                        () -> ensemble.server(id).mntr().containsKey("zk_saucr_recovery_missing"));
            }
            assertThat(saying(ensemble, restarted, "its machine kept running")).isZero();
        }
    }

    private static SaucrEnsemble start(String name) throws Exception {
        return SaucrEnsemble.start(
                SaucrEnsemble.describe(name, 3)
                        .set("saucr.heartbeatInterval", "2s")
                        .set("saucr.fastModeConfirmations", "1")
                        .set("saucr.backgroundFlushInterval", "1h")
                        .set("saucr.idleFlush", "1h"));
    }

    private static void killAtOneInstant(SaucrEnsemble ensemble) throws Exception {
        List<Integer> all = ensemble.all();
        Signal.STOP.send(all.stream().map(id -> ensemble.server(id).pid()).toList());
        ensemble.kill(all.toArray(Integer[]::new));
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
