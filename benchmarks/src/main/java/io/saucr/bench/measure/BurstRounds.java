package io.saucr.bench.measure;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.BulkLoad;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.EnsembleUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures bursts, each in an ensemble of its own, with the configurations in turns and in rounds;
 * who begins changes from round to round. Samples go to {@code bursts.csv} as they are made. Used
 * by one thread.
 */
public final class BurstRounds {
    private static final String SAMPLES = "bursts.csv";
    private static final BulkLoad WARM_UP = new BulkLoad(10, 64, Long.MAX_VALUE);

    /** What comes at once. */
    public interface Burst {
        /** What comes, in words. */
        String name();

        /** Puts it on an ensemble that serves. */
        Seen on(BenchEnsemble ensemble) throws Exception;
    }

    /**
     * What clients saw.
     *
     * @param longestGap seconds
     */
    public record Seen(double seconds, long operations, double longestGap, double cpuSeconds) {}

    private final String title;
    private final List<Configuration> configurations;
    private final List<Burst> bursts;
    private final int servers;
    private final int rounds;
    private final Duration compile;
    private final List<String> jvmFlags;
    private final Map<String, Object> parameters;

    /**
     * @param compile load on each ensemble before, for its JVMs
     * @param parameters that are part of the plan
     */
    public BurstRounds(
            String title,
            List<Configuration> configurations,
            List<Burst> bursts,
            int servers,
            int rounds,
            Duration compile,
            List<String> jvmFlags,
            Map<String, Object> parameters) {
        this.title = title;
        this.configurations = List.copyOf(configurations);
        this.bursts = List.copyOf(bursts);
        this.servers = servers;
        this.rounds = rounds;
        this.compile = compile;
        this.jvmFlags = List.copyOf(jvmFlags);
        this.parameters = parameters;
    }

    /** What is going to be measured, for the run's folder. */
    public Map<String, Object> plan() {
        Map<String, Object> plan = new LinkedHashMap<>();
        plan.put("title", title);
        plan.put("configurations", configurations.stream().map(Configuration::described).toList());
        plan.put("bursts", bursts.stream().map(Burst::name).toList());
        plan.put("servers", servers);
        plan.put("rounds", rounds);
        plan.put("compileSeconds", compile.toMillis() / 1000.0);
        plan.put("jvmFlags", jvmFlags);
        plan.putAll(parameters);
        return plan;
    }

    /** Measures what is not in the folder yet, and ends the run. */
    public void measure(RunFolder folder, WorkFolder work) throws Exception {
        List<BurstSample> samples = new ArrayList<>(folder.rows(SAMPLES, BurstSample.class));
        Progress progress = Progress.of(rounds * bursts.size() * configurations.size());
        try {
            for (int round = 1; round <= rounds; round++) {
                for (Burst burst : bursts) {
                    measure(burst, round, samples, progress, folder, work);
                }
                progress.note("round " + round + " measured");
            }
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        List<String> order = bursts.stream().map(Burst::name).toList();
        List<String> names = configurations.stream().map(Configuration::name).toList();
        samples.sort(
                Comparator.comparing((BurstSample each) -> order.indexOf(each.burst()))
                        .thenComparing(each -> names.indexOf(each.configuration()))
                        .thenComparing(BurstSample::round));
        folder.finish(folder.empty().withBursts(samples));
    }

    private void measure(
            Burst burst,
            int round,
            List<BurstSample> samples,
            Progress progress,
            RunFolder folder,
            WorkFolder work)
            throws Exception {
        for (int turn = 0; turn < configurations.size(); turn++) {
            Configuration configuration =
                    configurations.get((turn + round - 1) % configurations.size());
            progress.step("round " + round + ", " + burst.name() + ", " + configuration.name());
            if (samples.stream()
                    .noneMatch(
                            each ->
                                    each.round() == round
                                            && each.burst().equals(burst.name())
                                            && each.configuration().equals(configuration.name()))) {
                Path data = work.path().resolve("burst");
                BurstSample sample = measure(burst, configuration, round, folder, data);
                samples.add(sample);
                folder.append(SAMPLES, BurstSample.class, List.of(sample));
            }
            progress.done();
        }
    }

    private BurstSample measure(
            Burst burst, Configuration configuration, int round, RunFolder folder, Path data)
            throws Exception {
        BenchEnsemble ensemble = new BenchEnsemble(configuration, servers, jvmFlags, data);
        try (ensemble) {
            ensemble.start();
            BulkLoad.prepare(ensemble.addresses().get(0));
            WARM_UP.run(ensemble.addresses(), compile);
            ensemble.awaitServing();
            ensemble.awaitMode();
            long epoch = epoch(ensemble);
            long switches = switches(ensemble);
            Seen seen = burst.on(ensemble);
            ensemble.awaitServing();
            long elections = epoch(ensemble) - epoch;
            return new BurstSample(
                    burst.name(),
                    configuration.name(),
                    round,
                    seen.seconds(),
                    seen.operations(),
                    seen.longestGap(),
                    seen.cpuSeconds(),
                    elections == 0 ? switches(ensemble) - switches : 0,
                    elections);
        } catch (IllegalStateException e) {
            throw new IOException(
                    "configuration " + configuration.name() + ": " + e.getMessage(), e);
        } finally {
            for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                folder.keepLog(
                        configuration.name() + "-" + burst.name(), log.getKey(), log.getValue());
            }
            WorkFolder.delete(data);
        }
    }

    private static long epoch(BenchEnsemble ensemble) {
        return ensemble.lastZxid() >>> 32;
    }

    private static long switches(BenchEnsemble ensemble) {
        return EnsembleUsage.number(
                ensemble.servers().server(ensemble.leader()).mntr(), "zk_saucr_mode_switches");
    }
}
