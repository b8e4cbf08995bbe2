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

/** A service goes on without segments that nobody has any more (C17). */
@Command(
        name = "accept-data-loss",
        description = {
            "Lets a service with standbys go on though nobody has the segment any more that its head"
                    + " names: with what the folder of one member holds, under a new generation. The"
                    + " member must not run. Without --losing it says what would be lost, and changes"
                    + " nothing; then start that member. Exits with 1 if somebody is primary, or may"
                    + " still have what is lost."
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

    @Parameters(paramLabel = "FOLDER", description = "Of the member that is to go on.")
    private Path folder;

    @Mixin private EnsembleOption ensemble;

    @Option(
            names = "--losing",
            paramLabel = "TOKEN",
            description = "Gives the order. Repeats what the command said without it.")
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
