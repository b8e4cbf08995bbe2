package io.saucr.services.tool;

import io.saucr.services.ensemble.ServicePath;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which group a command is about, and who the command is, for the ensemble. One thread. */
final class GroupOption {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    // Not required for picocli, which would ask for it in front of a subcommand, too.
    @Option(
            names = "--ensemble",
            paramLabel = "SERVERS/PATH",
            description = "Of the group, as in zk1:2181,zk2:2181/groups/travel. Required.")
    private String ensemble;

    @Mixin private CredentialsOption credentials;

    /**
     * Where the group is.
     *
     * @throws ParameterException where the option is missing
     * @throws IllegalArgumentException where place or credentials are none; says what is allowed
     */
    ServicePath group() {
        if (ensemble == null) {
            throw new ParameterException(
                    command.commandLine(), "Missing required option: '--ensemble=SERVERS/PATH'");
        }
        return credentials.place(ensemble).servicePath(Optional.empty());
    }
}
