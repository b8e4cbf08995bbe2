package io.saucr.server;

import io.saucr.server.SaucrSettings.InvalidSettingException;
import java.io.PrintWriter;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * What the patched ZooKeeper classes call: every method here is called from exactly one patch point
 * of {@code io.saucr.server.patch.SaucrPatch}. With {@code saucr.enabled} absent or false each one
 * leaves ZooKeeper's own behaviour as it is.
 */
public final class Boot {
    private Boot() {}

    /** Returns the peer that the server runs with. Called once per server, before it is set up. */
    public static QuorumPeer quorumPeer(QuorumPeer original) {
        try {
            SaucrSettings settings =
                    SaucrSettings.parse("system properties", System.getProperties());
            return settings.enabled() ? new SaucrQuorumPeer(settings) : original;
        } catch (InvalidSettingException | SaslException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /**
     * Checks a configuration that ZooKeeper has read and accepted, before anything is started from
     * it.
     *
     * @param path the file that it was read from
     * @throws ConfigException with the file, the key, the value and what is allowed
     */
    public static void checkConfiguration(QuorumPeerConfig config, String path)
            throws ConfigException {
        try {
            StartCheck.check(config, path);
        } catch (InvalidSettingException e) {
            System.err.println(e.getMessage());
            throw new ConfigException(e.getMessage(), e);
        }
    }

    /** Adds lines to the answer of the four-letter word {@code mntr}, whether serving or not. */
    public static void monitor(PrintWriter answer) {
        SaucrStatus.monitor(answer);
    }
}
