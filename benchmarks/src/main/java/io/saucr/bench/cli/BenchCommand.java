package io.saucr.bench.cli;

import io.saucr.ensemble.HostPressure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The command line of the benchmark driver. */
@Command(
        name = "saucr-bench",
        description =
                "Measures ZooKeeper ensembles side by side on this machine: configurations take"
                        + " turns in rounds, and are compared round by round.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "'saucr-bench services' measures no ensemble, but a durable turn of a service compared with"
                    + " its peers: see 'saucr-bench services --help'."
        })
public final class BenchCommand {
    private BenchCommand() {}

    /** Ends the process: 0, 1 if the run failed, 2 if the command line is wrong. */
    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    /** What a subcommand takes. */
    static CommandSpec subcommand(String name) {
        return commandLine().getSubcommands().get(name).getCommandSpec();
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new BenchCommand());
        for (Object each :
                List.of(
                        FigureCommand.of(
                                Figure.quick(),
                                "Update-only load with 8 clients on hdd: a first impression within a"
                                        + " minute or two."),
                        FigureCommand.of(
                                Figure.table1(),
                                "What fsync costs stock ZooKeeper: one client that updates,"
                                        + " with fsync and without, on hdd and ssd (table 1 of the"
                                        + " paper)."),
                        FigureCommand.of(
                                Figure.fig7(),
                                "Update-only load, 1 KB values, against the number of clients from 1"
                                        + " to 64, on hdd and ssd (figure 7 of the paper)."),
                        new Fig8(),
                        new FailureTimeline(),
                        new Fig10(),
                        FigureCommand.of(
                                Figure.latency(),
                                "Latency against offered load, update-only, 64 clients on ssd."
                                        + " Operations begin at their time whatever happened to"
                                        + " those before, and latency counts from then (open loop,"
                                        + " no coordinated omission)."),
                        FigureCommand.of(
                                Figure.starved(),
                                "A write every 20 ms by one client on ssd, for ensembles of 3 and 5"
                                        + " whose servers may use half a processor each (open"
                                        + " loop). Use slices of 30 s: 3 s hold 150 writes."),
                        FigureCommand.of(
                                Figure.ensembles(),
                                "Update-only load with 8 clients on hdd for ensembles of 3, 5 and"
                                        + " 7."),
                        FigureCommand.of(
                                Figure.values(),
                                "Update-only load with 8 clients on hdd for values of 100 B to 64"
                                        + " KB."),
                        new Watchers(),
                        new SizesCommand(),
                        new IdleCost(),
                        new FailoverComparison(),
                        new MaintenanceComparison(),
                        new RecoveryComparison(),
                        new SlowDiskComparison(),
                        new FlappingComparison(),
                        new BulkComparison(),
                        new ExpiryComparison(),
                        new ProfileCommand(),
                        new GateCommand(),
                        new MicroCommand(),
                        new AllCommand(),
                        new MergeCommand(),
                        new ReportCommand(),
                        new CommandLine.HelpCommand())) {
            line.addSubcommand(each);
        }
        return line;
    }

    static int execute(String... arguments) {
        CommandLine line =
                commandLine()
                        .setCaseInsensitiveEnumValuesAllowed(true)
                        .setExecutionExceptionHandler(
                                (failure, command, parsed) -> {
                                    command.getErr().println("saucr-bench: " + message(failure));
                                    return failure instanceof IllegalArgumentException ? 2 : 1;
                                });
        // Clients with TLS read theirs, see Encryption.
        Properties before = (Properties) System.getProperties().clone();
        try {
            return HostPressure.around(
                    () -> line.execute(arguments),
                    stall -> line.getErr().println("saucr-bench: " + stall));
        } finally {
            System.setProperties(before);
        }
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
    abstract static class FigureCommand implements Callable<Integer> {
        @Mixin private RunOptions options;

        abstract Figure figure();

        @Override
        public Integer call() throws Exception {
            options.measure(figure());
            return 0;
        }

        /** A figure without options of its own. */
        static CommandLine of(Figure figure, String description) {
            CommandLine line = new CommandLine(new Plain(figure));
            line.setCommandName(figure.name());
            line.getCommandSpec().usageMessage().description(description);
            return line;
        }

        @Command(mixinStandardHelpOptions = true)
        private static final class Plain extends FigureCommand {
            private final Figure figure;

            Plain(Figure figure) {
                this.figure = figure;
            }

            @Override
            Figure figure() {
                return figure;
            }
        }
    }

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

        @Override
        Figure figure() {
            return Figure.fig8(workloads);
        }
    }

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
            return Figure.fig10(intervals);
        }
    }

    @Command(
            name = "watchers",
            description = {
                "Update-only load with 8 clients on hdd while sessions watch the whole tree: CPU time"
                        + " and calls of a write against the number of recursive watchers.",
                "Every watcher must be notified of every write, else the run fails."
            },
            mixinStandardHelpOptions = true)
    static final class Watchers extends FigureCommand {
        @Option(
                names = "--watchers",
                split = ",",
                paramLabel = "N",
                description =
                        "Numbers of sessions with a persistent recursive watch of the root (default:"
                                + " ${DEFAULT-VALUE}).",
                defaultValue = "1,10,100,300")
        private List<Integer> watchers;

        @Override
        Figure figure() {
            return Figure.watchers(watchers);
        }
    }
}
