package io.saucr.crash;

import picocli.CommandLine.Option;

/** How large the ensembles are. */
final class ServersOption {
    @Option(
            names = {"-n", "--servers"},
            defaultValue = "5",
            description = "Servers, 3 to 9. Default: ${DEFAULT-VALUE}.")
    int servers;
}
