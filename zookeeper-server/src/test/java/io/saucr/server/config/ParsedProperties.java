package io.saucr.server.config;

import org.apache.zookeeper.server.quorum.QuorumPeerConfig;

/**
 * What ZooKeeper's parser of configurations leaves in the process: system properties of keys that
 * it does not know, and two static fields. Stateless.
 */
public final class ParsedProperties {
    private ParsedProperties() {}

    /** Removes all of it, so that the next test finds nothing. */
    public static void forget() {
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(SaucrSettings.PROPERTY_PREFIX)) {
                System.clearProperty(name);
            }
        }
        QuorumPeerConfig.setReconfigEnabled(false);
        QuorumPeerConfig.setStandaloneEnabled(true);
    }
}
