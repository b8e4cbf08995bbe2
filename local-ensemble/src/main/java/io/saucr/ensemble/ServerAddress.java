package io.saucr.ensemble;

import io.saucr.core.config.HostPort;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where one server listens.
 *
 * @param peerHost the address that the other servers use
 * @param clientHost the address that clients and users of the admin server use
 */
public record ServerAddress(
        int id,
        String peerHost,
        int quorumPort,
        int electionPort,
        String clientHost,
        int clientPort,
        int adminPort) {
    private static final String LOOPBACK = "127.0.0.1";

    /** A server all of whose ports are on the loopback address. */
    static ServerAddress onLoopback(
            int id, int clientPort, int quorumPort, int electionPort, int adminPort) {
        return new ServerAddress(
                id, LOOPBACK, quorumPort, electionPort, LOOPBACK, clientPort, adminPort);
    }

    /** The ports by what they serve, in the order in which a user meets them. */
    Map<String, Integer> ports() {
        Map<String, Integer> ports = new LinkedHashMap<>();
        ports.put("client port", clientPort);
        ports.put("quorum port", quorumPort);
        ports.put("election port", electionPort);
        ports.put("admin server's port", adminPort);
        return ports;
    }

    /** For a ZooKeeper client's connect string. */
    public String client() {
        return new HostPort(clientHost, clientPort).toString();
    }

    /** Where its AdminServer is, for browsers and the other servers. */
    public String admin() {
        return new HostPort(clientHost, adminPort).toString();
    }

    /** For the {@code server.ID=} line of a configuration. */
    public String peer() {
        return new HostPort(peerHost, quorumPort) + ":" + electionPort;
    }
}
