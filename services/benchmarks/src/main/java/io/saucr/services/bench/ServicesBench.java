package io.saucr.services.bench;

import io.saucr.bench.result.Numbers;
import io.saucr.ensemble.FsyncShim;
import io.saucr.ensemble.HostPressure;
import io.saucr.services.bench.SliceProcess.Measured;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures a durable turn side by side: in every round each contender gets one slice in a fresh
 * JVM, for each number of pairs and each delay of a force, and the order within a round moves on by
 * one from round to round.
 */
@Command(
        name = "saucr-bench services",
        description =
                "Measures what a durable turn of a service costs (a counter and a message, saved together) beside"
                        + " a raw append and what people use today, round by round, each slice in a fresh JVM.",
        subcommands = {
            OnceBench.class,
            IndependentSetBench.class,
            DhtBench.class,
            AuctionBench.class,
            ChainBench.class,
            DseBench.class,
            KvBench.class,
            PauseBench.class,
            ParallelBench.class,
            RexBench.class
        },
        mixinStandardHelpOptions = true)
public final class ServicesBench implements Callable<Integer> {

    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

    @Option(
            names = "--contenders",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Who takes part; the first is what the others are compared with (default: all).")
    private List<String> contenders = List.of();

    @Option(
            names = "--pairs",
            paramLabel = "N",
            split = ",",
            defaultValue = "1",
            description = "Pairs that count at the same time (default: ${DEFAULT-VALUE}).")
    private List<Integer> pairs;

    @Option(
            names = "--force",
            paramLabel = "MILLIS",
            split = ",",
            defaultValue = "0,1,5,10",
            description =
                    "How long each force takes at least, 0 for the disk as it is (default: ${DEFAULT-VALUE}).")
    private List<Double> forces;

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
            defaultValue = "3",
            description =
                    "Turns before it that do not count, in seconds (default: ${DEFAULT-VALUE}).")
    private double warmUp;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description = "On the disk to be measured (default: a temporary folder).")
    private Path work;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description =
                    "Where table.txt, report.html and result.json go (default: a new folder in bench-results).")
    private Path out;

    /** Ends the process: 0, 1 if a contender failed, 2 if the command line is wrong. */
    public static void main(String[] arguments) {
        // Who stops this program stops what it started.
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () ->
                                        ProcessHandle.current()
                                                .descendants()
                                                .forEach(ProcessHandle::destroyForcibly)));
        CommandLine line = commandLine();
        System.exit(
                HostPressure.around(
                        () -> line.execute(arguments),
                        stall -> line.getErr().println("saucr-bench services: " + stall)));
    }

    static CommandLine commandLine() {
        return new CommandLine(new ServicesBench())
                .setExecutionExceptionHandler(
                        (failure, command, parsed) -> {
                            command.getErr()
                                    .println("saucr-bench services: " + failure.getMessage());
                            return failure instanceof IllegalArgumentException ? 2 : 1;
                        });
    }

    /**
     * One slice.
     *
     * @param contender its name
     * @param pairs that counted at the same time
     * @param forceMillis that each force took at least
     * @param round from 0
     * @param result what it showed
     */
    record Sample(String contender, int pairs, double forceMillis, int round, Measured result) {}

    @Override
    public Integer call() throws Exception {
        List<Contender> who =
                contenders.isEmpty()
                        ? List.of(Contender.values())
                        : contenders.stream().map(Contender::of).toList();
        check();
        if (forces.stream().anyMatch(force -> !takesPart(who.get(0), force))) {
            throw new IllegalArgumentException(
                    "--contenders: "
                            + who.get(0)
                            + " cannot be the first, whom the others are compared with, where"
                            + " forces take longer, as its own cannot be delayed; name another"
                            + " first, or --force 0");
        }
        Path parent = work != null ? work : Path.of(System.getProperty("java.io.tmpdir"));
        Files.createDirectories(parent);
        List<Sample> samples = new ArrayList<>();
        SliceProcess process =
                new SliceProcess(
                        parent,
                        Duration.ofNanos(Math.round(warmUp * 1e9)),
                        Duration.ofNanos(Math.round(seconds * 1e9)),
                        List.of());
        for (Contender contender : who) {
            contender.prepare();
        }
        long slices =
                (long) rounds
                        * pairs.size()
                        * forces.stream()
                                .mapToLong(
                                        force ->
                                                who.stream()
                                                        .filter(it -> takesPart(it, force))
                                                        .count())
                                .sum();
        for (int round = 0; round < rounds; round++) {
            for (double force : forces) {
                for (int count : pairs) {
                    for (int place = 0; place < who.size(); place++) {
                        Contender contender = who.get((place + round) % who.size());
                        if (!takesPart(contender, force)) {
                            continue;
                        }
                        Measured result = process.run(contender, count, force);
                        samples.add(new Sample(contender.toString(), count, force, round, result));
                        System.err.printf(
                                Locale.ROOT,
                                "%d of %d: round %d, %s, %d pairs, forces +%s ms: %s turns/s, mean %s us%n",
                                samples.size(),
                                slices,
                                round + 1,
                                contender,
                                count,
                                Numbers.number(force),
                                Numbers.number(result.slice().turnsPerSecond()),
                                Numbers.number(result.slice().meanMicros()));
                    }
                }
            }
        }
        ServicesReport report = new ServicesReport(who, pairs, forces, samples);
        System.out.println(report.text());
        Path folder =
                out != null
                        ? out
                        : Path.of(
                                "bench-results",
                                "services-"
                                        + LocalDateTime.now(ZoneId.systemDefault()).format(STAMP));
        report.write(folder);
        System.out.println("Results are in " + folder);
        return 0;
    }

    /** Not where its forces would be the only ones that take no longer. */
    static boolean takesPart(Contender contender, double forceMillis) {
        return forceMillis == 0 || contender.forcesAreSeen();
    }

    private void check() {
        if (rounds < 1 || !(seconds > 0) || !(warmUp >= 0)) {
            throw new IllegalArgumentException(
                    "allowed: one round or more, slices longer than 0 s");
        }
        if (pairs.stream().anyMatch(n -> n < 1 || n > 1000)) {
            throw new IllegalArgumentException("--pairs: allowed are 1 to 1000, not " + pairs);
        }
        if (forces.stream().anyMatch(ms -> !(ms >= 0 && ms <= 1000))) {
            throw new IllegalArgumentException("--force: allowed are 0 to 1000 ms, not " + forces);
        }
        if (forces.stream().anyMatch(ms -> ms > 0) && !FsyncShim.available()) {
            throw new IllegalArgumentException(
                    "--force: no C compiler was found, which slower forces need; --force 0 goes without");
        }
    }
}
