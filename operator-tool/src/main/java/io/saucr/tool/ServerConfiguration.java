package io.saucr.tool;

import io.saucr.core.config.HostPort;
import io.saucr.core.config.ZooCfg;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A server's {@code zoo.cfg}, as far as it says how the server is reached from its own machine.
 * Immutable.
 */
final class ServerConfiguration {
    private final Path file;
    private final ZooCfg cfg;

    private ServerConfiguration(Path file, ZooCfg cfg) {
        this.file = file;
        this.cfg = cfg;
    }

    /**
     * @throws IllegalArgumentException if there is no such file, or the server could not read it
     */
    static ServerConfiguration read(Path file) {
        ConnectionOptions.readable(file, "--config");
        try {
            return new ServerConfiguration(file, ZooCfg.read(file));
        } catch (IOException e) {
            throw new IllegalArgumentException("--config " + e.getMessage(), e);
        }
    }

    /**
     * Its port for clients, without TLS if it has one without; and its AdminServer, unless it has
     * none.
     *
     * @throws IllegalArgumentException if there is no port for clients, or a value that is not one
     */
    Endpoint endpoint() throws IOException {
        ZooCfg.Clients clients =
                cfg.clients()
                        .orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                file
                                                        + ": there is no port for clients"
                                                        + " (clientPort, secureClientPort, or"
                                                        + " ';port' in the line server.N of the"
                                                        + " id in dataDir/myid)"));
        HostPort address = clients.address();
        return new Endpoint(
                address.host(), address.port(), clients.tls(), cfg.admin().map(URI::create));
    }

    /** Its stores of keys and certificates, as properties of a client. */
    Map<String, String> stores() {
        Map<String, String> stores = new LinkedHashMap<>();
        cfg.keys()
                .forEach(
                        (key, value) -> {
                            if (key.startsWith("ssl.")) {
                                stores.put("zookeeper." + key, value);
                            }
                        });
        return stores;
    }
}
