package io.saucr.apache.fork;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.is;
import static net.bytebuddy.matcher.ElementMatchers.isSubTypeOf;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.not;

import io.saucr.core.Mode;
import io.saucr.server.ServerAssembly;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.utility.JavaModule;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumOracleMaj;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;

/**
 * Makes every server that a test starts situation-aware, if its quorum allows that: a majority
 * quorum of three or more voters. For servers that start from a configuration, the server's own
 * switch, the system property {@code zookeeper.saucr.enabled}, is set for the whole JVM; this class
 * switches it off where the quorum does not allow it. Where a test calls a constructor of {@link
 * QuorumPeer} itself, the call is replaced. Subclasses of {@link QuorumPeer} are left as they are.
 *
 * <p>Changes classes while they are loaded, so it must be installed before the first class of
 * ZooKeeper is used. Counts what SAUCR does. Thread-safe.
 */
public final class SaucrInjection {
    private static final int LEAST_VOTERS = 3;
    private static final LongAdder PEERS = new LongAdder();
    private static final LongAdder FAST_COMMITS = new LongAdder();
    private static final LongAdder SLOW_COMMITS = new LongAdder();
    private static final ThreadLocal<Boolean> STARTS_ALLOWED = ThreadLocal.withInitial(() -> false);

    private SaucrInjection() {}

    static void install(Instrumentation instrumentation, boolean breakCommitRule) {
        AgentBuilder agent =
                new AgentBuilder.Default()
                        .disableClassFormatChanges()
                        .with(AgentBuilder.PoolStrategy.Default.FAST)
                        .with(new EndOnError())
                        .ignore(
                                not(
                                        nameStartsWith("org.apache.zookeeper.")
                                                .or(nameStartsWith("io.saucr."))))
                        .type(named("io.saucr.server.Boot"))
                        .transform(
                                (builder, type, loader, module, domain) ->
                                        builder.visit(
                                                        Advice.to(CheckWhereAllowed.class)
                                                                .on(named("checkConfiguration")))
                                                .visit(
                                                        Advice.to(PeerWhereAllowed.class)
                                                                .on(named("quorumPeer"))))
                        .type(named("org.apache.zookeeper.server.quorum.QuorumPeerMain"))
                        .transform(
                                (builder, type, loader, module, domain) ->
                                        builder.visit(
                                                Advice.to(ServerStarts.class)
                                                        .on(named("runFromConfig"))))
                        .type(named("io.saucr.server.metrics.ReplicationMetrics"))
                        .transform(
                                (builder, type, loader, module, domain) ->
                                        builder.visit(
                                                Advice.to(EntryCommits.class)
                                                        .on(named("committed"))))
                        .type(
                                (type, loader, module, redefined, domain) ->
                                        domain != null
                                                && domain.getCodeSource() != null
                                                && domain.getCodeSource()
                                                        .getLocation()
                                                        .getPath()
                                                        .endsWith("-tests.jar")
                                                && mentionsQuorumPeer(type.getName(), loader)
                                                && !isSubTypeOf(QuorumPeer.class).matches(type))
                        .transform(
                                (builder, type, loader, module, domain) ->
                                        withReplacedConstructors(builder));
        if (breakCommitRule) {
            agent =
                    agent.type(named("io.saucr.core.quorum.CommitRule"))
                            .transform(
                                    (builder, type, loader, module, domain) ->
                                            builder.visit(
                                                    Advice.to(OneIsEnough.class)
                                                            .on(
                                                                    named("bareMajority")
                                                                            .or(
                                                                                    named(
                                                                                            "fastQuorum")))));
        }
        agent.installOn(instrumentation);
    }

    static Activity activity() {
        return new Activity(PEERS.sum(), FAST_COMMITS.sum(), SLOW_COMMITS.sum());
    }

    private static DynamicType.Builder<?> withReplacedConstructors(DynamicType.Builder<?> builder) {
        MemberSubstitution replacements = MemberSubstitution.relaxed();
        for (Method replacement : SaucrInjection.class.getDeclaredMethods()) {
            if (replacement.getName().equals("peer")) {
                replacements =
                        replacements
                                .constructor(is(constructorLike(replacement)))
                                .replaceWith(replacement);
            }
        }
        return builder.visit(replacements.on(any()));
    }

    /** A cheap look at the class file, which spares nearly all classes the expensive one. */
    private static boolean mentionsQuorumPeer(String type, ClassLoader loader) {
        try (InputStream in = loader.getResourceAsStream(type.replace('.', '/') + ".class")) {
            return in != null
                    && new String(in.readAllBytes(), StandardCharsets.ISO_8859_1)
                            .contains("org/apache/zookeeper/server/quorum/QuorumPeer");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Constructor<QuorumPeer> constructorLike(Method method) {
        try {
            return QuorumPeer.class.getConstructor(method.getParameterTypes());
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("QuorumPeer has no constructor like " + method, e);
        }
    }

    /** Whether SAUCR may be on for a server of this configuration. */
    public static boolean allowed(QuorumVerifier verifier) {
        return verifier != null
                && verifier.getClass().equals(QuorumMaj.class)
                && verifier.getVotingMembers().size() >= LEAST_VOTERS
                && !System.getProperty("zookeeper.forceSync", "yes").equals("no");
    }

    /** Whether this thread starts a server for which SAUCR may be on. */
    public static boolean startsAllowed() {
        return STARTS_ALLOWED.get();
    }

    /** This thread starts a server of this configuration. */
    public static void starts(QuorumPeerConfig config) {
        STARTS_ALLOWED.set(allowed(config.getQuorumVerifier()));
    }

    /** A situation-aware server was made. */
    public static void made() {
        PEERS.increment();
    }

    /** A leader has committed an entry. */
    public static void committed(Mode mode) {
        (mode == Mode.FAST ? FAST_COMMITS : SLOW_COMMITS).increment();
    }

    /** Replaces the constructor with the same arguments. */
    public static QuorumPeer peer(
            Map<Long, QuorumServer> servers,
            File dataDir,
            File dataLogDir,
            int electionType,
            long myid,
            int tickTime,
            int initLimit,
            int syncLimit,
            int connectToLearnerMasterLimit,
            ServerCnxnFactory clients)
            throws IOException {
        return peer(
                servers,
                dataDir,
                dataLogDir,
                electionType,
                myid,
                tickTime,
                initLimit,
                syncLimit,
                connectToLearnerMasterLimit,
                false,
                clients,
                new QuorumMaj(servers));
    }

    /** Replaces the constructor with the same arguments. */
    public static QuorumPeer peer(
            Map<Long, QuorumServer> servers,
            File snapDir,
            File logDir,
            int clientPort,
            int electionType,
            long myid,
            int tickTime,
            int initLimit,
            int syncLimit,
            int connectToLearnerMasterLimit)
            throws IOException {
        return peer(
                servers,
                snapDir,
                logDir,
                clientPort,
                electionType,
                myid,
                tickTime,
                initLimit,
                syncLimit,
                connectToLearnerMasterLimit,
                new QuorumMaj(servers));
    }

    /** Replaces the constructor with the same arguments. */
    public static QuorumPeer peer(
            Map<Long, QuorumServer> servers,
            File snapDir,
            File logDir,
            int clientPort,
            int electionType,
            long myid,
            int tickTime,
            int initLimit,
            int syncLimit,
            int connectToLearnerMasterLimit,
            QuorumVerifier verifier)
            throws IOException {
        QuorumServer self = servers.get(myid);
        boolean valid =
                self != null
                        && (self.clientAddr == null || self.clientAddr.getPort() == clientPort);
        if (!valid || !allowed(verifier)) {
            return new QuorumPeer(
                    servers,
                    snapDir,
                    logDir,
                    clientPort,
                    electionType,
                    myid,
                    tickTime,
                    initLimit,
                    syncLimit,
                    connectToLearnerMasterLimit,
                    verifier);
        }
        InetSocketAddress address =
                self.clientAddr == null ? new InetSocketAddress(clientPort) : self.clientAddr;
        return peer(
                servers,
                snapDir,
                logDir,
                electionType,
                myid,
                tickTime,
                initLimit,
                syncLimit,
                connectToLearnerMasterLimit,
                false,
                ServerCnxnFactory.createFactory(address, -1),
                verifier);
    }

    /**
     * Replaces the constructor with the same arguments, which most of ZooKeeper's quorum tests
     * call. ZooKeeper asks the oracle only in a quorum of two voters: with more, majorities decide
     * as they would without it, and the server may be situation-aware.
     */
    public static QuorumPeer peer(
            Map<Long, QuorumServer> servers,
            File snapDir,
            File logDir,
            int clientPort,
            int electionType,
            long myid,
            int tickTime,
            int initLimit,
            int syncLimit,
            int connectToLearnerMasterLimit,
            String oraclePath)
            throws IOException {
        QuorumMaj majority = new QuorumMaj(servers);
        return peer(
                servers,
                snapDir,
                logDir,
                clientPort,
                electionType,
                myid,
                tickTime,
                initLimit,
                syncLimit,
                connectToLearnerMasterLimit,
                allowed(majority) ? majority : new QuorumOracleMaj(servers, oraclePath));
    }

    /** Replaces the constructor with the same arguments. */
    public static QuorumPeer peer(
            Map<Long, QuorumServer> servers,
            File dataDir,
            File dataLogDir,
            int electionType,
            long myid,
            int tickTime,
            int initLimit,
            int syncLimit,
            int connectToLearnerMasterLimit,
            boolean listenOnAllAddresses,
            ServerCnxnFactory clients,
            QuorumVerifier verifier)
            throws IOException {
        QuorumVerifier quorums = verifier == null ? new QuorumMaj(servers) : verifier;
        if (!allowed(quorums)) {
            return new QuorumPeer(
                    servers,
                    dataDir,
                    dataLogDir,
                    electionType,
                    myid,
                    tickTime,
                    initLimit,
                    syncLimit,
                    connectToLearnerMasterLimit,
                    listenOnAllAddresses,
                    clients,
                    quorums);
        }
        SaucrQuorumPeer peer = ServerAssembly.peer(settings(), () -> {});
        made();
        peer.setCnxnFactory(clients);
        peer.setElectionType(electionType);
        peer.setMyid(myid);
        peer.setTickTime(tickTime);
        peer.setInitLimit(initLimit);
        peer.setSyncLimit(syncLimit);
        peer.setConnectToLearnerMasterLimit(connectToLearnerMasterLimit);
        peer.setQuorumListenOnAllIPs(listenOnAllAddresses);
        peer.setTxnFactory(new FileTxnSnapLog(dataLogDir, dataDir));
        peer.setZKDatabase(new ZKDatabase(peer.getTxnFactory()));
        peer.setQuorumVerifier(quorums, false);
        return peer;
    }

    private static SaucrSettings settings() {
        try {
            return SaucrSettings.parse("system properties", System.getProperties());
        } catch (InvalidSettingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends the process when a class cannot be changed: the results would be worthless. */
    private static final class EndOnError extends AgentBuilder.Listener.Adapter {
        @Override
        public void onError(
                String type, ClassLoader loader, JavaModule module, boolean loaded, Throwable e) {
            System.err.println("The change of " + type + " failed:");
            e.printStackTrace();
            Runtime.getRuntime().halt(3);
        }

        @Override
        public void onTransformation(
                TypeDescription type,
                ClassLoader loader,
                JavaModule module,
                boolean loaded,
                DynamicType changed) {
            if (loaded) {
                throw new IllegalStateException(type + " was in use before it could be changed");
            }
        }
    }

    /** Reads a configuration as if SAUCR were off, if its quorum does not allow SAUCR. */
    static final class CheckWhereAllowed {
        private CheckWhereAllowed() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter(@Advice.Argument(0) QuorumPeerConfig config) {
            return !SaucrInjection.allowed(config.getQuorumVerifier());
        }
    }

    /** Leaves a server as Apache's code made it, if its quorum does not allow SAUCR. */
    static final class PeerWhereAllowed {
        private PeerWhereAllowed() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter() {
            return !SaucrInjection.startsAllowed();
        }

        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter boolean skipped,
                @Advice.Argument(0) QuorumPeer original,
                @Advice.Return(readOnly = false) QuorumPeer peer) {
            if (skipped) {
                peer = original;
            } else {
                SaucrInjection.made();
            }
        }
    }

    /** See {@link #starts}. */
    static final class ServerStarts {
        private ServerStarts() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.Argument(0) QuorumPeerConfig config) {
            SaucrInjection.starts(config);
        }
    }

    /** See {@link #committed}. */
    static final class EntryCommits {
        private EntryCommits() {}

        @Advice.OnMethodExit
        static void exit(@Advice.Argument(0) Mode mode) {
            SaucrInjection.committed(mode);
        }
    }

    /** The defect that {@code --broken} puts in: a quorum is one server. */
    static final class OneIsEnough {
        private OneIsEnough() {}

        @Advice.OnMethodExit
        static void exit(@Advice.Return(readOnly = false) int quorum) {
            quorum = Math.min(quorum, 1);
        }
    }
}
