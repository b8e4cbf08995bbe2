package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.AckRecord;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Progress;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.FlappingSample;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What a follower that goes and comes costs its ensemble under load, or a machine that is busy with
 * other things; each time in an ensemble of its own, with the configurations in turns.
 */
@Command(
        name = "flapping",
        description = {
            "What a follower costs that is killed and returns again and again under load: writes,"
                    + " longest gap, latency, mode switches, no-ops, CPU time. With --busy, what"
                    + " a busy machine costs.",
            "Clients are connected to the other servers."
        },
        mixinStandardHelpOptions = true)
final class FlappingComparison implements Callable<Integer> {
    static final String TITLE = "flapping";
    private static final String SAMPLES = "flapping.csv";
    private static final List<String> PRESETS =
            List.of(Configuration.SAUCR, Configuration.DISK_DURABLE);
    private static final int RECORDS = 1000;
    private static final int VALUE_BYTES = 1024;
    private static final long POLL_MILLIS = 20;

    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;
    @Mixin private Settings settings;

    @Option(
            names = "--commit",
            paramLabel = "COMMIT",
            description =
                    "Compare the working tree with this commit, which is built once, instead of"
                            + " --configurations.")
    private String commit;

    /** What is measured; filled in by picocli. */
    static final class Settings {
        @Option(
                names = "--servers",
                paramLabel = "N",
                description =
                        "Voters of each ensemble; with 3, each kill leaves a bare majority (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "5")
        int servers;

        @Option(
                names = "--clients",
                paramLabel = "N",
                description = "Number of clients (default: ${DEFAULT-VALUE}).",
                defaultValue = "8")
        int clients;

        @Option(
                names = "--interval",
                paramLabel = "SECONDS",
                description =
                        "From when the follower serves again, which is started at once, to the next"
                                + " kill (default: ${DEFAULT-VALUE}).",
                defaultValue = "2")
        double interval;

        @Option(
                names = "--busy",
                paramLabel = "N",
                description = "Kill nobody; N processes that only compute run beside the ensemble.",
                defaultValue = "0")
        int busy;

        @Option(
                names = "--seconds",
                paramLabel = "N",
                description =
                        "For how long the follower flaps, or the machine is busy (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "60")
        double seconds;

        @Option(
                names = "--device",
                paramLabel = "DEVICE",
                description =
                        "How long a force takes at least: ${COMPLETION-CANDIDATES} (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "SSD")
        DeviceProfile device;

        @Option(
                names = "--compile",
                paramLabel = "SECONDS",
                description =
                        "Load on each ensemble before, for its JVMs (default: ${DEFAULT-VALUE}).",
                defaultValue = "15")
        double compile;

        @Option(
                names = "--rounds",
                paramLabel = "N",
                description =
                        "Rounds; six or more for an interval of 95 %% (default: ${DEFAULT-VALUE}).",
                defaultValue = "3")
        int rounds;

        /**
         * @throws IllegalArgumentException if a number is out of range
         */
        void check() {
            if (servers < 3) {
                throw new IllegalArgumentException(
                        "--servers: fewer than 3 cannot do without one of them");
            }
            if (clients < 1 || interval <= 0 || seconds <= 0 || compile < 0 || rounds < 1) {
                throw new IllegalArgumentException(
                        "--clients, --interval, --seconds and --rounds must be above 0, --compile"
                                + " not below");
            }
            BusyProcesses.requirePossible(busy);
        }

        Map<String, Object> described() {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("servers", servers);
            values.put("clients", clients);
            values.put("valueBytes", VALUE_BYTES);
            values.put("intervalSeconds", interval);
            values.put("busy", busy);
            values.put("seconds", seconds);
            values.put("device", device);
            values.put("compileSeconds", compile);
            values.put("rounds", rounds);
            return values;
        }
    }

    @Override
    public Integer call() throws Exception {
        system.requireOwnServers(TITLE, "kills a server");
        settings.check();
        SystemOptions.requireShim(List.of(settings.device));
        List<String> presets = PRESETS;
        if (commit != null) {
            system.requirePresets("--commit");
            SourceTree source = SourceTree.ofProgram("--commit");
            presets = List.of(source.workingTree(), source.commit(source.hash(commit)));
        }
        try (WorkFolder work = output.work()) {
            run(system.configurations(presets, work), work);
        }
        return 0;
    }

    /** Measures what is not in the folder yet, and ends the run. */
    private void run(List<Configuration> configurations, WorkFolder work) throws Exception {
        List<String> names = configurations.stream().map(Configuration::name).toList();
        List<String> jvmFlags = system.jvmFlags(SystemOptions.JVM);
        Map<String, Object> plan = new LinkedHashMap<>();
        plan.put("title", TITLE);
        plan.put("configurations", configurations.stream().map(Configuration::described).toList());
        plan.putAll(settings.described());
        plan.put("jvmFlags", jvmFlags);
        RunFolder folder = output.open(TITLE, plan);
        List<FlappingSample> samples = new ArrayList<>(folder.rows(SAMPLES, FlappingSample.class));
        int runs = settings.rounds * configurations.size();
        Progress progress = Progress.of(runs);
        try {
            for (int run = 0; run < runs; run++) {
                int round = run / configurations.size() + 1;
                // Who begins changes: whoever goes first has the colder machine.
                Configuration configuration =
                        configurations.get((run + round - 1) % configurations.size());
                progress.step("round " + round + ", " + configuration.name());
                if (samples.stream()
                        .noneMatch(
                                each ->
                                        each.round() == round
                                                && each.configuration()
                                                        .equals(configuration.name()))) {
                    Path data = work.path().resolve("flapping-" + run);
                    FlappingSample sample = measure(configuration, round, jvmFlags, data, folder);
                    WorkFolder.delete(data);
                    folder.append(SAMPLES, FlappingSample.class, List.of(sample));
                    samples.add(sample);
                }
                progress.done();
            }
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        samples.sort(
                Comparator.comparing((FlappingSample each) -> names.indexOf(each.configuration()))
                        .thenComparing(FlappingSample::round));
        folder.finish(folder.empty().withFlapping(samples));
    }

    private FlappingSample measure(
            Configuration configuration,
            int round,
            List<String> jvmFlags,
            Path data,
            RunFolder folder)
            throws Exception {
        BenchEnsemble ensemble = new BenchEnsemble(configuration, settings.servers, jvmFlags, data);
        try (ensemble) {
            ensemble.start();
            UpdateLoad load = new UpdateLoad(RECORDS, VALUE_BYTES);
            load.prepare(ensemble.addresses().get(0));
            new ClientLoop(load)
                    .run(
                            ensemble.addresses(),
                            settings.clients,
                            0,
                            Duration.ofMillis((long) (settings.compile * 1000)),
                            Duration.ofMillis(1),
                            0,
                            ClientLoop.Window.NOT_COUNTED);
            ensemble.device(settings.device);
            ensemble.awaitMode();
            return measure(ensemble, load, round);
        } finally {
            for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                folder.keepLog(configuration.name(), log.getKey(), log.getValue());
            }
        }
    }

    private FlappingSample measure(BenchEnsemble ensemble, UpdateLoad load, int round)
            throws Exception {
        Flapping follower = new Flapping(ensemble);
        List<String> others = new ArrayList<>(ensemble.addresses());
        others.remove(follower.server.address().client());
        long firstZxid = ensemble.lastZxid();
        RunningClients clients = RunningClients.start(load, others, settings.clients);
        EnsembleUsage used;
        AckRecord.Window window;
        double p99Millis;
        try (clients) {
            EnsembleUsage before = ensemble.usage();
            clients.latencies();
            long begin = System.nanoTime();
            clients.acks().begin(begin);
            long end = begin + (long) (settings.seconds * 1e9);
            if (settings.busy > 0) {
                try (BusyProcesses busy = BusyProcesses.start(settings.busy)) {
                    TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
                    busy.requireAlive();
                }
            } else {
                follower.flap(end, settings.interval);
            }
            window = clients.acks().window(System.nanoTime());
            p99Millis = clients.latencies().getValueAtPercentile(99) / 1000.0;
            used = ensemble.usage().since(before);
        }
        if (!clients.firstError().isEmpty()) {
            // It may have been proposed all the same, so that the no-ops cannot be told.
            throw new IOException("a write failed: " + clients.firstError());
        }
        long noops =
                FlappingSample.noops(
                        firstZxid, ensemble.lastZxid(), clients.operations(), settings.clients);
        return new FlappingSample(
                ensemble.configuration().name(),
                round,
                window.seconds(),
                window.operations(),
                window.longestPause(),
                p99Millis,
                used.modeSwitches(),
                used.fastCommits(),
                noops,
                used.servers().cpuSeconds(),
                follower.kills,
                follower.returns);
    }

    /** A follower that goes and comes. Used by one thread. */
    private static final class Flapping {
        private final BenchEnsemble ensemble;
        private final ServerProcess server;
        private int kills;
        private int returns;

        Flapping(BenchEnsemble ensemble) {
            this.ensemble = ensemble;
            this.server =
                    ensemble.servers().servers().stream()
                            .filter(each -> each.id() != ensemble.leader())
                            .findFirst()
                            .orElseThrow();
        }

        /** Until the end; whoever is waited for then stays away. */
        void flap(long end, double interval) throws Exception {
            while (System.nanoTime() - end < 0) {
                ensemble.kill(server);
                kills++;
                server.start();
                while (!serves() && System.nanoTime() - end < 0) {
                    TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
                }
                long left = end - System.nanoTime();
                if (left > 0) {
                    returns++;
                    TimeUnit.NANOSECONDS.sleep(Math.min(left, (long) (interval * 1e9)));
                }
            }
        }

        private boolean serves() {
            return !server.role().isEmpty();
        }
    }
}
