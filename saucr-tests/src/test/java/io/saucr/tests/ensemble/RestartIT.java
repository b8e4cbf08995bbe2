package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.quorum.Quorums;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Servers are killed while everything is on disk, so that none of them has to recover, and return
 * while clients write. The mode changes once in each direction and does not flap (R5, R6).
 */
class RestartIT {
    @Test
    void r5SlowWithABareMajorityAndFastAgainOnceTheyAreBack() throws Exception {
        slowAndFastAgain(3);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {5, 7})
    void r5LargerEnsemblesAreSlowWithABareMajorityAndFastAgain(int voters) throws Exception {
        slowAndFastAgain(voters);
    }

    private static void slowAndFastAgain(int voters) throws Exception {
        int tolerated = voters - Quorums.bareMajority(voters);
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("restart-" + voters, voters)
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "50ms")
                                .set("saucr.idleFlush", "100ms"))) {
            int leader = ensemble.awaitFast();
            try (AckedWrites before = new AckedWrites(ensemble.connect(leader), "/before", 8)) {
                before.awaitMore(300);
                before.stop();
                ensemble.awaitOnDisk(ensemble.all());
                long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
                List<Integer> victims = ensemble.followers().subList(0, tolerated);
                Integer[] ids = victims.toArray(Integer[]::new);
                ensemble.kill(ids);
                ensemble.awaitSlow(leader);
                try (AckedWrites during = new AckedWrites(ensemble.connect(leader), "/during", 8)) {
                    during.awaitMore(100);
                    for (int id : ensemble.running()) {
                        assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
                    }
                    ensemble.restart(ids);
                    ensemble.awaitServing();
                    assertThat(ensemble.awaitFast()).isEqualTo(leader);
                    during.awaitMore(500);
                    during.stop();
                    assertThat(ensemble.fast(leader)).isTrue();
                    assertThat(ensemble.metric(leader, "zk_saucr_mode_switches"))
                            .as("mode switches: one to slow, one to fast")
                            .isEqualTo(switches + 2);
                    for (int id : ensemble.all()) {
                        try (Client reader = ensemble.connect(id)) {
                            before.assertAllIn(reader);
                            during.assertAllIn(reader);
                        }
                    }
                }
            }
        }
    }
}
