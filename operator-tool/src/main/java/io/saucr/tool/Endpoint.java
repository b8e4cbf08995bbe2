package io.saucr.tool;

import io.saucr.core.config.HostPort;
import java.net.URI;
import java.util.Optional;

/**
 * Where one server is reached.
 *
 * @param host name or address, without brackets
 * @param port of clients
 * @param tls whether clients speak TLS on that port
 * @param admin its AdminServer with the folder of its commands, without a slash at the end; empty
 *     if it is not to be asked
 */
record Endpoint(String host, int port, boolean tls, Optional<URI> admin) {
    /** HOST:PORT, as a client takes it. */
    String name() {
        return new HostPort(host, port).toString();
    }

    /** What sentences on its AdminServer begin with. */
    String adminName() {
        return "AdminServer" + admin.map(uri -> " " + uri).orElse("");
    }
}
