package io.saucr.ensemble.cli;

import io.saucr.core.config.TimeLimit;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The command line of the project, started by the script {@code saucr}, which builds first and runs
 * {@code test} itself. Exit codes: 0 done, 1 failed with a message, 2 wrong usage.
 */
@Command(
        name = "./saucr",
        mixinStandardHelpOptions = true,
        versionProvider = SaucrCommand.Version.class,
        description = "A local ensemble of SAUCR ZooKeeper servers.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            UpCommand.class,
            StatusCommand.class,
            KillCommand.class,
            StartCommand.class,
            DownCommand.class,
            CliCommand.class,
            DemoCommand.class,
            CommandLine.HelpCommand.class,
        },
        footer = {
            "  test    Runs all tests but the long ones, or also those (--all), or a few (--quick); the"
                    + " last line counts them.",
            "",
            "State is in the folder .saucr of the project, or in SAUCR_STATE.",
        })
public final class SaucrCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    /** The whole command line, ready to execute. */
    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new SaucrCommand());
        line.getSubcommands()
                .values()
                .forEach(each -> each.getCommandSpec().versionProvider(new Version()));
        return line.registerConverter(Duration.class, SaucrCommand::timeLimit)
                .setExecutionExceptionHandler(
                        (failure, commandLine, result) -> {
                            if (failure instanceof EnsembleException) {
                                commandLine.getErr().println("saucr: " + failure.getMessage());
                            } else {
                                failure.printStackTrace(commandLine.getErr());
                            }
                            return 1;
                        });
    }

    private static Duration timeLimit(String text) {
        try {
            return TimeLimit.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /** Where clients and browsers find the ensemble. */
    static void printPlaces(LocalEnsemble ensemble, PrintWriter out) {
        out.println("Connect string: " + ensemble.connectString());
        ensemble.statusPage().ifPresent(page -> out.println("Status page:    " + page));
    }

    /** Of the distribution that the commands start. */
    static final class Version implements IVersionProvider {
        private static final Pattern TARBALL =
                Pattern.compile("saucr-zookeeper-(.+)-bin\\.tar\\.gz");

        @Override
        public String[] getVersion() throws IOException {
            String version =
                    Distribution.tarball(root())
                            .map(file -> TARBALL.matcher(file.getFileName().toString()))
                            .filter(Matcher::matches)
                            .map(name -> name.group(1))
                            .orElse("of a distribution that is not built yet");
            return new String[] {"SAUCR ZooKeeper " + version};
        }
    }

    /** The project's root folder. */
    static Path root() {
        return Path.of(System.getProperty("saucr.root", ".")).toAbsolutePath().normalize();
    }

    /** The folder with everything that the commands write. */
    static Path state() {
        String state = System.getProperty("saucr.state");
        return state == null
                ? root().resolve(".saucr")
                : Path.of(state).toAbsolutePath().normalize();
    }

    /**
     * The ensemble that was set up before.
     *
     * @throws EnsembleException if there is none
     */
    static LocalEnsemble ensemble() {
        return LocalEnsemble.in(state())
                .orElseThrow(
                        () -> new EnsembleException("there is no ensemble; ./saucr up starts one"));
    }
}
