package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.bench.KvServer.Role;
import io.saucr.services.bench.PauseServer.Mark;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * How long turns and clients wait because of checkpoints, by the size of the state and by how many
 * of its entries change between two of them; next to the same service without any protection, which
 * says what the machine and the collector do by themselves.
 */
@Command(
        name = "pause",
        description =
                "Changes entries of a large state, with standbys and without any protection, round by round, in"
                        + " fresh JVMs; says how long turns and clients wait in each interval of 200 ms.",
        mixinStandardHelpOptions = true)
final class PauseBench implements Callable<Integer> {

    static final String TURN = "longest turn ms";
    static final String WORST_TURN = "longest turn ms, p99";
    static final String WAIT = "longest wait ms";
    static final String WORST_WAIT = "longest wait ms, p99";
    static final String COLLECTION = "longest collection ms";
    static final String MEMORY = "heap MB";
    static final String CHECKPOINTS = "checkpoints/s";
    static final String CHANGED = "changes per checkpoint";

    private static final List<Figure> FIGURES =
            List.of(
                    new Figure(TURN, false),
                    new Figure(WORST_TURN, true),
                    new Figure(WAIT, false),
                    new Figure(WORST_WAIT, true),
                    new Figure(COLLECTION, false),
                    new Figure(MEMORY, false),
                    new Figure(CHECKPOINTS, false),
                    new Figure(CHANGED, false));

    /** Beside what entries take. */
    private static final long LEAST_HEAP_MB = 192;

    /**
     * Of an entry in addition to its value, roughly: key, value and entry as objects, and its
     * place.
     */
    private static final int ENTRY_BYTES = 170;

    /** So much more than what lives a collector needs. */
    private static final double HEADROOM = 1.6;

    /** Who collects garbage. */
    enum Collector {
        SERIAL("-XX:+UseSerialGC"),
        PARALLEL("-XX:+UseParallelGC"),
        G1("-XX:+UseG1GC"),
        Z("-XX:+UseZGC");

        private final String flag;

        Collector(String flag) {
            this.flag = flag;
        }
    }

    @Mixin private RoundsOptions options;

    @Option(
            names = "--roles",
            paramLabel = "NAME",
            split = ",",
            defaultValue = "BARE,ASYNC,SYNC",
            description =
                    "Some of BARE, ASYNC (every 200 ms), SYNC, FAST (default: ${DEFAULT-VALUE}).")
    private List<Role> roles;

    @Option(
            names = "--entries",
            paramLabel = "N",
            split = ",",
            defaultValue = "400000,4000000",
            description = "Of the state (default: ${DEFAULT-VALUE}: heaps of 100 MB and 1 GB).")
    private List<Integer> entries;

    @Option(
            names = "--value",
            paramLabel = "BYTES",
            defaultValue = "90",
            description = "Of a value (default: ${DEFAULT-VALUE}).")
    private int valueBytes;

    @Option(
            names = "--changed",
            paramLabel = "N",
            split = ",",
            defaultValue = "100,1000,10000",
            description = "Entries that change in 200 ms (default: ${DEFAULT-VALUE}).")
    private List<Integer> changed;

    @Option(
            names = "--collectors",
            paramLabel = "NAME",
            split = ",",
            defaultValue = "G1",
            description = "Some of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private List<Collector> collectors;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description =
                    "Of each number of changes, after a fifth of it that does not count (default:"
                            + " ${DEFAULT-VALUE}).")
    private double seconds;

    /** One state in one JVM. */
    private record Case(Role role, int entries, Collector collector) {

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%s-%d-%s",
                    role.name().toLowerCase(Locale.ROOT),
                    entries,
                    collector.name().toLowerCase(Locale.ROOT));
        }

        private String what(int valueBytes) {
            String protection =
                    switch (role) {
                        case BARE -> "no protection";
                        case ASYNC -> "Protection.standby().every(200 ms)";
                        case SYNC -> "Protection.standby()";
                        case FAST -> "Protection.standby().fast()";
                        default -> throw new IllegalStateException("no role " + role);
                    };
            return String.format(
                    Locale.ROOT,
                    "%s, %,d entries, %s with -Xmx%dm",
                    protection,
                    entries,
                    collector,
                    heapMegabytes(entries, valueBytes));
        }
    }

    @Override
    public Integer call() throws Exception {
        options.check();
        RoundsOptions.check("--value", valueBytes, 1, 100_000);
        for (int count : entries) {
            RoundsOptions.check("--entries", count, 1, 100_000_000);
        }
        for (int count : changed) {
            RoundsOptions.check("--changed", count, 1, 1_000_000);
        }
        RoundsOptions.checkSeconds(seconds);
        if (roles.contains(Role.SNAPSHOT) || roles.contains(Role.LOCAL)) {
            throw new IllegalArgumentException(
                    "--roles: allowed are BARE, ASYNC, SYNC and FAST, not " + roles);
        }
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        for (Collector collector : collectors) {
            for (int count : entries) {
                for (Role role : roles) {
                    Case each = new Case(role, count, collector);
                    trials.put(
                            each.toString(),
                            new RoundsOptions.Trial(
                                    each.what(valueBytes), folder -> run(each, folder)));
                }
            }
        }
        List<Measurement> measured = options.measure(trials);
        Path folder = options.folder();
        for (int count : changed) {
            options.report(
                    folder.resolve("changed-" + count),
                    String.format(
                            Locale.ROOT,
                            "%,d entries of %d bytes change in 200 ms, by 200 messages",
                            count,
                            valueBytes),
                    trials,
                    FIGURES,
                    measured.stream().map(it -> it.of(count + " ")).toList());
        }
        return 0;
    }

    private static long heapMegabytes(long entries, int valueBytes) {
        return LEAST_HEAP_MB + (long) (entries * (ENTRY_BYTES + valueBytes) * HEADROOM / 1e6);
    }

    private Map<String, Double> run(Case of, Path folder) throws Exception {
        long heap = heapMegabytes(of.entries, valueBytes);
        List<String> flags = List.of("-Xms" + heap + "m", "-Xmx" + heap + "m", of.collector.flag);
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        try {
            TalkingProcess server;
            String at;
            if (of.role == Role.BARE) {
                server = start(opened, folder, flags, 0, List.of(of.role.name(), ""));
                at = server.next("at");
            } else {
                ServerAlone ensemble = new ServerAlone(folder);
                opened.push(ensemble);
                String place = ensemble.connect() + "/" + PauseServer.NAME;
                server =
                        start(
                                opened,
                                folder,
                                flags,
                                0,
                                List.of(
                                        of.role.name(),
                                        folder.resolve("data-0").toString(),
                                        place));
                at = server.next("at");
                String unused =
                        start(
                                        opened,
                                        folder,
                                        flags,
                                        1,
                                        List.of(
                                                of.role.name(),
                                                folder.resolve("data-1").toString(),
                                                place))
                                .next("at");
            }
            return run(folder, server, at, of.entries, opened);
        } finally {
            while (!opened.isEmpty()) {
                opened.pop().close();
            }
        }
    }

    private static TalkingProcess start(
            Deque<AutoCloseable> opened,
            Path folder,
            List<String> flags,
            int member,
            List<String> arguments)
            throws Exception {
        TalkingProcess process =
                new TalkingProcess(
                        folder.resolve("log-" + member),
                        flags,
                        PauseServer.class,
                        arguments.toArray(String[]::new));
        opened.push(process);
        return process;
    }

    private Map<String, Double> run(
            Path folder, TalkingProcess server, String at, int count, Deque<AutoCloseable> opened)
            throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                at,
                                Integer.toString(count),
                                Integer.toString(valueBytes),
                                Double.toString(seconds)));
        changed.forEach(it -> arguments.add(Integer.toString(it)));
        TalkingProcess load =
                new TalkingProcess(
                        folder.resolve("log-of-client"),
                        List.of("-Xms256m", "-Xmx256m"),
                        PauseLoad.class,
                        arguments.toArray(String[]::new));
        opened.push(load);
        String unused = load.next(PauseLoad.FILLED);
        double memory = mark(server).usedBytes() / 1e6;
        Map<String, Double> figures = new LinkedHashMap<>();
        for (int each : changed) {
            load.tell();
            unused = load.next(KvLoad.WARM);
            Mark from = mark(server);
            load.tell();
            PauseLoad.Result result =
                    new ObjectMapper().readValue(load.next(), PauseLoad.Result.class);
            Mark to = mark(server);
            String prefix = each + " ";
            figures.put(prefix + TURN, to.turnMillis());
            figures.put(prefix + WORST_TURN, to.worstTurnMillis());
            figures.put(prefix + WAIT, result.waitMillis());
            figures.put(prefix + WORST_WAIT, result.worstWaitMillis());
            figures.put(prefix + COLLECTION, to.collectionMillis());
            figures.put(prefix + MEMORY, memory);
            double checkpoints = to.segment() - from.segment();
            if (checkpoints > 0) {
                figures.put(prefix + CHECKPOINTS, checkpoints / result.seconds());
                figures.put(prefix + CHANGED, result.changed() / checkpoints);
            }
        }
        return figures;
    }

    private static Mark mark(TalkingProcess server) throws Exception {
        server.tell();
        return new ObjectMapper().readValue(server.next("mark"), Mark.class);
    }
}
