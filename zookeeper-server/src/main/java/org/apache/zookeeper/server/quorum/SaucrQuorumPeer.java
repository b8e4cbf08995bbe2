package org.apache.zookeeper.server.quorum;

import io.saucr.core.Markers;
import io.saucr.core.RecoveryMessage;
import io.saucr.core.Zxid;
import io.saucr.server.FlushCause;
import io.saucr.server.LogMetrics;
import io.saucr.server.Maintenance;
import io.saucr.server.MarkerStore;
import io.saucr.server.RecoveryProgress;
import io.saucr.server.ReplicationMetrics;
import io.saucr.server.SaucrSettings;
import io.saucr.server.SaucrStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.DirectRequests;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A voter or observer that runs with SAUCR. Looks at the markers before anything else; if it
 * crashed in fast mode it recovers before its first election (R15). Makes leaders and followers
 * that replicate situation-aware, and flushes whenever it goes looking for a leader (R10).
 */
public final class SaucrQuorumPeer extends QuorumPeer implements SaucrCnxManager.Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrQuorumPeer.class);

    private final SaucrSettings settings;
    private final Runnable onStart;
    private final LogMetrics logMetrics = new LogMetrics();
    private final ReplicationMetrics replicationMetrics = new ReplicationMetrics();
    private final int incarnation = Incarnation.draw();

    private volatile SaucrTxnSnapLog txnSnapLog;
    private volatile SaucrCnxManager channel;
    private volatile CrashRecovery recovery;
    private volatile boolean recovering;
    private Markers markers;
    private volatile RecoveryAnswers answers;
    private volatile SaucrStatus status;
    private final Thread lastFlush = new Thread(this::flushForEver, "SaucrLastFlush");

    private final Object pinLock = new Object();

    // pinLock
    private boolean pinnedSlow;
    private String pinReason = "";
    private SaucrLeader newestLeader;

    public SaucrQuorumPeer(SaucrSettings settings) throws SaslException {
        this(settings, () -> {});
    }

    /**
     * @param onStart called once the peer has started, with its client ports bound, on the thread
     *     that starts it
     */
    public SaucrQuorumPeer(SaucrSettings settings, Runnable onStart) throws SaslException {
        this.settings = settings;
        this.onStart = onStart;
    }

    /** The peer that this program runs with, or null if it is not a situation-aware one. */
    public static SaucrQuorumPeer of(QuorumPeerMain main) {
        return main.quorumPeer instanceof SaucrQuorumPeer peer ? peer : null;
    }

    /** Replaces Apache's log by one over the same directories. */
    @Override
    public void setTxnFactory(FileTxnSnapLog factory) {
        try {
            RecoveryStore.completeReplacement(
                    factory.getDataLogDir().toPath(), factory.getSnapDir().toPath());
            SaucrTxnSnapLog replacement =
                    new SaucrTxnSnapLog(
                            factory.getDataLogDir().getParentFile(),
                            factory.getSnapDir().getParentFile(),
                            settings,
                            logMetrics);
            factory.close();
            markers = replacement.markerStore().read();
            recovering = markers.crashedInFastMode();
            if (!recovering) {
                replacement.open(markers);
            }
            txnSnapLog = replacement;
            super.setTxnFactory(replacement);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    @Override
    public synchronized void start() {
        try {
            if (recovering) {
                recovery =
                        new CrashRecovery(
                                this, txnSnapLog, markers, incarnation, currentEpochOnDisk());
            }
        } catch (IOException e) {
            throw new IllegalStateException("The log of a crash in fast mode cannot be read", e);
        }
        answers = new RecoveryAnswers(this, txnSnapLog);
        answers.start();
        Runtime.getRuntime().addShutdownHook(lastFlush);
        status =
                new SaucrStatus(
                        this,
                        settings,
                        txnSnapLog,
                        logMetrics,
                        replicationMetrics,
                        new Maintenance(this, txnSnapLog));
        status.publish();
        super.start();
        onStart.run();
    }

    private long currentEpochOnDisk() throws IOException {
        Path file = txnSnapLog.getSnapDir().toPath().resolve(CURRENT_EPOCH_FILENAME);
        return Long.parseLong(Files.readString(file).trim());
    }

    private void flushForEver() {
        if (txnSnapLog.isOpen()) {
            txnSnapLog.log().flushForEver("the process ends");
        }
    }

    @Override
    public void run() {
        if (recovering && !recover()) {
            return;
        }
        super.run();
    }

    /** The process may be someone else's and go on: nothing of this server stays in it. */
    @Override
    public void shutdown() {
        super.shutdown();
        if (status != null) {
            status.withdraw();
            answers.stop();
            endLastFlush();
        }
    }

    /** ZooKeeper's shutdown has closed the log, which flushes it. */
    private void endLastFlush() {
        try {
            Runtime.getRuntime().removeShutdownHook(lastFlush);
        } catch (IllegalStateException e) {
            LOG.debug("The process ends: the last flush is under way", e);
        }
    }

    /** R17: only a server whose log is complete and durable goes on to its first election. */
    private boolean recover() {
        try {
            if (!recovery.run()) {
                return false;
            }
            txnSnapLog.open(txnSnapLog.markerStore().read());
            applyPin();
            replicationMetrics.recovered(recovery.progress().elapsedMillis());
            // H10: what was loaded at the start lacked what was recovered since.
            getZkDb().clear();
            getLastLoggedZxid();
            startLeaderElectionAnew();
            recovering = false;
            channel.releaseVotes();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (IOException | RuntimeException e) {
            LOG.error(
                    "The recovery failed; nothing that was recovered is lost, a restart goes on",
                    e);
            ServiceUtils.requestSystemExit(ExitCode.UNEXPECTED_ERROR.getValue());
            return false;
        }
    }

    /** H17: the vote of the start was made of what the disk held then. */
    private synchronized void startLeaderElectionAnew() throws IOException {
        setCurrentVote(new Vote(getMyId(), getLastLoggedZxid(), getCurrentEpoch()));
    }

    @Override
    public QuorumCnxManager createCnxnManager() {
        int configured = Integer.getInteger(QUORUM_CNXN_TIMEOUT_MS, -1);
        int timeout = configured > 0 ? configured : tickTime * syncLimit;
        LOG.info("Using {}ms as the quorum cnxn socket timeout", timeout);
        channel = new SaucrCnxManager(this, getView(), authServer, authLearner, timeout, this);
        return channel;
    }

    @Override
    public void received(long from, ByteBuffer message) {
        if (recovering) {
            CrashRecovery running = recovery;
            if (running != null) {
                running.received(from, message);
            }
        } else {
            answers.received(from, message);
        }
    }

    @Override
    public boolean recovering() {
        return recovering;
    }

    /** What an operator may know of a recovery; null if this process needed none. */
    public RecoveryProgress recoveryProgress() {
        CrashRecovery running = recovery;
        return running == null ? null : running.progress();
    }

    void send(long sid, RecoveryMessage message) {
        channel.send(sid, message);
    }

    @Override
    protected Follower makeFollower(FileTxnSnapLog logFactory) throws IOException {
        return new SaucrFollower(
                this,
                new FollowerZooKeeperServer(logFactory, this, getZkDb()) {
                    @Override
                    protected RequestThrottler createRequestThrottler() {
                        return new DirectRequests(this);
                    }
                },
                txnSnapLog.log(),
                settings,
                incarnation);
    }

    @Override
    protected Leader makeLeader(FileTxnSnapLog logFactory) throws IOException {
        SaucrLeader leader =
                new SaucrLeader(
                        this,
                        new SaucrLeaderServer(logFactory, this, getZkDb()),
                        txnSnapLog.log(),
                        settings,
                        replicationMetrics);
        synchronized (pinLock) {
            newestLeader = leader;
        }
        applyPin();
        return leader;
    }

    /**
     * Whether this server's log, and the ensemble while this server leads, must stay slow; holds
     * through elections. Any thread.
     *
     * @param reason for the log line of the switch
     */
    public void pinSlow(boolean pinned, String reason) {
        synchronized (pinLock) {
            pinnedSlow = pinned;
            pinReason = reason;
        }
        applyPin();
    }

    private void applyPin() {
        synchronized (pinLock) {
            if (txnSnapLog.isOpen()) {
                txnSnapLog.log().pinSlow(pinnedSlow);
            }
            if (newestLeader != null) {
                newestLeader.pinSlow(pinnedSlow, pinReason);
            }
        }
    }

    /**
     * An observer's log holds what is committed; nothing that a leader said of modes applies to it.
     */
    @Override
    protected Observer makeObserver(FileTxnSnapLog logFactory) throws IOException {
        txnSnapLog.log().forgetTags();
        return super.makeObserver(logFactory);
    }

    /** R10: whoever looks for a leader has everything on disk first. */
    @Override
    public synchronized void setPeerState(ServerState newState) {
        SaucrTxnSnapLog opened = txnSnapLog;
        if (opened != null && opened.isOpen()) {
            if (newState == ServerState.LOOKING) {
                opened.log().flushAndMark(FlushCause.ELECTION, "looking for a leader");
            }
            matchDatabaseToLog(opened);
        }
        super.setPeerState(newState);
    }

    /**
     * H14: commits are applied to memory although this server has not logged them, and entries are
     * logged that are not applied. When the server between two roles is not what its log says, it
     * is loaded anew: votes, epoch acks and synchronisation then speak of the log.
     */
    private void matchDatabaseToLog(SaucrTxnSnapLog opened) {
        if (getActiveServer() != null || !getZkDb().isInitialized()) {
            return;
        }
        long applied = getZkDb().getDataTreeLastProcessedZxid();
        long logged = opened.log().lastAppended();
        if (applied != logged && Zxid.counter(applied) != 0) {
            LOG.info(
                    "Memory is at {}, the log ends at {}: loading anew",
                    Zxid.toString(applied),
                    Zxid.toString(logged));
            getZkDb().clear();
        }
    }

    /** Epoch files are renamed into place; a power cut must not undo that. */
    @Override
    void writeLongToFile(String name, long value) throws IOException {
        super.writeLongToFile(name, value);
        MarkerStore.forceDirectory(getTxnFactory().getSnapDir().toPath());
    }
}
