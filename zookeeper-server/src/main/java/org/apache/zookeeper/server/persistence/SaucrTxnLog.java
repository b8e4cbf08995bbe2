package org.apache.zookeeper.server.persistence;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogDurability;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.apache.jute.InputArchive;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ServerStats;
import org.apache.zookeeper.txn.TxnHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transaction log of a SAUCR server: ZooKeeper's file format, but {@link #commit()} forces only
 * what is slow (R3) and writes the rest to the page cache, so that it outlives the process (R25); a
 * background thread forces that (R11), and the markers are kept true (R10 to R14).
 *
 * <p>Locks, always taken in this order: that of {@link LogReplacement} (while files are cut or
 * replaced, or read for another server), that of {@link LogMarkers} (the markers and every decision
 * about them; held while a marker is written), that of {@link LogSync} (one sync at a time), that
 * of {@link LogWriter} (the buffer and the current file; never held during a sync, but for the last
 * flush of a process that ends). Appends come from one thread at a time: the server's sync thread,
 * or the thread that synchronises with a leader before that one starts.
 *
 * <p>Any write that fails ends the log's claims for good and the process ({@link LogFailure}). The
 * thread of {@link LogFlusher} syncs in the background; {@link RemovedLogWatch} notices that the
 * files are removed.
 *
 * <p>Interrupts are for the thread that is interrupted and its own waiting: what the log's files
 * are written and forced with cannot be closed by them.
 */
public final class SaucrTxnLog implements TxnLog {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrTxnLog.class);

    private final Path directory;
    private final RestartProof proof;
    private final RemovedLogWatch removal;
    private final LogFailure failure;
    private final LogWriter writer;
    private final LogSync sync;
    private final LogMarkers markers;
    private final LogFlusher flusher;
    private final LogReplacement replacement;

    /** What it knows of entries that are not acked: the appending thread. */
    private final LogDurability durability;

    private final AnnouncedProposals announced = new AnnouncedProposals();
    private volatile boolean pinnedSlow;

    private volatile boolean closed;
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
        this.proof = proof;
        this.removal = new RemovedLogWatch(directory, () -> closed);
        this.failure = new LogFailure(proof, removal);
        this.writer =
                new LogWriter(
                        directory,
                        epochEnds,
                        markers.lleMap(),
                        markers.view(),
                        proof,
                        files,
                        failure,
                        removal);
        this.replacement = new LogReplacement(this, failure, markerStore, directory, snapshots);
        this.durability = new LogDurability(markers);
        this.sync = new LogSync(directory, writer, failure, metrics, epochEnds.last());
        this.markers =
                new LogMarkers(
                        markerStore,
                        markers,
                        durability,
                        proof,
                        writer,
                        sync,
                        failure,
                        removal,
                        metrics,
                        this::isClosed,
                        this::isNoLongerOnDisk);
        this.flusher =
                new LogFlusher(
                        this,
                        failure,
                        removal,
                        settings.backgroundFlushInterval(),
                        settings.idleFlush());
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
        failure.orEnd(
                "writing the transaction log", () -> writer.append(zxid, bytes, current, seals));
        if (seals != null) {
            durability.appendedSeal(zxid);
        } else if (mode == Mode.FAST && (announced.everythingForced() || pinnedSlow)) {
            durability.appendedFastToBeForced(zxid);
        } else {
            durability.appended(zxid, mode);
        }
        return true;
    }

    /**
     * Everything appended so far may be acked when this returns: slow entries are on disk, and the
     * markers tell of fast ones (R3, R12, R13). Fast entries are in the page cache, one write for
     * all of them: they outlive this process (R25).
     */
    @Override
    public void commit() throws IOException {
        failure.orEnd(
                "writing the transaction log",
                () -> {
                    failure.requireIntact();
                    boolean forced = durability.mustForce();
                    if (forced) {
                        markers.markOnDiskIfOwed(sync.sync());
                        noteExtentNowOrLater();
                    } else {
                        writer.drain();
                    }
                    markers.settle();
                    if (!forced) {
                        proof.reached(writer.lastAppended());
                    }
                    writer.rollIfTooLarge();
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
                || markers.sayOnDisk()
                || durability.mustForce()) {
            return false;
        }
        return writer.hasOpenFile();
    }

    /**
     * {@link #commit} for a thread that must not wait for the disk.
     *
     * @return false if something has to be forced or marked first, or somebody is about it: then
     *     nothing may be acked before {@link #commit} has returned
     */
    public boolean commitInMemory() throws IOException {
        boolean[] settled = new boolean[1];
        failure.orEnd("writing the transaction log", () -> settled[0] = settleInMemory());
        return settled[0];
    }

    private boolean settleInMemory() throws IOException {
        failure.requireIntact();
        if (durability.mustForce() || !markers.settleInMemory()) {
            return false;
        }
        proof.reached(writer.lastAppended());
        writer.rollIfTooLarge();
        return true;
    }

    /** Under the lock of the markers. */
    private void isNoLongerOnDisk() {
        flusher.wake();
        LockSupport.unpark(watch);
    }

    /**
     * Notes a new file at once, so that its loss is noticed however young it is. The loss of a
     * file's end may go unnoticed if that was written since the last note.
     */
    private void noteExtentNowOrLater() throws IOException {
        if (!markers.sayOnDisk()) {
            return;
        }
        if (writer.hasNewFile()) {
            markers.writeExtent();
            writer.newFileIsNoted();
        } else {
            flusher.extentIsDue();
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
        if (markers.sayOnDisk() || closed || failure.failed()) {
            return claimsOnDisk();
        }
        try {
            boolean[] marked = new boolean[1];
            failure.orEnd(
                    "flushing: " + reason, () -> marked[0] = markers.syncAndMark(cause, reason));
            return marked[0];
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** See {@link LogMarkers#syncAndMark}. */
    boolean forceAndMark(FlushCause cause, String reason) throws IOException {
        return markers.syncAndMark(cause, reason);
    }

    /** See {@link LogMarkers#writeExtent}. */
    void writeExtent() throws IOException {
        markers.writeExtent();
    }

    /** See {@link LogSync#sync}. */
    long force() throws IOException {
        return sync.sync();
    }

    /** Forces what has been appended, without a marker. */
    void forceNow() throws IOException {
        failure.orEnd("syncing the transaction log", this::force);
    }

    /** Whether something was appended since the last force. */
    boolean unforced() {
        return writer.lastAppended() != sync.through();
    }

    /** Whether the files are still there. */
    RemovedLogWatch removal() {
        return removal;
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether the markers say "on disk", whatever has failed since. */
    boolean markersSayOnDisk() {
        return markers.sayOnDisk();
    }

    /**
     * The last flush of a process that ends: nothing is appended or acked after it. The calling
     * thread keeps the locks and must not use this log again.
     */
    public void flushForEver(String reason) {
        if (closed || failure.failed()) {
            return;
        }
        markers.lock();
        sync.lock();
        writer.lock();
        try {
            if (failure.failed()) {
                // The thread that held the locks before has asked for the exit, or is about to.
                return;
            }
            long covered = sync.sync();
            markers.markForEver(covered);
            LOG.info("Flushed to disk through 0x{}: {}", Long.toHexString(covered), reason);
        } catch (IOException e) {
            LOG.error(
                    "The log could not be flushed at the end ({}): this server will recover when it"
                            + " starts",
                    reason,
                    e);
        }
    }

    // ---- Files ----

    @Override
    public void rollLog() throws IOException {
        failure.orEnd("writing the transaction log", writer::roll);
    }

    /** See {@link LogReplacement#truncate}. */
    @Override
    public boolean truncate(long zxid) throws IOException {
        return replacement.truncate(zxid);
    }

    /** See {@link LogReplacement#replace}. */
    void replaceHistory(long zxid, LogFailure.Work publish) throws IOException {
        replacement.replace(zxid, publish);
    }

    /** Never again claim that more than this is forced. */
    void forcedAtMost(long zxid) {
        sync.atMost(zxid);
    }

    /** Changes the files, for {@link LogReplacement}, which holds its lock. */
    void changeFiles(LogReplacement.Change change) throws IOException {
        sync.lock();
        writer.lock();
        try {
            force();
            failure.orBroken(
                    () -> {
                        writer.leaveFiles(markers.view());
                        writer.filesAre(change.run());
                    });
            sync.isThrough(writer.lastAppended());
            writer.countTruncation();
        } finally {
            writer.unlock();
            sync.unlock();
        }
    }

    // ---- Reading, through ZooKeeper's own readers ----

    /** Makes what was appended visible to readers of the files; not durable. */
    void makeReadable() throws IOException {
        failure.orEnd("writing the transaction log", writer::drain);
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
                long place = writer.placeBefore(logFile.toPath(), zxid);
                if (place > 0) {
                    in.skipNBytes(place - TxnLogFormat.FILE_HEADER_BYTES);
                }
            }
        };
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
        return writer.epochEnds();
    }

    /**
     * How often the log was truncated or replaced; readers of its files start over when that
     * changes.
     */
    long truncations() {
        return writer.truncations();
    }

    /** Runs the action while the log is not truncated. */
    void whileUntruncated(Runnable action) {
        replacement.whileUntruncated(action);
    }

    /** The last logged zxid and the LLE map, as they belong together. */
    public record Knowledge(long lastLogged, LleMap lleMap) {}

    /** See {@link Knowledge}. */
    public Knowledge knowledge() {
        return writer.knowledge();
    }

    /** The zxid of the last entry in the log, on disk or not. */
    public long lastAppended() {
        return writer.lastAppended();
    }

    long lastAppendNanos() {
        return writer.lastAppendNanos();
    }

    /** What this server knows of everyone's last logged entry (R8). */
    public LleMap lleMap() {
        return writer.lleMap();
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
        return markers.sayOnDisk() && !failure.failed();
    }

    /**
     * Whether somebody has removed the log below this server, so that it is on no disk whatever the
     * markers say. Stays so while the process lives. Waits for nothing.
     */
    public boolean isRemoved() {
        return removal.removed();
    }

    /**
     * For how long the disk has not answered a force or a marker write that is under way,
     * nanoseconds; 0 if none is (R24). Waits for nothing.
     */
    public long diskSilence(long now) {
        return Math.max(sinceIfAny(sync.since(), now), sinceIfAny(markers.since(), now));
    }

    private static long sinceIfAny(long since, long now) {
        return since == 0 ? 0 : Math.max(0, now - since);
    }

    /**
     * The markers as they are on disk, or were until now, with what is known of everyone's last
     * logged entry. A disk that hangs does not keep the caller (R24): the map is then the one of
     * the question before.
     */
    public Markers markers() {
        return markers.shown();
    }

    /**
     * The own view: that of the newest seal that this server forced before it acked it (R23). Waits
     * for nothing.
     */
    public View ownView() {
        return markers.view();
    }

    @Override
    public void setServerStats(ServerStats stats) {
        sync.countIn(stats);
    }

    @Override
    public long getTxnLogSyncElapsedTime() {
        return sync.lastMillis();
    }

    @Override
    public void setTotalLogSize(long size) {
        writer.closedFilesHave(size);
    }

    @Override
    public long getTotalLogSize() {
        return writer.totalSize();
    }

    /** Flushes, marks and closes; a log that is closed takes nothing any more. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        try {
            if (!failure.failed()) {
                failure.orEnd("closing the transaction log", this::flushAndDrain);
            }
        } finally {
            closed = true;
            flusher.wake();
            closeFiles();
        }
    }

    private void flushAndDrain() throws IOException {
        if (markers.sayOnDisk()) {
            markers.raiseExtent(sync.sync());
        } else {
            forceAndMark(FlushCause.LOG, "the log is closed");
        }
        writer.drain();
    }

    private void closeFiles() throws IOException {
        sync.lock();
        try {
            writer.closeAll();
        } finally {
            sync.unlock();
        }
    }
}
