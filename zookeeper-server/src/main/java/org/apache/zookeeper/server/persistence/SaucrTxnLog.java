package org.apache.zookeeper.server.persistence;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogDurability;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.FlushCause;
import io.saucr.server.runtime.ObstacleException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.jute.InputArchive;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ServerStats;
import org.apache.zookeeper.txn.TxnHeader;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transaction log of a SAUCR server: ZooKeeper's file format, but {@link #commit()} forces only
 * what is slow (R3) and writes the rest to the page cache, so that it outlives the process (R25); a
 * background thread forces that (R11), and the markers are kept true (R10 to R14).
 *
 * <p>Locks, always taken in this order: {@code historyLock} (while files are cut or replaced, or
 * read for another server), {@code markerLock} (the markers and every decision about them; held
 * while a marker is written), {@code forceLock} (one force at a time), {@code appendLock} (the
 * buffer and the current file; never held during a force, but for the last flush of a process that
 * ends). Appends come from one thread at a time: the server's sync thread, or the thread that
 * synchronises with a leader before that one starts.
 *
 * <p>Any write that fails, of an entry, a force or a marker, ends the log's claims for good and the
 * process (R14): what the disk holds is unknown from then on. {@link #broken} comes under the
 * locks, before anybody else can write; {@link #endProcess} outside of them, because the exit waits
 * for {@link #flushForEver}, which takes them all.
 *
 * <p>Interrupts are for the thread that is interrupted and its own waiting: what the log's files
 * are written and forced with cannot be closed by them.
 */
public final class SaucrTxnLog implements TxnLog {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrTxnLog.class);

    private static final int FLUSH_ATTEMPTS = 100;

    /** Longer than a write takes that does not hang. */
    private static final int LOCK_TO_SHOW_MILLIS = 100;

    /** How often the extent of slow entries on disk is noted (R26); less often on a slow disk. */
    private static final long EXTENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How often it is looked whether the log is still in its folder. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Noting the extent takes at most one part in this many of the disk's time. */
    private static final int EXTENT_SHARE = 100;

    private static final long FORCE_WARNING_MILLIS =
            Long.getLong(
                    "zookeeper.fsync.warningthresholdms",
                    Long.getLong("fsync.warningthresholdms", 1000));

    private final Path directory;
    private final Path snapshots;
    private final MarkerStore markerStore;
    private final RestartProof proof;
    private final SaucrSettings settings;
    private final LogMetrics metrics;
    private final Thread flusher;

    private final ReentrantLock markerLock = new ReentrantLock();
    private final ReentrantLock forceLock = new ReentrantLock();
    private final ReentrantLock appendLock = new ReentrantLock();

    // Held while the files are truncated or read for another server; taken before all others.
    private final ReentrantLock historyLock = new ReentrantLock();

    // Markers of `durability`: markerLock. What it knows of entries that are not acked: the
    // appending thread.
    private final LogDurability durability;

    // Whether the markers say "on disk"; written under markerLock, read by the appending thread
    // without it.
    private volatile boolean claimsOnDisk;

    // Copies for readers without the locks: the markers without the map, and the map.
    private volatile Markers marked;
    private volatile LleMap shownMap;

    private final AnnouncedProposals announced = new AnnouncedProposals();
    private volatile boolean pinnedSlow;

    // Of the appending thread, and of who changes the files; null until one is made.
    private volatile Path newestFile;

    // Of the flusher; read by whoever asks.
    private volatile boolean removed;
    private long lookedAt = System.nanoTime();

    // appendLock
    private final LleKnowledge knowledge;
    private final TxnLogFile file;

    // Written under the lock, read without it: whoever asks does not wait for a disk that hangs.
    private volatile long lastAppended;

    // Behind lastAppended, if at all, only within its newest epoch.
    private EpochEnds epochEnds;

    private long truncations;

    /** The view of the newest seal in the log, which the next marker tells of (R23). */
    private View lastSealed;

    private long lastAppendNanos = System.nanoTime();

    // forceLock; lastAppended at the time of the newest force that succeeded, or less if that was
    // truncated since.
    private volatile long forcedThrough;

    // When the force and the marker write that are under way began (R24); 0 if none is.
    private volatile long forcingSince;
    private volatile long markingSince;

    // Whether entries have been forced since the extent was noted; whether it must be noted at
    // once, as the log has a new file (appending thread); how long it may wait else.
    private volatile boolean extentDue;
    private boolean extentOwed;
    private long extentPause = EXTENT_NANOS;

    private volatile boolean closed;
    private volatile boolean failed;
    private final AtomicBoolean exitRequested = new AtomicBoolean();
    private volatile long forceMillis = -1;
    private ServerStats serverStats;

    private volatile Thread watch;

    /**
     * @param directory where the log's files are
     * @param snapshots where the snapshots are
     * @param markers what the marker files say, of a server that did not crash in fast mode
     * @param epochEnds of the log on disk
     * @param proof kept true of the page cache
     * @param files creates the log's files
     */
    SaucrTxnLog(
            Path directory,
            Path snapshots,
            MarkerStore markerStore,
            Markers markers,
            EpochEnds epochEnds,
            RestartProof proof,
            LogFile.Opener files,
            SaucrSettings settings,
            LogMetrics metrics) {
        this.directory = directory;
        this.snapshots = snapshots;
        this.markerStore = markerStore;
        this.proof = proof;
        this.file = new TxnLogFile(files);
        this.settings = settings;
        this.metrics = metrics;
        this.durability = new LogDurability(markers);
        this.claimsOnDisk = durability.claimsOnDisk();
        this.marked = markers;
        this.shownMap = markers.lleMap();
        this.lastSealed = markers.view();
        this.knowledge = new LleKnowledge(markers.lleMap());
        this.epochEnds = epochEnds;
        this.lastAppended = epochEnds.last();
        this.forcedThrough = epochEnds.last();
        this.flusher =
                new CriticalThread("SaucrBackgroundFlush", this::flushInBackground, () -> closed);
        flusher.start();
    }

    /**
     * Proposals from this zxid on carry this tag, until another is announced. Must come before the
     * proposal is handed to the thread that appends it.
     *
     * @param tag null if they carry none: then they are slow, and nothing is learnt from them
     */
    public void announce(long from, ProposalTag tag) {
        announced.announce(from, tag, false);
    }

    /**
     * As {@link #announce}, and until the next announcement everything is forced before its ack,
     * also what the tag calls fast (H5).
     */
    public void announceForced(long from, ProposalTag tag) {
        announced.announce(from, tag, true);
    }

    /**
     * The proposal with the zxid of the view's seal seals it: before that is acked, the view is the
     * own one (R23). Must come before the proposal is handed to the thread that appends it.
     */
    public void announceSeal(View view) {
        announced.seals(view);
    }

    /**
     * A proposal was sent or received, and will be appended unless a snapshot covers it. In the
     * order of zxids.
     *
     * @param bytes as in the packet, which are those of the log; not changed any more
     */
    public void proposed(long zxid, byte[] bytes) {
        announced.proposed(zxid, bytes);
    }

    /** Bytes of all proposals so far. For the thread that calls {@link #proposed}. */
    public long announcedBytes() {
        return announced.announcedBytes();
    }

    /**
     * A new epoch or a new connection to a leader begins: until a tag is announced, everything is
     * slow (R5, H5).
     */
    public void forgetTags() {
        announced.forget();
    }

    /**
     * Unparks this thread whenever {@link #claimsOnDisk} turns false: who watches for a silent
     * leader has something to lose again (R10).
     *
     * @param watch null for nobody
     */
    public void wakeWhenNotOnDisk(Thread watch) {
        this.watch = watch;
    }

    @Override
    public boolean append(Request request) throws IOException {
        TxnHeader header = request.getHdr();
        if (header == null) {
            return false;
        }
        long zxid = header.getZxid();
        byte[] bytes = announced.takeBytes(zxid, request);
        if (bytes == null || bytes.length == 0) {
            throw new IOException(
                    "transaction 0x" + Long.toHexString(header.getZxid()) + " has no bytes");
        }
        ProposalTag current = announced.takeTag(zxid);
        View seals = announced.takeView(zxid);
        Mode mode = current == null ? Mode.SLOW : current.mode();
        orEnd("writing the transaction log", () -> append(zxid, bytes, current, seals));
        if (seals != null) {
            durability.appendedSeal(zxid);
        } else if (mode == Mode.FAST && (announced.everythingForced() || pinnedSlow)) {
            durability.appendedFastToBeForced(zxid);
        } else {
            durability.appended(zxid, mode);
        }
        return true;
    }

    private void append(long zxid, byte[] bytes, ProposalTag current, View seals)
            throws IOException {
        appendLock.lock();
        try {
            if (zxid <= lastAppended) {
                LOG.warn(
                        "Transaction 0x{} follows 0x{}",
                        Long.toHexString(zxid),
                        Long.toHexString(lastAppended));
            }
            orBroken(
                    () -> {
                        if (!file.isOpen()) {
                            openFile(zxid);
                        }
                        file.append(zxid, bytes);
                    });
            epochEndsGrow(zxid);
            if (seals != null) {
                lastSealed = seals;
            }
            lastAppended = zxid;
            lastAppendNanos = System.nanoTime();
            if (current != null) {
                knowledge.appended(current, zxid);
            }
        } finally {
            appendLock.unlock();
        }
    }

    private void epochEndsGrow(long zxid) {
        if (zxid == lastAppended + 1 && Zxid.epoch(zxid) == Zxid.epoch(epochEnds.last())) {
            return;
        }
        EpochEnds before = epochEndsNow();
        epochEnds =
                before.followedBy(zxid)
                        ? before.append(zxid)
                        : EpochEnds.startingAt(zxid - 1).append(zxid);
    }

    private EpochEnds epochEndsNow() {
        return lastAppended > epochEnds.last() ? epochEnds.through(lastAppended) : epochEnds;
    }

    /**
     * Everything appended so far may be acked when this returns: slow entries are on disk, and the
     * markers tell of fast ones (R3, R12, R13). Fast entries are in the page cache, one write for
     * all of them: they outlive this process (R25).
     */
    @Override
    public void commit() throws IOException {
        orEnd(
                "writing the transaction log",
                () -> {
                    requireIntact();
                    boolean forced = durability.mustForce();
                    if (forced) {
                        markOnDiskIfOwed(force());
                        noteExtentNowOrLater();
                    } else {
                        drain();
                    }
                    settle();
                    if (!forced) {
                        proof.reached(lastAppended);
                    }
                    rollIfTooLarge();
                });
    }

    /**
     * Whether this entry, which is appended next, is acked without the disk: it is fast, and
     * neither a marker nor a new file is due. The appending thread asks, which must not wait for
     * the disk (R12).
     */
    public boolean isAckedFromMemory(long zxid) {
        ProposalTag tag = announced.takeTag(zxid);
        if (tag == null
                || tag.mode() != Mode.FAST
                || announced.everythingForced()
                || pinnedSlow
                || claimsOnDisk
                || durability.mustForce()) {
            return false;
        }
        if (!appendLock.tryLock()) {
            return false;
        }
        try {
            return file.isOpen();
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * {@link #commit} for a thread that must not wait for the disk.
     *
     * @return false if something has to be forced or marked first, or somebody is about it: then
     *     nothing may be acked before {@link #commit} has returned
     */
    public boolean commitInMemory() throws IOException {
        boolean[] settled = new boolean[1];
        orEnd("writing the transaction log", () -> settled[0] = settleInMemory());
        return settled[0];
    }

    private boolean settleInMemory() throws IOException {
        requireIntact();
        if (durability.mustForce() || !markerLock.tryLock()) {
            return false;
        }
        try {
            drain();
            if (durability.fastSwitchNeeded() != 0) {
                return false;
            }
            durability.acked();
        } finally {
            markerLock.unlock();
        }
        proof.reached(lastAppended);
        rollIfTooLarge();
        return true;
    }

    private void requireIntact() throws IOException {
        if (failed) {
            throw new IOException("a write or an fsync of this log has failed before");
        }
    }

    /**
     * R12 and the leave to ack are one critical section: a flush that was just about to mark "on
     * disk" has done so before, or finds the entries in the way.
     */
    private void settle() throws IOException {
        markerLock.lock();
        try {
            long zxid = durability.fastSwitchNeeded();
            if (zxid != 0) {
                markingSince = System.nanoTime() | 1;
                orBroken(
                        () -> {
                            Uninterrupted.run(() -> proof.logFile(newestFile));
                            Uninterrupted.run(() -> markerStore.writeFastSwitch(zxid));
                        });
                markingSince = 0;
                durability.markedFastSwitch(zxid);
                rememberMarkers(marked.view());
                claimsOnDisk = false;
                LockSupport.unpark(flusher);
                LockSupport.unpark(watch);
            }
            durability.acked();
        } finally {
            markerLock.unlock();
        }
    }

    /**
     * Notes a new file at once, so that its loss is noticed however young it is. The loss of a
     * file's end may go unnoticed if that was written since the last note.
     */
    private void noteExtentNowOrLater() throws IOException {
        if (!claimsOnDisk) {
            return;
        }
        if (extentOwed) {
            writeExtent();
            extentOwed = false;
        } else if (!extentDue) {
            extentDue = true;
            LockSupport.unpark(flusher);
        }
    }

    /**
     * R26: without it nothing tells later that the end of the log is gone, for the markers stay as
     * they are while every entry is forced.
     */
    private void writeExtent() throws IOException {
        orBroken(
                () -> {
                    try {
                        Uninterrupted.run(() -> markerStore.raiseExtent(() -> forcedThrough));
                    } catch (IOException e) {
                        // Whoever closes the log may remove its folder.
                        if (!closed) {
                            throw e;
                        }
                    }
                });
    }

    private void noteExtent() throws IOException {
        extentDue = false;
        long start = System.nanoTime();
        writeExtent();
        extentPause = Math.max(EXTENT_NANOS, EXTENT_SHARE * (System.nanoTime() - start));
    }

    /** The appending thread has forced everything; nobody else appends meanwhile. */
    private void markOnDiskIfOwed(long covered) throws IOException {
        markerLock.lock();
        try {
            if (durability.mustMarkOnDisk()) {
                writeOnDiskMarker(covered);
            }
        } finally {
            markerLock.unlock();
        }
    }

    private void writeOnDiskMarker(long covered) throws IOException {
        markingSince = System.nanoTime() | 1;
        View view = viewThrough(covered);
        // The log may have been cut since; the marker never goes down (R13).
        long onDisk = Math.max(covered, durability.latestOnDisk());
        orBroken(
                () ->
                        Uninterrupted.run(
                                () -> markerStore.writeLatestOnDisk(onDisk, lleMap(), view)));
        markingSince = 0;
        durability.markedOnDisk(covered);
        rememberMarkers(view);
        claimsOnDisk = true;
    }

    /** The own view once the entries up to this one are on disk (R23). */
    private View viewThrough(long covered) {
        appendLock.lock();
        try {
            return lastSealed.seal() <= covered ? lastSealed : marked.view();
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * Forces the log and writes the latest-on-disk marker (R10), unless the markers say so already.
     *
     * @param reason one sentence, for the log line and the reports
     * @return false if entries kept coming in, so that the marker could not be written truthfully;
     *     what was appended before the call is forced all the same
     */
    public boolean flushAndMark(FlushCause cause, String reason) {
        if (claimsOnDisk || closed || failed) {
            return claimsOnDisk();
        }
        try {
            boolean[] marked = new boolean[1];
            orEnd("flushing: " + reason, () -> marked[0] = forceAndMark(cause, reason));
            return marked[0];
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private boolean forceAndMark(FlushCause cause, String reason) throws IOException {
        long start = System.nanoTime();
        for (int attempt = 0; attempt < FLUSH_ATTEMPTS; attempt++) {
            long covered = force();
            markerLock.lock();
            try {
                if (durability.claimsOnDisk()) {
                    return true;
                }
                if (durability.mayMarkOnDisk(covered, lastAppended())) {
                    writeOnDiskMarker(covered);
                    metrics.flushed(cause, reason, covered, System.nanoTime() - start);
                    tell(
                            cause,
                            "Flushed to disk through 0x{} in {} us: {}",
                            Long.toHexString(covered),
                            TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start),
                            reason);
                    return true;
                }
            } finally {
                markerLock.unlock();
            }
        }
        tell(cause, "Entries kept coming while flushing ({}): the markers still say fast", reason);
        return false;
    }

    /** What goes with every pause of the clients would hide what an operator has to see. */
    private static void tell(FlushCause cause, String format, Object... values) {
        if (cause.routine()) {
            LOG.debug(format, values);
        } else {
            LOG.info(format, values);
        }
    }

    /** Forces what has been appended, without a marker. */
    void forceNow() throws IOException {
        orEnd("syncing the transaction log", this::force);
    }

    /**
     * The last flush of a process that ends: nothing is appended or acked after it. The calling
     * thread keeps the locks and must not use this log again.
     */
    public void flushForEver(String reason) {
        if (closed || failed) {
            return;
        }
        markerLock.lock();
        forceLock.lock();
        appendLock.lock();
        try {
            if (failed) {
                // The thread that held the locks before has asked for the exit, or is about to.
                return;
            }
            long covered = force();
            if (durability.claimsOnDisk()) {
                markerStore.raiseExtent(() -> covered);
            } else {
                writeOnDiskMarker(covered);
            }
            LOG.info("Flushed to disk through 0x{}: {}", Long.toHexString(covered), reason);
        } catch (IOException e) {
            LOG.error(
                    "The log could not be flushed at the end ({}): this server will recover when it"
                            + " starts",
                    reason,
                    e);
        }
    }

    /**
     * R11 and the idle marker of R13. While the markers say "on disk" it sleeps, but for the extent
     * (R26).
     */
    private void flushInBackground() {
        long interval = settings.backgroundFlushInterval().toNanos();
        long idle = settings.idleFlush().toNanos();
        while (!closed && !failed) {
            boolean onDisk = claimsOnDisk;
            if (onDisk && !extentDue) {
                LockSupport.parkNanos(this, LOOK_NANOS);
                look();
                continue;
            }
            waitInBackground(onDisk ? extentPause : Math.min(interval, idle), onDisk);
            if (claimsOnDisk != onDisk || closed) {
                continue;
            }
            try {
                if (onDisk) {
                    orEnd("writing the extent of the transaction log", this::noteExtent);
                } else if (System.nanoTime() - lastAppendNanos() >= idle) {
                    flushAndMark(FlushCause.IDLE, "idle");
                } else if (lastAppended() != forcedThrough) {
                    orEnd("syncing the transaction log in the background", this::force);
                }
            } catch (IOException | IllegalStateException e) {
                LOG.debug("The process ends", e);
                return;
            }
        }
    }

    /**
     * Waits for the whole time, however often the thread is unparked, but no longer than until the
     * log is closed; and if {@code onDisk}, only as long as the markers say "on disk".
     */
    private void waitInBackground(long nanos, boolean onDisk) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos;
                left > 0 && !closed && !(onDisk && !claimsOnDisk);
                left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, Math.min(left, LOOK_NANOS));
            look();
        }
    }

    private void look() {
        long now = System.nanoTime();
        if (now - lookedAt >= LOOK_NANOS) {
            lookedAt = now;
            lookNow();
        }
    }

    /**
     * Whether somebody has removed the file that is being written. Forces of it succeed, and what
     * they save is gone with the process. It is told, and the server goes on: if it happened to all
     * servers at once, what they have in memory is all that is left.
     */
    void lookNow() {
        Path newest = newestFile;
        Path wanted = newest == null ? directory : newest;
        // A file that is being taken back is missing by right, and so is all of a closed log.
        if (removed || !Files.notExists(wanted) || newest != newestFile || closed) {
            return;
        }
        removed = true;
        LOG.error(
                "{} is not there any more: somebody removed it while this server writes its log."
                        + " What this server has logged is lost when its process ends. Restart it"
                        + " while a majority of the others serves, and it copies everything from"
                        + " them; if the same happened to them, make a backup first",
                wanted);
    }

    /**
     * Writes the buffer, forces every file that has changed, and returns the last zxid that this
     * covers.
     */
    private long force() throws IOException {
        forceLock.lock();
        try {
            forcingSince = System.nanoTime() | 1;
            TxnLogFile.Unforced unforced;
            long covered;
            appendLock.lock();
            try {
                drain();
                unforced = file.takeUnforced();
                covered = lastAppended;
            } finally {
                appendLock.unlock();
            }
            orBroken(
                    () -> {
                        for (LogFile each : unforced.rolled()) {
                            forceFile(each);
                            each.close();
                        }
                        if (unforced.current() != null) {
                            forceFile(unforced.current());
                        }
                        if (unforced.created()) {
                            Uninterrupted.run(() -> MarkerStore.forceDirectory(directory));
                        }
                    });
            forcedThrough = covered;
            return covered;
        } finally {
            forcingSince = 0;
            forceLock.unlock();
        }
    }

    private void forceFile(LogFile each) throws IOException {
        long start = System.nanoTime();
        each.force();
        long nanos = System.nanoTime() - start;
        forceMillis = TimeUnit.NANOSECONDS.toMillis(nanos);
        metrics.forced(nanos);
        ServerMetrics.getMetrics().FSYNC_TIME.add(forceMillis);
        if (forceMillis > FORCE_WARNING_MILLIS) {
            ServerStats stats = serverStats;
            if (stats != null) {
                stats.incrementFsyncThresholdExceedCount();
            }
            LOG.warn("The fsync of the transaction log took {} ms", forceMillis);
        }
    }

    // ---- Failures ----

    /** Something that writes. */
    interface Work {
        void run() throws IOException;
    }

    /**
     * What writes to the disk runs in here, under whatever locks it needs: when it fails, nobody
     * writes or claims anything afterwards, not even what would succeed. A force that others began
     * before still ends, and fails then.
     */
    private void orBroken(Work work) throws IOException {
        requireIntact();
        boolean done = false;
        try {
            work.run();
            done = true;
        } finally {
            if (!done) {
                broken();
            }
        }
        requireIntact();
    }

    private void broken() {
        failed = true;
        proof.withdraw();
    }

    /** Outside of all locks: when the work fails, the process ends. */
    private void orEnd(String what, Work work) throws IOException {
        try {
            work.run();
        } catch (IOException | RuntimeException | Error e) {
            endProcess(what, e);
            throw e;
        }
    }

    private void endProcess(String what, Throwable cause) {
        broken();
        if (exitRequested.getAndSet(true)) {
            return;
        }
        // A folder that is gone ends a server under load sooner than it looks for it.
        lookNow();
        if (cause instanceof ObstacleException) {
            LOG.error("{} failed, so this server stops: {}", what, cause.getMessage());
        } else {
            LOG.error(
                    "{} failed; what the disk holds is unknown now, so this server stops",
                    what,
                    cause);
        }
        ServiceUtils.requestSystemExit(ExitCode.UNEXPECTED_ERROR.getValue());
    }

    // ---- The file, under appendLock ----

    private void openFile(long zxid) throws IOException {
        Path path = directory.resolve(TxnLogFormat.fileName(zxid));
        DataFolder.requireFreeOfLinks(path);
        LOG.info("Creating new log file: {}", path.getFileName());
        file.create(path);
        newestFile = path;
        extentOwed = true;
        Uninterrupted.run(() -> proof.logFile(path));
        file.writeHeader(lastAppended, zxid);
    }

    @Override
    public void rollLog() throws IOException {
        orEnd("writing the transaction log", this::roll);
    }

    private void roll() throws IOException {
        appendLock.lock();
        try {
            requireIntact();
            if (file.isOpen()) {
                drain();
                file.roll();
            }
        } finally {
            appendLock.unlock();
        }
    }

    private void rollIfTooLarge() throws IOException {
        long limit = FileTxnLog.getTxnLogSizeLimit();
        if (limit > 0 && getCurrentLogSize() > limit) {
            roll();
        }
    }

    private long getCurrentLogSize() {
        appendLock.lock();
        try {
            return file.size();
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * Cuts the history after the zxid, durably, and goes on in a new file. The appending thread has
     * ended. A crash between any two steps leaves a prefix of the history that ends at the zxid or
     * later: newer snapshots go first, which show more than the log then does, and then entries,
     * the newest first.
     *
     * @return false if this server cannot go back to exactly there, because it has what comes
     *     before only together with what comes after; nothing has changed then
     */
    @Override
    public boolean truncate(long zxid) throws IOException {
        String reason = "truncation to 0x" + Long.toHexString(zxid);
        orEnd("flushing: " + reason, () -> forceAndMark(FlushCause.LOG, reason));
        // Reading says nothing of what the disk holds: a failure of it is for the caller.
        RawLog history = RawLog.upTo(directory, snapshots, zxid);
        EpochEnds whole = history.scan(Long.MAX_VALUE).epochEnds();
        if (zxid < whole.base() || !whole.contains(zxid) || !history.isComplete()) {
            return false;
        }
        orEnd("truncating the transaction log", () -> truncateHistory(history, whole, zxid));
        return true;
    }

    private void truncateHistory(RawLog history, EpochEnds whole, long zxid) throws IOException {
        historyLock.lock();
        try {
            changeFiles(
                    () -> {
                        historyWillEndAt(zxid);
                        RawLog.removeSnapshotsAfter(snapshots, zxid);
                        history.truncateAfter(zxid);
                        epochEnds = whole.truncate(zxid);
                        lastAppended = zxid;
                    });
        } finally {
            historyLock.unlock();
        }
    }

    /**
     * A snapshot from the leader replaces the history: what lies before it is in no log. What this
     * server had goes in the order in which a crash does no harm: first whatever is newer than the
     * snapshot, perhaps of a lost branch that the snapshot must not seem to be a part of; then,
     * when the snapshot is in its place, the older rest, over whose end nobody may read on.
     *
     * @param publish puts the snapshot, which is on disk, durably in its place
     */
    void replaceHistory(long zxid, Work publish) throws IOException {
        orEnd(
                "replacing the transaction log",
                () -> {
                    historyLock.lock();
                    try {
                        forceAndMark(FlushCause.LOG, "replaced by a snapshot");
                        changeFiles(
                                () -> {
                                    historyWillEndAt(epochEndsNow().lastUpTo(zxid));
                                    RawLog.removeSnapshotsAfter(snapshots, zxid);
                                    RawLog.truncateAfter(directory, zxid);
                                    publish.run();
                                    RawLog.removeLogs(directory);
                                    RawLog.removeSnapshotsBefore(snapshots, zxid);
                                    epochEnds = EpochEnds.startingAt(zxid);
                                    lastAppended = zxid;
                                });
                    } finally {
                        historyLock.unlock();
                    }
                });
    }

    /**
     * Before anything is removed: what is on disk will end there, so nothing may go on to promise
     * more (R26).
     */
    private void historyWillEndAt(long zxid) throws IOException {
        LOG.info("The history on disk is taken back to 0x{}", Long.toHexString(zxid));
        forcedThrough = Math.min(forcedThrough, zxid);
        Uninterrupted.run(() -> markerStore.lowerExtent(zxid));
    }

    private void changeFiles(Work change) throws IOException {
        forceLock.lock();
        appendLock.lock();
        try {
            force();
            orBroken(
                    () -> {
                        file.close();
                        newestFile = null;
                        // A seal that is cut off before its marker was written was never acked.
                        lastSealed = marked.view();
                        change.run();
                        long bytes = 0;
                        for (Path each : DataFolder.logs(directory)) {
                            bytes += Files.size(each);
                        }
                        file.closedFilesHave(bytes);
                    });
            forcedThrough = lastAppended;
            truncations++;
        } finally {
            appendLock.unlock();
            forceLock.unlock();
        }
    }

    // ---- Reading, through ZooKeeper's own readers ----

    /** Makes what was appended visible to readers of the files; not durable. */
    void makeReadable() throws IOException {
        orEnd("writing the transaction log", this::drain);
    }

    private void drain() throws IOException {
        appendLock.lock();
        try {
            orBroken(file::drain);
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * Between two roles a server reads what lies behind its tree: a few entries at the end of a
     * file that may be large, and nobody is served meanwhile.
     */
    @Override
    public TxnIterator read(long zxid) throws IOException {
        makeReadable();
        return new FileTxnLog.FileTxnIterator(directory.toFile(), zxid) {
            @Override
            protected void inStreamCreated(InputArchive archive, InputStream in)
                    throws IOException {
                super.inStreamCreated(archive, in);
                long place = placeBefore(logFile.toPath(), zxid);
                if (place > 0) {
                    in.skipNBytes(place - TxnLogFormat.FILE_HEADER_BYTES);
                }
            }
        };
    }

    private long placeBefore(Path log, long zxid) {
        appendLock.lock();
        try {
            return file.placeBefore(log, zxid);
        } finally {
            appendLock.unlock();
        }
    }

    @Override
    public long getLastLoggedZxid() throws IOException {
        makeReadable();
        try (FileTxnLog stock = new FileTxnLog(directory.toFile())) {
            return stock.getLastLoggedZxid();
        }
    }

    @Override
    public long getDbId() {
        return 0;
    }

    // ---- What others may know ----

    /** Where the log ends in each epoch, on disk or not. */
    public EpochEnds epochEnds() {
        appendLock.lock();
        try {
            return epochEndsNow();
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * How often the log was truncated or replaced; readers of its files start over when that
     * changes.
     */
    long truncations() {
        appendLock.lock();
        try {
            return truncations;
        } finally {
            appendLock.unlock();
        }
    }

    /** Runs the action while the log is not truncated. */
    void whileUntruncated(Runnable action) {
        historyLock.lock();
        try {
            action.run();
        } finally {
            historyLock.unlock();
        }
    }

    /** The last logged zxid and the LLE map, as they belong together. */
    public record Knowledge(long lastLogged, LleMap lleMap) {}

    /** See {@link Knowledge}. */
    public Knowledge knowledge() {
        appendLock.lock();
        try {
            return new Knowledge(lastAppended, knowledge.snapshot());
        } finally {
            appendLock.unlock();
        }
    }

    /** The zxid of the last entry in the log, on disk or not. */
    public long lastAppended() {
        return lastAppended;
    }

    private long lastAppendNanos() {
        appendLock.lock();
        try {
            return lastAppendNanos;
        } finally {
            appendLock.unlock();
        }
    }

    /** What this server knows of everyone's last logged entry (R8). */
    public LleMap lleMap() {
        appendLock.lock();
        try {
            return knowledge.snapshot();
        } finally {
            appendLock.unlock();
        }
    }

    /**
     * While pinned, every entry is forced before it may be acked, whatever its tag says: more than
     * the leader relies on, never less (R3). Any thread; counts from the next entry on.
     */
    public void pinSlow(boolean pinned) {
        pinnedSlow = pinned;
    }

    /** The mode of the entry that was appended last. */
    public Mode mode() {
        ProposalTag current = announced.tag();
        return current == null || pinnedSlow || announced.everythingForced()
                ? Mode.SLOW
                : current.mode();
    }

    /** Whether a crash now would lose nothing that was acked. */
    public boolean claimsOnDisk() {
        return claimsOnDisk && !failed;
    }

    /**
     * Whether somebody has removed the log below this server, so that it is on no disk whatever the
     * markers say. Stays so while the process lives. Waits for nothing.
     */
    public boolean isRemoved() {
        return removed;
    }

    /**
     * For how long the disk has not answered a force or a marker write that is under way,
     * nanoseconds; 0 if none is (R24). Waits for nothing.
     */
    public long diskSilence(long now) {
        return Math.max(sinceIfAny(forcingSince, now), sinceIfAny(markingSince, now));
    }

    private static long sinceIfAny(long since, long now) {
        return since == 0 ? 0 : Math.max(0, now - since);
    }

    /**
     * The markers as they are on disk, or were until now, with what is known of everyone's last
     * logged entry. A disk that hangs does not keep whoever asks (R24): the map is then the one of
     * the question before.
     */
    public Markers markers() {
        Markers known = marked;
        return new Markers(known.fastSwitch(), known.latestOnDisk(), mapToShow(), known.view());
    }

    /**
     * The own view: that of the newest seal that this server forced before it acked it (R23). Waits
     * for nothing.
     */
    public View ownView() {
        return marked.view();
    }

    private LleMap mapToShow() {
        try {
            if (appendLock.tryLock(LOCK_TO_SHOW_MILLIS, TimeUnit.MILLISECONDS)) {
                try {
                    shownMap = knowledge.snapshot();
                } finally {
                    appendLock.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return shownMap;
    }

    private void rememberMarkers(View view) {
        marked =
                new Markers(
                        durability.fastSwitch(), durability.latestOnDisk(), LleMap.empty(), view);
    }

    @Override
    public void setServerStats(ServerStats stats) {
        serverStats = stats;
    }

    @Override
    public long getTxnLogSyncElapsedTime() {
        return forceMillis;
    }

    @Override
    public void setTotalLogSize(long size) {
        appendLock.lock();
        try {
            file.closedFilesHave(size);
        } finally {
            appendLock.unlock();
        }
    }

    @Override
    public long getTotalLogSize() {
        appendLock.lock();
        try {
            return file.totalSize();
        } finally {
            appendLock.unlock();
        }
    }

    /** Flushes, marks and closes; a log that is closed takes nothing any more. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        try {
            if (!failed) {
                orEnd("closing the transaction log", this::flushAndDrain);
            }
        } finally {
            closed = true;
            LockSupport.unpark(flusher);
            closeFiles();
        }
    }

    private void flushAndDrain() throws IOException {
        if (claimsOnDisk) {
            long covered = force();
            markerStore.raiseExtent(() -> covered);
        } else {
            forceAndMark(FlushCause.LOG, "the log is closed");
        }
        drain();
    }

    private void closeFiles() throws IOException {
        forceLock.lock();
        appendLock.lock();
        try {
            file.closeAll();
            proof.close();
        } finally {
            appendLock.unlock();
            forceLock.unlock();
        }
    }
}
