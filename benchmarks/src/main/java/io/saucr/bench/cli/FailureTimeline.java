package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.ConnectedEnsemble;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Experiment;
import io.saucr.bench.measure.FreshEnsemble;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.EnsembleUsage;
import io.saucr.bench.result.TimelineEvent;
import io.saucr.bench.result.TimelinePoint;
import io.saucr.ensemble.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Throughput over time while servers are killed and return, with the leader's mode; one
 * configuration after the other.
 */
@Command(
        name = "fig9",
        description =
                "Throughput over time while servers fail and return, with the leader's mode,"
                        + " update-only, 8 clients on ssd (figure 9 of the paper). With --connect the"
                        + " operator of the ensemble lets servers fail meanwhile.",
        mixinStandardHelpOptions = true)
final class FailureTimeline implements Callable<Integer> {
    static final String TITLE = "fig9";
    private static final Pattern EVENT =
            Pattern.compile("(\\d+(?:\\.\\d+)?)s?:(kill|kill-leader|return)");
    private static final Duration STEP = Duration.ofMillis(200);
    private static final int RECORDS = 1000;

    @Mixin private RoundOptions rounds = new RoundOptions(1);
    @Mixin private LoadOptions options = new LoadOptions(8, 10, DeviceProfile.SSD);
    @Mixin private Settings settings;

    /** The settings of a timeline; filled in by picocli. */
    static final class Settings {
        @Option(
                names = "--events",
                split = ",",
                paramLabel = "SECONDS:WHAT",
                description =
                        "What happens when: kill (a follower), kill-leader, return (of the server"
                                + " that was killed first) (default: ${DEFAULT-VALUE}).",
                defaultValue = "5:kill,10:kill,18:return,26:return")
        List<String> events;

        @Option(
                names = "--seconds",
                paramLabel = "N",
                description = "Length of a timeline (default: ${DEFAULT-VALUE}).",
                defaultValue = "34")
        double seconds;

        @Option(
                names = "--servers",
                paramLabel = "N",
                description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
                defaultValue = "5")
        int servers;

        @Option(
                names = "--value-bytes",
                paramLabel = "N",
                description = "Size of the values (default: ${DEFAULT-VALUE}).",
                defaultValue = "1024")
        int valueBytes;

        Map<String, Object> described() {
            return RoundOptions.parameters(
                    "events", events,
                    "seconds", seconds,
                    "servers", servers,
                    "valueBytes", valueBytes);
        }
    }

    /** Something that is to happen. */
    private record Event(double seconds, String what) {
        static Event parse(String text) {
            Matcher matcher = EVENT.matcher(text.trim());
            if (!matcher.matches()) {
                throw new IllegalArgumentException(
                        "event '" + text + "': expected SECONDS:kill, kill-leader or return");
            }
            return new Event(Double.parseDouble(matcher.group(1)), matcher.group(2));
        }
    }

    @Override
    public Integer call() throws Exception {
        List<Event> events =
                settings.events.stream()
                        .map(Event::parse)
                        .sorted(Comparator.comparingDouble(Event::seconds))
                        .toList();
        if (!rounds.system().elsewhere()) {
            options.check();
        }
        List<String> jvmFlags = rounds.system().jvmFlags(SystemOptions.JVM);
        Map<String, Object> parameters = settings.described();
        options.describe(parameters);
        parameters.put("jvmFlags", jvmFlags);
        rounds.measure(
                new Experiment<>(
                        TITLE,
                        Experiment.TIMELINES,
                        List.of(new Failures(events, jvmFlags)),
                        parameters),
                Figure.ALL_THREE);
        return 0;
    }

    private final class Failures implements Experiment.Subject<TimelinePoint> {
        private final List<Event> events;
        private final FreshEnsemble ensembles;

        Failures(List<Event> events, List<String> jvmFlags) {
            this.events = events;
            this.ensembles = new FreshEnsemble(settings.servers, jvmFlags);
        }

        @Override
        public String name() {
            return "servers that fail and return";
        }

        @Override
        public List<TimelinePoint> measure(
                Configuration configuration, int round, Path work, RunFolder results)
                throws Exception {
            Recording recording = new Recording(configuration, round, settings, options);
            if (configuration.connect() != null) {
                recording.connect();
            } else {
                ensembles.measure(
                        configuration,
                        work,
                        results,
                        configuration.name(),
                        ensemble -> recording.run(ensemble, events));
            }
            results.append(Experiment.EVENTS, TimelineEvent.class, recording.happened);
            return recording.points;
        }
    }

    /** One timeline of one configuration. */
    private static final class Recording {
        private final Configuration configuration;
        private final int round;
        private final Settings settings;
        private final LoadOptions options;
        private final List<TimelinePoint> points = new ArrayList<>();
        private final List<TimelineEvent> happened = new ArrayList<>();
        private final Deque<ServerProcess> killed = new ArrayDeque<>();

        Recording(Configuration configuration, int round, Settings settings, LoadOptions options) {
            this.configuration = configuration;
            this.round = round;
            this.settings = settings;
            this.options = options;
        }

        void connect() throws Exception {
            try (ConnectedEnsemble ensemble = ConnectedEnsemble.open(configuration)) {
                UpdateLoad load = new UpdateLoad(RECORDS, settings.valueBytes);
                load.prepare(ensemble.addresses().get(0));
                record(load, ensemble.addresses(), List.of(), null, ensemble);
            }
        }

        List<TimelinePoint> run(BenchEnsemble ensemble, List<Event> events) throws Exception {
            UpdateLoad load = options.warmUp(ensemble, RECORDS, settings.valueBytes);
            record(load, addresses(ensemble, events), events, ensemble, null);
            return points;
        }

        /**
         * Clients are connected to servers that stay, so that their own reconnecting is not part of
         * it; if the leader is killed all of them lose their connection anyway.
         */
        private List<String> addresses(BenchEnsemble ensemble, List<Event> events) {
            long kills = events.stream().filter(event -> event.what().equals("kill")).count();
            List<String> all = ensemble.addresses();
            if (events.stream().anyMatch(event -> event.what().equals("kill-leader"))) {
                return List.of(String.join(",", all));
            }
            return all.subList((int) Math.min(kills, all.size() - 1), all.size());
        }

        private void record(
                UpdateLoad load,
                List<String> addresses,
                List<Event> events,
                BenchEnsemble own,
                ConnectedEnsemble other)
                throws Exception {
            Deque<Event> coming = new ArrayDeque<>(events);
            try (RunningClients clients =
                    RunningClients.start(load, addresses, options.clients())) {
                long begin = System.nanoTime();
                long before = clients.operations();
                long last = begin;
                while (last - begin < settings.seconds * 1e9) {
                    long next = last + STEP.toNanos();
                    while (!coming.isEmpty() && coming.peek().seconds() * 1e9 <= next - begin) {
                        Event event = coming.poll();
                        sleepUntil(begin + (long) (event.seconds() * 1e9));
                        double seconds = (System.nanoTime() - begin) / 1e9;
                        String what = happen(own, event.what());
                        happened.add(new TimelineEvent(configuration.name(), round, seconds, what));
                    }
                    sleepUntil(next);
                    long operations = clients.operations();
                    long now = System.nanoTime();
                    points.add(
                            point(
                                    (now - begin) / 1e9,
                                    (operations - before) * 1e9 / (now - last),
                                    own != null ? monitors(own) : other.monitors()));
                    before = operations;
                    last = now;
                }
                if (clients.operations() == 0) {
                    throw new IllegalStateException(
                            "configuration %s: no operation succeeded; %s"
                                    .formatted(configuration.name(), clients.firstError()));
                }
            }
        }

        private static void sleepUntil(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(Math.max(0, nanos - System.nanoTime()));
        }

        private static List<Map<String, String>> monitors(BenchEnsemble ensemble) {
            return ensemble.servers().servers().stream()
                    .filter(ServerProcess::isAlive)
                    .map(ServerProcess::mntr)
                    .toList();
        }

        private TimelinePoint point(
                double seconds, double throughput, List<Map<String, String>> monitors) {
            String mode = "-";
            int serving = 0;
            for (Map<String, String> each : monitors) {
                String state = each.get("zk_server_state");
                serving += state == null ? 0 : 1;
                if ("leader".equals(state) && each.containsKey("zk_saucr_mode")) {
                    mode = EnsembleUsage.number(each, "zk_saucr_mode") == 1 ? "fast" : "slow";
                }
            }
            return new TimelinePoint(
                    configuration.name(), round, seconds, throughput, mode, serving);
        }

        private String happen(BenchEnsemble ensemble, String what) throws Exception {
            if (what.equals("return")) {
                ServerProcess server = killed.poll();
                if (server == null) {
                    throw new IllegalArgumentException("nobody was killed who could return");
                }
                ensemble.servers().reboot(server.id()); // its machine failed, not its process alone
                server.start();
                return "server " + server.id() + " returns";
            }
            boolean leader = what.equals("kill-leader");
            int leading = ensemble.servers().leader().orElse(0);
            for (ServerProcess server : ensemble.servers().servers()) {
                if (server.isAlive() && (server.id() == leading) == leader) {
                    server.kill();
                    killed.add(server);
                    return (leader ? "leader " : "follower ") + server.id() + " is killed";
                }
            }
            throw new IllegalStateException("there is no server left to kill");
        }
    }
}
