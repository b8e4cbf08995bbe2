package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.ConnectedEnsemble;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.load.RunningClients;
import io.saucr.bench.load.UpdateLoad;
import io.saucr.bench.measure.Progress;
import io.saucr.bench.measure.WorkFolder;
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
import java.util.LinkedHashMap;
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
                        + " update-only, 8 clients on ssd (figure 9 of the paper). With --connect whoever"
                        + " runs the ensemble lets servers fail meanwhile.",
        mixinStandardHelpOptions = true)
final class FailureTimeline implements Callable<Integer> {
    static final String TITLE = "fig9";
    private static final String POINTS = "timeline.csv";
    private static final String EVENTS = "events.csv";
    private static final Pattern EVENT =
            Pattern.compile("(\\d+(?:\\.\\d+)?)s?:(kill|kill-leader|return)");
    private static final Duration STEP = Duration.ofMillis(200);
    private static final int RECORDS = 1000;

    @Mixin private SystemOptions system;
    @Mixin private OutputOptions output;
    @Mixin private Settings settings;

    /** The settings of a timeline; filled in by picocli. */
    static final class Settings {
        @Option(
                names = "--events",
                split = ",",
                paramLabel = "SECONDS:WHAT",
                description =
                        "What happens when: kill (a follower), kill-leader, return (whoever was"
                                + " killed first) (default: ${DEFAULT-VALUE}).",
                defaultValue = "5:kill,10:kill,18:return,26:return")
        List<String> events;

        @Option(
                names = "--seconds",
                paramLabel = "N",
                description = "Length of a timeline (default: ${DEFAULT-VALUE}).",
                defaultValue = "34")
        double seconds;

        @Option(
                names = "--clients",
                paramLabel = "N",
                description = "Number of clients (default: ${DEFAULT-VALUE}).",
                defaultValue = "8")
        int clients;

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
                defaultValue = "10")
        double compile;

        @Option(
                names = "--rounds",
                paramLabel = "N",
                description = "Timelines of each configuration (default: ${DEFAULT-VALUE}).",
                defaultValue = "1")
        int rounds;

        Map<String, Object> described() {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("events", events);
            values.put("seconds", seconds);
            values.put("clients", clients);
            values.put("servers", servers);
            values.put("valueBytes", valueBytes);
            values.put("device", device);
            values.put("compileSeconds", compile);
            values.put("rounds", rounds);
            return values;
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
        try (WorkFolder work = output.work()) {
            List<Configuration> configurations = system.configurations(Figure.ALL_THREE, work);
            run(configurations, system.jvmFlags(SystemOptions.JVM), settings, output, work);
        }
        return 0;
    }

    /** Measures what is not in the folder yet, and ends the run. */
    static void run(
            List<Configuration> configurations,
            List<String> jvmFlags,
            Settings settings,
            OutputOptions output,
            WorkFolder work)
            throws Exception {
        List<Event> events =
                settings.events.stream()
                        .map(Event::parse)
                        .sorted(Comparator.comparingDouble(Event::seconds))
                        .toList();
        boolean elsewhere = configurations.get(0).connect() != null;
        if (!elsewhere) {
            SystemOptions.requireShim(List.of(settings.device));
        }
        Map<String, Object> plan = new LinkedHashMap<>();
        plan.put("title", TITLE);
        plan.put("configurations", configurations.stream().map(Configuration::described).toList());
        plan.putAll(settings.described());
        plan.put("jvmFlags", jvmFlags);
        RunFolder folder = output.open(TITLE, plan);
        List<TimelinePoint> points = new ArrayList<>(folder.rows(POINTS, TimelinePoint.class));
        List<TimelineEvent> happened = new ArrayList<>(folder.rows(EVENTS, TimelineEvent.class));
        Progress progress = Progress.of(settings.rounds * configurations.size());
        try {
            for (int round = 1; round <= settings.rounds; round++) {
                for (Configuration configuration : configurations) {
                    progress.step("round " + round + ", " + configuration.name());
                    int now = round;
                    if (points.stream()
                            .noneMatch(
                                    point ->
                                            point.round() == now
                                                    && point.configuration()
                                                            .equals(configuration.name()))) {
                        Recording recording = new Recording(configuration, round, settings);
                        Path data =
                                work.path()
                                        .resolve(
                                                "timeline-"
                                                        + round
                                                        + "-"
                                                        + configurations.indexOf(configuration));
                        recording.run(elsewhere ? List.of() : events, jvmFlags, data, folder);
                        folder.append(EVENTS, TimelineEvent.class, recording.happened);
                        folder.append(POINTS, TimelinePoint.class, recording.points);
                        points.addAll(recording.points);
                        happened.addAll(recording.happened);
                        WorkFolder.delete(data);
                    }
                    progress.done();
                }
                progress.note("round " + round + " measured");
            }
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        folder.finish(folder.empty().withTimeline(points, happened));
    }

    /** One timeline of one configuration. */
    private static final class Recording {
        private final Configuration configuration;
        private final int round;
        private final Settings settings;
        private final List<TimelinePoint> points = new ArrayList<>();
        private final List<TimelineEvent> happened = new ArrayList<>();
        private final Deque<ServerProcess> killed = new ArrayDeque<>();

        Recording(Configuration configuration, int round, Settings settings) {
            this.configuration = configuration;
            this.round = round;
            this.settings = settings;
        }

        void run(List<Event> events, List<String> jvmFlags, Path data, RunFolder folder)
                throws Exception {
            UpdateLoad load = new UpdateLoad(RECORDS, settings.valueBytes);
            if (configuration.connect() != null) {
                try (ConnectedEnsemble ensemble = ConnectedEnsemble.open(configuration)) {
                    load.prepare(ensemble.addresses().get(0));
                    record(load, ensemble.addresses(), events, null, ensemble);
                }
                return;
            }
            BenchEnsemble ensemble =
                    new BenchEnsemble(configuration, settings.servers, jvmFlags, data);
            try (ensemble) {
                ensemble.start();
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
                record(load, addresses(ensemble, events), events, ensemble, null);
            } finally {
                for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                    folder.keepLog(configuration.name(), log.getKey(), log.getValue());
                }
            }
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
            try (RunningClients clients = RunningClients.start(load, addresses, settings.clients)) {
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
                            "configuration "
                                    + configuration.name()
                                    + ": no operation succeeded; "
                                    + clients.firstError());
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
