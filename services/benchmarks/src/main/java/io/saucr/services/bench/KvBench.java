package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.bench.KvServer.Mark;
import io.saucr.services.bench.KvServer.Role;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The key/value store of section 5.2 with standbys, next to the same one without any protection and
 * next to what people use: throughput (figure 6, table 4), bytes of checkpoints (table 5), and what
 * they hold (table 6).
 */
@Command(
        name = "kv",
        description =
                "Gets and puts keys of a store with standbys, of the same one without protection, of one that"
                        + " writes snapshots under a lock, and of Hazelcast with one backup, round by round, in"
                        + " fresh JVMs; says what they cost and what checkpoints hold.",
        mixinStandardHelpOptions = true)
final class KvBench implements Callable<Integer> {

    static final String OPERATIONS = "operations/s";
    static final String MEDIAN = "p50 us";
    static final String TAIL = "p99 us";
    static final String ANSWERING = "CPU us per operation, who answers";
    static final String ALL = "CPU us per operation, all members";
    static final String MEMORY = "most MB, first process";
    static final String CHECKPOINTS = "checkpoints/s";
    static final String BYTES = "KB per checkpoint";
    static final String RATIO = "bytes per changed byte";
    static final String CHANGED = "changes per checkpoint";
    static final String ALIVE = "of different entries";

    private static final List<Figure> FIGURES =
            List.of(
                    new Figure(OPERATIONS, true),
                    new Figure(MEDIAN, false),
                    new Figure(TAIL, false),
                    new Figure(ANSWERING, true),
                    new Figure(ALL, true),
                    new Figure(MEMORY, false),
                    new Figure(CHECKPOINTS, false),
                    new Figure(BYTES, false),
                    new Figure(RATIO, false),
                    new Figure(CHANGED, false),
                    new Figure(ALIVE, false));

    /** Who takes part. */
    enum Store {
        BARE("bare", "the service without protection, its map a java.util.HashMap"),
        ASYNC("standby-async", "Protection.standby().every(200 ms): a reply leaves at once"),
        SYNC(
                "standby",
                "Protection.standby(): a reply leaves once two members have forced the turn"),
        FAST("standby-fast", "Protection.standby().fast(): once two members have written it"),
        LOCAL("local", "Protection.local(): once it is forced on the own disk"),
        SNAPSHOT(
                "lock-snapshot",
                "bare, and every 200 ms all of it is encoded (Kryo) under the map's lock, and forced"),
        HAZELCAST_SYNC(
                "hazelcast-sync", "Hazelcast, two members, a put waits for one backup in memory"),
        HAZELCAST_ASYNC(
                "hazelcast-async", "Hazelcast, two members, a put does not wait for its backup");

        private final String shown;
        private final String description;

        Store(String shown, String description) {
            this.shown = shown;
            this.description = description;
        }

        /** Starts it in an empty folder. */
        private KvCluster open(Path folder) throws Exception {
            return switch (this) {
                case BARE -> KvCluster.alone(folder, Role.BARE);
                case ASYNC -> KvCluster.members(folder, Role.ASYNC);
                case SYNC -> KvCluster.members(folder, Role.SYNC);
                case FAST -> KvCluster.members(folder, Role.FAST);
                case LOCAL -> KvCluster.alone(folder, Role.LOCAL);
                case SNAPSHOT -> KvCluster.alone(folder, Role.SNAPSHOT);
                case HAZELCAST_SYNC -> KvCluster.hazelcast(folder, true);
                case HAZELCAST_ASYNC -> KvCluster.hazelcast(folder, false);
            };
        }

        @Override
        public String toString() {
            return shown;
        }
    }

    /** What clients do, and how many of a hundred are puts. */
    enum Workload {
        /** YCSB's: half of all are puts. */
        A(50),
        /** YCSB's: one of twenty is a put. */
        B(5),
        /** The paper's: nothing but puts, as a lock server has them. */
        C(100);

        private final int puts;

        Workload(int puts) {
            this.puts = puts;
        }
    }

    @Mixin private RoundsOptions options;

    @Option(
            names = "--stores",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Some of ${COMPLETION-CANDIDATES}; the first is what the others are compared"
                            + " with (default: all).")
    private List<Store> stores = List.of(Store.values());

    @Option(
            names = "--workloads",
            paramLabel = "NAME",
            split = ",",
            defaultValue = "A,B,C",
            description =
                    "Some of ${COMPLETION-CANDIDATES}: 50, 5 and 100 %% puts (default: ${DEFAULT-VALUE}).")
    private List<Workload> workloads;

    @Option(
            names = "--clients",
            paramLabel = "N",
            split = ",",
            defaultValue = "20,200",
            description = "Clients that wait for their answers (default: ${DEFAULT-VALUE}).")
    private List<Integer> clients;

    @Option(
            names = "--keys",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Of which some are popular, as with YCSB (default: ${DEFAULT-VALUE}).")
    private int keys;

    @Option(
            names = "--value",
            paramLabel = "BYTES",
            defaultValue = "1000",
            description = "Of a value (default: ${DEFAULT-VALUE}).")
    private int valueBytes;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description =
                    "Before what counts, of the first workload and in it; of each other a tenth"
                            + " (default: ${DEFAULT-VALUE}).")
    private double warmUp;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "That count, of each workload (default: ${DEFAULT-VALUE}).")
    private double seconds;

    /** What clients do in one part of a run. */
    private record Part(Workload workload, int clients) {

        @Override
        public String toString() {
            return workload + "-" + clients;
        }

        String in(String figure) {
            return this + " " + figure;
        }
    }

    @Override
    public Integer call() throws Exception {
        options.check();
        RoundsOptions.check("--keys", keys, 1, 10_000_000);
        RoundsOptions.check("--value", valueBytes, 1, 1_000_000);
        for (int count : clients) {
            RoundsOptions.check("--clients", count, 1, 1_000);
        }
        if (!(seconds > 0 && seconds <= 600) || !(warmUp >= 0 && warmUp <= 600)) {
            throw new IllegalArgumentException(
                    "--seconds, --warm-up: allowed are more than 0, or 0, to 600, not %s, %s"
                            .formatted(seconds, warmUp));
        }
        List<Part> parts = new ArrayList<>();
        workloads.forEach(workload -> clients.forEach(it -> parts.add(new Part(workload, it))));
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        for (Store store : stores) {
            trials.put(
                    store.toString(),
                    new RoundsOptions.Trial(
                            store.description, folder -> run(store, folder, parts)));
        }
        List<Measurement> measured = options.measure(trials);
        Path folder = options.folder();
        for (Part part : parts) {
            options.report(
                    folder.resolve(part.toString()),
                    String.format(
                            Locale.ROOT,
                            "Workload %s (%d %% puts), %d clients, %,d keys of %,d bytes",
                            part.workload,
                            part.workload.puts,
                            part.clients,
                            keys,
                            valueBytes),
                    trials,
                    FIGURES,
                    measured.stream().map(it -> it.of(part.in(""))).toList());
        }
        return 0;
    }

    /** From where to where the segments of a part go, and how many puts it had. */
    private record Window(Mark from, Mark to, long puts, double seconds) {}

    private Map<String, Double> run(Store store, Path folder, List<Part> parts) throws Exception {
        Map<String, Double> figures = new LinkedHashMap<>();
        Map<Part, Window> windows = new LinkedHashMap<>();
        Optional<Path> segments;
        try (KvCluster cluster = store.open(folder);
                TalkingProcess load = load(cluster, folder)) {
            double before = warmUp;
            for (Part part : parts) {
                windows.put(part, run(cluster, load, part, before, figures));
                before = warmUp / 10;
            }
            segments = cluster.segments();
        }
        for (Map.Entry<Part, Window> each : windows.entrySet()) {
            checkpoints(each.getKey(), each.getValue(), segments, figures);
        }
        return figures;
    }

    private TalkingProcess load(KvCluster cluster, Path folder) throws IOException {
        List<String> arguments = new ArrayList<>(cluster.forClients());
        arguments.add(Integer.toString(keys));
        arguments.add(Integer.toString(valueBytes));
        return new TalkingProcess(
                folder.resolve("log-of-clients"),
                List.of("-Xms256m", "-Xmx512m", KvCluster.COMMON_POOL),
                KvLoad.class,
                arguments.toArray(String[]::new));
    }

    private Window run(
            KvCluster cluster,
            TalkingProcess load,
            Part part,
            double before,
            Map<String, Double> figures)
            throws Exception {
        load.tell(part.clients + " " + part.workload.puts / 100.0 + " " + before);
        String unused = load.next(KvLoad.WARM);
        Mark from = cluster.mark();
        double answering = cluster.answering().toNanos();
        double all = cluster.all().toNanos();
        load.tell(Double.toString(seconds));
        KvLoad.Result result = new ObjectMapper().readValue(load.next(), KvLoad.Result.class);
        answering = cluster.answering().toNanos() - answering;
        all = cluster.all().toNanos() - all;
        Mark to = cluster.mark();
        double operations = result.operations();
        figures.put(part.in(OPERATIONS), operations / result.seconds());
        figures.put(part.in(MEDIAN), result.p50Micros());
        figures.put(part.in(TAIL), result.p99Micros());
        figures.put(part.in(ANSWERING), answering / 1e3 / operations);
        figures.put(part.in(ALL), all / 1e3 / operations);
        figures.put(part.in(MEMORY), cluster.mostMemory() / 1e6);
        return new Window(from, to, result.puts(), result.seconds());
    }

    private static void checkpoints(
            Part part, Window window, Optional<Path> segments, Map<String, Double> figures)
            throws Exception {
        double count = window.to.checkpoints() - window.from.checkpoints();
        if (count == 0) {
            return;
        }
        figures.put(part.in(CHECKPOINTS), count / window.seconds);
        figures.put(part.in(CHANGED), window.puts / count);
        if (segments.isEmpty()) {
            figures.put(part.in(BYTES), (window.to.bytes() - window.from.bytes()) / 1e3 / count);
            return;
        }
        SegmentFigures found =
                SegmentFigures.of(
                        segments.get(), window.from.checkpoints(), window.to.checkpoints());
        if (found.segments() > 0) {
            figures.put(part.in(BYTES), found.bytes() / 1e3 / found.segments());
            figures.put(part.in(RATIO), (double) found.bytes() / found.changedBytes());
            figures.put(part.in(ALIVE), (double) found.entries() / found.segments());
        }
    }
}
