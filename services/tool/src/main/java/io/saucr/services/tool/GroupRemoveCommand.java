package io.saucr.services.tool;

import io.saucr.services.ServiceException;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Disk;
import io.saucr.services.speculative.GroupExit;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A member that has left is no member any more, and its folder is one of local() (D13, D19). */
@Command(
        name = "remove",
        description = {
            "Takes a member out of its group that has left it and is stopped. Its folder keeps all that"
                    + " the service has, and is used with Protection.local() from then on, or by a new"
                    + " member of a group. Nothing is lost. If the command is interrupted, repeat it.",
            "Exits with 1 if the service runs or has not left, or the folder is not that of the member."
        },
        footer = {
            "",
            "Example:",
            "  saucr-services group remove hotels --folder services/hotels \\",
            "      --ensemble zk1:2181/groups/travel",
        })
final class GroupRemoveCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "MEMBER", description = "The name of the member.")
    private String name;

    @Option(
            names = "--folder",
            required = true,
            paramLabel = "FOLDER",
            description = "Of the service.")
    private Path folder;

    @Mixin private GroupOption group;

    @Override
    public Integer call() throws FailureException, InterruptedException {
        ServicePath from = group.group();
        try {
            Disk disk = Disk.local();
            GroupExit.of(disk, Place.without(name, Map.of()).withFolder(folder), from)
                    .forEach(spec.commandLine().getOut()::println);
            return ServicesCommand.FINE;
        } catch (IOException | ServiceException e) {
            throw FailureException.of(e);
        }
    }
}
