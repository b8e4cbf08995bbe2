package io.saucr.bench.cli;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.Security;
import io.saucr.bench.measure.WorkFolder;
import io.saucr.ensemble.Encryption;
import io.saucr.ensemble.Encryption.Tls;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Option;

/** Where TLS is used, the same for everything that is compared; filled in by picocli. */
final class SecurityOptions {
    @Option(
            names = "--tls",
            paramLabel = "WHERE",
            description =
                    "Where TLS is used, one of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})."
                            + " quorum: between servers. all: also between clients and servers.",
            defaultValue = "NONE")
    private Tls tls;

    @Option(
            names = "--netty",
            description =
                    "Servers have ZooKeeper's port for clients on Netty, which --tls all implies.")
    private boolean netty;

    /**
     * @throws IllegalArgumentException if one of the options is given
     */
    void requireNone() {
        if (netty || tls != Tls.NONE) {
            throw new IllegalArgumentException(
                    "--tls and --netty are for servers that are started here, not for --connect");
        }
    }

    /**
     * @param command whose own sessions do without TLS
     * @throws IllegalArgumentException if the load's would use it
     */
    void requirePlainClients(String command) {
        if (tls == Tls.ALL) {
            throw new IllegalArgumentException(
                    command + " opens sessions that speak no TLS: use --tls quorum");
        }
    }

    /** The same configurations, secured. Makes the keys, in a folder that is there for the run. */
    List<Configuration> of(List<Configuration> configurations, WorkFolder work) throws IOException {
        Encryption encryption = Encryption.of(tls, work.path(), List.of());
        encryption.encryptClientsOfThisProcess();
        Security security = new Security(encryption, netty);
        return configurations.stream().map(each -> each.secured(security)).toList();
    }
}
