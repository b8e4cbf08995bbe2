package io.saucr.services.tool;

import io.saucr.services.Protection.Store;
import io.saucr.services.ServiceException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A member's folder from what members share (C4, C17). */
@Command(
        name = "restore",
        description = {
            "Makes the folder of a member of a service with standbys out of the store that members"
                    + " share, where their own folders are lost: up to what the head names, or to"
                    + " the newest segment that the store has. Reads the store, and changes"
                    + " nothing of it. Then start that member, or continue with"
                    + " 'accept-data-loss'. Exits with 1 if the store has nothing of the service,"
                    + " or the folder holds something else."
        },
        footer = {
            "",
            "Examples:",
            "  saucr-services restore services/bank --ensemble zk1:2181/apps/bank --from /mnt/bank",
            "  saucr-services restore services/bank --ensemble zk1:2181/apps/bank --from-ensemble",
        })
final class RestoreCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "FOLDER",
            description = "That is made; its member starts with it. Empty, or not there yet.")
    private Path folder;

    @Mixin private EnsembleOption ensemble;

    @ArgGroup(multiplicity = "1")
    private From from;

    /** Which store. */
    static final class From {

        @Option(
                names = "--from",
                paramLabel = "FOLDER",
                description = "That members share: of Store.folder(...).")
        private Path folder;

        @Option(
                names = "--from-ensemble",
                description = "Members keep segments in the ensemble: Store.ensemble().")
        private boolean ensemble;

        Store store() {
            return ensemble ? Store.ensemble() : Store.folder(folder);
        }
    }

    @Override
    public Integer call() throws FailureException, InterruptedException {
        try {
            ensemble.service()
                    .folder(folder)
                    .restore(from.store())
                    .forEach(spec.commandLine().getOut()::println);
            return ServicesCommand.FINE;
        } catch (IOException | ServiceException e) {
            throw FailureException.of(e);
        }
    }
}
