package io.saucr.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.bench.cli.ReportCommand;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.SaucrDistribution;
import io.saucr.bench.ensemble.TcpSegments;
import io.saucr.bench.load.Workloads;
import io.saucr.bench.measure.Progress;
import io.saucr.bench.measure.RunPlan;
import io.saucr.bench.measure.SliceRecorder;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Sizes;
import io.saucr.bench.result.Slice;
import io.saucr.bench.result.Slices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFolderTest {
    private static final Map<String, Object> PLAN = Map.of("rounds", 2, "slice", 1.5);

    @TempDir Path folders;
    private Path path;

    @BeforeEach
    void choose() {
        path = folders.resolve("run");
    }

    private static Case update(int clients) {
        return new Case(Workloads.UPDATE, clients, DeviceProfile.HDD, 5, 1024, 0);
    }

    private static RunPlan plan() throws Exception {
        SaucrDistribution none = new SaucrDistribution(null, Path.of("."));
        return new RunPlan(
                "test",
                List.of(
                        Configuration.parse(Configuration.MEMORY_DURABLE, none),
                        Configuration.parse(Configuration.DISK_DURABLE, none)),
                0,
                List.of(update(1), update(8)),
                1,
                Duration.ZERO,
                Duration.ofSeconds(1),
                Duration.ZERO,
                1,
                1,
                0,
                0,
                0,
                List.of());
    }

    @Test
    void rowsAreReadBackAsTheyWereWritten() throws Exception {
        RunFolder folder = RunFolder.open(path, "test", PLAN, false);
        Slice first = Slices.slice("saucr,tickTime=1", update(8), 1, 1234);
        Slice second = Slices.slice("disk-durable", update(8), 1, 17);
        folder.append("slices.csv", Slice.class, List.of(first));
        folder.append("slices.csv", Slice.class, List.of(second));
        assertThat(folder.rows("slices.csv", Slice.class)).containsExactly(first, second);
        assertThat(Files.readAllLines(path.resolve("slices.csv")).get(0))
                .startsWith("configuration,workload,clients,device,voters,");
    }

    @Test
    void aRunThatDidNotEndGoesOnWithItsOwnPlanOnly() throws Exception {
        RunFolder.open(path, "test", PLAN, false);
        assertThatThrownBy(() -> RunFolder.open(path, "test", PLAN, false))
                .hasMessageContaining("--resume");
        assertThatThrownBy(() -> RunFolder.open(path, "test", Map.of("rounds", 3), true))
                .hasMessageContaining("another plan");
        RunFolder again = RunFolder.open(path, "test", PLAN, true);
        again.finish(again.empty().withSlices(List.of(Slices.slice("saucr", update(1), 1, 10))));
        assertThatThrownBy(() -> RunFolder.open(path, "test", PLAN, true))
                .hasMessageContaining("complete");
        RunResult read = RunFolder.result(path);
        assertThat(read.title()).isEqualTo("test");
        assertThat(read.slices()).containsExactly(Slices.slice("saucr", update(1), 1, 10));
        assertThat(ReportCommand.results(folders))
                .extracting(RunResult::title)
                .containsExactly("test");
    }

    @Test
    void theResultOfAnotherProgramIsRefused() throws Exception {
        Files.createDirectories(path);
        for (String other :
                List.of("{\"title\": \"fig7\"}", "{\"title\": 1, \"slices\": 2}", "[")) {
            Files.writeString(path.resolve(RunFolder.RESULT), other);
            assertThatThrownBy(() -> ReportCommand.results(folders))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("run/result.json is of another program");
        }
    }

    @Test
    void roundsThatWereCutShortAreMeasuredAgain() throws Exception {
        List<Slice> found = new ArrayList<>();
        for (Case each : List.of(update(1), update(8))) {
            found.add(Slices.slice("memory-durable", each, 1, 10));
            found.add(Slices.slice("disk-durable", each, 1, 5));
        }
        found.add(Slices.slice("memory-durable", update(1), 2, 10));
        RunFolder folder = RunFolder.open(path, "test", PLAN, false);
        folder.append("slices.csv", Slice.class, found);
        SliceRecorder recorder = new SliceRecorder(folder, plan(), Progress.of(8));
        assertThat(recorder.before()).isEqualTo(found.subList(0, 4));
        assertThat(folder.rows("slices.csv", Slice.class)).isEqualTo(found.subList(0, 4));
        assertThat(folder.rows("slices-cut-short.csv", Slice.class)).isEqualTo(found.subList(4, 5));
    }

    @Test
    void eachSizeThatVariesHasPlotsOfItsOwn() throws Exception {
        RunFolder folder = RunFolder.open(path, "sizes", PLAN, false);
        List<Slice> slices = new ArrayList<>();
        for (Sizes sizes :
                List.of(Sizes.NONE, Sizes.ofZnodes(10), Sizes.ofZnodes(5), Sizes.ofSessions(3))) {
            Case sized = new Case(Workloads.UPDATE, 8, DeviceProfile.HDD, 5, 1024, 0, sizes);
            slices.add(Slices.slice("saucr", sized, 1, 900));
            assertThat(slices.get(slices.size() - 1).measured()).isEqualTo(sized);
        }
        folder.append("slices.csv", Slice.class, slices);
        assertThat(folder.rows("slices.csv", Slice.class)).isEqualTo(slices);
        folder.finish(folder.empty().withSlices(slices));
        assertThat(path)
                .isDirectoryContaining("glob:**/sizes-hdd-znodes-CPU.svg")
                .isDirectoryContaining("glob:**/sizes-hdd-idle_sessions-read.svg")
                .isDirectoryNotContaining("glob:**/sizes-hdd-clients*")
                .isDirectoryNotContaining("glob:**/sizes-hdd-*-2*");
        assertThat(Files.readString(path.resolve("table.txt"))).contains("update, 10 znodes");
    }

    @Test
    void thePapersWordsStandBesideOurRatios() throws Exception {
        RunFolder folder = RunFolder.open(path, "fig7", PLAN, false);
        List<Slice> slices = new ArrayList<>();
        for (int round = 1; round <= 6; round++) {
            slices.add(Slices.slice("saucr", update(8), round, 960 + round));
            slices.add(Slices.slice("memory-durable", update(8), round, 1000 + round));
            slices.add(Slices.slice("disk-durable", update(8), round, 10 + round));
        }
        folder.finish(folder.empty().withSlices(slices));
        assertThat(Files.readString(path.resolve("table.txt")))
                .contains("0.960", "0.91 or more")
                .contains("about 100");
        assertThat(Files.readString(path.resolve("report.html")))
                .contains("within 9 % of memory-durable", "0.91 or more", "</svg>")
                .doesNotContain("http-equiv", "<script src", "<link");
    }

    @Test
    void segmentsSentAreReadFromTheKernelsTable() {
        assertThat(
                        TcpSegments.sent(
                                List.of(
                                        "Ip: Forwarding",
                                        "Ip: 1",
                                        "Tcp: RtoMin InSegs OutSegs RetransSegs",
                                        "Tcp: 200 5 42 0")))
                .isEqualTo(42);
        assertThat(TcpSegments.sent(List.of())).isZero();
    }
}
