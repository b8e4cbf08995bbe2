package io.saucr.services.wire;

import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;

/**
 * The keys of one service, under the names of ZooKeeper's settings. Both sides of each connection
 * show a certificate; the other side's must be issued by somebody in the trust store, and name the
 * service that it says it is. A certificate counts between its dates only, also one that stands in
 * the trust store itself. Immutable.
 *
 * @param keyStore {@code ssl.keyStore.location}: private key and certificates of this service. PEM
 *     (the key first, then its certificates), PKCS12 or JKS
 * @param keyStorePassword {@code ssl.keyStore.password}; empty where there is none
 * @param keyStoreType {@code ssl.keyStore.type}; empty to go by the file's ending: {@code .pem},
 *     {@code .p12}, {@code .jks}
 * @param trustStore {@code ssl.trustStore.location}: certificates of those who may issue
 *     certificates of services
 * @param trustStorePassword {@code ssl.trustStore.password}; empty where there is none
 * @param trustStoreType {@code ssl.trustStore.type}; as for the key store
 * @param protocols {@code ssl.enabledProtocols}: TLSv1.2, TLSv1.3 or both
 * @param cipherSuites {@code ssl.ciphersuites}; empty for the JVM's
 */
public record TlsOptions(
        Path keyStore,
        String keyStorePassword,
        String keyStoreType,
        Path trustStore,
        String trustStorePassword,
        String trustStoreType,
        List<String> protocols,
        List<String> cipherSuites) {

    private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");
    private static final Set<String> TYPES = Set.of("", "PEM", "PKCS12", "JKS");
    private static final Set<String> NAMES =
            Set.of(
                    "ssl.keyStore.location",
                    "ssl.keyStore.password",
                    "ssl.keyStore.type",
                    "ssl.trustStore.location",
                    "ssl.trustStore.password",
                    "ssl.trustStore.type",
                    "ssl.enabledProtocols",
                    "ssl.ciphersuites");

    /**
     * Checks what was given; the files are read when a service starts.
     *
     * @throws IllegalArgumentException where a type or protocol is not known; the message says
     *     which are
     */
    public TlsOptions {
        protocols = List.copyOf(protocols);
        cipherSuites = List.copyOf(cipherSuites);
        known("ssl.keyStore.type", keyStoreType, TYPES);
        known("ssl.trustStore.type", trustStoreType, TYPES);
        if (protocols.isEmpty()) {
            throw new IllegalArgumentException("ssl.enabledProtocols needs one of " + PROTOCOLS);
        }
        for (String protocol : protocols) {
            known("ssl.enabledProtocols", protocol, Set.copyOf(PROTOCOLS));
        }
    }

    /** TLS 1.2 and 1.3, types by the files' endings. */
    public TlsOptions(
            Path keyStore, String keyStorePassword, Path trustStore, String trustStorePassword) {
        this(
                keyStore,
                keyStorePassword,
                "",
                trustStore,
                trustStorePassword,
                "",
                PROTOCOLS,
                List.of());
    }

    /**
     * Reads settings as they stand in a file; the names are above, lists have commas.
     *
     * @throws IllegalArgumentException where a location is missing, or a name that begins with
     *     {@code ssl.} is not known here
     */
    public static TlsOptions of(Properties settings) {
        for (String name : settings.stringPropertyNames()) {
            if (name.startsWith("ssl.") && !NAMES.contains(name)) {
                throw new IllegalArgumentException(
                        "no setting here is called " + name + "; there are " + sorted(NAMES));
            }
        }
        List<String> protocols = list(settings, "ssl.enabledProtocols");
        return new TlsOptions(
                location(settings, "ssl.keyStore.location"),
                settings.getProperty("ssl.keyStore.password", ""),
                settings.getProperty("ssl.keyStore.type", ""),
                location(settings, "ssl.trustStore.location"),
                settings.getProperty("ssl.trustStore.password", ""),
                settings.getProperty("ssl.trustStore.type", ""),
                protocols.isEmpty() ? PROTOCOLS : protocols,
                list(settings, "ssl.ciphersuites"));
    }

    /** The files alone: passwords must not reach logs. */
    @Override
    public String toString() {
        return "TLS with key store " + keyStore + ", trust store " + trustStore;
    }

    private static Path location(Properties settings, String name) {
        String path = settings.getProperty(name, "");
        if (path.isBlank()) {
            throw new IllegalArgumentException("TLS needs " + name);
        }
        return Path.of(path);
    }

    private static List<String> list(Properties settings, String name) {
        String text = settings.getProperty(name, "").trim();
        return text.isEmpty() ? List.of() : List.of(text.split("\\s*,\\s*"));
    }

    private static void known(String name, String given, Set<String> allowed) {
        if (!allowed.contains(given)) {
            throw new IllegalArgumentException(
                    name + " is one of " + sorted(allowed) + ", not \"" + given + "\"");
        }
    }

    private static List<String> sorted(Set<String> names) {
        return names.stream().filter(n -> !n.isEmpty()).sorted().toList();
    }
}
