package io.saucr.server.config;

/**
 * The system properties that ZooKeeper's parser of configurations makes of keys that it does not
 * know. Stateless.
 */
public final class ParsedProperties {
    private ParsedProperties() {}

    /** Removes all of them, so that the next test finds none. */
    public static void forget() {
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith(SaucrSettings.PROPERTY_PREFIX)) {
                System.clearProperty(name);
            }
        }
    }
}
