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
        assertThat(campaign(3)).isZero();
    }

    @Test
    void fiveServersWithLogsInAFolderOfTheirOwnLoseNothing() throws Exception {
        assertThat(
                        campaign(
                                5,
                                "--log-dir",
                                "--scenarios",
                                "MAJORITY_AT_ONCE,ALL_LEADER_FIRST,ALL_WHEN_IDLE,ALL_AT_ONCE"))
                .isZero();
    }

    private int campaign(int servers, String... more) throws Exception {
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
        arguments.addAll(List.of(more));
        return PowerCutCampaign.enclosed(arguments);
    }
}
