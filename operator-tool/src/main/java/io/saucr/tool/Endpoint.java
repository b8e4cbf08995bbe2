package io.saucr.tool;

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
    private static final int HIGHEST_PORT = 65_535;

    /** HOST:PORT, as a client takes it. */
    String name() {
        return hostAndPort(host, port);
    }

    /** What sentences on its AdminServer begin with. */
    String adminName() {
        return "AdminServer" + admin.map(uri -> " " + uri).orElse("");
    }

    static String hostAndPort(String host, int port) {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** The host and the port of an address. */
    record Address(String host, int port) {}

    /**
     * Reads HOST:PORT, [IPV6]:PORT, or HOST with a preset port.
     *
     * @throws IllegalArgumentException with a sentence that names the text and what is allowed
     */
    static Address address(String text, int presetPort) {
        String trimmed = text.strip();
        String host = trimmed;
        int port = presetPort;
        int colon = trimmed.lastIndexOf(':');
        boolean bare = trimmed.indexOf(':') != colon && !trimmed.startsWith("[");
        if (colon >= 0 && !trimmed.endsWith("]") && !bare) {
            host = trimmed.substring(0, colon);
            port = port(trimmed.substring(colon + 1), text);
        }
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        if (host.isEmpty() || bare || !host.matches("[\\p{Alnum}._:%-]+")) {
            throw new IllegalArgumentException(
                    "'" + text + "' is no HOST:PORT (an IPv6 address is written [ADDRESS]:PORT)");
        }
        return new Address(host, port);
    }

    /**
     * @param whole what the user wrote, for the message
     * @throws IllegalArgumentException if it is no port from 1 to 65535
     */
    static int port(String text, String whole) {
        try {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= HIGHEST_PORT) {
                return port;
            }
        } catch (NumberFormatException e) {
            // The same message.
        }
        throw new IllegalArgumentException(
                "'" + whole + "': '" + text + "' is no port (1 to " + HIGHEST_PORT + ")");
    }
}
