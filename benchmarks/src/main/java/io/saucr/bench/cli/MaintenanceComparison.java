package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.ReconnectingWriters;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.FreshEnsemble;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.TimeSample;
import io.saucr.ensemble.LeaderMove;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How long clients wait that write while the leader is moved, and while each server is stopped in
 * good order and started again, as for an upgrade.
 */
@Command(
        name = "maintenance",
        description = {
            "How long clients that write have no answer while the leader hands over to each server"
                    + " in turn, and while one server after the other is stopped and started.",
            "The clients connect to the next server at once. After each new connection they read"
                    + " what was acknowledged to them: a lost write ends the run."
        },
        mixinStandardHelpOptions = true)
final class MaintenanceComparison implements Callable<Integer> {
    static final String TITLE = "maintenance";
    private static final List<String> PRESETS =
            List.of(Configuration.SAUCR, Configuration.DISK_DURABLE);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(20);

    @Mixin private RoundOptions rounds = new RoundOptions(1);
    @Mixin private Settings settings;

    /** What is measured; filled in by picocli. */
    static final class Settings {
        @Option(
                names = "--servers",
                paramLabel = "N",
                description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
                defaultValue = "5")
        int servers;

        @Option(
                names = "--moves",
                paramLabel = "N",
                description =
                        "Hand-overs of each ensemble with SAUCR; 0 for none (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "100")
        int moves;

        @Option(
                names = "--restarts",
                paramLabel = "N",
                description =
                        "How often all servers are restarted one by one; 0 for none (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "2")
        int restarts;

        @Option(
                names = "--clients",
                paramLabel = "N",
                description = "Clients that write (default: ${DEFAULT-VALUE}).",
                defaultValue = "5")
        int clients;

        @Option(
                names = "--think",
                paramLabel = "MS",
                description =
                        "Milliseconds between an answer and the same client's next write (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "2")
        long thinkMillis;

        @Option(
                names = "--interval",
                paramLabel = "MS",
                description =
                        "Milliseconds from when all is well to the next move (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "300")
        long intervalMillis;

        @Option(
                names = "--device",
                paramLabel = "DEVICE",
                description =
                        "How long an fsync takes at least: ${COMPLETION-CANDIDATES} (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "SSD")
        DeviceProfile device;

        /**
         * @throws IllegalArgumentException if a number is out of range
         */
        void check() {
            if (servers < 3) {
                throw new IllegalArgumentException(
                        "--servers: fewer than 3 cannot do without one of them");
            }
            if (clients < 1 || thinkMillis < 0 || intervalMillis < 0) {
                throw new IllegalArgumentException(
                        "--clients must be above 0, --think and --interval at least 0");
            }
            if (moves < 0 || restarts < 0 || moves + restarts == 0) {
                throw new IllegalArgumentException(
                        "--moves and --restarts must be at least 0, and one of them above 0");
            }
        }
    }

    @Override
    public Integer call() throws Exception {
        rounds.system().requireOwnServers(TITLE, "stops and starts servers");
        settings.check();
        SystemOptions.requireShim(List.of(settings.device));
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM);
        rounds.measure(
                new Experiment<>(
                        TITLE,
                        Experiment.TIMES,
                        List.of(new Maintenance(jvmFlags)),
                        RoundOptions.parameters(
                                "servers",
                                settings.servers,
                                "moves",
                                settings.moves,
                                "restarts",
                                settings.restarts,
                                "clients",
                                settings.clients,
                                "thinkMillis",
                                settings.thinkMillis,
                                "intervalMillis",
                                settings.intervalMillis,
                                "device",
                                settings.device,
                                "jvmFlags",
                                jvmFlags)),
                PRESETS);
        return 0;
    }

    private final class Maintenance implements Experiment.Subject<TimeSample> {
        private final FreshEnsemble ensembles;

        Maintenance(List<String> jvmFlags) {
            this.ensembles = new FreshEnsemble(settings.servers, jvmFlags);
        }

        @Override
        public String name() {
            return "moves of the leader, and a rolling restart";
        }

        @Override
        public List<TimeSample> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            Pauses pauses = new Pauses(configuration, round);
            return ensembles.measure(
                    configuration,
                    work,
                    results,
                    configuration.name(),
                    MaintenanceComparison::withAdminServers,
                    ensemble -> {
                        ensemble.device(settings.device);
                        ensemble.awaitMode();
                        measureAll(ensemble, pauses);
                        return pauses.samples;
                    });
        }
    }

    private static void withAdminServers(BenchEnsemble ensemble) throws IOException {
        for (ServerProcess server : ensemble.servers().servers()) {
            server.configure("admin.enableServer", "true");
            server.configure("admin.serverAddress", server.address().clientHost());
        }
    }

    private void measureAll(BenchEnsemble ensemble, Pauses pauses) throws Exception {
        List<String> all =
                ensemble.servers().servers().stream()
                        .map(server -> server.address().client())
                        .toList();
        try (ReconnectingWriters writers =
                ReconnectingWriters.start(all, settings.clients, settings.thinkMillis)) {
            if (ensemble.configuration().situationAware() && settings.moves > 0) {
                move(ensemble, writers, pauses);
            }
            if (settings.restarts > 0) {
                restart(ensemble, writers, pauses);
            }
            System.out.printf(
                    Locale.ROOT,
                    "%s: %,d acknowledged writes, none is lost%n",
                    ensemble.configuration().name(),
                    writers.acknowledged());
        }
    }

    private void settle(BenchEnsemble ensemble, ReconnectingWriters writers) throws Exception {
        ensemble.awaitServing();
        ensemble.awaitMode();
        writers.awaitEach();
        TimeUnit.MILLISECONDS.sleep(settings.intervalMillis);
        writers.begin();
    }

    private void move(BenchEnsemble ensemble, ReconnectingWriters writers, Pauses pauses)
            throws Exception {
        List<Double> ofOne = new ArrayList<>();
        List<Double> ofAll = new ArrayList<>();
        int elsewhere = 0;
        int refused = 0;
        for (int i = 0; i < settings.moves; i++) {
            settle(ensemble, writers);
            int from = ensemble.leader();
            int to = 1 + (from + i % (settings.servers - 1)) % settings.servers;
            String refusal = LeaderMove.order(ensemble.servers().server(from), to);
            if (!refusal.isEmpty()) {
                refused++;
                continue;
            }
            writers.awaitEach();
            ofOne.add(writers.longestOfOne());
            ofAll.add(writers.longestOfAll());
            ensemble.awaitServing();
            elsewhere += ensemble.leader() == to ? 0 : 1;
        }
        System.out.printf(
                "%s: %d moves, %d to another server than the named one, %d refused%n",
                ensemble.configuration().name(), ofOne.size(), elsewhere, refused);
        if (ofOne.isEmpty()) {
            throw new IOException("the leader never moved");
        }
        pauses.add("leader moves: longest pause of a client", ofOne);
        pauses.add("leader moves: without any answer", ofAll);
    }

    private void restart(BenchEnsemble ensemble, ReconnectingWriters writers, Pauses pauses)
            throws Exception {
        List<Double> ofLeader = new ArrayList<>();
        List<Double> ofFollower = new ArrayList<>();
        for (int round = 0; round < settings.restarts; round++) {
            for (ServerProcess server : ensemble.servers().servers()) {
                settle(ensemble, writers);
                boolean leads = ensemble.leader() == server.id();
                if (!server.terminate(STOP_LIMIT)) {
                    throw new IOException(
                            "server %d did not stop within %s".formatted(server.id(), STOP_LIMIT));
                }
                server.start();
                ensemble.awaitServing();
                writers.awaitEach();
                (leads ? ofLeader : ofFollower).add(writers.longestOfOne());
            }
        }
        List<Double> ofEach = new ArrayList<>(ofLeader);
        ofEach.addAll(ofFollower);
        pauses.add("rolling restart: longest pause of a client", ofEach);
        pauses.add("restart of the leader: longest pause of a client", ofLeader);
    }

    /** Samples of one ensemble. */
    private static final class Pauses {
        private final Configuration configuration;
        private final int round;
        private final List<TimeSample> samples = new ArrayList<>();

        Pauses(Configuration configuration, int round) {
            this.configuration = configuration;
            this.round = round;
        }

        /** The median, the 99th percentile and the longest; nothing of none. */
        void add(String what, List<Double> seconds) {
            List<Double> sorted = seconds.stream().sorted().toList();
            if (sorted.isEmpty()) {
                return;
            }
            add(what + ", p50", quantile(sorted, 0.5));
            add(what + ", p99", quantile(sorted, 0.99));
            add(what + ", max", quantile(sorted, 1));
        }

        private static double quantile(List<Double> sorted, double share) {
            return sorted.get((int) Math.ceil(share * sorted.size()) - 1);
        }

        private void add(String measure, double seconds) {
            samples.add(new TimeSample(measure, configuration.name(), round, seconds));
        }
    }
}
