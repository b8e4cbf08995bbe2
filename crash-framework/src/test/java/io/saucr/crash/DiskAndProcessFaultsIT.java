package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.ensemble.FsyncShim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What is worse than a power cut, and what is less: disks that fail or go, processes that die. */
class DiskAndProcessFaultsIT {
    @TempDir static Path work;

    @RegisterExtension static final FailedRuns KEPT = new FailedRuns(() -> work);

    private static Path distribution;

    @BeforeAll
    static void unpack() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        distribution = UnpackedDistribution.shared();
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

    /** By the crash tester of the distribution, which tests that one if it is told no other. */
    @Tag("long")
    @Test
    void allProcessesDieAndNothingElseIsLost() throws Exception {
        Path link =
                Files.createSymbolicLink(
                        work.resolve("link"), distribution.resolve("bin/saucr-crash"));
        ProcessBuilder tool =
                new ProcessBuilder(
                                link.toString(),
                                "replay",
                                "--system",
                                "saucr",
                                "--order",
                                "processes",
                                "123>->123")
                        .directory(work.toFile());
        assertThat(CommandOutput.run(tool)).contains("1/1  CORRECT");
        assertThat(work.resolve("saucr-crash-out/report.html")).exists();
    }

    /** The history also has the answers of leaders, so that not every move was refused. */
    @Test
    void movesOfTheLeaderAndDeathsLeaveALinearizableHistory() throws Exception {
        String said =
                crash(
                        "nemesis",
                        "--system",
                        "saucr",
                        "-n",
                        "3",
                        "--seconds",
                        "20",
                        "--rate",
                        "100",
                        "--faults",
                        "move_leader");
        assertThat(said).contains("1/1  LINEARIZABLE");
        try (Stream<Path> histories = Files.list(work.resolve("out/histories"))) {
            assertThat(Files.readString(histories.findFirst().orElseThrow()))
                    .contains(":f :move-leader", ":f :moved");
        }
    }

    /** It has no such command. */
    @Test
    void zooKeepersLeaderCannotBeMoved() {
        CommandOutput.run(
                1,
                "nemesis",
                "--system",
                "zk-disk",
                "--faults",
                "move_leader",
                "-o",
                work.resolve("none").toString());
        assertThat(work.resolve("none")).doesNotExist();
    }

    @Tag("long")
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
