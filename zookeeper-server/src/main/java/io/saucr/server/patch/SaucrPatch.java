package io.saucr.server.patch;

import static net.bytebuddy.matcher.ElementMatchers.isDeclaredBy;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import io.saucr.server.Boot;
import io.saucr.server.runtime.TlsStores;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.build.Plugin;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.matcher.ElementMatcher;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.server.NettyServerCnxn;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.TxnLogEntry;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.FastLeaderElection;
import org.apache.zookeeper.server.quorum.LearnerHandler;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;

/**
 * Every change that the build makes to the byte code of Apache's released classes. There is no
 * other one: a class that {@link #POINTS} does not name goes into the jar as released.
 *
 * <p>The build runs this once, after compilation, and fails unless each point matched exactly one
 * method and was applied exactly once. Advice is inlined: the server needs neither this package nor
 * Byte Buddy when it runs, and the jar contains neither.
 */
public final class SaucrPatch implements Plugin {

    /** One method of one released class, and what is changed in it. */
    private record Point(
            String type,
            ElementMatcher.Junction<MethodDescription> method,
            String change,
            AsmVisitorWrapper visitor) {

        /** The advice is inlined into the method. */
        Point(String type, ElementMatcher.Junction<MethodDescription> method, Class<?> advice) {
            this(type, method, advice.getSimpleName(), Advice.to(advice).on(method));
        }

        /**
         * The method gets an object from {@link Boot} instead of a constructor.
         *
         * @param source the method there
         */
        static Point makes(
                Class<?> made,
                String source,
                String type,
                ElementMatcher.Junction<MethodDescription> method) {
            return new Point(
                    type,
                    method,
                    source,
                    // Strictly it would need the declaration of all that the method calls. A
                    // method that makes no such object fails SaucrPatchTest.
                    MemberSubstitution.relaxed()
                            .constructor(isDeclaredBy(made))
                            .replaceWith(ofBoot(source))
                            .on(method));
        }

        /**
         * The method gets its archive from {@link Boot}.
         *
         * @param source the method there
         */
        static Point reads(
                String type, ElementMatcher.Junction<MethodDescription> method, String source) {
            return new Point(
                    type,
                    method,
                    source,
                    MemberSubstitution.strict()
                            .method(isDeclaredBy(BinaryInputArchive.class).and(named("getArchive")))
                            .replaceWith(ofBoot(source))
                            .on(method));
        }

        /** The method asks {@link Boot} whether to start the handshake of TLS. */
        static Point connects(String type, ElementMatcher.Junction<MethodDescription> method) {
            return new Point(
                    type,
                    method,
                    "startsHandshake",
                    MemberSubstitution.strict()
                            .method(named("isSslQuorum"))
                            .replaceWith(ofBoot("startsHandshake"))
                            .on(method));
        }

        private static Method ofBoot(String name) {
            return Arrays.stream(Boot.class.getMethods())
                    .filter(each -> each.getName().equals(name))
                    .findFirst()
                    .orElseThrow();
        }

        @Override
        public String toString() {
            return type + ": " + method + " <- " + change;
        }
    }

    private static final String ARCHIVE = "archive";

    private static final String EMBEDDED =
            "org.apache.zookeeper.server.embedded.ZooKeeperServerEmbeddedImpl";

    private static final String UTIL = "org.apache.zookeeper.server.persistence.Util";

    private static final String X509 = "org.apache.zookeeper.common.X509Util";

    private static final List<Point> POINTS =
            List.of(
                    // The peer is created in a protected method of the class that everyone starts
                    // by name: scripts, operators, embedders. Nothing else lets them get a subclass
                    // of QuorumPeer without changing what they start.
                    new Point(
                            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                            named("getQuorumPeer").and(takesArguments(0)),
                            PeerIsCreated.class),
                    // Two servers without SAUCR that have ports of their own can share folders, and
                    // write into each other's log. These methods run as long as the server does.
                    new Point(
                            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                            named("runFromConfig"),
                            MemberRuns.class),
                    new Point(
                            "org.apache.zookeeper.server.ZooKeeperServerMain",
                            named("runFromConfig"),
                            ServerRunsAlone.class),
                    // ZooKeeperServerEmbedded (Curator's TestingServer and TestingCluster use it)
                    // overrides that method with one that makes a QuorumPeer of its own, whose
                    // start() tells the embedder that the server runs, and on which port. With
                    // ours in its place the embedder has to hear both in another way.
                    new Point(
                            EMBEDDED + "$1",
                            named("getQuorumPeer").and(takesArguments(0)),
                            EmbeddedPeerIsCreated.class),
                    new Point(
                            EMBEDDED,
                            named("start").and(takesArguments(long.class)),
                            EmbeddedServerHasStarted.class),
                    // ZooKeeper turns unknown keys into system properties and never looks at them
                    // again, so a mistyped "saucr." key would pass in silence. After parsing is the
                    // only place where the whole configuration is known and nothing runs yet. What
                    // ZooKeeper refuses itself, it refuses without naming the key.
                    new Point(
                            "org.apache.zookeeper.server.quorum.QuorumPeerConfig",
                            named("parse").and(takesArguments(String.class)),
                            ConfigurationIsRead.class),
                    // While a server does not serve, "mntr" answers one line and no metric. That is
                    // the very time when an operator wants to see a server's recovery state.
                    new Point(
                            "org.apache.zookeeper.server.command.MonitorCommand",
                            named("commandRun").and(takesArguments(0)),
                            MonitorHasAnswered.class),
                    // Of two servers next to each other in an upgrade, one wants to know which is
                    // which.
                    new Point(
                            "org.apache.zookeeper.server.command.StatCommand",
                            named("commandRun").and(takesArguments(0)),
                            StatHasAnswered.class),
                    // Without workers the selecting thread handles requests itself, and wakes
                    // itself after each: a system call, and another that finds nothing to do.
                    new Point(
                            "org.apache.zookeeper.server.NIOServerCnxnFactory$AbstractSelectThread",
                            named("wakeupSelector").and(takesArguments(0)),
                            SelectorIsWoken.class),
                    // What the requests of a round have left to send goes out in one piece.
                    new Point(
                            "org.apache.zookeeper.server.NIOServerCnxnFactory$SelectorThread",
                            named("select").and(takesArguments(0)),
                            RoundEnds.class),
                    // A leader makes the handler of each learner that connects by its class's name.
                    Point.makes(
                            LearnerHandler.class,
                            "learnerHandler",
                            "org.apache.zookeeper.server.quorum"
                                    + ".Leader$LearnerCnxAcceptor$LearnerCnxAcceptorHandler",
                            named("acceptConnections").and(takesArguments(0))),
                    // So does a peer with its election, whose order of candidates is to be ours
                    // among equals (R28).
                    Point.makes(
                            FastLeaderElection.class,
                            "election",
                            "org.apache.zookeeper.server.quorum.QuorumPeer",
                            named("createElectionAlgorithm")),
                    // So does Netty's port with the connection of each client.
                    Point.makes(
                            NettyServerCnxn.class,
                            "connection",
                            "org.apache.zookeeper.server"
                                    + ".NettyServerCnxnFactory$CnxnChannelHandler",
                            named("channelActive")),
                    // The learner's side casts its socket to one of Java's for TLS, which no
                    // thread can write to without waiting.
                    Point.connects(
                            "org.apache.zookeeper.server.quorum.Learner$LeaderConnector",
                            named("connectToLeader")),
                    // Every server decodes every write, and the leader encodes it.
                    new Point(
                            "org.apache.zookeeper.server.util.SerializeUtils",
                            named("deserializeTxn"),
                            TransactionIsDecoded.class),
                    new Point(UTIL, named("marshallTxnEntry"), TransactionIsEncoded.class),
                    // ZooKeeper takes every file for a log whose name begins with that of one. All
                    // its classes that look for logs or snapshots sort them here first, and some
                    // make the reader of the folder themselves, so no subclass reaches them.
                    new Point(UTIL, named("sortDataDir"), FilesAreSorted.class),
                    // The purge chooses what it removes on its own.
                    new Point(
                            "org.apache.zookeeper.server.PurgeTxnLog$1MyFileFilter",
                            named("accept"),
                            FileIsPurged.class),
                    // A copy of a snapshot next to the logs, or of a log next to the snapshots,
                    // does
                    // not show that two folders were mixed up.
                    new Point(
                            "org.apache.zookeeper.server.persistence.FileTxnSnapLog$1",
                            named("accept"),
                            FileIsInWrongFolder.class),
                    new Point(
                            "org.apache.zookeeper.server.persistence.FileTxnSnapLog$2",
                            named("accept"),
                            FileIsInWrongFolder.class),
                    // The only method that sees the type of an operation in a multi, too, and its
                    // flag, before there is a transaction.
                    new Point(
                            "org.apache.zookeeper.server.PrepRequestProcessor",
                            named("pRequest2TxnCreate"),
                            NodeIsCreated.class),
                    // Netty's port for clients reads both stores for each connection, under a lock
                    // that all connections need.
                    new Point(X509, named("createKeyManager"), KeyStoreIsRead.class),
                    new Point(X509, named("createTrustManager"), TrustStoreIsRead.class),
                    // jute.maxbuffer is for what clients send. What servers wrote may be longer,
                    // and has characters in ZooKeeper's own encoding; a request has those of a
                    // Java client, and its length was checked when it came in.
                    Point.reads(
                            "org.apache.zookeeper.server.util.SerializeUtils",
                            named("deserializeTxn"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.ByteBufferInputStream",
                            named("byteBuffer2Record"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.persistence.FileTxnLog$FileTxnIterator",
                            named("createInputArchive"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.persistence.FileSnap",
                            named("deserialize").and(takesArguments(2)),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.ZooKeeperServer",
                            named("restoreFromSnapshot"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.quorum.Learner",
                            named("connectToLeader"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.quorum.LearnerHandler",
                            named("run").and(takesArguments(0)),
                            "archiveOfLearner"),
                    // The tools that come with the server.
                    Point.reads(
                            "org.apache.zookeeper.server.persistence.TxnLogToolkit",
                            named("openTxnLogFile"),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.util.LogChopper", named("chop"), ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.SnapshotFormatter",
                            named("run").and(takesArguments(3)),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.SnapshotRecursiveSummary",
                            named("run").and(takesArguments(3)),
                            ARCHIVE),
                    Point.reads(
                            "org.apache.zookeeper.server.SnapshotComparer",
                            named("getSnapshot"),
                            ARCHIVE));

    private final Set<Point> applied = new LinkedHashSet<>();

    /** Names of the released classes that differ from Apache's. */
    static Set<String> patchedTypes() {
        return POINTS.stream().map(Point::type).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public boolean matches(TypeDescription target) {
        return POINTS.stream().anyMatch(point -> point.type().equals(target.getName()));
    }

    @Override
    public DynamicType.Builder<?> apply(
            DynamicType.Builder<?> builder, TypeDescription type, ClassFileLocator locator) {
        DynamicType.Builder<?> patched = builder;
        for (Point point : POINTS) {
            if (!point.type().equals(type.getName())) {
                continue;
            }
            int methods = type.getDeclaredMethods().filter(point.method()).size();
            if (methods != 1) {
                throw new IllegalStateException(
                        "patch point " + point + " matches " + methods + " methods, not one");
            }
            if (!applied.add(point)) {
                throw new IllegalStateException("patch point " + point + " was applied twice");
            }
            patched = patched.visit(point.visitor());
        }
        return patched;
    }

    /** Ends the build when a class that should have been patched was not there. */
    @Override
    public void close() {
        List<Point> missing = new ArrayList<>(POINTS);
        missing.removeAll(applied);
        if (!missing.isEmpty()) {
            throw new IllegalStateException("patch points that were not applied: " + missing);
        }
    }

    /** See {@link Boot#quorumPeer}. */
    static final class PeerIsCreated {
        private PeerIsCreated() {}

        @Advice.OnMethodExit
        static void exit(@Advice.Return(readOnly = false) QuorumPeer peer) {
            peer = Boot.quorumPeer(peer);
        }
    }

    /** See {@link Boot#lockFolders(QuorumPeerConfig)}. */
    static final class MemberRuns {
        private MemberRuns() {}

        @Advice.OnMethodEnter
        static Closeable enter(@Advice.Argument(0) QuorumPeerConfig config) throws IOException {
            return Boot.lockFolders(config);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Closeable locks) throws IOException {
            locks.close();
        }
    }

    /** See {@link Boot#lockFolders(ServerConfig)}. */
    static final class ServerRunsAlone {
        private ServerRunsAlone() {}

        @Advice.OnMethodEnter
        static Closeable enter(@Advice.Argument(0) ServerConfig config) throws IOException {
            return Boot.lockFolders(config);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Closeable locks) throws IOException {
            locks.close();
        }
    }

    /** See {@link Boot#embeddedPeer}. */
    static final class EmbeddedPeerIsCreated {
        private EmbeddedPeerIsCreated() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.FieldValue("val$started") CompletableFuture<String> started,
                @Advice.Return(readOnly = false) QuorumPeer peer) {
            peer = Boot.embeddedPeer(peer, started);
        }
    }

    /** See {@link Boot#started}. */
    static final class EmbeddedServerHasStarted {
        private EmbeddedServerHasStarted() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.FieldValue("maincluster") QuorumPeerMain main,
                @Advice.FieldValue(value = "boundClientPort", readOnly = false) int port,
                @Advice.FieldValue(value = "boundSecureClientPort", readOnly = false)
                        int securePort) {
            QuorumPeer peer = Boot.started(main);
            if (peer != null) {
                port = peer.getClientPort();
                securePort = peer.getSecureClientPort();
            }
        }
    }

    /**
     * See {@link Boot#beforeConfiguration}, {@link Boot#checkConfiguration} and {@link
     * Boot#refused}.
     */
    static final class ConfigurationIsRead {
        private ConfigurationIsRead() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.Argument(0) String path) throws ConfigException {
            Boot.beforeConfiguration(path);
        }

        @SuppressWarnings("UnusedVariable") // the method throws it
        // Some values end ZooKeeper's reading with an exception that is no ConfigException.
        @Advice.OnMethodExit(onThrowable = Exception.class)
        static void exit(
                @Advice.This QuorumPeerConfig config,
                @Advice.Argument(0) String path,
                @Advice.Thrown(readOnly = false) Throwable refusal)
                throws ConfigException {
            if (refusal == null) {
                Boot.checkConfiguration(config, path);
            } else {
                refusal = Boot.refused(path, refusal);
            }
        }
    }

    /** See {@link Boot#monitor}. */
    static final class MonitorHasAnswered {
        private MonitorHasAnswered() {}

        @Advice.OnMethodExit
        static void exit(@Advice.FieldValue("pw") PrintWriter answer) {
            Boot.monitor(answer);
        }
    }

    /** See {@link Boot#stat}. */
    static final class StatHasAnswered {
        private StatHasAnswered() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.FieldValue("pw") PrintWriter answer,
                @Advice.FieldValue("zkServer") ZooKeeperServer server) {
            Boot.stat(answer, server);
        }
    }

    /** See {@link Boot#selectsAnyway}. */
    static final class SelectorIsWoken {
        private SelectorIsWoken() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter(@Advice.This Thread selector) {
            return Boot.selectsAnyway(selector);
        }
    }

    /** See {@link Boot#roundEnds}. */
    static final class RoundEnds {
        private RoundEnds() {}

        @Advice.OnMethodEnter
        static void enter(
                @Advice.FieldValue("selector") Selector selector,
                @Advice.FieldValue("updateQueue") Queue<SelectionKey> updates) {
            Boot.roundEnds(selector, updates);
        }
    }

    /** See {@link Boot#decoded}. */
    static final class TransactionIsDecoded {
        private TransactionIsDecoded() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static TxnLogEntry enter(@Advice.Argument(0) byte[] transaction) {
            return Boot.decoded(transaction);
        }

        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter TxnLogEntry decoded,
                @Advice.Return(readOnly = false) TxnLogEntry entry) {
            if (decoded != null) {
                entry = decoded;
            }
        }
    }

    /** See {@link Boot#data(File[], String)}. */
    static final class FilesAreSorted {
        private FilesAreSorted() {}

        @SuppressWarnings("UnusedVariable") // the method continues with it
        @Advice.OnMethodEnter
        static void enter(
                @Advice.Argument(value = 0, readOnly = false) File[] files,
                @Advice.Argument(1) String prefix) {
            files = Boot.data(files, prefix);
        }
    }

    /** See {@link Boot#isData}. */
    static final class FileIsPurged {
        private FileIsPurged() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.Argument(0) File file, @Advice.Return(readOnly = false) boolean accepted) {
            accepted = accepted && Boot.isData(file);
        }
    }

    /** See {@link Boot#isData}. */
    static final class FileIsInWrongFolder {
        private FileIsInWrongFolder() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.Argument(0) File folder,
                @Advice.Argument(1) String name,
                @Advice.Return(readOnly = false) boolean accepted) {
            accepted = accepted && Boot.isData(new File(folder, name));
        }
    }

    /** See {@link TlsStores}. Clients come here, too, so nothing of the server is loaded. */
    static final class KeyStoreIsRead {
        private KeyStoreIsRead() {}

        @Advice.OnMethodEnter(skipOn = TlsStores.Known.class)
        static TlsStores.Look enter(@Advice.AllArguments Object[] arguments) {
            return TlsStores.look("keys", arguments);
        }

        @SuppressWarnings("UnusedVariable") // the method returns it
        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter TlsStores.Look look,
                @Advice.Return(readOnly = false) X509KeyManager manager) {
            manager = (X509KeyManager) look.result(manager);
        }
    }

    /** See {@link TlsStores}. */
    static final class TrustStoreIsRead {
        private TrustStoreIsRead() {}

        @Advice.OnMethodEnter(skipOn = TlsStores.Known.class)
        static TlsStores.Look enter(@Advice.AllArguments Object[] arguments) {
            return TlsStores.look("trust", arguments);
        }

        @SuppressWarnings("UnusedVariable") // the method returns it
        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter TlsStores.Look look,
                @Advice.Return(readOnly = false) X509TrustManager manager) {
            manager = (X509TrustManager) look.result(manager);
        }
    }

    /** See {@link Boot#encoded}. */
    static final class TransactionIsEncoded {
        private TransactionIsEncoded() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static byte[] enter(
                @Advice.Argument(0) TxnHeader header,
                @Advice.Argument(1) Record txn,
                @Advice.Argument(2) TxnDigest digest) {
            return Boot.encoded(header, txn, digest);
        }

        @SuppressWarnings("UnusedVariable") // the method returns it
        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter byte[] encoded, @Advice.Return(readOnly = false) byte[] bytes) {
            bytes = encoded;
        }
    }

    /** See {@link Boot#checkCreate}. */
    static final class NodeIsCreated {
        private NodeIsCreated() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.Argument(0) int type, @Advice.Argument(2) Record request)
                throws KeeperException {
            Boot.checkCreate(type, request);
        }
    }
}
