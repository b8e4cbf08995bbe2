package io.saucr.ensemble;

/**
 * Where one server listens.
 *
 * @param peerHost the address that the other servers use
 * @param clientHost the address that clients use
 */
public record ServerAddress(
        int id,
        String peerHost,
        int quorumPort,
        int electionPort,
        String clientHost,
        int clientPort,
        int adminPort) {

    /** For a ZooKeeper client's connect string. */
    public String client() {
        return clientHost + ":" + clientPort;
    }

    /** For the {@code server.ID=} line of a configuration. */
    public String peer() {
        return peerHost + ":" + quorumPort + ":" + electionPort;
    }
}
