package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.load.Load;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.result.Machine;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Table;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What ensembles without clients cost. All of them are up and measured at the same time, so that
 * whatever disturbs the machine disturbs all.
 */
@Command(
        name = "idle",
        description =
                "CPU time of ensembles without load, for heartbeat intervals of 50 ms, 10 ms, 1 s and"
                        + " 10 s, all at the same time; a round is one slice. The first configuration is"
                        + " compared with each other.",
        mixinStandardHelpOptions = true)
final class IdleCost implements Callable<Integer> {
    private static final List<String> PRESETS =
            List.of("50ms", "10ms", "1s", "10s").stream()
                    .map(each -> Configuration.SAUCR + ",saucr.heartbeatInterval=" + each)
                    .toList();

    /** Flags of every server; the heap is small, because twenty servers are up at the same time. */
    private static final String JVM = "-Xmx128m -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData";

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CLIENTS = 4;
    private static final int RECORDS = 100;
    private static final int VALUE_BYTES = 1024;

    /** The unit in which processor time is counted; less than that is not zero. */
    private static final double LEAST_SECONDS = 0.01;

    @Mixin private SystemOptions system;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int servers;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private int rounds;

    @Option(
            names = "--slice",
            paramLabel = "SECONDS",
            description = "Length of one round (default: ${DEFAULT-VALUE}).",
            defaultValue = "15")
    private double slice;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description =
                    "Load on each ensemble before the first round, for its JVMs (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private double compile;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description =
                    "Where the servers' data goes (default: a temporary folder). What the run puts"
                            + " there is removed at its end.")
    private Path work;

    @Override
    public Integer call() throws Exception {
        system.requireOwnServers("idle", "measures what processes use");
        if (rounds < 1 || slice < LEAST_SECONDS) {
            throw new IllegalArgumentException("not possible: less than a round, or than a slice");
        }
        Path parent = work != null ? work : Path.of(System.getProperty("java.io.tmpdir"));
        List<BenchEnsemble> ensembles = new ArrayList<>();
        try (WorkFolder folder = new WorkFolder(parent)) {
            try {
                for (Configuration configuration : system.configurations(PRESETS, folder)) {
                    Path own = folder.path().resolve("ensemble-" + ensembles.size());
                    BenchEnsemble ensemble =
                            new BenchEnsemble(configuration, servers, system.jvmFlags(JVM), own);
                    ensembles.add(ensemble);
                    ensemble.start();
                    warmUp(ensemble);
                }
                measure(ensembles, System.out);
            } finally {
                ensembles.forEach(BenchEnsemble::close);
            }
        }
        return 0;
    }

    /** A load that lets its JVMs compile, and then silence until everything is on disk. */
    private void warmUp(BenchEnsemble ensemble) throws Exception {
        Load load = new UpdateLoad(RECORDS, VALUE_BYTES);
        load.prepare(ensemble.addresses().get(0));
        new ClientLoop(load)
                .compile(ensemble.addresses(), CLIENTS, Duration.ofNanos((long) (compile * 1e9)));
        Deadline.await(
                PATIENCE,
                100,
                () -> !ensemble.configuration().situationAware() || ensemble.quiet(),
                () ->
                        "%s: not everything is on disk after %s s without a write"
                                .formatted(ensemble.configuration().name(), PATIENCE.toSeconds()));
    }

    private void measure(List<BenchEnsemble> ensembles, PrintStream out)
            throws InterruptedException {
        double[][] percent = new double[ensembles.size()][rounds];
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            double[] before = ensembles.stream().mapToDouble(BenchEnsemble::cpuSeconds).toArray();
            Thread.sleep((long) (slice * 1000));
            double seconds = (System.nanoTime() - start) / 1e9;
            for (int i = 0; i < before.length; i++) {
                double used = ensembles.get(i).cpuSeconds() - before[i];
                percent[i][round] = 100 * Math.max(LEAST_SECONDS, used) / seconds;
            }
        }
        out.println(Machine.here());
        out.printf(Locale.ROOT, "%d servers each, %d rounds of %.0f s%n", servers, rounds, slice);
        Table table = Table.ofNumbers("configuration", "% of a core", "quartiles", "first / this");
        for (int i = 0; i < percent.length; i++) {
            Spread spread = Spread.of(percent[i]);
            PairedRatio ratio = PairedRatio.of(percent[0], percent[i]);
            table.row(
                    ensembles.get(i).configuration().name(),
                    String.format(Locale.ROOT, "%.2f", spread.median()),
                    String.format(
                            Locale.ROOT,
                            "[%.2f, %.2f]",
                            spread.lowerQuartile(),
                            spread.upperQuartile()),
                    String.format(
                            Locale.ROOT,
                            "%.2f [%.2f, %.2f]",
                            ratio.ratio(),
                            ratio.low(),
                            ratio.high()));
        }
        out.println(table);
    }
}
