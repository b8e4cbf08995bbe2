package org.apache.zookeeper.server.quorum;

/**
 * Who may be a server to the others, over the quorum port and the election port.
 *
 * @param tls whether connections between servers are encrypted
 * @param plainToo whether plain ones are taken as well
 * @param clientAuth of TLS, as set: what is asked of the certificate of whoever connects; empty for
 *     ZooKeeper's preset, which needs one
 * @param saslRequired whether whoever connects must log in
 */
record PortSecurity(boolean tls, boolean plainToo, String clientAuth, boolean saslRequired) {
    /** For the operator; one line at the start. */
    static final String OPEN =
            "The ports between servers are open: whoever reaches them can take part as a server, read all data, and"
                    + " vote. Keep others away by a firewall, or use quorum TLS or SASL; see Security in"
                    + " docs/operating.md";

    private static final String CLIENT_AUTH = "zookeeper.ssl.quorum.clientAuth";

    /** Of a server that is configured and about to start. */
    static PortSecurity of(QuorumPeer peer) {
        return new PortSecurity(
                peer.isSslQuorum(),
                peer.shouldUsePortUnification(),
                System.getProperty(CLIENT_AUTH, ""),
                peer.isQuorumSaslAuthEnabled() && peer.quorumServerSaslAuthRequired);
    }

    /** Whether anybody who reaches the ports is a server to this one. */
    boolean open() {
        boolean certified =
                tls && !plainToo && (clientAuth.isEmpty() || clientAuth.equalsIgnoreCase("need"));
        return !certified && !saslRequired;
    }
}
