package io.saucr.services.bench;

import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Deadline;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import io.saucr.services.examples.auction.Killed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The distributed table of section 5.3, one copy of each key on a disk, next to Infinispan with
 * five in memory. Both put keys, and get them; then all processes are killed at once (what a power
 * cut does to memory), and what was put before (the paper's Priors) is asked for; then it is put
 * again, and process after process is killed and started while gets continue at nodes that live.
 */
@Command(
        name = "dht",
        description =
                "Puts keys into the example's distributed table, one copy each on a disk, and into Infinispan"
                        + " with five owners in memory, kills all processes at once, then one after the"
                        + " other, and counts what is still found.",
        mixinStandardHelpOptions = true)
final class DhtBench implements Callable<Integer> {

    static final String SERVICES = "services";
    static final String INFINISPAN = "infinispan";

    static final String CUT = "found after all died, %";
    static final String ROLLING = "gets found during restarts, %";
    static final String AFTER = "found after restarts, %";
    static final String PUT = "put ms";
    static final String GET = "get ms";

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int POLL_MILLIS = 50;
    private static final int ATTEMPTS = 3;

    @Mixin private RoundsOptions options;

    @Option(
            names = "--processes",
            paramLabel = "N",
            defaultValue = "4",
            description = "JVMs (default: ${DEFAULT-VALUE}).")
    private int processes;

    @Option(
            names = "--nodes-each",
            paramLabel = "N",
            defaultValue = "2",
            description = "Nodes in each of them (default: ${DEFAULT-VALUE}).")
    private int nodesEach;

    @Option(
            names = "--keys",
            paramLabel = "N",
            defaultValue = "200",
            description = "That are put (default: ${DEFAULT-VALUE}).")
    private int keys;

    @Option(
            names = "--hop",
            paramLabel = "MILLIS",
            defaultValue = "10",
            description = "Added to each way between nodes (default: ${DEFAULT-VALUE}).")
    private int hopMillis;

    @Option(
            names = "--down",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "How long who was killed stays down (default: ${DEFAULT-VALUE}).")
    private int downSeconds;

    /** Starts a cluster in an empty folder. */
    private interface Opening {
        TableCluster open(Path folder, int processes, int nodesEach, Duration hop)
                throws IOException;
    }

    @Override
    public Integer call() throws Exception {
        options.check();
        RoundsOptions.check("--processes", processes, 2, 16);
        RoundsOptions.check("--nodes-each", nodesEach, 1, 8);
        RoundsOptions.check("--keys", keys, 1, 100_000);
        RoundsOptions.check("--hop", hopMillis, 0, 1_000);
        RoundsOptions.check("--down", downSeconds, 0, 600);
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        trials.put(
                INFINISPAN,
                new RoundsOptions.Trial(
                        InfinispanNode.OWNERS + " owners of each key in memory, synchronous",
                        folder -> run(folder, InfinispanTable::new)));
        trials.put(
                SERVICES,
                new RoundsOptions.Trial(
                        "one node has a key, on its disk; each step is a forced turn",
                        folder -> run(folder, ServicesTable::new)));
        List<Measurement> measured = options.measure(trials);
        options.report(
                options.folder(),
                "A distributed table whose processes are killed",
                trials,
                List.of(
                        new Figure(CUT, false),
                        new Figure(ROLLING, false),
                        new Figure(AFTER, false),
                        new Figure(PUT, true),
                        new Figure(GET, true)),
                measured);
        boolean sound =
                measured.stream()
                        .filter(it -> it.contender().equals(SERVICES))
                        .allMatch(
                                it ->
                                        it.figures().get(CUT) == 100
                                                && it.figures().get(AFTER) == 100);
        return sound ? 0 : 1;
    }

    private Map<String, Double> run(Path folder, Opening opening) throws Exception {
        Map<String, Double> figures = new LinkedHashMap<>();
        try (TableCluster cluster =
                opening.open(folder, processes, nodesEach, Duration.ofMillis(hopMillis))) {
            awaitAll(cluster);
            // Once without counting: connections are made, code is compiled.
            double[] unused = puts(cluster);
            figures.put(PUT, Spread.of(puts(cluster)).median());
            double[] millis = new double[keys];
            int lost = 0;
            for (int key = 0; key < keys; key++) {
                long begun = System.nanoTime();
                lost += value(key).equals(cluster.get(other(key), name(key))) ? 0 : 1;
                millis[key] = (System.nanoTime() - begun) / 1e6;
            }
            if (lost > 0) {
                throw new IOException(lost + " values were not found before anything was killed");
            }
            figures.put(GET, Spread.of(millis).median());
            for (Killed each : cluster.processes()) {
                each.kill();
            }
            TimeUnit.SECONDS.sleep(downSeconds);
            for (Killed each : cluster.processes()) {
                each.start();
            }
            awaitAll(cluster);
            figures.put(CUT, found(cluster));
            double[] unusedAgain = puts(cluster);
            figures.put(ROLLING, restarting(cluster));
            figures.put(AFTER, found(cluster));
            return figures;
        }
    }

    private static String name(int key) {
        return "key" + key;
    }

    private static String value(int key) {
        return "value" + key;
    }

    private int nodes() {
        return processes * nodesEach;
    }

    /** A node of another process than that through which a key was put, if there is one. */
    private int other(int key) {
        return (key + nodesEach) % nodes();
    }

    private void awaitAll(TableCluster cluster) throws InterruptedException {
        for (int i = 0; i < nodes(); i++) {
            int node = i;
            Deadline.await(
                    PATIENCE,
                    POLL_MILLIS,
                    () -> cluster.serves(node),
                    () -> "node%s does not serve after %s".formatted(node, PATIENCE));
        }
    }

    private double[] puts(TableCluster cluster) throws Exception {
        double[] millis = new double[keys];
        for (int key = 0; key < keys; key++) {
            long begun = System.nanoTime();
            cluster.put(key % nodes(), name(key), value(key));
            millis[key] = (System.nanoTime() - begun) / 1e6;
        }
        return millis;
    }

    /** How many of all keys have their value, in percent. */
    private double found(TableCluster cluster) throws InterruptedException {
        int found = 0;
        for (int key = 0; key < keys; key++) {
            if (isFound(cluster, other(key), key, -1)) {
                found++;
            }
        }
        return 100.0 * found / keys;
    }

    /**
     * Asks a node, and the next ones where there is no answer; not those of a process that is down.
     */
    private boolean isFound(TableCluster cluster, int first, int key, int down)
            throws InterruptedException {
        int node = first;
        for (int attempt = 0; attempt < ATTEMPTS; node = (node + 1) % nodes()) {
            if (node / nodesEach == down) {
                continue;
            }
            try {
                return value(key).equals(cluster.get(node, name(key)));
            } catch (IOException e) {
                attempt++;
            }
        }
        return false;
    }

    /** Kills and starts process after process; gets continue until it is back. */
    private double restarting(TableCluster cluster) throws Exception {
        int asked = 0;
        int found = 0;
        for (int process = 0; process < processes; process++) {
            Killed each = cluster.processes().get(process);
            each.kill();
            // By another thread: a get may wait for this process.
            CompletableFuture<Void> started =
                    CompletableFuture.runAsync(
                            () -> start(each),
                            CompletableFuture.delayedExecutor(downSeconds, TimeUnit.SECONDS));
            do {
                int key = asked++ % keys;
                if (isFound(cluster, key % nodes(), key, process)) {
                    found++;
                }
            } while (!started.isDone() || !serves(cluster, process));
            started.get();
            awaitAll(cluster);
        }
        return 100.0 * found / asked;
    }

    private boolean serves(TableCluster cluster, int process) throws InterruptedException {
        for (int node = process * nodesEach; node < (process + 1) * nodesEach; node++) {
            if (!cluster.serves(node)) {
                return false;
            }
        }
        return true;
    }

    private static void start(Killed process) {
        try {
            process.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
