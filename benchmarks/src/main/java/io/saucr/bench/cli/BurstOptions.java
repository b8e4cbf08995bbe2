package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.measure.BurstRounds;
import io.saucr.bench.measure.WorkFolder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every subcommand that puts very much on ensembles at once. */
final class BurstOptions {
    private static final List<String> PRESETS =
            List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE);

    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int servers;

    @Option(
            names = "--busy",
            paramLabel = "N",
            description =
                    "N processes that only compute run beside the ensemble meanwhile (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "0")
    private int busy;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description = "Load on each ensemble before, for its JVMs (default: ${DEFAULT-VALUE}).",
            defaultValue = "15")
    private double compile;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description =
                    "Rounds; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int rounds;

    /** What is done while the busy processes run. */
    interface Work {
        BurstRounds.Seen run() throws Exception;
    }

    /**
     * Measures.
     *
     * @param parameters of the plan
     * @throws IllegalArgumentException if an option is out of range
     */
    void measure(String title, List<BurstRounds.Burst> bursts, Map<String, Object> parameters)
            throws Exception {
        system.requireOwnServers(title, "counts elections and processor time");
        if (servers < 1 || compile < 0 || rounds < 1) {
            throw new IllegalArgumentException(
                    "--servers and --rounds must be above 0, --compile not below");
        }
        BusyProcesses.requirePossible(busy);
        Map<String, Object> all = new LinkedHashMap<>(parameters);
        all.put("busy", busy);
        try (WorkFolder work = output.work()) {
            BurstRounds measured =
                    new BurstRounds(
                            title,
                            system.configurations(PRESETS, work),
                            bursts,
                            servers,
                            rounds,
                            Duration.ofMillis((long) (compile * 1000)),
                            system.jvmFlags(SystemOptions.JVM_WITH_ROOM),
                            all);
            measured.measure(output.open(title, measured.plan()), work);
        }
    }

    /** Does the work beside the busy processes. */
    BurstRounds.Seen beside(Work work) throws Exception {
        try (BusyProcesses processes = BusyProcesses.start(busy)) {
            BurstRounds.Seen seen = work.run();
            processes.requireAlive();
            return seen;
        }
    }
}
