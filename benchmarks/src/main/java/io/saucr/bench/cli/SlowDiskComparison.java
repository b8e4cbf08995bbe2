package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.AckRecord;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.FreshEnsemble;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.SlowDiskVerdict;
import io.saucr.bench.result.TimeSample;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What one server with a slow disk costs its ensemble: throughput with it next to that of the same
 * ensemble without that server, and the longest pause.
 */
@Command(
        name = "slowdisk",
        description = {
            "What one server with a slow disk costs its ensemble: time of 1,000 writes while all is"
                    + " well, while its fsyncs take seconds, and without that server, and the"
                    + " longest time without any acknowledged write while they do.",
            "Clients are connected to the others.",
            "Ends with 0, or with 3 if in a situation-aware ensemble throughput was below half of"
                    + " that without the server, or a pause 2 s or longer."
        },
        mixinStandardHelpOptions = true)
final class SlowDiskComparison implements Callable<Integer> {
    static final String TITLE = "slowdisk";
    private static final List<String> PRESETS =
            List.of(Configuration.SAUCR, Configuration.DISK_DURABLE);
    private static final int MISSED = 3;
    private static final int RECORDS = 1000;
    private static final int VALUE_BYTES = 1024;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** The mode that situation-aware servers are measured in; others have none. */
    enum Mode {
        FAST,
        SLOW
    }

    /** What the server with the slow disk is when it becomes slow. */
    enum Role {
        FOLLOWER,
        LEADER
    }

    @Mixin private RoundOptions rounds = new RoundOptions(3);
    @Mixin private LoadOptions load = new LoadOptions(8, 20, DeviceProfile.SSD);
    @Mixin private Settings settings;

    /** What is measured; filled in by picocli. */
    static final class Settings {
        @Option(
                names = "--servers",
                split = ",",
                paramLabel = "N",
                description =
                        "Voters of each ensemble, one or more numbers (default: ${DEFAULT-VALUE}).",
                defaultValue = "3,5")
        List<Integer> servers;

        @Option(
                names = "--modes",
                split = ",",
                paramLabel = "MODE",
                description =
                        "${COMPLETION-CANDIDATES}: slow by a pin on every server (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "fast,slow")
        List<Mode> modes;

        @Option(
                names = "--roles",
                split = ",",
                paramLabel = "ROLE",
                description =
                        "Whose disk is slow: ${COMPLETION-CANDIDATES} (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "follower,leader")
        List<Role> roles;

        @Option(
                names = "--force-time",
                paramLabel = "SECONDS",
                description =
                        "How long an fsync of the slow disk takes (default: ${DEFAULT-VALUE}).",
                defaultValue = "3")
        double forceTime;

        @Option(
                names = "--seconds",
                paramLabel = "N",
                description =
                        "Length of the windows without a slow disk (default: ${DEFAULT-VALUE}).",
                defaultValue = "8")
        double seconds;

        @Option(
                names = "--slow-seconds",
                paramLabel = "N",
                description =
                        "Length of the window with the slow disk; to include that a leader steps"
                                + " down, more than its saucr.diskTimeout, which is 10 s if not"
                                + " set (default: ${DEFAULT-VALUE}).",
                defaultValue = "20")
        double slowSeconds;

        /**
         * @throws IllegalArgumentException if a number is out of range
         */
        void check() {
            if (servers.stream().anyMatch(voters -> voters < 3)) {
                throw new IllegalArgumentException(
                        "--servers: fewer than 3 cannot do without one of them");
            }
            if (seconds <= 0 || slowSeconds <= 0 || forceTime <= 0) {
                throw new IllegalArgumentException(
                        "--seconds, --slow-seconds and --force-time must be above 0");
            }
        }

        Map<String, Object> described() {
            return RoundOptions.parameters(
                    "servers", servers,
                    "modes", modes,
                    "roles", roles,
                    "forceSeconds", forceTime,
                    "valueBytes", VALUE_BYTES,
                    "seconds", seconds,
                    "slowSeconds", slowSeconds);
        }
    }

    @Override
    public Integer call() throws Exception {
        rounds.system().requireOwnServers(TITLE, "slows the disk of a server down and kills it");
        settings.check();
        load.check();
        if (!FsyncShim.available()) {
            throw new IOException(
                    "there is no C compiler (cc, gcc, clang, or what CC names), which builds the shim"
                            + " that simulates a slow disk: install gcc");
        }
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM);
        Map<String, Object> parameters = settings.described();
        load.describe(parameters);
        parameters.put("jvmFlags", jvmFlags);
        List<Experiment.Subject<TimeSample>> subjects = new ArrayList<>();
        for (int servers : settings.servers) {
            for (Mode mode : settings.modes) {
                for (Role role : settings.roles) {
                    subjects.add(
                            new SlowDisk(
                                    new FreshEnsemble(servers, jvmFlags),
                                    mode,
                                    role,
                                    settings,
                                    load));
                }
            }
        }
        RunResult result =
                rounds.measure(
                        new Experiment<>(TITLE, Experiment.TIMES, subjects, parameters), PRESETS);
        Set<String> situationAware =
                rounds.configurations().stream()
                        .filter(Configuration::situationAware)
                        .map(Configuration::name)
                        .collect(Collectors.toSet());
        return SlowDiskVerdict.of(result.times()).stream()
                        .filter(verdict -> situationAware.contains(verdict.configuration()))
                        .allMatch(SlowDiskVerdict::good)
                ? 0
                : MISSED;
    }

    /** One case: which server of how many, and in which mode. */
    private record SlowDisk(
            FreshEnsemble ensembles, Mode mode, Role role, Settings settings, LoadOptions options)
            implements Experiment.Subject<TimeSample> {
        @Override
        public String name() {
            return (role + " of " + ensembles.servers() + ", " + mode).toLowerCase(Locale.ROOT);
        }

        @Override
        public boolean has(TimeSample sample) {
            return sample.measure().startsWith(name() + ":");
        }

        @Override
        public List<TimeSample> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            List<TimeSample> samples = new ArrayList<>();
            ensembles
                    .measure(
                            configuration,
                            work,
                            results,
                            configuration.name() + "-" + name(),
                            this::seconds)
                    .forEach(
                            (what, seconds) ->
                                    samples.add(
                                            new TimeSample(
                                                    name() + what,
                                                    configuration.name(),
                                                    round,
                                                    seconds)));
            return samples;
        }

        private Map<String, Double> seconds(BenchEnsemble ensemble) throws Exception {
            UpdateLoad load = new UpdateLoad(RECORDS, VALUE_BYTES);
            load.prepare(ensemble.addresses().get(0));
            int leader = ensemble.leader();
            ServerProcess victim =
                    ensemble.servers().servers().stream()
                            .filter(server -> (server.id() == leader) == (role == Role.LEADER))
                            .findFirst()
                            .orElseThrow();
            FsyncShim disk = ensemble.servers().shim(victim.id()).orElseThrow();
            List<String> others = new ArrayList<>(ensemble.addresses());
            others.remove(victim.address().client());

            Map<String, Double> seconds = new LinkedHashMap<>();
            try (RunningClients clients = RunningClients.start(load, others, options.clients())) {
                sleep(options.compile().toNanos() / 1e9);
                ensemble.device(options.device());
                if (mode == Mode.SLOW && ensemble.configuration().situationAware()) {
                    ensemble.pinSlow();
                }
                settle(ensemble, clients);
                if (ensemble.leader() != leader) {
                    throw new IllegalStateException("the leader changed while nothing happened");
                }
                AckRecord.Window well = window(clients);
                seconds.put(SlowDiskVerdict.ALL_WELL, well.secondsPerThousand());

                Duration forcing = disk.timeInForces();
                clients.acks().begin(System.nanoTime());
                disk.delay(Duration.ofNanos((long) (settings.forceTime * 1e9)));
                sleep(settings.slowSeconds);
                AckRecord.Window slow = clients.acks().window(System.nanoTime());
                seconds.put(SlowDiskVerdict.SLOW, slow.secondsPerThousand());
                seconds.put(SlowDiskVerdict.PAUSE, slow.longestPause());

                requireSlow(victim, disk.timeInForces().minus(forcing));

                victim.kill();
                disk.delay(options.device().forceDelay());
                settle(ensemble, clients);
                if (ensemble.leader() != leader) {
                    // What leads has not been compiled yet there. Elsewhere more load would give
                    // this window an advantage over those before.
                    sleep(options.compile().toNanos() / 1e9);
                    settle(ensemble, clients);
                }
                AckRecord.Window without = window(clients);
                seconds.put(SlowDiskVerdict.WITHOUT, without.secondsPerThousand());
                long alive =
                        ensemble.servers().servers().stream()
                                .filter(ServerProcess::isAlive)
                                .count();
                if (alive != ensembles.servers() - 1) {
                    throw new IllegalStateException("a server has ended that nobody killed");
                }
            }
            return seconds;
        }

        /**
         * Checks that the disk was slow, by the time that its server spent in forces. The window
         * must be long enough for two forces: then one that began with it has ended.
         */
        private void requireSlow(ServerProcess victim, Duration forcing) {
            if (settings.slowSeconds >= 2 * settings.forceTime
                    && forcing.toNanos() / 1e9 < settings.forceTime) {
                throw new IllegalStateException(
                        "server %s, whose disk was to be slow, spent %s ms in fsyncs\n%s"
                                .formatted(victim.id(), forcing.toMillis(), victim.logTail(20)));
            }
        }

        /** Waits until all servers serve all clients, in the mode that is measured. */
        private static void settle(BenchEnsemble ensemble, RunningClients clients)
                throws InterruptedException {
            ensemble.awaitServing();
            ensemble.awaitMode();
            clients.awaitEach(PATIENCE);
        }

        private AckRecord.Window window(RunningClients clients) throws InterruptedException {
            clients.acks().begin(System.nanoTime());
            sleep(settings.seconds);
            return clients.acks().window(System.nanoTime());
        }

        private static void sleep(double seconds) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
        }
    }
}
