package org.apache.zookeeper.server.quorum;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.StartAssessment;
import io.saucr.core.recovery.StartAssessment.Verdict;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.DiskWatch;
import io.saucr.server.runtime.FlushCause;
import io.saucr.server.runtime.FolderLock;
import io.saucr.server.runtime.RecoveryProgress;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.common.AtomicFileWritingIdiom;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.server.SaucrDatabase;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.DiskInspection;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.PageCacheProof;
import org.apache.zookeeper.server.persistence.RawLog;
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

    /** How long an earlier process, just stopped, may take for its last flush. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(10);

    private final SaucrSettings settings;
    private final DiskWatch diskWatch;
    private final LogMetrics logMetrics;
    private final ReplicationMetrics replicationMetrics;
    private final Lifecycle lifecycle;
    private final int incarnation = Incarnation.draw();

    private final Queue<FolderLock> folderLocks = new ConcurrentLinkedQueue<>();

    private volatile SaucrTxnSnapLog txnSnapLog;
    private volatile SaucrCnxManager channel;
    private volatile CrashRecovery recovery;
    private volatile boolean recovering;
    private volatile StartAssessment assessment;

    /**
     * Random id that ties the log folder to the file of the current epoch (R26); drawn anew if the
     * disk has none that is valid.
     */
    private volatile long logId;

    /**
     * How many shutdowns of a role are under way; a leader's end may be begun by more than one
     * thread.
     */
    private final AtomicInteger betweenRoles = new AtomicInteger();

    /** Whether this process has led or followed. */
    private volatile boolean hadRole;

    private volatile RecoveryAnswers answers;
    private volatile boolean starting;
    private final Thread lastFlush = new Thread(this::flushForEver, "SaucrLastFlush");

    private final Object pinLock = new Object();

    // pinLock
    private boolean pinnedSlow;
    private String pinReason = "";
    private SaucrLeader newestLeader;

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
     */
    public SaucrQuorumPeer(
            SaucrSettings settings,
            LogMetrics logMetrics,
            ReplicationMetrics replicationMetrics,
            Lifecycle lifecycle)
            throws SaslException {
        this.settings = settings;
        this.logMetrics = logMetrics;
        this.replicationMetrics = replicationMetrics;
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
        folderLocks.add(FolderLock.take(folder, LOCK_PATIENCE));
    }

    @Override
    public synchronized void start() {
        try {
            diskWatch.run("reading and repairing " + txnSnapLog.getDataLogDir(), this::begin);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        answers = new RecoveryAnswers(this, txnSnapLog);
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

    /** R15, R25, R26: what this server may do depends on what it still has. */
    private void begin() throws IOException {
        Path logs = txnSnapLog.getDataLogDir().toPath();
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        MarkerStore markerStore = txnSnapLog.markerStore();
        PageCacheProof proof = new PageCacheProof(logs, settings.bootId());
        OptionalLong proven = proof.through();
        DiskInspection examination = new DiskInspection(logs, snapshots, markerStore);
        assessment = examination.assess(Optional.of(settings.ensembleName()), getMyId(), proven);
        logId =
                markerStore
                        .identity()
                        .map(LogIdentity::log)
                        .orElseGet(() -> ThreadLocalRandom.current().nextLong(Long.MAX_VALUE));
        Markers markers = markerStore.read();
        switch (assessment.verdict()) {
            case COMPLETE -> {
                if (proof.mayHideFailure()) {
                    rewrite(txnSnapLog::rewriteNewest);
                }
                open(markers, examination.scan());
            }
            case COMPLETE_IN_PAGE_CACHE -> openFromPageCache(markers, examination.scan());
            case MEMORY_LOST -> {
                if (proof.mayHideFailure()) {
                    rewrite(() -> txnSnapLog.rewriteUnforced(markers));
                }
                recover(Loss.MEMORY, markers);
            }
            case DISK_LOST -> recover(Loss.DISK, markers);
            case EMPTY -> beginEmpty(markers, examination.scan());
            case FOREIGN -> throw new IOException(refusal());
        }
    }

    private String refusal() {
        return "Server "
                + getMyId()
                + " does not start on "
                + txnSnapLog.getDataLogDir()
                + " and "
                + txnSnapLog.getSnapDir()
                + ": "
                + assessment.reason();
    }

    /** Observers acknowledge nothing: an empty one gets everything from its leader. */
    private void beginEmpty(Markers markers, RawLog.Scan scan) throws IOException {
        if (getLearnerType() == LearnerType.OBSERVER) {
            open(markers, scan);
        } else {
            recover(txnSnapLog.mayBeNew() ? Loss.EVERYTHING : Loss.DISK, markers);
        }
    }

    private void recover(Loss loss, Markers markers) throws IOException {
        new PageCacheProof(txnSnapLog.getDataLogDir().toPath(), settings.bootId()).remove();
        // An empty disk is read: what ZooKeeper writes to it then says that the server may be new.
        txnSnapLog.loadLater(loss != Loss.EVERYTHING);
        recovering = true;
        recovery = new CrashRecovery(this, txnSnapLog, markers, incarnation, loss, assessment);
        acceptEpochOfLog(recovery.lastOnDisk());
    }

    /**
     * Where the file of the accepted epoch is gone ZooKeeper takes the epoch of what it has loaded
     * for it. A server that recovers has loaded nothing, and would be refused with an accepted
     * epoch below its current one.
     */
    private void acceptEpochOfLog(long last) throws IOException {
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long epoch = Math.max(RecoveryStore.currentEpochIn(snapshots), Zxid.epoch(last));
        if (epoch > 0 && RecoveryStore.acceptedEpochIn(snapshots) < 0) {
            writeEpoch(snapshots.toFile(), ACCEPTED_EPOCH_FILENAME, epoch);
        }
    }

    /**
     * R25: everything that was acknowledged is in the log, but the LLE map died with the process.
     * Whatever this server had logged, anybody else may have.
     */
    private void openFromPageCache(Markers markers, RawLog.Scan scan) throws IOException {
        rewrite(() -> txnSnapLog.rewriteUnforced(markers));
        try {
            txnSnapLog.forceUnforced();
        } catch (IOException e) {
            LOG.error("What is in the page cache cannot be synced: it is not trusted", e);
            rewrite(() -> txnSnapLog.rewriteUnforced(markers));
            recover(Loss.MEMORY, markers);
            return;
        }
        LOG.info("This server is complete: {}", assessment.reason());
        // A process that was killed while it wrote leaves a torn entry behind this one.
        long last = scan.epochEnds().last();
        LleMap map = markers.lleMap();
        for (long voter : getView().keySet()) {
            map = map.with(voter, Math.max(map.get(voter), last));
        }
        for (long known : map.sids()) {
            map = map.with(known, Math.max(map.get(known), last));
        }
        txnSnapLog.markerStore().writeLatestOnDisk(last, map, markers.view());
        open(txnSnapLog.markerStore().read(), scan);
    }

    /**
     * A force that failed leaves pages that look clean: the next force would pass them over, and a
     * loss of power would take what this server goes on to speak of.
     */
    private void rewrite(DiskWatch.Action rewriting) throws IOException {
        try {
            rewriting.run();
        } catch (IOException e) {
            throw new IOException(
                    "What this server logged last may be in the page cache alone, and cannot be"
                            + " written to "
                            + txnSnapLog.getDataLogDir()
                            + ": "
                            + e.getMessage()
                            + ". Nothing is lost as long as the machine keeps running: make the disk"
                            + " writable, or make room on it, then start the server again",
                    e);
        }
    }

    /** Opens the log: this server is complete now, and its folders say whose they are (R26). */
    private void open(Markers markers, RawLog.Scan scan) throws IOException {
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long current = RecoveryStore.currentEpochIn(snapshots);
        long epoch = epochByLog(current, scan.epochEnds().last());
        MarkerStore markerStore = txnSnapLog.markerStore();
        txnSnapLog.open(
                markers,
                new PageCacheProof(txnSnapLog.getDataLogDir().toPath(), settings.bootId()),
                scan);
        if (!markerStore.hasLatestOnDisk()) {
            markerStore.writeLatestOnDisk(markers.latestOnDisk(), markers.lleMap(), markers.view());
        }
        if (!markerStore.hasFastSwitch()) {
            markerStore.writeFastSwitch(markers.fastSwitch());
        }
        LogIdentity identity =
                new LogIdentity(
                        settings.ensembleName(),
                        getMyId(),
                        logId,
                        Math.max(0, current),
                        txnSnapLog.log().lastAppended(),
                        markers.latestOnDisk());
        if (!markerStore.identity().equals(Optional.of(identity))) {
            markerStore.writeIdentity(identity);
        }
        // An older version, or Apache's server, leaves an epoch file without the stamp.
        if (epoch > current
                || (epoch >= 0 && !DiskInspection.stamp(snapshots).equals(Optional.of(stamp())))) {
            writeEpoch(snapshots.toFile(), CURRENT_EPOCH_FILENAME, epoch);
        }
    }

    /**
     * R25: a follower logs its leader's history before it writes the leader's epoch. If its process
     * died in between, it is in the epoch of its last entry now, as if it had died with that log in
     * that epoch; of the epoch that it was about to join it may have a part of the history only.
     *
     * @param current what the epoch file says, -1 if there is none
     * @return the epoch that this server is in
     * @throws IOException if it never accepted the epoch of its last entry: the files don't belong
     *     together. Nothing is changed
     */
    private long epochByLog(long current, long lastLogged) throws IOException {
        long logged = Zxid.epoch(lastLogged);
        if (current < 0 || logged <= current) {
            return current;
        }
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long accepted = RecoveryStore.acceptedEpochIn(snapshots);
        if (logged > accepted) {
            throw new IOException(
                    "The history in "
                            + txnSnapLog.getDataLogDir()
                            + " and "
                            + snapshots
                            + " ends at "
                            + Zxid.toString(lastLogged)
                            + ", in epoch "
                            + logged
                            + ", but the files acceptedEpoch and currentEpoch in "
                            + snapshots
                            + " say "
                            + accepted
                            + " and "
                            + current
                            + ": they are another history's. While a majority of the others"
                            + " serves, empty both folders but for myid; this server then gets"
                            + " everything from them");
        }
        LOG.info(
                "This server was killed while it joined epoch {}: its history ends at {}, so it is in"
                        + " epoch {}, not {}",
                accepted,
                Zxid.toString(lastLogged),
                logged,
                current);
        return logged;
    }

    private Stamp stamp() {
        return new Stamp(getMyId(), logId);
    }

    /** Warns when the disk hangs while a history is copied to it. */
    DiskWatch diskWatch() {
        return diskWatch;
    }

    /** The identity of this server's log while it recovers: nothing in it counts as complete. */
    LogIdentity identityOfLoss() {
        return LogIdentity.ofLoss(settings.ensembleName(), stamp());
    }

    private void flushForEver() {
        if (txnSnapLog.isOpen()) {
            txnSnapLog.log().flushForEver("the process ends");
        }
    }

    @Override
    public void run() {
        if (recovering) {
            // An error out of it must not leave a process that looks alive.
            CriticalThread.guard(this::recover);
            if (recovering) {
                return;
            }
        }
        // Where an error ends ZooKeeper's main thread, Java exits with 0, as after an orderly stop.
        CriticalThread.guard(() -> super.run(), () -> !isRunning());
    }

    /** The process may be someone else's and go on: nothing of this server stays in it. */
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

    /** R17: only a server whose log is complete and durable goes on to its first election. */
    private boolean recover() {
        try {
            if (!recovery.run()) {
                return false;
            }
            txnSnapLog.loadLater(false);
            diskWatch.run("reading what was recovered", this::openWhatWasRecovered);
            applyPin();
            if (!recovery.foundNewEnsemble()) {
                replicationMetrics.recovered(recovery.progress().elapsedMillis());
            }
            // H10: nothing was loaded at the start, for what was there lacked what is there now.
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
                    "The recovery failed; nothing that was recovered is lost, a restart continues it",
                    e);
            ServiceUtils.requestSystemExit(ExitCode.UNEXPECTED_ERROR.getValue());
            return false;
        }
    }

    private void openWhatWasRecovered() throws IOException {
        Markers markers = txnSnapLog.markerStore().read();
        open(markers, txnSnapLog.scan(markers));
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
        SaucrCnxManager.Recovery votes =
                new SaucrCnxManager.Recovery() {
                    @Override
                    public void received(long from, ByteBuffer message) {
                        receivedMessage(from, message);
                    }

                    @Override
                    public void held(long from, ByteBuffer vote) {
                        CrashRecovery running = recovery;
                        if (recovering
                                && running != null
                                && assessment.verdict() == Verdict.EMPTY) {
                            running.received(from, vote);
                        }
                    }

                    @Override
                    public boolean recovering() {
                        return recovering || betweenRoles.get() > 0;
                    }
                };
        channel = new SaucrCnxManager(this, getView(), authServer, authLearner, timeout, votes);
        return channel;
    }

    /** Votes wait until the election has its {@link Ballots}. */
    @Override
    protected Election createElectionAlgorithm(int type) {
        holdVotes();
        try {
            Election election = super.createElectionAlgorithm(type);
            if (election instanceof FastLeaderElection fast) {
                fast.recvqueue = new Ballots(this, fast, this::mayVote);
            }
            return election;
        } finally {
            releaseVotes();
        }
    }

    /**
     * When servers start, one after the other, each of them may come any moment. Later only those
     * are awaited that are there: a leader that has died is not.
     */
    private boolean mayVote(long voter) {
        return !hadRole || voter == getMyId() || hears(voter);
    }

    /** Whether the election channel has a connection to this other server. */
    boolean hears(long sid) {
        return channel.connectedToPeer(sid);
    }

    private void receivedMessage(long from, ByteBuffer message) {
        if (recovering) {
            CrashRecovery running = recovery;
            if (running != null) {
                running.received(from, message);
            }
        } else {
            answers.received(from, message);
        }
    }

    /** Whether this server recovers: it takes part in nothing. */
    public boolean recovering() {
        return recovering;
    }

    /**
     * Whether this server neither votes nor hears votes, because it has left its role and its log
     * is not flushed yet (R24). While its disk hangs it would tell everyone of a role that it does
     * not have any more, and nobody could be elected. Votes that come in are heard later.
     */
    void holdVotes() {
        betweenRoles.incrementAndGet();
    }

    /** The end of one {@link #holdVotes}. */
    void releaseVotes() {
        if (betweenRoles.decrementAndGet() == 0 && !recovering) {
            channel.releaseVotes();
        }
    }

    /** What an operator may know of a recovery; null if this process needed none. */
    public RecoveryProgress recoveryProgress() {
        CrashRecovery running = recovery;
        return running == null || (!recovering && running.foundNewEnsemble())
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
        return recovering && running != null && running.lostDisk();
    }

    void send(long sid, RecoveryMessage message) {
        channel.send(sid, message);
    }

    void tidyElectionChannel() {
        SaucrCnxManager created = channel;
        if (created != null) {
            created.tidy();
        }
    }

    @Override
    protected Follower makeFollower(FileTxnSnapLog logFactory) throws IOException {
        hadRole = true;
        return new SaucrFollower(
                this,
                new SaucrFollowerServer(logFactory, txnSnapLog.log(), this, getZkDb()),
                txnSnapLog.log(),
                settings,
                incarnation);
    }

    @Override
    protected Leader makeLeader(FileTxnSnapLog logFactory) throws IOException {
        hadRole = true;
        SaucrLeader leader =
                new SaucrLeader(
                        this,
                        new SaucrLeaderServer(txnSnapLog, this, getZkDb()),
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

    /**
     * ZooKeeper reads the first line of an epoch file; the second one of the current epoch's says
     * which log it belongs to (R26). Epoch files are renamed into place; a power cut must not undo
     * that. A file that cannot be written ends the process, as the log does: without it this server
     * would join, fail and elect again, many times a second, for as long as its disk refuses.
     */
    @Override
    void writeLongToFile(String name, long value) throws IOException {
        File directory = getTxnFactory().getSnapDir();
        File file = new File(directory, name);
        try {
            diskWatch.run(
                    "writing " + file,
                    () -> Uninterrupted.run(() -> writeEpoch(directory, name, value)));
        } catch (IOException | RuntimeException | Error e) {
            if (isRunning()) {
                CriticalThread.endProcess(file + " cannot be written", e);
            }
            throw e;
        }
    }

    private void writeEpoch(File directory, String name, long value) throws IOException {
        if (!name.equals(CURRENT_EPOCH_FILENAME)) {
            replace(directory, name, value + "\n");
            return;
        }
        MarkerStore markerStore = txnSnapLog.markerStore();
        long before = Math.max(0, RecoveryStore.currentEpochIn(directory.toPath()));
        markerStore.writeEpochs(before, value);
        replace(directory, name, value + "\n" + stamp().encode() + "\n");
        markerStore.writeEpochs(value, value);
    }

    private static void replace(File directory, String name, String content) throws IOException {
        new AtomicFileWritingIdiom(
                new File(directory, name),
                (AtomicFileWritingIdiom.WriterStatement) writer -> writer.write(content));
        MarkerStore.forceDirectory(directory.toPath());
    }
}
