package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.load.AckRecord;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.TimeRounds;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.SlowDiskVerdict;
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
 * What one server with a slow disk costs its ensemble: throughput with it beside that of the same
 * ensemble without that server, and the longest pause.
 */
@Command(
        name = "slowdisk",
        description = {
            "What one server with a slow disk costs its ensemble: time of 1,000 writes while all is"
                    + " well, while its forces take seconds, and without that server, and the"
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

    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;
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
                        "How long a force of the slow disk takes (default: ${DEFAULT-VALUE}).",
                defaultValue = "3")
        double forceTime;

        @Option(
                names = "--device",
                paramLabel = "DEVICE",
                description =
                        "How long any other force takes at least: ${COMPLETION-CANDIDATES} (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "SSD")
        DeviceProfile device;

        @Option(
                names = "--clients",
                paramLabel = "N",
                description = "Number of clients (default: ${DEFAULT-VALUE}).",
                defaultValue = "8")
        int clients;

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

        @Option(
                names = "--compile",
                paramLabel = "SECONDS",
                description =
                        "Load before the first window, and on a new leader, for the JVMs (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "20")
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
            if (servers.stream().anyMatch(voters -> voters < 3)) {
                throw new IllegalArgumentException(
                        "--servers: fewer than 3 cannot do without one of them");
            }
            if (clients < 1 || seconds <= 0 || slowSeconds <= 0 || forceTime <= 0 || compile < 0) {
                throw new IllegalArgumentException(
                        "--clients, --seconds, --slow-seconds and --force-time must be above 0,"
                                + " --compile not below");
            }
        }

        Map<String, Object> described() {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("servers", servers);
            values.put("modes", modes);
            values.put("roles", roles);
            values.put("forceSeconds", forceTime);
            values.put("device", device);
            values.put("clients", clients);
            values.put("valueBytes", VALUE_BYTES);
            values.put("seconds", seconds);
            values.put("slowSeconds", slowSeconds);
            values.put("compileSeconds", compile);
            return values;
        }
    }

    @Override
    public Integer call() throws Exception {
        system.requireOwnServers(TITLE, "slows the disk of a server down and kills it");
        settings.check();
        if (!FsyncShim.available()) {
            throw new IOException(
                    "there is no C compiler (cc, gcc, clang, or what CC names), which builds the shim"
                            + " that simulates a slow disk: install gcc");
        }
        try (WorkFolder work = output.work()) {
            List<Configuration> configurations = system.configurations(PRESETS, work);
            TimeRounds times = plan(configurations, settings, system.jvmFlags(SystemOptions.JVM));
            RunResult result = times.measure(output.open(TITLE, times.plan()), work);
            Set<String> situationAware =
                    configurations.stream()
                            .filter(Configuration::situationAware)
                            .map(Configuration::name)
                            .collect(Collectors.toSet());
            return SlowDiskVerdict.of(result.times()).stream()
                            .filter(verdict -> situationAware.contains(verdict.configuration()))
                            .allMatch(SlowDiskVerdict::good)
                    ? 0
                    : MISSED;
        }
    }

    /** What one call measures. */
    static TimeRounds plan(
            List<Configuration> configurations, Settings settings, List<String> jvmFlags) {
        Map<String, Object> parameters = settings.described();
        parameters.put("jvmFlags", jvmFlags);
        List<TimeRounds.Subject> subjects = new ArrayList<>();
        for (int servers : settings.servers) {
            for (Mode mode : settings.modes) {
                for (Role role : settings.roles) {
                    subjects.add(new SlowDisk(servers, mode, role, settings, jvmFlags));
                }
            }
        }
        return new TimeRounds(TITLE, configurations, subjects, settings.rounds, parameters);
    }

    /** One case: which server of how many, and in which mode. Immutable. */
    private record SlowDisk(
            int servers, Mode mode, Role role, Settings settings, List<String> jvmFlags)
            implements TimeRounds.Subject {
        @Override
        public String name() {
            return (role + " of " + servers + ", " + mode).toLowerCase(Locale.ROOT);
        }

        @Override
        public List<String> measures() {
            return List.of(
                    name() + SlowDiskVerdict.ALL_WELL,
                    name() + SlowDiskVerdict.SLOW,
                    name() + SlowDiskVerdict.PAUSE,
                    name() + SlowDiskVerdict.WITHOUT);
        }

        @Override
        public Map<String, Double> measure(
                Configuration configuration, Path work, RunFolder results) throws Exception {
            BenchEnsemble ensemble = new BenchEnsemble(configuration, servers, jvmFlags, work);
            try (ensemble) {
                return measure(ensemble);
            } finally {
                for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                    results.keepLog(
                            configuration.name() + "-" + name(), log.getKey(), log.getValue());
                }
            }
        }

        private Map<String, Double> measure(BenchEnsemble ensemble) throws Exception {
            ensemble.start();
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
            try (RunningClients clients = RunningClients.start(load, others, settings.clients)) {
                sleep(settings.compile);
                ensemble.device(settings.device);
                if (mode == Mode.SLOW && ensemble.configuration().situationAware()) {
                    ensemble.pinSlow();
                }
                settle(ensemble, clients);
                if (ensemble.leader() != leader) {
                    throw new IllegalStateException("the leader changed while nothing happened");
                }
                AckRecord.Window well = window(clients);
                seconds.put(name() + SlowDiskVerdict.ALL_WELL, well.secondsPerThousand());

                Duration forcing = disk.timeInForces();
                clients.acks().begin(System.nanoTime());
                disk.delay(Duration.ofNanos((long) (settings.forceTime * 1e9)));
                sleep(settings.slowSeconds);
                AckRecord.Window slow = clients.acks().window(System.nanoTime());
                seconds.put(name() + SlowDiskVerdict.SLOW, slow.secondsPerThousand());
                seconds.put(name() + SlowDiskVerdict.PAUSE, slow.longestPause());

                requireSlow(victim, disk.timeInForces().minus(forcing));

                victim.kill();
                disk.delay(settings.device.forceDelay());
                settle(ensemble, clients);
                if (ensemble.leader() != leader) {
                    // What leads has not been compiled yet there. Elsewhere more load would give
                    // this window an advantage over those before.
                    sleep(settings.compile);
                    settle(ensemble, clients);
                }
                AckRecord.Window without = window(clients);
                seconds.put(name() + SlowDiskVerdict.WITHOUT, without.secondsPerThousand());
                long alive =
                        ensemble.servers().servers().stream()
                                .filter(ServerProcess::isAlive)
                                .count();
                if (alive != servers - 1) {
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
                        "server "
                                + victim.id()
                                + ", whose disk was to be slow, spent "
                                + forcing.toMillis()
                                + " ms in forces\n"
                                + victim.logTail(20));
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
