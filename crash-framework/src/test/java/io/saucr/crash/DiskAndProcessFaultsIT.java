package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is worse than a power cut, and what is less: disks that fail or go, processes that die. */
class DiskAndProcessFaultsIT {
    @TempDir static Path work;

    private static Path distribution;

    @BeforeAll
    static void unpack() throws Exception {
        distribution = UnpackedDistribution.below(work);
    }

    private static String crash(String... arguments) {
        String[] line = new String[arguments.length + 4];
        System.arraycopy(arguments, 0, line, 0, arguments.length);
        line[arguments.length] = "-o";
        line[arguments.length + 1] = work.resolve("out").toString();
        line[arguments.length + 2] = "--distribution";
        line[arguments.length + 3] = distribution.toString();
        return CommandOutput.run(0, line);
    }

    @Test
    void allProcessesDieAndNothingElseIsLost() {
        assertThat(crash("replay", "--system", "saucr", "--order", "processes", "123>->123"))
                .contains("1/1  CORRECT");
    }

    @Test
    void disksThatFailOrGoLeaveALinearizableHistory() {
        String said =
                crash(
                        "nemesis",
                        "--system",
                        "saucr",
                        "-n",
                        "3",
                        "--seconds",
                        "15",
                        "--rate",
                        "100",
                        "--faults",
                        "all_processes,refused_write,hung_disk,lost_log,lost_disk");
        assertThat(said).contains("1/1  LINEARIZABLE");
    }
}
