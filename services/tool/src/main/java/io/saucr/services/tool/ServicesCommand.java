package io.saucr.services.tool;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code bin/saucr-services}: commands for those who run services. */
@Command(
        name = "saucr-services",
        description =
                "Queries services, sends them admin commands, and reads their folders. 'demo' shows"
                        + " services that are killed.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            StatusCommand.class,
            DeadLettersCommand.class,
            OrderCommand.Retry.class,
            OrderCommand.Discard.class,
            OrderCommand.DeclareLost.class,
            OrderCommand.ReturnUndelivered.class,
            OrderCommand.Resume.class,
            HandoverCommand.class,
            GroupCommand.class,
            FolderCommand.class,
            NewGenerationCommand.class,
            RestoreCommand.class,
            AcceptDataLossCommand.class,
            MoveCommand.class,
            DemoCommand.class,
        },
        footer = {
            "",
            "Exit codes: 0 all is well, 1 it is not or the command failed, 2 wrong usage.",
        })
public final class ServicesCommand implements Runnable {

    static final int FINE = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    @Spec private CommandSpec spec;

    @SuppressWarnings("UnusedVariable") // picocli acts on it
    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Shows this help.")
    private boolean help;

    /** Ends the process: {@link #FINE}, {@link #FAILED} or {@link #USAGE}. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new ServicesCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler(ServicesCommand::wrongUsage)
                .setExecutionExceptionHandler(
                        (failure, command, parsed) -> failed(failure, command));
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    @Command(name = "help", description = "Shows how a command is used: saucr-services help retry.")
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

    private static int failed(Exception failure, CommandLine command) {
        command.getErr()
                .println(
                        "saucr-services: "
                                + (failure.getMessage() == null ? failure : failure.getMessage()));
        if (!(failure instanceof FailureException)
                && !(failure instanceof IllegalArgumentException)) {
            failure.printStackTrace(command.getErr());
        }
        return failure instanceof IllegalArgumentException ? USAGE : FAILED;
    }

    private static int wrongUsage(ParameterException problem, String[] arguments) {
        CommandLine command = problem.getCommandLine();
        boolean group = !command.getSubcommands().isEmpty();
        boolean unknown = group && problem instanceof UnmatchedArgumentException;
        command.getErr()
                .println(
                        "saucr-services: "
                                + (unknown
                                        ? "there is no command '"
                                                + ((UnmatchedArgumentException) problem)
                                                        .getUnmatched()
                                                        .get(0)
                                                + "'"
                                        : problem.getMessage()));
        if (group) {
            command.usage(command.getErr());
        } else {
            command.getErr()
                    .println(
                            "'"
                                    + command.getCommandSpec().qualifiedName()
                                    + " --help' shows its options.");
        }
        return USAGE;
    }
}
