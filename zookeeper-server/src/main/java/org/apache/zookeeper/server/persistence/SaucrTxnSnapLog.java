package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.Zxid;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.Markers;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.jute.Record;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log and snapshots of a SAUCR server. Where Apache's trusts the page cache, this one forces: the
 * first snapshot (H16), every snapshot and the log that it may need (H3), new files' directories
 * (H4), truncations (R17, H15), and the log before a database is fast-forwarded from it (H14).
 */
public final class SaucrTxnSnapLog extends FileTxnSnapLog {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrTxnSnapLog.class);

    /** How long a fuzzy snapshot waits for the log to hold what the snapshot shows. */
    private static final Duration SNAPSHOT_LOG_WAIT = Duration.ofSeconds(30);

    /** Each snapshot is written in a folder of its own, whose name begins so. */
    private static final String UNFINISHED = "saucr.snapshot.";

    /** With this file an operator says that an empty server is new; ZooKeeper removes it. */
    static final String INITIALIZE_FILE = "initialize";

    /** One batch writes to at most so many files. */
    private static final int FILES_OF_A_BATCH = 2;

    private final SaucrSettings settings;
    private final LogMetrics metrics;
    private final MarkerStore markerStore;
    private volatile boolean loadedLater;

    /**
     * Opens the directories; {@link #open} must follow before anything is appended.
     *
     * @param dataDir parent of the log's {@code version-2} directory
     * @param snapDir parent of the snapshots'
     */
    public SaucrTxnSnapLog(File dataDir, File snapDir, SaucrSettings settings, LogMetrics metrics)
            throws IOException {
        super(dataDir, snapDir);
        this.settings = settings;
        this.metrics = metrics;
        this.markerStore = new MarkerStore(getDataLogDir().toPath());
        removeUnfinishedSnapshots();
    }

    /**
     * Removes what a process left that was killed while it wrote a snapshot: folders that are named
     * as this class names them, with nothing but a snapshot in them.
     */
    private void removeUnfinishedSnapshots() throws IOException {
        try (DirectoryStream<Path> folders =
                Files.newDirectoryStream(
                        getSnapDir().toPath(), SaucrTxnSnapLog::isNamedUnfinished)) {
            for (Path folder : folders) {
                List<Path> content;
                try (Stream<Path> files = Files.list(folder)) {
                    content = files.toList();
                }
                if (DataFolder.snapshots(folder).containsAll(content)) {
                    for (Path file : content) {
                        Files.delete(file);
                    }
                    Files.delete(folder);
                }
            }
        }
    }

    private static boolean isNamedUnfinished(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(UNFINISHED)
                && name.substring(UNFINISHED.length()).matches("[0-9]+")
                && Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** As {@link #open(Markers, RestartProof)}, with nothing that proves the page cache. */
    public void open(Markers markers) throws IOException {
        open(markers, RestartProof.NONE);
    }

    /** As {@link #open(Markers, RestartProof, RawLog.Scan)}, after a look at the log. */
    public void open(Markers markers, RestartProof proof) throws IOException {
        open(markers, proof, LogFile::create);
    }

    void open(Markers markers, RestartProof proof, LogFile.Opener files) throws IOException {
        open(markers, proof, scan(markers), files);
    }

    /**
     * Starts the log for a server that is not recovering. Until then it can only be read.
     *
     * @param markers as they are on disk, not of a crash in fast mode
     * @param proof kept true of the page cache by the log
     * @param scan of the log as it is
     * @throws DamagedLogException if acknowledged entries may be missing; nothing has changed then
     */
    public void open(Markers markers, RestartProof proof, RawLog.Scan scan) throws IOException {
        open(markers, proof, scan, LogFile::create);
    }

    private void open(Markers markers, RestartProof proof, RawLog.Scan scan, LogFile.Opener files)
            throws IOException {
        RawLog history = history();
        RawLog.Damage damage = scan.damage();
        if (damage != null
                && !TornTail.explains(
                        damage, getDataLogDir().toPath(), scan.epochEnds().last(), markers)) {
            throw new DamagedLogException(
                    ("The transaction log is damaged after %s: %s, at byte %s of %s."
                                    + " The markers say that everything this server acknowledged is on"
                                    + " its disk, so acknowledged writes may be missing, and it must"
                                    + " not vote. While a majority of the other servers is serving,"
                                    + " empty its data directory but for myid, and it copies everything"
                                    + " from them")
                            .formatted(
                                    Zxid.toString(scan.epochEnds().last()),
                                    damage.what(),
                                    damage.offset(),
                                    damage.file()));
        }
        if (damage != null) {
            // H2: whatever is acked in slow mode was forced before, so this entry was not acked.
            LOG.warn(
                    "Cutting what was never acked after {}: {}",
                    Zxid.toString(scan.epochEnds().last()),
                    damage);
            history.cut(damage);
        }
        if (endsBeforeSnapshot(scan)) {
            LOG.warn(
                    "The log ends before the snapshot at {}, which came from a leader: its files"
                            + " go",
                    Zxid.toString(scan.epochEnds().last()));
            RawLog.removeLogs(getDataLogDir().toPath());
        }
        // H1: what a killed process wrote may be in the page cache alone; from now on this server
        // votes with it.
        history.forceAll();
        txnLog.close();
        txnLog =
                new SaucrTxnLog(
                        getDataLogDir().toPath(),
                        getSnapDir().toPath(),
                        markerStore,
                        markers,
                        scan.epochEnds(),
                        proof,
                        files,
                        settings,
                        metrics);
    }

    /**
     * {@link SaucrTxnLog#replaceHistory} was interrupted: what follows the snapshot must not seem
     * to follow the log's end. No entry has the counter 0, with which an epoch begins.
     */
    private static boolean endsBeforeSnapshot(RawLog.Scan scan) {
        long snapshot = scan.epochEnds().base();
        return scan.epochEnds().last() == snapshot
                && Zxid.counter(snapshot) != 0
                && scan.before() < snapshot;
    }

    /**
     * Sets whether loading the database leaves the disk alone, because the server has not
     * recovered. ZooKeeper loads before there is a channel to ask the others by; what is on the
     * disk then may have gaps (R26), and is loaded once, when it is complete (H10).
     */
    public void loadLater(boolean later) {
        loadedLater = later;
    }

    /**
     * Whether an empty server may be a new one, before the database is loaded: ZooKeeper has a
     * setting with which only an operator can say so, by a file. The snapshot that ZooKeeper writes
     * then says so, too.
     */
    public boolean mayBeNew() throws IOException {
        return Boolean.parseBoolean(System.getProperty(ZOOKEEPER_DB_AUTOCREATE, "true"))
                || Files.exists(getDataLogDir().toPath().resolveSibling(INITIALIZE_FILE))
                || !findNValidSnapshots(1).isEmpty();
    }

    /**
     * R25: writes once more what a process left in the page cache, so that {@link #forceUnforced}
     * forces all of it. If that fails, the page cache is as before.
     */
    public void rewriteUnforced(Markers markers) throws IOException {
        history().rewriteAfter(markers.latestOnDisk());
    }

    /**
     * The same for a failure while every entry was forced before its ack: only one batch was not
     * forced, during which the log may have begun another file.
     */
    public void rewriteNewest() throws IOException {
        history().rewriteNewest(FILES_OF_A_BATCH);
    }

    /**
     * R25: forces what a process left in the page cache, before {@link #open}. If that fails, the
     * page cache proves nothing any more.
     */
    public void forceUnforced() throws IOException {
        history().forceAll();
    }

    /** Reads the log as it is. */
    public RawLog.Scan scan(Markers markers) throws IOException {
        return history().scan(markers.latestOnDisk());
    }

    private RawLog history() {
        return new RawLog(getDataLogDir().toPath(), getSnapDir().toPath());
    }

    /** Whether {@link #open} was called. */
    public boolean isOpen() {
        return txnLog instanceof SaucrTxnLog;
    }

    private void makeReadable() throws IOException {
        if (isOpen()) {
            log().makeReadable();
        }
    }

    /** The marker files next to this log. */
    public MarkerStore markerStore() {
        return markerStore;
    }

    /** The log, once it is open. */
    public SaucrTxnLog log() {
        if (txnLog instanceof SaucrTxnLog log) {
            return log;
        }
        throw new IllegalStateException("the log of " + getDataLogDir() + " is not open");
    }

    @Override
    public long restore(DataTree tree, Map<Long, Integer> sessions, PlayBackListener listener)
            throws IOException {
        if (loadedLater) {
            return 0;
        }
        makeReadable();
        if (findNValidSnapshots(1).isEmpty() && logIsComplete()) {
            LOG.warn(
                    "No usable snapshot in {}, but the log in {} holds everything from the first"
                            + " transaction on: starting from an empty snapshot",
                    getSnapDir(),
                    getDataLogDir());
            save(new DataTree(), new ConcurrentHashMap<>(), true);
        }
        return super.restore(tree, sessions, listener);
    }

    /** H16: whether the log starts with the first transaction that this ensemble ever had. */
    private boolean logIsComplete() throws IOException {
        List<Path> files = DataFolder.logs(getDataLogDir().toPath());
        return !files.isEmpty() && DataFolder.zxidOf(files.get(0)) == TxnLogFormat.FIRST_ZXID_EVER;
    }

    @Override
    public long fastForwardFromEdits(
            DataTree tree, Map<Long, Integer> sessions, PlayBackListener listener)
            throws IOException {
        if (isOpen()) {
            log().flushAndMark(FlushCause.LOG, "the database is brought up to the log");
            requireNoHoleAfter(tree.lastProcessedZxid);
        }
        return super.fastForwardFromEdits(tree, sessions, listener);
    }

    /**
     * An older snapshot was loaded, as a newer one is unusable: the log must lead on from there.
     */
    private void requireNoHoleAfter(long loaded) throws IOException {
        long base = log().epochEnds().base();
        if (loaded >= base) {
            return;
        }
        long last = loaded;
        try (RawLog.Reader reader = history().read(loaded)) {
            for (RawLog.Entry entry = reader.next();
                    entry != null && entry.zxid() <= base;
                    entry = reader.next()) {
                last = entry.zxid();
            }
        }
        if (last != base && Zxid.counter(base) != 0) {
            throw new DamagedLogException(
                    ("The snapshot of %s in %s cannot be used, and after the one of %s"
                                    + " the log ends at %s: acknowledged writes may be missing, so this"
                                    + " server must not vote. While a majority of the other servers is"
                                    + " serving, empty its data directory but for myid, and it copies"
                                    + " everything from them")
                            .formatted(
                                    Zxid.toString(base),
                                    getSnapDir(),
                                    Zxid.toString(loaded),
                                    Zxid.toString(last)));
        }
    }

    /**
     * Whether the next start would load the tree of this entry: there is a snapshot, and the log
     * behind it ends with that entry. Between two roles, when the log has been forced; the snapshot
     * is forced here, as an operator or Apache's server may have left it in the page cache.
     */
    public boolean hasOnDisk(long zxid) throws IOException {
        File newest = findMostRecentSnapshot();
        if (newest == null || zxid != log().lastAppended()) {
            return false;
        }
        MarkerStore.forceFile(newest.toPath());
        MarkerStore.forceDirectory(getSnapDir().toPath());
        return true;
    }

    @Override
    public TxnLog.TxnIterator readTxnLog(long zxid, boolean fastForward) throws IOException {
        makeReadable();
        return isOpen() && !isReadable(zxid)
                ? new NoEntries()
                : super.readTxnLog(zxid, fastForward);
    }

    /**
     * Whether everything after the zxid can be read. Before the base of its epoch ends the log may
     * have holes that only a snapshot covers, and a reader would continue behind them as if nothing
     * were missing.
     */
    private boolean isReadable(long zxid) throws IOException {
        long base = readableEpochEnds().base();
        if (zxid != base) {
            return zxid > base;
        }
        try (RawLog.Reader reader = history().read(zxid - 1)) {
            RawLog.Entry entry = reader.next();
            return entry != null && entry.zxid() == zxid;
        }
    }

    /**
     * The epoch ends of what can still be read: without the log files that were purged since the
     * start, and the snapshots before them.
     */
    EpochEnds readableEpochEnds() throws IOException {
        EpochEnds epochEnds = log().epochEnds();
        List<Path> files = DataFolder.logs(getDataLogDir().toPath());
        return files.isEmpty()
                ? epochEnds
                : epochEnds.startingFrom(DataFolder.zxidOf(files.get(0)));
    }

    /** An empty log: a leader that finds nothing to send from its log sends a snapshot. */
    private static final class NoEntries implements TxnLog.TxnIterator {
        @Override
        public TxnHeader getHeader() {
            return null;
        }

        @Override
        public Record getTxn() {
            return null;
        }

        @Override
        public TxnDigest getDigest() {
            return null;
        }

        @Override
        public boolean next() {
            return false;
        }

        @Override
        public long getStorageSize() {
            return 0;
        }

        @Override
        public void close() {}
    }

    @Override
    public long getLastLoggedZxid() {
        try {
            makeReadable();
        } catch (IOException e) {
            throw new IllegalStateException(
                    "the transaction log in " + getDataLogDir() + " cannot be written", e);
        }
        return super.getLastLoggedZxid();
    }

    /**
     * Writes a snapshot that is on disk, with its directory entry and all of the log that it needs,
     * before it is visible (H3, H16).
     */
    @Override
    public File save(DataTree tree, ConcurrentHashMap<Long, Integer> sessions, boolean syncSnap)
            throws IOException {
        return save(tree, sessions, syncSnap, Thread.currentThread() instanceof QuorumPeer);
    }

    /**
     * @param betweenRoles whether the peer's own thread saves: then nothing is appended meanwhile
     */
    File save(
            DataTree tree,
            ConcurrentHashMap<Long, Integer> sessions,
            boolean syncSnap,
            boolean betweenRoles)
            throws IOException {
        String name = Util.makeSnapshotName(tree.lastProcessedZxid);
        DataFolder.requireFree(getSnapDir().toPath().resolve(name));
        Path unfinished = Files.createTempDirectory(getSnapDir().toPath(), UNFINISHED);
        Path temporary = unfinished.resolve(name);
        LOG.info("Snapshotting: 0x{} to {}", Long.toHexString(tree.lastProcessedZxid), name);
        try {
            long before = tree.lastProcessedZxid;
            File result = new File(getSnapDir(), name);
            NamedErrors.in(
                    result.toPath(),
                    () -> snapLog.serialize(tree, sessions, temporary.toFile(), true));
            LogFailure.Work publish =
                    () -> {
                        Files.move(temporary, result.toPath(), StandardCopyOption.ATOMIC_MOVE);
                        MarkerStore.forceDirectory(getSnapDir().toPath());
                    };
            if (isOpen() && betweenRoles && replacesHistory(before, syncSnap)) {
                log().replaceHistory(before, publish);
            } else {
                if (isOpen()) {
                    logHolds(tree.lastProcessedZxid);
                }
                publish.run();
            }
            return result;
        } finally {
            Files.deleteIfExists(temporary);
            Files.deleteIfExists(unfinished);
        }
    }

    /**
     * Whether what is saved came from a leader and not through the log: then the thread that
     * synchronises saves, while nothing is appended. (Elsewhere a snapshot may be ahead of the log
     * only because the entries are still on their way to it.)
     */
    private boolean replacesHistory(long zxid, boolean synchronised) {
        return synchronised || (Zxid.counter(zxid) != 0 && zxid > log().lastAppended());
    }

    /**
     * A snapshot shows transactions up to `zxid`, later ones than its name says if it is fuzzy:
     * then only the log can repair it when it is loaded. And what the next start finds after it
     * must follow it.
     */
    private void logHolds(long zxid) throws IOException {
        long deadline = System.nanoTime() + SNAPSHOT_LOG_WAIT.toNanos();
        while (Zxid.counter(zxid) != 0 && log().lastAppended() < zxid) {
            if (System.nanoTime() - deadline >= 0) {
                throw new IOException(
                        "the snapshot shows 0x%s, the log ends at 0x%s: dropped"
                                .formatted(
                                        Long.toHexString(zxid),
                                        Long.toHexString(log().lastAppended())));
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while a snapshot waited for the log", e);
            }
        }
        log().forceNow();
    }

    /**
     * R26: what is on disk cannot be turned into the leader's history, so the next process copies
     * everything anew.
     */
    private void giveUpHistory() throws IOException {
        log().flushAndMark(FlushCause.LOG, "the history is given up");
        Optional<LogIdentity> mine = markerStore.identity();
        if (mine.isPresent()) {
            markerStore.markLost(mine.get().lost());
        }
    }

    /** See {@link SaucrTxnLog#truncate}. False ends the process, here as with Apache's log. */
    @Override
    public boolean truncateLog(long zxid) {
        try {
            boolean reached = log().truncate(zxid);
            if (!reached) {
                LOG.error(
                        "The leader's history ends at {}, and this server has what comes before"
                                + " only in a snapshot of {}, together with what comes after. It"
                                + " stops, and gets its history from the others when it starts",
                        Zxid.toString(zxid),
                        Zxid.toString(log().epochEnds().base()));
                giveUpHistory();
            }
            return reached;
        } catch (IOException e) {
            LOG.error(
                    "The log in {} cannot be cut after 0x{}",
                    getDataLogDir(),
                    Long.toHexString(zxid),
                    e);
            return false;
        }
    }
}
