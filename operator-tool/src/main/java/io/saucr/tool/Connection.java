package io.saucr.tool;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.QuorumX509Util;
import org.apache.zookeeper.common.X509Exception;
import org.apache.zookeeper.common.X509Util;

/**
 * Which servers are asked, and with what: patience, keys, credentials. Immutable once made, and
 * thread-safe.
 *
 * @param endpoints at least one
 * @param timeout for one question to one server; empty if the user gave none
 * @param client of clients, with TLS if the ports for them have it
 * @param clientTls for ports of clients; null if they have no TLS
 * @param adminTls for AdminServers; null if none of them has HTTPS
 * @param verifiesHostnames whether a certificate must be of the host that was asked
 */
record Connection(
        List<Endpoint> endpoints,
        Optional<Duration> timeout,
        ZKClientConfig client,
        SSLContext clientTls,
        SSLContext adminTls,
        boolean verifiesHostnames,
        Optional<Credentials> auth) {
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration SILENCE = Duration.ofMinutes(1);

    /** What proves to a server who we are, as {@code addauth} takes it. */
    record Credentials(String scheme, String value) {
        /**
         * @throws IllegalArgumentException unless it is SCHEME:VALUE in one line; the message has
         *     no value
         */
        static Credentials parse(String text) {
            String[] parts = text.strip().split(":", 2);
            if (parts.length < 2 || !parts[0].matches("\\w+")) {
                throw new IllegalArgumentException(
                        "credentials are SCHEME:VALUE, for example digest:USER:PASSWORD");
            }
            if (parts[1].chars().anyMatch(Character::isISOControl)) {
                // No header can have it, and what refuses it there would show the value.
                throw new IllegalArgumentException(
                        "credentials are one line without control characters");
            }
            return new Credentials(parts[0], parts[1]);
        }

        /** As an AdminServer takes it. */
        String header() {
            return scheme + " " + value;
        }
    }

    /** The same with another time-out. */
    Connection within(Duration limit) {
        return new Connection(
                endpoints,
                Optional.of(limit),
                client,
                clientTls,
                adminTls,
                verifiesHostnames,
                auth);
    }

    /** For questions: as given, else five seconds. */
    Duration patience() {
        return timeout.orElse(PATIENCE);
    }

    /** How long a server may be silent while it takes a snapshot: as given, else a minute. */
    Duration silence() {
        return timeout.orElse(SILENCE);
    }

    /**
     * Of the keys for clients, {@code zookeeper.ssl.*}.
     *
     * @throws IllegalArgumentException with the store that cannot be used
     */
    static SSLContext clientTls(ZKClientConfig configuration) {
        try (X509Util keys = new ClientX509Util()) {
            return context(keys, configuration);
        }
    }

    /**
     * Of the keys of servers, {@code zookeeper.ssl.quorum.*}, where there are some, for an
     * AdminServer has those; else of the keys for clients.
     *
     * @throws IllegalArgumentException with the store that cannot be used
     */
    static SSLContext adminTls(ZKClientConfig configuration) {
        try (X509Util keys = new QuorumX509Util()) {
            if (configuration.getProperty(keys.getSslTruststoreLocationProperty()) != null) {
                return context(keys, configuration);
            }
        }
        return clientTls(configuration);
    }

    private static SSLContext context(X509Util keys, ZKClientConfig configuration) {
        try {
            return keys.createSSLContext(configuration);
        } catch (X509Exception e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            throw new IllegalArgumentException(
                    "TLS: the key store %s or the trust store %s cannot be used: %s"
                            .formatted(
                                    configuration.getProperty(
                                            keys.getSslKeystoreLocationProperty()),
                                    configuration.getProperty(
                                            keys.getSslTruststoreLocationProperty()),
                                    cause.getMessage()),
                    e);
        }
    }
}
