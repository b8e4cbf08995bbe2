package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.crash.fault.Enclosure;
import io.saucr.tests.powercut.PowerCutCampaign;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every power-cut scenario once, where this machine allows namespaces and mounts. */
class PowerCutIT {
    @TempDir Path work;

    @Test
    void threeServersLoseNothing() throws Exception {
        assertThat(campaign(3, "")).isZero();
    }

    @Test
    void fiveServersLoseNothing() throws Exception {
        assertThat(campaign(5, "MAJORITY_AT_ONCE,ALL_LEADER_FIRST,ALL_WHEN_IDLE,ALL_AT_ONCE"))
                .isZero();
    }

    private int campaign(int servers, String scenarios) throws Exception {
        assumeTrue(Enclosure.obstacle().isEmpty(), () -> "not here: " + Enclosure.obstacle().get());
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                "--distribution",
                                BuiltDistribution.home().toString(),
                                "--work",
                                work.toString(),
                                "-n",
                                Integer.toString(servers)));
        if (!scenarios.isEmpty()) {
            arguments.addAll(List.of("--scenarios", scenarios));
        }
        return PowerCutCampaign.enclosed(arguments);
    }
}
