package io.saucr.services.tool;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code bin/saucr-services}: commands for those who run services. */
@Command(
        name = "saucr-services",
        mixinStandardHelpOptions = true,
        description = "Looks at services and helps them; shows what they are for.",
        subcommands = {DemoCommand.class, CommandLine.HelpCommand.class})
public final class ServicesCommand implements Runnable {

    @Spec private CommandSpec spec;

    /** Ends the process: 0, 1 where something failed, 2 where the command line is wrong. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new ServicesCommand())
                .setExecutionExceptionHandler(
                        (failure, command, parsed) -> {
                            PrintWriter err = command.getErr();
                            err.println(
                                    "saucr-services: "
                                            + (failure.getMessage() == null
                                                    ? failure
                                                    : failure.getMessage()));
                            return failure instanceof IllegalArgumentException ? 2 : 1;
                        });
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
