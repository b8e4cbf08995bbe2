package io.saucr.services.bench;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.result.Machine;
import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Measures what it costs to write to ZooKeeper exactly once: every contender overwrites a node of
 * one server, slice by slice in rounds, whose order moves on by one each. All clients are in this
 * process and stay connected; one writes at a time.
 */
@Command(
        name = "once",
        description =
                "Measures writes to one ZooKeeper server by the once client beside plain asynchronous ones and"
                        + " Curator's idempotent ones, slice by slice.",
        mixinStandardHelpOptions = true)
final class OnceBench implements Callable<Integer> {

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "6",
            description = "Rounds (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "3",
            description = "Length of a slice (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--warm-up",
            paramLabel = "N",
            defaultValue = "5",
            description =
                    "Writes of each before the first round, in seconds (default: ${DEFAULT-VALUE}).")
    private double warmUp;

    @Option(
            names = "--under-way",
            paramLabel = "N",
            defaultValue = "64",
            description = "Writes under way of who can do that (default: ${DEFAULT-VALUE}).")
    private int underWay;

    @Option(
            names = "--bytes",
            paramLabel = "N",
            defaultValue = "100",
            description = "Size of what is written (default: ${DEFAULT-VALUE}).")
    private int bytes;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description = "For the server and the once client (default: a temporary folder).")
    private Path work;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        check();
        Path parent = work != null ? work : Path.of(System.getProperty("java.io.tmpdir"));
        Files.createDirectories(parent);
        Path folder = Files.createTempDirectory(parent, "saucr-bench-once-");
        try (ServerAlone server = new ServerAlone(folder)) {
            makeNodes(server.connect());
            spec.commandLine().getOut().println(report(measured(server.connect(), folder)));
        } finally {
            WorkFolder.delete(folder);
        }
        return 0;
    }

    private void check() {
        if (rounds < 1 || !(seconds > 0) || !(warmUp >= 0)) {
            throw new IllegalArgumentException(
                    "allowed: one round or more, slices longer than 0 s");
        }
        RoundsOptions.check("--under-way", underWay, 1, 10_000);
        RoundsOptions.check("--bytes", bytes, 0, 100_000);
    }

    private static void makeNodes(String connect) throws Exception {
        ZooKeeper client =
                new ZooKeeper(connect, (int) Duration.ofSeconds(15).toMillis(), event -> {});
        try {
            for (OnceContender contender : OnceContender.values()) {
                client.create(
                        path(contender),
                        new byte[0],
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
            }
        } finally {
            client.close();
        }
    }

    private static String path(OnceContender contender) {
        return "/bench-" + contender;
    }

    /** Writes per second, in the order of the rounds. */
    private Map<OnceContender, double[]> measured(String connect, Path folder) throws Exception {
        OnceContender[] all = OnceContender.values();
        Map<OnceContender, OnceContender.Writer> writers = new EnumMap<>(OnceContender.class);
        Map<OnceContender, double[]> rates = new EnumMap<>(OnceContender.class);
        try {
            for (OnceContender contender : all) {
                writers.put(contender, contender.open(connect, folder));
                rates.put(contender, new double[rounds]);
                slice(contender, writers.get(contender), warmUp);
            }
            for (int round = 0; round < rounds; round++) {
                for (int place = 0; place < all.length; place++) {
                    OnceContender contender = all[(place + round) % all.length];
                    double rate = slice(contender, writers.get(contender), seconds);
                    rates.get(contender)[round] = rate;
                    System.err.printf(
                            Locale.ROOT,
                            "round %d of %d, %s: %s writes/s%n",
                            round + 1,
                            rounds,
                            contender,
                            Numbers.number(rate));
                }
            }
        } finally {
            for (OnceContender.Writer writer : writers.values()) {
                writer.close();
            }
        }
        return rates;
    }

    private double slice(OnceContender contender, OnceContender.Writer writer, double length)
            throws Exception {
        int most = contender.pipelined() ? underWay : 1;
        Semaphore free = new Semaphore(most);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        byte[] data = new byte[bytes];
        String path = path(contender);
        long count = 0;
        long begun = System.nanoTime();
        long end = begun + Math.round(length * TimeUnit.SECONDS.toNanos(1));
        while (System.nanoTime() < end && failure.get() == null) {
            free.acquire();
            count++;
            CompletableFuture<?> unused =
                    writer.write(path, data)
                            .whenComplete(
                                    (done, thrown) -> {
                                        if (thrown != null) {
                                            failure.set(thrown);
                                        }
                                        free.release();
                                    });
        }
        free.acquire(most);
        if (failure.get() != null) {
            throw new IOException(contender + " failed", failure.get());
        }
        return count * 1e9 / (System.nanoTime() - begun);
    }

    private String report(Map<OnceContender, double[]> rates) {
        StringBuilder text = new StringBuilder(Machine.here().toString()).append('\n');
        rates.keySet()
                .forEach(it -> text.append(it).append(": ").append(it.description()).append('\n'));
        Table table = Table.ofNumbers("contender", "writes/s", "quartiles", "/ plain", "interval");
        double[] plain = rates.get(OnceContender.PLAIN);
        rates.forEach(
                (contender, own) -> {
                    Spread spread = Spread.of(own);
                    PairedRatio ratio = PairedRatio.of(own, plain);
                    table.row(
                            contender.toString(),
                            Numbers.number(spread.median()),
                            Report.interval(spread.lowerQuartile(), spread.upperQuartile()),
                            Numbers.number(ratio.ratio()),
                            Report.interval(ratio));
                });
        return text.append('\n')
                .append(table)
                .append("\n\nMedians over ")
                .append(rounds)
                .append(" rounds; ")
                .append(underWay)
                .append(" writes under way of who is asynchronous, ")
                .append(bytes)
                .append(" bytes each.\n")
                .append("Ratios: Hodges-Lehmann over rounds, with the interval of the")
                .append(" signed-rank test.\n")
                .toString();
    }
}
