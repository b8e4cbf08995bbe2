package io.saucr.services.tool;

import io.saucr.services.Services;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which service a command is about, and who the command is, for the ensemble. One thread. */
final class EnsembleOption {

    @Option(
            names = "--ensemble",
            required = true,
            paramLabel = "SERVERS/PATH",
            description = "Of the service, as in zk1:2181,zk2:2181/apps/bank.")
    private String ensemble;

    @Mixin private CredentialsOption credentials;

    /**
     * The service.
     *
     * @throws IllegalArgumentException where place or credentials are none; says what is allowed
     */
    Services service() {
        return credentials.at(ensemble);
    }
}
