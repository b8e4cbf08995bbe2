package io.saucr.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line of the benchmark driver. */
@Command(
        name = "saucr-bench",
        description =
                "Measures ZooKeeper ensembles side by side on this machine: configurations take"
                        + " turns in rounds, and are compared round by round.",
        mixinStandardHelpOptions = true,
        subcommands = {
            BenchCommand.Quick.class,
            BenchCommand.Table1.class,
            BenchCommand.Fig7.class,
            BenchCommand.Fig8.class,
            BenchCommand.Fig10.class,
            CommandLine.HelpCommand.class
        })
public final class BenchCommand {
    private BenchCommand() {}

    /** Ends the process: 0, 1 if the run failed, 2 if the command line is wrong. */
    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    static int execute(String... arguments) {
        CommandLine line =
                new CommandLine(new BenchCommand())
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .setExecutionExceptionHandler(
                                (failure, command, parsed) -> {
                                    command.getErr().println("saucr-bench: " + message(failure));
                                    return failure instanceof IllegalArgumentException ? 2 : 1;
                                });
        return line.execute(arguments);
    }

    private static String message(Throwable failure) {
        return failure instanceof IOException
                        || failure instanceof UncheckedIOException
                        || failure instanceof IllegalStateException
                        || failure instanceof IllegalArgumentException
                ? failure.getMessage()
                : failure.toString();
    }

    /** What the figures have in common. */
    private abstract static class FigureCommand implements Callable<Integer> {
        @Mixin private RunOptions options;

        abstract Figure figure();

        @Override
        public Integer call() throws Exception {
            return measure(figure(), options);
        }
    }

    /** Table 1 of the paper. */
    @Command(
            name = "table1",
            description =
                    "What forced writes cost stock ZooKeeper: one client that updates, with forces"
                            + " and without, on hdd and ssd (table 1 of the paper).",
            mixinStandardHelpOptions = true)
    static final class Table1 extends FigureCommand {
        @Override
        Figure figure() {
            return new Figure(
                    "table1",
                    List.of(Configuration.MEMORY_DURABLE, Configuration.DISK_DURABLE),
                    List.of(Workloads.UPDATE),
                    List.of(1),
                    List.of(DeviceProfile.HDD, DeviceProfile.SSD));
        }
    }

    /** Figure 7 of the paper. */
    @Command(
            name = "fig7",
            description =
                    "Update-only load, 1 KB values, against the number of clients, on hdd and ssd"
                            + " (figure 7 of the paper).",
            mixinStandardHelpOptions = true)
    static final class Fig7 extends FigureCommand {
        @Option(
                names = "--clients",
                split = ",",
                paramLabel = "N",
                description = "Numbers of clients (default: ${DEFAULT-VALUE}).",
                defaultValue = "1,2,4,8,16,32,64")
        private List<Integer> clients;

        @Override
        Figure figure() {
            return new Figure(
                    "fig7",
                    Figure.ALL_THREE,
                    List.of(Workloads.UPDATE),
                    clients,
                    List.of(DeviceProfile.HDD, DeviceProfile.SSD));
        }
    }

    /** Figure 8 of the paper. */
    @Command(
            name = "fig8",
            description =
                    "YCSB workloads with 8 clients, 1 KB values, on hdd and ssd (figure 8 of the"
                            + " paper).",
            mixinStandardHelpOptions = true)
    static final class Fig8 extends FigureCommand {
        @Option(
                names = "--workloads",
                split = ",",
                paramLabel = "NAME",
                description =
                        "Files of the folder workloads, or update (default: ${DEFAULT-VALUE}).",
                defaultValue = "load,workloada,workloadb,workloadc,workloadd,workloadf")
        private List<String> workloads;

        @Option(
                names = "--clients",
                split = ",",
                paramLabel = "N",
                description = "Numbers of clients (default: ${DEFAULT-VALUE}).",
                defaultValue = "8")
        private List<Integer> clients;

        @Override
        Figure figure() {
            return new Figure(
                    "fig8",
                    Figure.ALL_THREE,
                    workloads,
                    clients,
                    List.of(DeviceProfile.HDD, DeviceProfile.SSD));
        }
    }

    /** Figure 10 of the paper. */
    @Command(
            name = "fig10",
            description =
                    "SAUCR with heartbeat intervals from 1 ms to 1 s: throughput, commits in slow mode"
                            + " and flushes per second, YCSB load phase with 8 clients on ssd (figure 10"
                            + " of the paper). The first interval is compared with each other.",
            mixinStandardHelpOptions = true)
    static final class Fig10 extends FigureCommand {
        @Option(
                names = "--intervals",
                split = ",",
                paramLabel = "DURATION",
                description = "Heartbeat intervals (default: ${DEFAULT-VALUE}).",
                defaultValue = "50ms,1ms,10ms,100ms,1s")
        private List<String> intervals;

        @Override
        Figure figure() {
            return new Figure(
                    "fig10",
                    intervals.stream()
                            .map(each -> Configuration.SAUCR + ",saucr.heartbeatInterval=" + each)
                            .toList(),
                    List.of("load"),
                    List.of(8),
                    List.of(DeviceProfile.SSD));
        }
    }

    /** A short look. */
    @Command(
            name = "quick",
            description =
                    "Update-only load with 8 clients on hdd: a first impression within a minute or"
                            + " two.",
            mixinStandardHelpOptions = true)
    static final class Quick extends FigureCommand {
        @Override
        Figure figure() {
            return new Figure(
                    "quick",
                    Figure.ALL_THREE,
                    List.of(Workloads.UPDATE),
                    List.of(8),
                    List.of(DeviceProfile.HDD));
        }
    }

    private static int measure(Figure figure, RunOptions options) throws Exception {
        Path parent = Files.createDirectories(options.workParent());
        Path run = Files.createTempDirectory(parent, "saucr-bench-");
        Thread cleaner = new Thread(() -> delete(run), "remove " + run);
        Runtime.getRuntime().addShutdownHook(cleaner);
        try {
            RunPlan plan = options.plan(figure, run);
            Path folder = options.resultFolder(figure.name());
            Results results = new Results(folder, plan, Machine.here());
            Progress progress =
                    new Progress(
                            System.err,
                            Boolean.getBoolean("saucr.bench.terminal"),
                            plan.slicesPerRound() * plan.rounds());
            List<Slice> slices;
            try {
                slices =
                        new Benchmark(plan, run, workloads(), new Reporter(results, progress))
                                .run();
            } finally {
                progress.end();
            }
            PrintStream out = System.out;
            out.println(results.finish(slices));
            out.println("Results are in " + folder);
            return 0;
        } finally {
            if (removed(cleaner)) {
                delete(run);
            }
        }
    }

    private static Workloads workloads() {
        return new Workloads(Path.of(System.getProperty("saucr.root", "."), "workloads"));
    }

    private static boolean removed(Thread hook) {
        try {
            return Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return false; // The JVM is shutting down and runs it itself.
        }
    }

    /** Several times if need be: at a shutdown, servers may still be writing for a moment. */
    private static void delete(Path folder) {
        IOException failure = null;
        for (int attempt = 0; attempt < 10 && Files.exists(folder); attempt++) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException | UncheckedIOException e) {
                failure = new IOException(folder + " could not be removed", e);
            }
        }
        if (Files.exists(folder) && failure != null) {
            System.err.println("saucr-bench: " + failure.getMessage());
        }
    }

    private record Reporter(Results results, Progress progress) implements Benchmark.Listener {
        @Override
        public void step(String what) {
            progress.step(what);
        }

        @Override
        public void measured(Slice slice, LoadResult load) {
            progress.measured();
            try {
                results.add(slice);
            } catch (IOException e) {
                throw new UncheckedIOException("the results cannot be written", e);
            }
        }

        @Override
        public void roundEnded(int round) {
            progress.roundEnded(round);
        }

        @Override
        public void ended(String configuration, int server, Path log) {
            try {
                results.keepLog(configuration, server, log);
            } catch (IOException e) {
                throw new UncheckedIOException("the servers' logs cannot be kept", e);
            }
        }
    }
}
