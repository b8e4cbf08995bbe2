package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.AckRecord;
import io.saucr.bench.load.BusyProcesses;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.FreshEnsemble;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.FlappingSample;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
    private static final List<String> PRESETS =
            List.of(Configuration.SAUCR, Configuration.DISK_DURABLE);
    private static final int RECORDS = 1000;
    private static final int VALUE_BYTES = 1024;
    private static final long POLL_MILLIS = 20;

    @Mixin private RoundOptions rounds = new RoundOptions(3);
    @Mixin private LoadOptions options = new LoadOptions(8, 15, DeviceProfile.SSD);
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
                description =
                        "Kill no server; N processes that only compute run alongside the ensemble.",
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

        /**
         * @throws IllegalArgumentException if a number is out of range
         */
        void check() {
            if (servers < 3) {
                throw new IllegalArgumentException(
                        "--servers: fewer than 3 cannot do without one of them");
            }
            if (interval <= 0 || seconds <= 0) {
                throw new IllegalArgumentException("--interval and --seconds must be above 0");
            }
            BusyProcesses.requirePossible(busy);
        }

        Map<String, Object> described() {
            return RoundOptions.parameters(
                    "servers", servers,
                    "valueBytes", VALUE_BYTES,
                    "intervalSeconds", interval,
                    "busy", busy,
                    "seconds", seconds);
        }
    }

    @Override
    public Integer call() throws Exception {
        SystemOptions system = rounds.system();
        system.requireOwnServers(TITLE, "kills a server");
        settings.check();
        options.check();
        List<String> presets = PRESETS;
        if (commit != null) {
            system.requirePresets("--commit");
            SourceTree source = SourceTree.ofProgram("--commit");
            presets = List.of(source.workingTree(), source.commit(source.hash(commit)));
        }
        List<String> jvmFlags = system.jvmFlags(SystemOptions.JVM);
        Map<String, Object> parameters = settings.described();
        options.describe(parameters);
        parameters.put("jvmFlags", jvmFlags);
        rounds.measure(
                new Experiment<>(
                        TITLE,
                        Experiment.FLAPPING,
                        List.of(new FlappingFollower(jvmFlags)),
                        parameters),
                presets);
        return 0;
    }

    private final class FlappingFollower implements Experiment.Subject<FlappingSample> {
        private final FreshEnsemble ensembles;

        FlappingFollower(List<String> jvmFlags) {
            this.ensembles = new FreshEnsemble(settings.servers, jvmFlags);
        }

        @Override
        public String name() {
            return settings.busy > 0 ? "a busy machine" : "a follower that flaps";
        }

        @Override
        public List<FlappingSample> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            return ensembles.measure(
                    configuration,
                    work,
                    results,
                    configuration.name(),
                    ensemble -> {
                        UpdateLoad load = options.warmUp(ensemble, RECORDS, VALUE_BYTES);
                        return List.of(FlappingComparison.this.measure(ensemble, load, round));
                    });
        }
    }

    private FlappingSample measure(BenchEnsemble ensemble, UpdateLoad load, int round)
            throws Exception {
        Flapping follower = new Flapping(ensemble);
        List<String> others = new ArrayList<>(ensemble.addresses());
        others.remove(follower.server.address().client());
        long firstZxid = ensemble.lastZxid();
        RunningClients clients = RunningClients.start(load, others, options.clients());
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
                        firstZxid, ensemble.lastZxid(), clients.operations(), options.clients());
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

        /** Until the end; a server that is waited for then stays away. */
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
