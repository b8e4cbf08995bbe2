package io.saucr.server;

import io.netty.channel.Channel;
import io.saucr.server.admin.SaucrStatus;
import io.saucr.server.config.RefusedConfiguration;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import io.saucr.server.runtime.Release;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import javax.security.sasl.SaslException;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.CreateKind;
import org.apache.zookeeper.server.NettyServerCnxn;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.SaucrClientPort;
import org.apache.zookeeper.server.SaucrNettyConnection;
import org.apache.zookeeper.server.SelectorBatch;
import org.apache.zookeeper.server.ServerArchive;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.TxnCodec;
import org.apache.zookeeper.server.TxnLogEntry;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.DataFolder;
import org.apache.zookeeper.server.quorum.FastLeaderElection;
import org.apache.zookeeper.server.quorum.LearnerHandler;
import org.apache.zookeeper.server.quorum.LearnerMaster;
import org.apache.zookeeper.server.quorum.QuorumCnxManager;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.apache.zookeeper.server.quorum.SaucrElection;
import org.apache.zookeeper.server.quorum.SaucrLearnerHandler;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry points for the patched ZooKeeper classes: every method is called from exactly one patch
 * point of {@code io.saucr.server.patch.SaucrPatch}, those that decide what is data from a few.
 * With {@code saucr.enabled} absent or false the others leave ZooKeeper's own behaviour as it is.
 */
public final class Boot {
    private static final Logger LOG = LoggerFactory.getLogger(Boot.class);

    /** Between two attempts of a follower to reach its leader. */
    static final String LEADER_CONNECT_DELAY = "zookeeper.leaderConnectDelayDuringRetryMs";

    private static final String LEADER_CONNECT_DELAY_MILLIS = "20";

    /** The longest time between two notifications of a server that looks for a leader. */
    static final String NOTIFICATION_INTERVAL = FastLeaderElection.MAX_NOTIFICATION_INTERVAL;

    private static final String NOTIFICATION_INTERVAL_MILLIS = "2000";

    /** System properties that this class has set, not the operator, with their values. */
    private static final Map<String, String> DEFAULTED = new ConcurrentHashMap<>();

    private Boot() {}

    /** Returns the peer that the server runs with. Called once per server, before it is set up. */
    public static QuorumPeer quorumPeer(QuorumPeer original) {
        return peer(original, () -> {});
    }

    /**
     * Returns the peer that an embedded server runs with. Called once per server, before it is set
     * up.
     *
     * @param started completed as soon as the peer has started; the original does so on its own
     */
    public static QuorumPeer embeddedPeer(QuorumPeer original, CompletableFuture<String> started) {
        return peer(original, () -> started.complete(null));
    }

    /**
     * The situation-aware peer of an embedded server that has started; only the peer knows its
     * ports.
     *
     * @param main null if the server is not one of an ensemble
     * @return null if Apache's peer has told the embedder the ports, or the embedder does not need
     *     them
     */
    public static QuorumPeer started(QuorumPeerMain main) {
        return main == null ? null : SaucrQuorumPeer.of(main);
    }

    private static QuorumPeer peer(QuorumPeer original, Runnable onStart) {
        SaucrSettings settings = settings();
        try {
            return settings.enabled() ? ServerAssembly.peer(settings, onStart) : original;
        } catch (SaslException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static SaucrSettings settings() {
        try {
            return SaucrSettings.parse("system properties", System.getProperties());
        } catch (InvalidSettingException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /**
     * Keeps other processes off the folders of a server of an ensemble that is about to run. A
     * situation-aware peer does so on its own.
     *
     * @return releases them
     * @throws IOException if another process uses one of them
     */
    public static Closeable lockFolders(QuorumPeerConfig config) throws IOException {
        return settings().enabled()
                ? () -> {}
                : UsedFolders.lock(config.getDataLogDir(), config.getDataDir());
    }

    /** The same for a server alone. */
    public static Closeable lockFolders(ServerConfig config) throws IOException {
        return UsedFolders.lock(config.getDataLogDir(), config.getDataDir());
    }

    /**
     * Before ZooKeeper reads a configuration and the files that it names: none of them fills the
     * memory.
     *
     * @throws ConfigException with the path of the file that is too large
     */
    public static void beforeConfiguration(String path) throws ConfigException {
        try {
            StartCheck.checkFiles(Path.of(path));
        } catch (InvalidSettingException e) {
            System.err.println(e.getMessage());
            throw new ConfigException(e.getMessage(), e);
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
            SaucrSettings settings = StartCheck.check(config, path);
            boolean enabled = settings.enabled();
            chooseClientPort(enabled, config.getSecureClientPortAddress() != null);
            shortenPauseOfFollowers(enabled);
            notifyOften(enabled);
            LOG.info("{}", StartLine.of(config, settings));
        } catch (InvalidSettingException e) {
            System.err.println(e.getMessage());
            throw new ConfigException(e.getMessage(), e);
        }
    }

    /**
     * What is thrown when ZooKeeper does not accept a configuration: the same, with words that name
     * the file, the key, the value and what is allowed.
     *
     * @param path the file that it was read from
     */
    public static ConfigException refused(String path, Throwable refusal) {
        String explanation = RefusedConfiguration.explain(path, refusal);
        System.err.println(explanation);
        return new ConfigException(explanation, (Exception) refusal);
    }

    /**
     * Does not replace a factory that the operator names.
     *
     * @param secure whether clients may use TLS; ZooKeeper makes both ports of the same class
     */
    private static void chooseClientPort(boolean enabled, boolean secure) {
        setDefault(
                enabled,
                ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY,
                (secure ? NettyServerCnxnFactory.class : SaucrClientPort.class).getName());
    }

    /** What was set for an earlier server of the process is not the operator's. */
    private static void setDefault(boolean enabled, String key, String value) {
        String earlier = DEFAULTED.remove(key);
        if (earlier != null && earlier.equals(System.getProperty(key))) {
            System.clearProperty(key);
        }
        if (enabled && System.getProperty(key) == null) {
            System.setProperty(key, value);
            DEFAULTED.put(key, value);
        }
    }

    /** A follower is often a little earlier than its leader; Apache's then pauses for 100 ms. */
    private static void shortenPauseOfFollowers(boolean enabled) {
        setDefault(enabled, LEADER_CONNECT_DELAY, LEADER_CONNECT_DELAY_MILLIS);
    }

    /**
     * A vote of the same round is not answered. So a server that has looked for long, whose
     * interval has doubled each time, would keep one waiting for its vote that has just begun.
     */
    private static void notifyOften(boolean enabled) {
        setDefault(enabled, NOTIFICATION_INTERVAL, NOTIFICATION_INTERVAL_MILLIS);
    }

    /**
     * Adds a line to the answers of the four-letter words {@code srvr} and {@code stat}, behind all
     * others: who reads them finds everything where it was.
     *
     * @param server the one that answers; null, or not running, if it does not serve
     */
    public static void stat(PrintWriter answer, ZooKeeperServer server) {
        if (server != null && server.isRunning()) {
            answer.println("SAUCR version: " + Release.VERSION);
        }
    }

    /** Adds lines to the answer of the four-letter word {@code mntr}, whether serving or not. */
    public static void monitor(PrintWriter answer) {
        SaucrStatus.monitor(answer);
    }

    /**
     * Whether the thread that is to be woken is the one that calls, and looks at its queues before
     * it selects again.
     */
    public static boolean selectsAnyway(Thread selector) {
        return SelectorBatch.isRunning(selector);
    }

    /**
     * A selecting thread is about to select. Usually its queue is empty now. But what ends the
     * round may put something in; and an exception has made the thread come here at once. Since it
     * did not wake itself, it would sleep on it.
     */
    public static void roundEnds(Selector selector, Queue<SelectionKey> updates) {
        SelectorBatch.end();
        if (!updates.isEmpty()) {
            selector.wakeup();
        }
    }

    /**
     * Whether a learner starts the handshake of TLS with the leader that it has connected to: with
     * SAUCR its socket has made it when it is connected.
     */
    public static boolean startsHandshake(QuorumPeer learner) {
        return learner.isSslQuorum() && !(learner instanceof SaucrQuorumPeer);
    }

    /** A client's connection on Netty's port. */
    public static NettyServerCnxn connection(
            Channel channel, ZooKeeperServer server, NettyServerCnxnFactory port) {
        return SaucrNettyConnection.of(channel, server, port);
    }

    /** The leader's side of a connection that a learner has opened. */
    public static LearnerHandler learnerHandler(
            Socket socket, BufferedInputStream in, LearnerMaster master) throws IOException {
        return SaucrLearnerHandler.of(socket, in, master);
    }

    /** The election of a peer. */
    public static FastLeaderElection election(QuorumPeer peer, QuorumCnxManager manager) {
        return SaucrElection.of(peer, manager);
    }

    /** The leader is about to make a transaction of a request that creates a node. */
    public static void checkCreate(int type, Record request) throws KeeperException {
        CreateKind.check(type, request);
    }

    /** Reads a log, a snapshot, what a leader sends, or a request whose frame was checked. */
    public static BinaryInputArchive archive(InputStream in) {
        return new ServerArchive(new DataInputStream(in));
    }

    /** Reads what a learner sends. */
    public static BinaryInputArchive archiveOfLearner(InputStream in) {
        return ServerArchive.ofLearner(new DataInputStream(in));
    }

    /** A transaction's content; null if ZooKeeper has to decode it. */
    public static TxnLogEntry decoded(byte[] transaction) {
        return TxnCodec.decode(transaction);
    }

    /**
     * What is data among the files of a folder, with SAUCR or without: what is in the folder does
     * not change with a setting.
     *
     * @param files null if the folder cannot be read
     * @param prefix of the kind of files that are looked for
     */
    public static File[] data(File[] files, String prefix) {
        return DataFolder.only(files, prefix);
    }

    /** Whether the file is a log file or a snapshot, with SAUCR or without. */
    public static boolean isData(File file) {
        return DataFolder.isData(file);
    }

    /** The bytes of a transaction. */
    public static byte[] encoded(TxnHeader header, Record txn, TxnDigest digest) {
        return TxnCodec.encode(header, txn, digest);
    }
}
