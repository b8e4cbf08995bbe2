package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.Workloads;
import io.saucr.bench.measure.Benchmark;
import io.saucr.bench.measure.Progress;
import io.saucr.bench.measure.RunPlan;
import io.saucr.bench.measure.SliceRecorder;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Sizes;
import io.saucr.bench.result.Slice;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every subcommand that measures slices of load; filled in by picocli. */
final class RunOptions {
    @Mixin private SystemOptions system;
    @Mixin private SecurityOptions security;
    @Mixin private OutputOptions output;

    @Option(
            names = "--clients",
            split = ",",
            paramLabel = "N",
            description = "Numbers of clients; each figure has its own default.")
    private List<Integer> clients;

    @Option(
            names = "--device",
            split = ",",
            paramLabel = "DEVICE",
            description =
                    "How long an fsync takes at least, one or more of ${COMPLETION-CANDIDATES}, that is"
                            + " 10, 1, 0.1 ms, no delay; each figure has its own default.")
    private List<DeviceProfile> devices;

    @Option(
            names = "--servers",
            split = ",",
            paramLabel = "N",
            description =
                    "Voters of each ensemble, one or more numbers (default: 5, or the figure's own).")
    private List<Integer> servers;

    @Option(
            names = "--failed",
            paramLabel = "N",
            description = "Followers killed before it begins (default: ${DEFAULT-VALUE}).",
            defaultValue = "0")
    private int failed;

    @Option(
            names = "--value-bytes",
            split = ",",
            paramLabel = "N",
            description = "Size of the values, one or more (default: 1024, or the figure's own).")
    private List<Integer> valueBytes;

    @Option(
            names = "--rate",
            split = ",",
            paramLabel = "N",
            description =
                    "Operations to begin per second, one or more, whether or not those before have"
                            + " ended (open loop); 0: as many as are answered (closed loop; default, or"
                            + " the figure's own).")
    private List<Double> rates;

    @Option(
            names = "--busy",
            paramLabel = "N",
            description =
                    "N processes that only compute run alongside the ensembles while slices are measured"
                            + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "0")
    private int busy;

    @Option(
            names = "--cpus",
            paramLabel = "N",
            description =
                    "Processors that each server may use while slices are measured, such as 0.5, by a"
                            + " control group as of a container; Linux, as root (default: all, or"
                            + " the figure's own).")
    private Double processors;

    @Option(
            names = "--records",
            paramLabel = "N",
            description = "Nodes that each load finds when it begins (default: ${DEFAULT-VALUE}).",
            defaultValue = "1000")
    private int records;

    @Option(
            names = "--slice",
            paramLabel = "SECONDS",
            description = "Length of one measurement (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private double slice;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            description = "Load before each measurement (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private double warmUp;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description =
                    "Load on each ensemble before the first round, for its JVMs (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "15")
    private double compile;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds at least; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private int rounds;

    @Option(
            names = "--max-rounds",
            paramLabel = "N",
            description = "Rounds at most, if --precision wants more (default: 40).")
    private Integer maxRounds;

    @Option(
            names = "--precision",
            paramLabel = "PART",
            description =
                    "Continue until each ratio's interval is within this part of it, for example 0.02"
                            + " (default: the rounds decide).",
            defaultValue = "0")
    private double precision;

    @Option(
            names = "--allocations",
            negatable = true,
            fallbackValue = "true",
            defaultValue = "true",
            description =
                    "Ask the servers how much they allocate, through the JVM's management agent"
                            + " (default: yes).")
    private boolean allocations;

    /**
     * Measures the figure and writes its results.
     *
     * @return what was measured
     */
    RunResult measure(Figure figure) throws Exception {
        return measure(figure, folder(figure));
    }

    boolean resume() {
        return output.resume();
    }

    /** Where the results of a figure go. */
    Path folder(Figure figure) {
        return output.path(figure.name());
    }

    /** As {@link #measure(Figure)}, but into a folder that the caller chooses. */
    RunResult measure(Figure figure, Path folder) throws Exception {
        try (WorkFolder work = output.work()) {
            RunPlan plan = plan(figure, work);
            RunFolder opened = output.open(folder, figure.name(), plan.described());
            return measure(plan, opened, work, allocations);
        }
    }

    /** Measures what is not in the folder yet, and ends the run. */
    static RunResult measure(RunPlan plan, RunFolder folder, WorkFolder work, boolean allocations)
            throws Exception {
        Progress progress = Progress.of(plan.slices());
        SliceRecorder recorder = new SliceRecorder(folder, plan, progress);
        List<Slice> slices;
        try {
            slices =
                    new Benchmark(
                                    plan,
                                    work.path(),
                                    Workloads.ofProject(),
                                    allocations,
                                    recorder.before(),
                                    recorder)
                            .run();
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        RunResult result = folder.empty().withSlices(slices);
        folder.finish(result);
        return result;
    }

    /**
     * @throws IOException if a distribution or the compiler for the shim is missing
     * @throws IllegalArgumentException if an option is out of range
     */
    RunPlan plan(Figure figure, WorkFolder work) throws IOException {
        List<Configuration> parsed = system.configurations(figure.configurations(), work);
        boolean elsewhere = system.elsewhere();
        if (elsewhere) {
            security.requireNone();
        }
        if (elsewhere && (devices != null || servers != null || failed > 0)) {
            throw new IllegalArgumentException(
                    "--device, --servers and --failed are for servers that are started here, not for"
                            + " --connect");
        }
        List<DeviceProfile> disks =
                elsewhere
                        ? List.of(DeviceProfile.NONE)
                        : devices != null ? devices : figure.devices();
        SystemOptions.requireShim(disks);
        double limit = processors != null ? processors : figure.processors();
        if (processors != null && !(processors > 0)) {
            throw new IllegalArgumentException("--cpus must be above 0");
        }
        if (limit > 0) {
            system.requireOwnServers("--cpus", "limits the servers' processes");
        }
        if (figure.sizes().stream().anyMatch(each -> !each.equals(Sizes.NONE))) {
            system.requireOwnServers(figure.name(), "fills servers with what it does not remove");
            security.requirePlainClients(figure.name());
        }
        List<Integer> bytes = valueBytes != null ? valueBytes : figure.valueBytes();
        List<Case> cases = new ArrayList<>();
        for (int voters : elsewhere ? List.of(0) : servers != null ? servers : figure.voters()) {
            for (Sizes sizes : figure.sizes()) {
                for (DeviceProfile device : disks) {
                    for (String workload : figure.workloads()) {
                        for (int each : oneAtATime(figure, sizes) ? bytes.subList(0, 1) : bytes) {
                            cases.addAll(cases(figure, workload, device, voters, each, sizes));
                        }
                    }
                }
            }
        }
        boolean large =
                figure.workloads().stream().anyMatch(each -> !each.equals(Workloads.UPDATE))
                        || figure.sizes().size() > 1;
        int most = maxRounds != null ? maxRounds : Math.max(rounds, precision > 0 ? 40 : rounds);
        return new RunPlan(
                figure.name(),
                security.of(parsed, work),
                failed,
                cases,
                records,
                seconds(warmUp),
                seconds(slice),
                seconds(compile),
                rounds,
                most,
                precision,
                busy,
                limit,
                elsewhere
                        ? List.of()
                        : system.jvmFlags(large ? SystemOptions.JVM_WITH_ROOM : SystemOptions.JVM));
    }

    /** Whether only the first size of values is measured with these sizes. */
    private static boolean oneAtATime(Figure figure, Sizes sizes) {
        return figure.oneAtATime() && !sizes.equals(figure.sizes().get(0));
    }

    private List<Case> cases(
            Figure figure,
            String workload,
            DeviceProfile device,
            int voters,
            int bytes,
            Sizes sizes) {
        List<Case> cases = new ArrayList<>();
        for (double rate : rates != null ? rates : figure.rates()) {
            for (int each : clients != null ? clients : figure.clients()) {
                cases.add(new Case(workload, each, device, voters, bytes, rate, sizes));
            }
        }
        return cases;
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }
}
