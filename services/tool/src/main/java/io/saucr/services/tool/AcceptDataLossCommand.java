package io.saucr.services.tool;

import io.saucr.services.DataLoss;
import io.saucr.services.ServiceException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lets a service continue without segments that no member has any more (C17). */
@Command(
        name = "accept-data-loss",
        description = {
            "Lets a service with standbys continue if no member has the segment that its head"
                    + " names. It continues with the content of one member's folder, as a new"
                    + " generation. That member must not run.",
            "Without --losing the command reports the loss and changes nothing. With --losing it"
                    + " accepts the loss; start that member afterwards. Exits with 1 if a member"
                    + " is primary, or a member that runs may have what is lost."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services accept-data-loss services/bank --ensemble zk1:2181/apps/bank",
            "  saucr-services accept-data-loss services/bank --ensemble zk1:2181/apps/bank \\",
            "      --losing lose-43-to-45-1a2b3c4d",
        })
final class AcceptDataLossCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FOLDER", description = "Of the member that is to continue.")
    private Path folder;

    @Mixin private EnsembleOption ensemble;

    @Option(
            names = "--losing",
            paramLabel = "TOKEN",
            description =
                    "Executes the command. The value must be the token that the first call"
                            + " printed.")
    private String losing;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try {
            DataLoss order = ensemble.service().folder(folder).dataLoss();
            order.report().forEach(out::println);
            if (order.refusal().isPresent()) {
                throw new FailureException(order.refusal().get());
            }
            if (losing == null) {
                out.println(
                        "Nothing was changed. To accept the loss: --losing "
                                + order.token().orElseThrow());
                return ServicesCommand.FINE;
            }
            out.println(
                    "The service has generation %s now. Start the member of %s"
                            .formatted(order.give(losing), folder));
            return ServicesCommand.FINE;
        } catch (IOException | ServiceException e) {
            throw FailureException.of(e);
        }
    }
}
