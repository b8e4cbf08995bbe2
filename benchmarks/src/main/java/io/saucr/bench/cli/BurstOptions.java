package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.BulkLoad;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.FreshEnsemble;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.EnsembleUsage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every subcommand that puts very much on ensembles at once. */
final class BurstOptions {
    private static final BulkLoad WARM_UP = new BulkLoad(10, 64, Long.MAX_VALUE);

    @Mixin private RoundOptions rounds = new RoundOptions(3);

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
                    "N processes that only compute run alongside the ensemble meanwhile (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "0")
    private int busy;

    @Option(
            names = "--compile",
            paramLabel = "SECONDS",
            description = "Load on each ensemble before, for its JVMs (default: ${DEFAULT-VALUE}).",
            defaultValue = "15")
    private double compile;

    /** What comes at once. */
    interface Burst {
        /** What comes, in words. */
        String name();

        /** Puts it on an ensemble that serves. */
        Seen on(BenchEnsemble ensemble) throws Exception;

        /** What an ensemble does before, so that its JVMs have compiled what the burst runs. */
        default BulkLoad warmUp() {
            return WARM_UP;
        }
    }

    /**
     * What clients saw.
     *
     * @param longestGap seconds
     */
    record Seen(double seconds, long operations, double longestGap, double cpuSeconds) {}

    /** What is done while the busy processes run. */
    interface Work {
        Seen run() throws Exception;
    }

    /**
     * Measures.
     *
     * @param parameters of the plan
     * @throws IllegalArgumentException if an option is out of range
     */
    void measure(String title, List<Burst> bursts, Map<String, Object> parameters)
            throws Exception {
        rounds.system().requireOwnServers(title, "counts elections and processor time");
        if (servers < 1 || compile < 0) {
            throw new IllegalArgumentException("--servers must be above 0, --compile not below");
        }
        BusyProcesses.requirePossible(busy);
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM_WITH_ROOM);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("bursts", bursts.stream().map(Burst::name).toList());
        all.put("servers", servers);
        all.put("compileSeconds", compile);
        all.put("jvmFlags", jvmFlags);
        all.putAll(parameters);
        all.put("busy", busy);
        FreshEnsemble ensembles = new FreshEnsemble(servers, jvmFlags);
        List<Experiment.Subject<BurstSample>> subjects =
                bursts.stream()
                        .<Experiment.Subject<BurstSample>>map(burst -> subject(burst, ensembles))
                        .toList();
        rounds.measure(
                new Experiment<>(title, Experiment.BURSTS, subjects, all),
                List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE));
    }

    private Experiment.Subject<BurstSample> subject(Burst burst, FreshEnsemble ensembles) {
        return new Experiment.Subject<>() {
            @Override
            public String name() {
                return burst.name();
            }

            @Override
            public boolean has(BurstSample sample) {
                return sample.burst().equals(burst.name());
            }

            @Override
            public List<BurstSample> measure(
                    Configuration configuration, int round, Path work, RunFolder results)
                    throws Exception {
                return ensembles.measure(
                        configuration,
                        work,
                        results,
                        configuration.name() + "-" + burst.name(),
                        ensemble -> List.of(sample(burst, ensemble, round)));
            }
        };
    }

    private BurstSample sample(Burst burst, BenchEnsemble ensemble, int round) throws Exception {
        BulkLoad.prepare(ensemble.addresses().get(0));
        burst.warmUp().run(ensemble.addresses(), Duration.ofMillis((long) (compile * 1000)));
        ensemble.awaitServing();
        ensemble.awaitMode();
        long epoch = epoch(ensemble);
        long switches = switches(ensemble);
        Seen seen = burst.on(ensemble);
        ensemble.awaitServing();
        long elections = epoch(ensemble) - epoch;
        return new BurstSample(
                burst.name(),
                ensemble.configuration().name(),
                round,
                seen.seconds(),
                seen.operations(),
                seen.longestGap(),
                seen.cpuSeconds(),
                elections == 0 ? switches(ensemble) - switches : 0,
                elections);
    }

    private static long epoch(BenchEnsemble ensemble) {
        return ensemble.lastZxid() >>> 32;
    }

    private static long switches(BenchEnsemble ensemble) {
        return EnsembleUsage.number(
                ensemble.servers().server(ensemble.leader()).mntr(), "zk_saucr_mode_switches");
    }

    /** Does the work next to the busy processes. */
    Seen beside(Work work) throws Exception {
        try (BusyProcesses processes = BusyProcesses.start(busy)) {
            Seen seen = work.run();
            processes.requireAlive();
            return seen;
        }
    }
}
