package io.saucr.server.config;

import static io.saucr.server.config.SaucrSettings.notAllowed;

import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import io.saucr.server.metrics.Exposition;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Properties;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.SaucrClientPort;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;

/**
 * Values that ZooKeeper takes when it reads them, and ends over when it needs them: after the start
 * has written to the disk, or has said that it has succeeded, and often without a word of the key.
 * Nothing is refused here that would start. Changes nothing.
 */
public final class LateRefusals {
    private static final String FACTORY = "serverCnxnFactory";
    private static final String SELECTORS = "nio.numSelectorThreads";
    private static final String CONNECTION_TIMEOUT = "cnxTimeout";
    private static final int MOST_PORT = 65_535;

    private LateRefusals() {}

    /**
     * @throws InvalidSettingException naming file, key, value and what is allowed
     */
    public static void check(QuorumPeerConfig config, String path) throws InvalidSettingException {
        checkMetrics(config, path);
        if (config.getClientPortAddress() != null || config.getSecureClientPortAddress() != null) {
            checkFactory(config, path);
        }
        if (!config.isDistributed()) {
            return;
        }
        requireNumber(
                path,
                CONNECTION_TIMEOUT,
                given(CONNECTION_TIMEOUT),
                Integer.MIN_VALUE,
                Integer.MAX_VALUE,
                "a number of milliseconds");
        if (Integer.getInteger(SaucrSettings.PROPERTY_PREFIX + "electionPortBindRetry", 1) == 0) {
            // It tries for ever, and ends for none.
            return;
        }
        checkElectionPort(config, path, "clientPort", config.getClientPortAddress());
        checkElectionPort(config, path, "secureClientPort", config.getSecureClientPortAddress());
    }

    private static String given(String key) {
        return System.getProperty(SaucrSettings.PROPERTY_PREFIX + key);
    }

    private static void checkMetrics(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        if (!Exposition.isPrometheus(config.getMetricsProviderClassName())) {
            return;
        }
        Properties provider = config.getMetricsProviderConfiguration();
        requireMetricsNumber(
                path,
                provider,
                "httpPort",
                -1,
                MOST_PORT,
                "a port from 1 to 65535, or 0 for any that is free");
        for (String key : List.of("numWorkerThreads", "maxQueueSize")) {
            requireMetricsNumber(
                    path, provider, key, Integer.MIN_VALUE, Integer.MAX_VALUE, "a number");
        }
        requireMetricsNumber(
                path,
                provider,
                "workerShutdownTimeoutMs",
                Long.MIN_VALUE,
                Long.MAX_VALUE,
                "a number");
    }

    private static void requireMetricsNumber(
            String path, Properties provider, String key, long least, long most, String allowed)
            throws InvalidSettingException {
        requireNumber(
                path, "metricsProvider." + key, provider.getProperty(key), least, most, allowed);
    }

    /**
     * @param value null if it is not given
     */
    private static void requireNumber(
            String path, String key, String value, long least, long most, String allowed)
            throws InvalidSettingException {
        if (value != null && !RefusedConfiguration.isNumber(value, least, most)) {
            throw new InvalidSettingException(notAllowed(path, key, value, allowed));
        }
    }

    private static void checkFactory(QuorumPeerConfig config, String path)
            throws InvalidSettingException {
        String name = given(FACTORY);
        if (name != null && !isFactory(name)) {
            throw new InvalidSettingException(
                    notAllowed(
                            path,
                            FACTORY,
                            name,
                            "the name of a ServerCnxnFactory on the class path, for example"
                                    + " org.apache.zookeeper.server.NettyServerCnxnFactory"));
        }
        if (name != null && !isNio(name)) {
            return;
        }
        if (config.getSecureClientPortAddress() != null) {
            throw new InvalidSettingException(
                    path
                            + ": secureClientPort="
                            + config.getSecureClientPortAddress().getPort()
                            + " is not allowed without "
                            + FACTORY
                            + "=org.apache.zookeeper.server.NettyServerCnxnFactory: no other has TLS");
        }
        if (Integer.getInteger(SaucrSettings.PROPERTY_PREFIX + SELECTORS, 1) < 1) {
            throw new InvalidSettingException(
                    notAllowed(
                            path, SELECTORS, given(SELECTORS), "a number of threads, at least 1"));
        }
    }

    /** Another one that extends them may do all of it in its own way. */
    private static boolean isNio(String name) {
        return name.equals(NIOServerCnxnFactory.class.getName())
                || name.equals(SaucrClientPort.class.getName());
    }

    private static boolean isFactory(String name) {
        try {
            ClassLoader loader = ServerCnxnFactory.class.getClassLoader();
            return ServerCnxnFactory.class.isAssignableFrom(Class.forName(name, false, loader));
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /**
     * Elections come second to a port that both want, and end the server, seconds later, if they
     * get none of their addresses.
     */
    private static void checkElectionPort(
            QuorumPeerConfig config, String path, String key, InetSocketAddress clients)
            throws InvalidSettingException {
        QuorumServer own = config.getQuorumVerifier().getAllMembers().get(config.getServerId());
        if (clients == null || own == null || own.electionAddr.isEmpty()) {
            return;
        }
        for (InetSocketAddress elections : own.electionAddr.getAllAddresses()) {
            if (clients.getPort() != elections.getPort()
                    || !(config.getQuorumListenOnAllIPs() || overlap(clients, elections))) {
                return;
            }
        }
        throw new InvalidSettingException(
                notAllowed(
                        path,
                        key,
                        Integer.toString(clients.getPort()),
                        "another port than the one for elections in the line server."
                                + config.getServerId()));
    }

    private static boolean overlap(InetSocketAddress one, InetSocketAddress other) {
        InetAddress first = one.getAddress();
        InetAddress second = other.getAddress();
        return first != null
                && second != null
                && (first.isAnyLocalAddress()
                        || second.isAnyLocalAddress()
                        || first.equals(second));
    }
}
