package io.saucr.services.tests.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.crash.fault.Backend;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Some of {@link StandbyFaults}: those for which a process is not enough. */
class StandbyFaultsIT {

    @TempDir Path work;

    @Test
    void callsGoOnWhateverBecomesOfMachinesAndLinks() throws Exception {
        assumeTrue(
                Backend.ROOT.obstacle().isEmpty(),
                () -> "not here: " + Backend.ROOT.obstacle().get());
        Path out = work.resolve("out");
        int code =
                StandbyFaults.execute(
                        "--rounds=1",
                        "--clients=2",
                        "--faults=power_cut_two,cut_off",
                        "--out=" + out);
        assertThat(code).isZero();
        assertThat(Files.readString(out.resolve("report.json"))).contains("linearizable");
    }

    @Test
    void whatIsTypedWronglyIsRefusedBeforeAnythingRuns() {
        assertThat(StandbyFaults.execute("--out=" + work)).isEqualTo(2);
        assertThat(StandbyFaults.execute("--rounds=0", "--out=" + work.resolve("a"))).isEqualTo(2);
        assertThat(StandbyFaults.execute("--faults=rain", "--out=" + work.resolve("b")))
                .isEqualTo(2);
        assertThat(work).isEmptyDirectory();
    }
}
