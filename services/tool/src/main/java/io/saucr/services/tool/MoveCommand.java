package io.saucr.services.tool;

import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A service from one protection to the other. */
@Command(
        name = "move",
        description = {
            "Moves a service that is stopped from Protection.local() to Protection.standby(), or"
                    + " back. It writes a new folder, then hands that folder the service's head by one"
                    + " conditional write. State, timers, and messages that wait move along; clients"
                    + " and peers continue as after a restart. The old folder is kept, and no start"
                    + " takes it any more. Exits with 1 if the service runs, or the folder is not"
                    + " the newest."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services move services/bank --to-standby members/bank --ensemble"
                    + " zk1:2181/apps/bank",
            "  saucr-services move members/bank --to-local services/bank2 --ensemble"
                    + " zk1:2181/apps/bank",
        })
final class MoveCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "FOLDER",
            description = "That the service has now: its own, or that of a member.")
    private Path folder;

    @Mixin private EnsembleOption ensemble;

    @ArgGroup(multiplicity = "1")
    private To to;

    /** Which protection. */
    static final class To {

        @Option(
                names = "--to-standby",
                paramLabel = "NEW-FOLDER",
                description =
                        "Of the first member, which is made. Empty, or not there yet; other members"
                                + " start with empty folders.")
        private Path standby;

        @Option(
                names = "--to-local",
                paramLabel = "NEW-FOLDER",
                description = "Of the service, which is made. Empty, or not there yet.")
        private Path local;

        List<String> move(Services service) throws IOException, InterruptedException {
            return standby == null ? service.moveToLocal(local) : service.moveToStandby(standby);
        }
    }

    @Override
    public Integer call() throws FailureException, InterruptedException {
        try {
            to.move(ensemble.service().folder(folder))
                    .forEach(spec.commandLine().getOut()::println);
            return ServicesCommand.FINE;
        } catch (IOException | ServiceException e) {
            throw FailureException.of(e);
        }
    }
}
