package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeat intervals from far below a tick to above one (R9, H8, H9). */
@PromisesTimes
class HeartbeatIntervalIT {
    @ParameterizedTest
    @ValueSource(strings = {"1ms", "1s"})
    void r9WritesSurviveAFollowersDeathAndReturnAt(String heartbeat) throws Exception {
        followerDiesAndReturns(heartbeat);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"10ms", "50ms"})
    void r9WritesSurviveAFollowersDeathAndReturnInBetween(String heartbeat) throws Exception {
        followerDiesAndReturns(heartbeat);
    }

    private static void followerDiesAndReturns(String heartbeat) throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("heartbeat-" + heartbeat, 3)
                                .set("tickTime", "500")
                                .set("saucr.heartbeatInterval", heartbeat)
                                .set("saucr.backgroundFlushInterval", "50ms")
                                .set("saucr.idleFlush", "100ms"))) {
            int leader = ensemble.awaitFast();
            try (AckedWrites first = new AckedWrites(ensemble.connect(leader), "/first", 8)) {
                first.awaitMore(300);
                first.stop();
                ensemble.awaitOnDisk(ensemble.all());
                int follower = ensemble.followers().get(0);
                ensemble.kill(follower);
                ensemble.awaitSlow(leader);
                try (AckedWrites second = new AckedWrites(ensemble.connect(leader), "/second", 8)) {
                    second.awaitMore(100);
                    ensemble.restart(follower);
                    ensemble.awaitServing();
                    second.awaitMore(100);
                    second.stop();
                    assertThat(ensemble.awaitFast()).isEqualTo(leader);
                    for (int id : ensemble.all()) {
                        try (Client reader = ensemble.connect(id)) {
                            first.assertAllIn(reader);
                            second.assertAllIn(reader);
                        }
                    }
                }
            }
        }
    }
}
