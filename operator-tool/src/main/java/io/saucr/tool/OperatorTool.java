package io.saucr.tool;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code bin/saucr}. */
@Command(
        name = "saucr",
        description = "Queries the servers of a ZooKeeper ensemble, and sends them admin commands.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = OperatorTool.Version.class,
        subcommands = {
            EndpointCommand.class,
            ReplicationCommand.ModeCommand.class,
            ReplicationCommand.ViewCommand.class,
            ReplicationCommand.RecoveryCommand.class,
            OrderCommand.Slow.class,
            OrderCommand.Fast.class,
            OrderCommand.Flush.class,
            OrderCommand.Shed.class,
            MemberCommand.class,
            MoveLeaderCommand.class,
            TopCommand.class,
            SlowRequestsCommand.class,
            SnapshotCommand.class,
            BackupCommand.class,
        },
        footer = {
            "",
            "Exit codes: 0 all is well, 1 it is not or the command failed, 2 wrong usage.",
        })
public final class OperatorTool implements Runnable {
    static final int FINE = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    private static final String DEBUG = "--debug";

    @Spec private CommandSpec spec;

    @Option(
            names = DEBUG,
            scope = ScopeType.INHERIT,
            description = "Shows what ZooKeeper's client logs.")
    private boolean debug;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Shows this help.")
    private boolean help;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-V", "--version"},
            scope = ScopeType.INHERIT,
            versionHelp = true,
            description = "Shows the version.")
    private boolean version;

    /** Of the jar, as the build gave it. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "saucr " + OperatorTool.class.getPackage().getImplementationVersion()
            };
        }
    }

    /** Exit codes: {@link #FINE}, {@link #FAILED}, {@link #USAGE}. */
    public static void main(String[] args) {
        if (!Arrays.asList(args).contains(DEBUG)) {
            // Answers are for scripts, too; and to start a logger takes longer than to ask a
            // server.
            System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
            System.setProperty("slf4j.internal.verbosity", "WARN");
        }
        System.exit(commandLine().execute(args));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    @Command(
            name = "help",
            description = "Shows how a command is used: saucr help endpoint status.")
    int help(@Parameters(arity = "0..*", paramLabel = "COMMAND") List<String> path) {
        CommandLine command = spec.commandLine();
        for (String name : path == null ? List.<String>of() : path) {
            CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new ParameterException(command, "there is no command '" + name + "'");
            }
            command = next;
        }
        command.usage(spec.commandLine().getOut());
        return FINE;
    }

    static CommandLine commandLine() {
        OperatorTool tool = new OperatorTool();
        CommandLine line = new CommandLine(tool);
        line.getSubcommands().values().forEach(OperatorTool::tellVersion);
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler(OperatorTool::wrongUsage)
                .setExecutionExceptionHandler(
                        (failure, command, parsed) -> tool.failed(failure, command));
    }

    /** The option is inherited, who answers it is not. */
    private static void tellVersion(CommandLine command) {
        command.getCommandSpec().versionProvider(new Version());
        command.getSubcommands().values().forEach(OperatorTool::tellVersion);
    }

    private int failed(Exception failure, CommandLine command) {
        boolean known = failure instanceof FailureException;
        if (known) {
            command.getErr().println("saucr: " + failure.getMessage());
        }
        if (debug || !known) {
            failure.printStackTrace(command.getErr());
        }
        return FAILED;
    }

    private static int wrongUsage(ParameterException problem, String[] args) {
        CommandLine command = problem.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        boolean unknown =
                problem instanceof UnmatchedArgumentException
                        && !command.getSubcommands().isEmpty();
        command.getErr()
                .println(
                        "saucr: "
                                + (unknown
                                        ? "there is no command '"
                                                + ((UnmatchedArgumentException) problem)
                                                        .getUnmatched()
                                                        .get(0)
                                                + "'"
                                        : problem.getMessage()));
        if (command.getSubcommands().isEmpty()) {
            command.getErr().println("'" + name + " --help' shows its options.");
        } else {
            command.usage(command.getErr());
        }
        return USAGE;
    }
}
