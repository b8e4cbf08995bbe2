package io.saucr.services.tool;

import io.saucr.services.NewGeneration;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a folder that no process uses a new generation (K11). */
@Command(
        name = "new-generation",
        description = {
            "Makes the folder of a service or client a new generation, so that a backup can"
                    + " continue. Run it if an error message names it. The service must not run."
                    + " Without --instead-of it reports what would be replaced and what may be"
                    + " lost, and changes nothing."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services new-generation services/bank --ensemble zk1:2181/apps/bank",
            "  saucr-services new-generation services/bank --ensemble zk1:2181/apps/bank \\",
            "      --instead-of 0123456789abcdef0123456789abcdef",
            "  saucr-services new-generation data/teller --client teller",
        })
final class NewGenerationCommand implements Callable<Integer> {

    @Spec private picocli.CommandLine.Model.CommandSpec spec;

    @Parameters(paramLabel = "FOLDER", description = "Of the service or client.")
    private Path folder;

    @ArgGroup(multiplicity = "1")
    private Who who;

    /** Whose folder it is. */
    static final class Who {

        @Option(
                names = "--ensemble",
                paramLabel = "SERVERS/PATH",
                description = "Of the service, as in zk1:2181,zk2:2181/apps/bank.")
        private String ensemble;

        @Option(
                names = "--without",
                paramLabel = "NAME",
                description = "The name of a service that runs without an ensemble.")
        private String without;

        @Option(names = "--client", paramLabel = "NAME", description = "The name of a client.")
        private String client;
    }

    @Mixin private CredentialsOption credentials;

    @Option(
            names = "--instead-of",
            paramLabel = "GENERATION",
            description =
                    "Executes the command. The value must be the generation that the first call"
                            + " printed.")
    private String insteadOf;

    @Option(
            names = "--dead",
            paramLabel = "HOST:PORT",
            description = "The process that is said to serve there is dead.")
    private String dead;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        try {
            NewGeneration order = look();
            order.report().forEach(spec.commandLine().getOut()::println);
            if (insteadOf == null) {
                spec.commandLine()
                        .getOut()
                        .println(
                                "Nothing was changed. To execute the command: --instead-of "
                                        + order.birth());
                return ServicesCommand.FINE;
            }
            String now = dead == null ? order.give(insteadOf) : order.give(insteadOf, dead);
            spec.commandLine().getOut().println(folder + " has generation " + now + " now");
            return ServicesCommand.FINE;
        } catch (IOException | ServiceException e) {
            throw FailureException.of(e);
        }
    }

    private NewGeneration look() throws IOException, InterruptedException {
        if (who.client != null) {
            return Services.without(who.client, Map.of()).newGeneration(who.client, folder);
        }
        Services services =
                who.ensemble == null
                        ? Services.without(who.without, Map.of())
                        : credentials.at(who.ensemble);
        return services.folder(folder).newGeneration();
    }
}
