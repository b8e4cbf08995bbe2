package io.saucr.bench.cli;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.ServerThreads;
import io.saucr.bench.load.ClientLoop;
import io.saucr.bench.measure.Progress;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.LoadResult;
import io.saucr.bench.result.MethodShare;
import io.saucr.bench.result.StageCost;
import io.saucr.ensemble.Command;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Where the CPU time of leader and followers goes: by thread from the scheduler's counts, with the
 * configurations in turns, and then by method from the JVM's flight recorder, in a slice of its own
 * because recording costs time itself.
 */
@CommandLine.Command(
        name = "profile",
        description =
                "Where the CPU time of leader and followers goes for each operation, by stage of the"
                        + " pipeline, update-only, 64 clients on hdd: processor time, waiting for a"
                        + " processor, and the methods that were found running.",
        mixinStandardHelpOptions = true)
final class ProfileCommand implements Callable<Integer> {

    private static final String TITLE = "profile";
    private static final String STAGES = "stages.csv";
    private static final int RECORDS = 1000;
    private static final String SAMPLE_EVERY = "5ms";
    private static final int METHODS_SHOWN = 4;
    private static final int LEAST_SAMPLES = 20;
    private static final String OWN_CODE = "(anything of SAUCR's on the stack)";

    @Mixin private SystemOptions system;
    @Mixin private SecurityOptions security;
    @Mixin private OutputOptions output;
    @Mixin private LoadOptions options = new LoadOptions(64, 20, DeviceProfile.HDD);

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Voters of each ensemble (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int servers;

    @Option(
            names = "--value-bytes",
            paramLabel = "N",
            description = "Size of the values (default: ${DEFAULT-VALUE}).",
            defaultValue = "1024")
    private int valueBytes;

    @Option(
            names = "--slice",
            paramLabel = "SECONDS",
            description = "Length of one measurement (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private double slice;

    @Option(
            names = "--recording",
            paramLabel = "SECONDS",
            description =
                    "Length of the load under which methods are recorded (default:"
                            + " ${DEFAULT-VALUE}).",
            defaultValue = "20")
    private double recording;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "Rounds (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private int rounds;

    private final Map<BenchEnsemble, ClientLoop> loads = new LinkedHashMap<>();
    private final List<StageCost> costs = new ArrayList<>();
    private final List<MethodShare> methods = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        system.requireOwnServers(TITLE, "looks into servers");
        options.check();
        try (WorkFolder work = output.work()) {
            List<Configuration> configurations =
                    security.of(
                            system.configurations(
                                    List.of(Configuration.SAUCR, Configuration.MEMORY_DURABLE),
                                    work),
                            work);
            List<String> jvmFlags = system.jvmFlags(SystemOptions.JVM);
            RunFolder folder = output.open(TITLE, plan(configurations, jvmFlags));
            folder.replace(STAGES, StageCost.class, List.of());
            Progress progress = Progress.of((rounds + 1) * configurations.size());
            try {
                for (Configuration configuration : configurations) {
                    progress.step("starting " + configuration.name());
                    prepare(
                            configuration,
                            jvmFlags,
                            work.path().resolve("ensemble-" + (loads.size() + 1)));
                }
                measure(folder, progress, work.path());
            } catch (Exception e) {
                progress.end();
                folder.sayUnfinished();
                throw e;
            } finally {
                for (BenchEnsemble ensemble : loads.keySet()) {
                    ensemble.close();
                    for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                        folder.keepLog(
                                ensemble.configuration().name(), log.getKey(), log.getValue());
                    }
                }
            }
            progress.end();
            folder.finish(folder.empty().withProfile(costs, methods));
        }
        return 0;
    }

    private Map<String, Object> plan(List<Configuration> configurations, List<String> jvmFlags) {
        Map<String, Object> plan =
                RoundOptions.parameters(
                        "title",
                        TITLE,
                        "configurations",
                        configurations.stream().map(Configuration::described).toList());
        options.describe(plan);
        plan.putAll(
                RoundOptions.parameters(
                        "servers", servers,
                        "valueBytes", valueBytes,
                        "sliceSeconds", slice,
                        "recordingSeconds", recording,
                        "rounds", rounds,
                        "jvmFlags", jvmFlags));
        return plan;
    }

    private void prepare(Configuration configuration, List<String> jvmFlags, Path data)
            throws Exception {
        BenchEnsemble ensemble = new BenchEnsemble(configuration, servers, jvmFlags, data);
        loads.put(ensemble, null);
        ensemble.start();
        loads.put(ensemble, new ClientLoop(options.warmUp(ensemble, RECORDS, valueBytes)));
    }

    private LoadResult run(BenchEnsemble ensemble, double seconds, ClientLoop.Window window)
            throws InterruptedException {
        return loads.get(ensemble)
                .run(
                        ensemble.addresses(),
                        options.clients(),
                        0,
                        Duration.ofSeconds(1),
                        Duration.ofMillis((long) (seconds * 1000)),
                        1,
                        window);
    }

    private void measure(RunFolder folder, Progress progress, Path work) throws Exception {
        for (int round = 1; round <= rounds; round++) {
            List<StageCost> own = new ArrayList<>();
            for (BenchEnsemble ensemble : loads.keySet()) {
                progress.step("round " + round + ", " + ensemble.configuration().name());
                Reading reading = new Reading(ensemble);
                LoadResult result = run(ensemble, slice, reading);
                if (result.operations() == 0) {
                    throw new IllegalStateException(
                            "configuration "
                                    + ensemble.configuration().name()
                                    + ": no operation ended within the slice");
                }
                own.addAll(reading.costs(round, result.operations()));
                progress.done();
            }
            costs.addAll(own);
            folder.append(STAGES, StageCost.class, own);
            progress.note("round " + round + " measured");
        }
        for (BenchEnsemble ensemble : loads.keySet()) {
            progress.step("recording " + ensemble.configuration().name());
            record(ensemble, work);
            progress.done();
        }
    }

    /** Reads the threads of all servers at both ends of a slice. */
    private static final class Reading implements ClientLoop.Window {
        private final BenchEnsemble ensemble;
        private ServerThreads leader;
        private ServerThreads followers;

        Reading(BenchEnsemble ensemble) {
            this.ensemble = ensemble;
        }

        @Override
        public void begins() {
            read();
        }

        @Override
        public void ends() {
            ServerThreads leaderBefore = leader;
            ServerThreads followersBefore = followers;
            read();
            leader = leader.since(leaderBefore);
            followers = followers.since(followersBefore);
        }

        private void read() {
            followers = ServerThreads.NONE;
            for (ServerProcess server : ensemble.servers().servers()) {
                ServerThreads threads = ServerThreads.of(server.pid());
                if (server.id() == ensemble.leader()) {
                    leader = threads;
                } else {
                    followers = followers.plus(threads);
                }
            }
        }

        List<StageCost> costs(int round, long operations) {
            List<StageCost> costs = new ArrayList<>();
            Map.of(StageCost.LEADER, leader, StageCost.FOLLOWERS, followers)
                    .forEach(
                            (role, threads) ->
                                    threads.byStage()
                                            .forEach(
                                                    (stage, usage) ->
                                                            costs.add(
                                                                    cost(
                                                                            role,
                                                                            round,
                                                                            stage,
                                                                            usage,
                                                                            operations))));
            costs.add(
                    cost(
                            StageCost.BUSIEST,
                            round,
                            StageCost.BUSIEST,
                            leader.busiest(),
                            operations));
            return costs;
        }

        private StageCost cost(
                String role, int round, String stage, ServerThreads.Usage usage, long operations) {
            return new StageCost(
                    ensemble.configuration().name(),
                    role,
                    round,
                    stage,
                    usage.cpuNanos() / 1e3 / operations,
                    usage.waitNanos() / 1e3 / operations,
                    (double) usage.switches() / operations);
        }
    }

    // ---- Methods ----

    private void record(BenchEnsemble ensemble, Path work) throws Exception {
        Map<ServerProcess, Path> files = new LinkedHashMap<>();
        for (ServerProcess server : ensemble.servers().servers()) {
            jcmd(
                    server.pid(),
                    "JFR.start",
                    "name=bench",
                    "settings=profile",
                    "jdk.ExecutionSample#period=" + SAMPLE_EVERY);
            files.put(server, work.resolve("server-" + server.pid() + ".jfr"));
        }
        run(ensemble, recording, ClientLoop.Window.NOT_COUNTED);
        for (Map.Entry<ServerProcess, Path> each : files.entrySet()) {
            jcmd(each.getKey().pid(), "JFR.stop", "name=bench", "filename=" + each.getValue());
        }
        String name = ensemble.configuration().name();
        Path leading = files.remove(ensemble.servers().server(ensemble.leader()));
        methods.addAll(shares(name, StageCost.LEADER, List.of(leading)));
        methods.addAll(shares(name, StageCost.FOLLOWERS, files.values()));
    }

    private static void jcmd(long pid, String... words) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString());
        command.add(Long.toString(pid));
        command.addAll(List.of(words));
        String unused = Command.run(command.toArray(String[]::new));
    }

    /** How often the flight recorder found each method on top of a stage's stacks. */
    private static List<MethodShare> shares(
            String configuration, String role, Collection<Path> files) throws IOException {
        Map<String, Map<String, Integer>> stages = new HashMap<>();
        Map<String, Integer> samples = new HashMap<>();
        for (Path file : files) {
            try (RecordingFile recorded = new RecordingFile(file)) {
                while (recorded.hasMoreEvents()) {
                    count(recorded.readEvent(), stages, samples);
                }
            }
        }
        List<MethodShare> shares = new ArrayList<>();
        samples.forEach(
                (stage, all) -> {
                    if (all < LEAST_SAMPLES) {
                        return;
                    }
                    stages.get(stage).entrySet().stream()
                            .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                            .limit(METHODS_SHOWN)
                            .forEach(
                                    each ->
                                            shares.add(
                                                    new MethodShare(
                                                            configuration,
                                                            role,
                                                            stage,
                                                            each.getKey(),
                                                            (double) each.getValue() / all)));
                });
        return shares;
    }

    private static void count(
            RecordedEvent event,
            Map<String, Map<String, Integer>> stages,
            Map<String, Integer> samples) {
        if (!event.getEventType().getName().equals("jdk.ExecutionSample")
                || event.getStackTrace() == null
                || event.getThread("sampledThread") == null) {
            return;
        }
        String thread = event.getThread("sampledThread").getJavaName();
        String stage = ServerThreads.stage(thread == null ? "" : thread);
        List<RecordedFrame> frames = event.getStackTrace().getFrames();
        Map<String, Integer> own = stages.computeIfAbsent(stage, key -> new LinkedHashMap<>());
        samples.merge(stage, 1, Integer::sum);
        own.merge(name(frames.get(0).getMethod()), 1, Integer::sum);
        if (frames.stream().anyMatch(frame -> ours(frame.getMethod()))) {
            own.merge(OWN_CODE, 1, Integer::sum);
        }
    }

    private static String name(RecordedMethod method) {
        String type = method.getType().getName();
        return type.substring(type.lastIndexOf('.') + 1) + "." + method.getName();
    }

    private static boolean ours(RecordedMethod method) {
        String type = method.getType().getName();
        return type.startsWith("io.saucr.")
                || type.substring(type.lastIndexOf('.') + 1).startsWith("Saucr");
    }
}
