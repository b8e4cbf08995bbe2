package org.apache.zookeeper.server.quorum;

import io.saucr.core.Zxid;
import io.saucr.core.leader.NominatedSuccessor;
import io.saucr.core.quorum.View;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequest;
import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.DiskWatch;
import io.saucr.server.runtime.FlushCause;
import io.saucr.server.runtime.FolderLock;
import io.saucr.server.runtime.RecoveryProgress;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.server.SaucrDatabase;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.persistence.Uninterrupted;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A voter or observer that runs with SAUCR. Looks at what its disk is worth before anything else
 * (R25, R26); if it may lack what it acknowledged, it recovers before its first election (R15).
 * Makes leaders and followers that replicate situation-aware, and flushes whenever it goes looking
 * for a leader (R10).
 */
public final class SaucrQuorumPeer extends QuorumPeer {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrQuorumPeer.class);

    private final SaucrSettings settings;
    private final DiskWatch diskWatch;
    private final LogMetrics logMetrics;
    private final ReplicationMetrics replicationMetrics;
    private final RequestWatch watch;
    private final Lifecycle lifecycle;
    private final int incarnation = Incarnation.draw();

    /** For how long a server that a leader has named is preferred (R28). */
    private static final long NAMED_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How long a leader that is stopped may take to hand over. */
    private static final long LAST_HAND_OVER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Queue<FolderLock> folderLocks = new ConcurrentLinkedQueue<>();

    private final RecoveryChannel recoveryChannel = new RecoveryChannel();
    private final SlowModePin slowPin = new SlowModePin();
    private volatile SaucrTxnSnapLog txnSnapLog;
    private volatile EpochFiles epochs;
    private volatile CrashRecovery recovery;
    private volatile StartFromDisk start;

    /** Whether this process has led or followed. */
    private volatile boolean hadRole;

    /** Whom the last leader has named, until this server has another role. */
    private volatile NominatedSuccessor named;

    private volatile SaucrLeader newestLeader;
    private volatile RecoveryAnswers answers;
    private volatile boolean starting;
    private final Thread lastFlush = new Thread(this::flushForEver, "SaucrLastFlush");

    /** Lifecycle callbacks, passed to the constructor. */
    public interface Lifecycle {
        /**
         * What the disk is worth is known, and nobody has been told of this server yet. Called by
         * the thread that starts the peer, as is {@link #started}.
         *
         * @param txnSnapLog not open yet if the server recovers
         */
        void starting(SaucrQuorumPeer peer, SaucrTxnSnapLog txnSnapLog);

        /** The peer has started; its client ports are bound. */
        void started();

        /** A peer that was {@link #starting} has been shut down. */
        void stopped();
    }

    /**
     * @param logMetrics written by the log
     * @param replicationMetrics written by leaders
     * @param watch gets each request, in every role
     */
    public SaucrQuorumPeer(
            SaucrSettings settings,
            LogMetrics logMetrics,
            ReplicationMetrics replicationMetrics,
            RequestWatch watch,
            Lifecycle lifecycle)
            throws SaslException {
        this.settings = settings;
        this.logMetrics = logMetrics;
        this.replicationMetrics = replicationMetrics;
        this.watch = watch;
        this.lifecycle = lifecycle;
        diskWatch = new DiskWatch(settings.diskTimeout(), LOG::warn);
    }

    /** The peer that this program runs with, or null if it is not a situation-aware one. */
    public static SaucrQuorumPeer of(QuorumPeerMain main) {
        return main.quorumPeer instanceof SaucrQuorumPeer peer ? peer : null;
    }

    /** Replaces Apache's log by one over the same directories. */
    @Override
    public void setTxnFactory(FileTxnSnapLog factory) {
        try {
            lock(factory.getDataLogDir().toPath());
            if (!factory.getSnapDir().equals(factory.getDataLogDir())) {
                lock(factory.getSnapDir().toPath());
            }
            diskWatch.run(
                    "completing what was recovered in " + factory.getDataLogDir(),
                    () ->
                            RecoveryStore.completeReplacement(
                                    factory.getDataLogDir().toPath(),
                                    factory.getSnapDir().toPath()));
            SaucrTxnSnapLog replacement =
                    new SaucrTxnSnapLog(
                            factory.getDataLogDir().getParentFile(),
                            factory.getSnapDir().getParentFile(),
                            settings,
                            logMetrics);
            factory.close();
            txnSnapLog = replacement;
            epochs = new EpochFiles(replacement, settings.ensembleName(), this::getMyId);
            slowPin.log(replacement);
            super.setTxnFactory(replacement);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * Replaces ZooKeeper's database, before anything is loaded, by one that is bounded by bytes.
     */
    @Override
    public void setZKDatabase(ZKDatabase database) {
        super.setZKDatabase(new SaucrDatabase(getTxnFactory(), settings.committedLogBytes()));
    }

    private void lock(Path folder) throws IOException {
        folderLocks.add(FolderLock.take(folder, FolderLock.PATIENCE));
    }

    @Override
    public synchronized void start() {
        start = new StartFromDisk(this, txnSnapLog, settings, epochs, recoveryChannel, incarnation);
        try {
            diskWatch.run("reading and repairing " + txnSnapLog.getDataLogDir(), start::begin);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        recovery = start.recovery();
        answers = new RecoveryAnswers(this, recoveryChannel, txnSnapLog);
        recoveryChannel.answersBy(answers);
        answers.start();
        Runtime.getRuntime().addShutdownHook(lastFlush);
        starting = true;
        lifecycle.starting(this, txnSnapLog);
        if (PortSecurity.of(this).open()) {
            LOG.warn(PortSecurity.OPEN);
        }
        super.start();
        lifecycle.started();
    }

    /** Warns when the disk hangs while a history is copied to it. */
    DiskWatch diskWatch() {
        return diskWatch;
    }

    private void flushForEver() {
        if (txnSnapLog.isOpen()) {
            if (!CriticalThread.failing()) {
                handOverBeforeTheEnd();
            }
            txnSnapLog.log().flushForEver("the process ends");
        }
    }

    /**
     * A leader that is stopped hands over first (R28). In a thread of its own: the thread that ends
     * the process may hold a lock.
     */
    private void handOverBeforeTheEnd() {
        if (getPeerState() != ServerState.LEADING) {
            return;
        }
        Thread last =
                new Thread(
                        () -> {
                            String refusal = handOver(0, LAST_HAND_OVER_NANOS);
                            LOG.info(
                                    "{}",
                                    refusal == null
                                            ? "Handed over before the end"
                                            : "Ends without handing over: " + refusal);
                        },
                        "SaucrLastHandOver");
        last.setDaemon(true);
        last.start();
        try {
            last.join(TimeUnit.NANOSECONDS.toMillis(2 * LAST_HAND_OVER_NANOS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        if (recovering()) {
            // An error out of it must not leave a process that looks alive.
            CriticalThread.guard(this::recover);
            if (recovering()) {
                return;
            }
        }
        // Where an error ends ZooKeeper's main thread, Java exits with 0, as after an orderly stop.
        CriticalThread.guard(() -> super.run(), () -> !isRunning());
    }

    /** The process may be someone else's and continue: nothing of this server stays in it. */
    @Override
    public void shutdown() {
        super.shutdown();
        if (starting) {
            lifecycle.stopped();
            answers.stop();
            endLastFlush();
        }
        unlock();
    }

    private void unlock() {
        for (FolderLock lock = folderLocks.poll(); lock != null; lock = folderLocks.poll()) {
            try {
                lock.close();
            } catch (IOException e) {
                LOG.warn("A folder's lock cannot be released before the process ends", e);
            }
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

    /** R17: only a server whose log is complete and durable continues to its first election. */
    private boolean recover() {
        try {
            if (!recovery.run()) {
                return false;
            }
            txnSnapLog.loadLater(false);
            diskWatch.run("reading what was recovered", start::openWhatWasRecovered);
            slowPin.log(txnSnapLog);
            if (!recovery.foundNewEnsemble()) {
                replicationMetrics.recovered(recovery.progress().elapsedMillis());
            }
            // H10: nothing was loaded at the start, for what was there lacked what is there now.
            getZkDb().clear();
            getLastLoggedZxid();
            startLeaderElectionAnew();
            recoveryChannel.gate().endRecovery();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (IOException | RuntimeException e) {
            LOG.error(
                    "The recovery failed; nothing that was recovered is lost, a restart continues it",
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
        SaucrCnxManager channel =
                new SaucrCnxManager(
                        this, getView(), authServer, authLearner, timeout, recoveryChannel);
        recoveryChannel.over(channel);
        return channel;
    }

    /** Votes wait until the election has its {@link Ballots}. */
    @Override
    protected Election createElectionAlgorithm(int type) {
        votes().hold();
        try {
            Election election = super.createElectionAlgorithm(type);
            if (election instanceof FastLeaderElection fast) {
                fast.recvqueue = new Ballots(this, fast, this::mayVote, this::named);
            }
            return election;
        } finally {
            votes().release();
        }
    }

    /**
     * When servers start, one after the other, each of them may come any moment. Later only those
     * are awaited that are there: a leader that has died is not, nor one that has named the next.
     */
    private boolean mayVote(long voter) {
        if (!hadRole || voter == getMyId()) {
            return true;
        }
        NominatedSuccessor next = named();
        return hears(voter) && (next == null || voter != next.by());
    }

    /** Whether the election channel has a connection to this other server. */
    boolean hears(long sid) {
        return recoveryChannel.hears(sid);
    }

    /** Whether this server recovers: it takes part in nothing. */
    public boolean recovering() {
        return votes().recovering();
    }

    /** Whether this server votes and hears votes. */
    ElectionGate votes() {
        return recoveryChannel.gate();
    }

    /** What an operator may know of a recovery; null if this process needed none. */
    public RecoveryProgress recoveryProgress() {
        CrashRecovery running = recovery;
        return running == null || (!recovering() && running.foundNewEnsemble())
                ? null
                : running.progress();
    }

    /** The view whose members' answers count while this server recovers (R23). */
    public View viewWhileRecovering() {
        CrashRecovery running = recovery;
        return running == null ? View.FIRST : running.ownView();
    }

    /** Whether it recovers what was on its disk, and not what was in its memory alone (R26). */
    public boolean recoversLostDisk() {
        CrashRecovery running = recovery;
        return recovering() && running != null && running.lostDisk();
    }

    @Override
    protected Follower makeFollower(FileTxnSnapLog logFactory) throws IOException {
        hadRole = true;
        return new SaucrFollower(
                this,
                new SaucrFollowerServer(logFactory, txnSnapLog.log(), this, getZkDb(), watch),
                txnSnapLog.log(),
                settings,
                incarnation);
    }

    @Override
    protected Leader makeLeader(FileTxnSnapLog logFactory) throws IOException {
        hadRole = true;
        SaucrLeader made =
                new SaucrLeader(
                        this,
                        new SaucrLeaderServer(txnSnapLog, this, getZkDb(), watch),
                        txnSnapLog.log(),
                        settings,
                        replicationMetrics,
                        watch);
        slowPin.leader(made);
        newestLeader = made;
        return made;
    }

    /**
     * Hands the lead over to another server (R28). Any thread that holds no lock.
     *
     * @param to 0 to let it be chosen
     * @param limitNanos how long it may take until that server has everything
     * @return why not, one sentence; null if this server no longer leads
     */
    public String handOver(long to, long limitNanos) {
        SaucrLeader leads = newestLeader;
        if (leads == null || getPeerState() != ServerState.LEADING) {
            return "server " + getMyId() + " does not lead";
        }
        return to == getMyId() ? "server " + to + " leads already" : leads.handOver(to, limitNanos);
    }

    /** The oldest writes that this leader has not committed, if they are slow; any thread. */
    public List<SlowRequest> waitingWrites() {
        SaucrLeader leads = newestLeader;
        return leads == null || getPeerState() != ServerState.LEADING
                ? List.of()
                : leads.waitingWrites();
    }

    /** R28: the leader names the next one, to this server among others. */
    void names(long sid) {
        named = new NominatedSuccessor(sid, getLeaderId(), System.nanoTime() + NAMED_NANOS);
    }

    /** Whom to prefer among equals; null if nobody was named, or it is no longer there. */
    NominatedSuccessor named() {
        NominatedSuccessor newest = named;
        return newest != null
                        && newest.holds(System.nanoTime())
                        && (newest.sid() == getMyId() || hears(newest.sid()))
                ? newest
                : null;
    }

    /**
     * Whether this server's log, and the ensemble while this server leads, must stay slow; holds
     * through elections. Any thread.
     *
     * @param reason for the log line of the switch
     */
    public void pinSlow(boolean pinned, String reason) {
        slowPin.set(pinned, reason);
    }

    @Override
    protected Observer makeObserver(FileTxnSnapLog logFactory) throws IOException {
        return new SaucrObserver(
                this,
                new SaucrObserverServer(logFactory, this, getZkDb(), watch),
                txnSnapLog.log());
    }

    /** R10: a server that looks for a leader has everything on disk first. */
    @Override
    public synchronized void setPeerState(ServerState newState) {
        SaucrTxnSnapLog opened = txnSnapLog;
        if (opened != null && opened.isOpen()) {
            if (newState == ServerState.LOOKING) {
                opened.log().flushAndMark(FlushCause.ELECTION, "looking for a leader");
            }
            matchDatabaseToLog(opened);
        }
        if (newState != ServerState.LOOKING) {
            named = null;
        }
        super.setPeerState(newState);
        if (newState == ServerState.LOOKING
                && named() != null
                && getElectionAlg() instanceof FastLeaderElection election) {
            recoveryChannel.hearEarlyVotes(
                    System.nanoTime() - NAMED_NANOS, election.getLogicalClock());
        }
    }

    /**
     * H14: commits are applied to memory although this server has not logged them, and entries are
     * logged that are not applied. When the server between two roles is not what its log says, it
     * is loaded anew: votes, epoch acks and synchronisation then speak of the log.
     */
    private void matchDatabaseToLog(SaucrTxnSnapLog opened) {
        if (getActiveServer() != null || !getZkDb().isInitialized() || observesWithoutLog()) {
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

    /**
     * Whether what this server has is in its memory alone, by the operator's wish: all of it is
     * committed, and nobody counts on it.
     */
    private boolean observesWithoutLog() {
        return getLearnerType() == LearnerType.OBSERVER && !getSyncEnabled();
    }

    /**
     * A file that cannot be written ends the process, as the log does: without it this server would
     * join, fail and elect again, many times a second, for as long as its disk refuses.
     */
    @Override
    void writeLongToFile(String name, long value) throws IOException {
        File file = new File(getTxnFactory().getSnapDir(), name);
        try {
            diskWatch.run(
                    "writing " + file, () -> Uninterrupted.run(() -> epochs.write(name, value)));
        } catch (IOException | RuntimeException | Error e) {
            if (isRunning()) {
                CriticalThread.endProcess(file + " cannot be written", e);
            }
            throw e;
        }
    }
}
