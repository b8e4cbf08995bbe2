package org.apache.zookeeper.server.quorum;

/**
 * Who may act as a server on the quorum port and the election port.
 *
 * @param tls whether connections between servers are encrypted
 * @param plainToo whether plain ones are taken as well
 * @param clientAuth TLS setting: whether a peer that connects needs a certificate; empty for
 *     ZooKeeper's default, which demands one
 * @param saslRequired whether a peer that connects must log in
 */
record PortSecurity(boolean tls, boolean plainToo, String clientAuth, boolean saslRequired) {
    /** A warning for the operator, logged at the start. */
    static final String OPEN =
            "The ports between servers are open: any process that reaches them can take part as a server, read all data, and"
                    + " vote. Keep others away by a firewall, or use quorum TLS or SASL; see Security in"
                    + " docs/operate/operating.md";

    private static final String CLIENT_AUTH = "zookeeper.ssl.quorum.clientAuth";

    /** Reads it from a server that is configured and about to start. */
    static PortSecurity of(QuorumPeer peer) {
        return new PortSecurity(
                peer.isSslQuorum(),
                peer.shouldUsePortUnification(),
                System.getProperty(CLIENT_AUTH, ""),
                peer.isQuorumSaslAuthEnabled() && peer.quorumServerSaslAuthRequired);
    }

    /** Whether any peer that reaches the ports is taken for a server. */
    boolean open() {
        boolean certified =
                tls && !plainToo && (clientAuth.isEmpty() || clientAuth.equalsIgnoreCase("need"));
        return !certified && !saslRequired;
    }
}
