package org.apache.zookeeper.server.persistence;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a log: the file that grows, its buffer, and what is known of the entries in it. All of
 * it is under one lock, which is the last in the order of {@link SaucrTxnLog}'s locks and never
 * held during a force, but for the last flush of a process that ends.
 *
 * <p>Appends come from one thread at a time; everything else is for any thread.
 */
final class LogWriter {
    private static final Logger LOG = LoggerFactory.getLogger(LogWriter.class);

    /** Longer than a write takes that does not hang. */
    private static final int LOCK_TO_SHOW_MILLIS = 100;

    private final Path directory;
    private final RestartProof proof;
    private final LogFailure failure;
    private final RemovedLogWatch removal;
    private final ReentrantLock lock = new ReentrantLock();

    // lock
    private final LleKnowledge knowledge;
    private final TxnLogFile file;

    // Written under the lock, read without it: a reader does not wait for a disk that hangs.
    private volatile long lastAppended;

    // Behind lastAppended, if at all, only within its newest epoch.
    private EpochEnds epochEnds;

    private long truncations;

    /** The view of the newest seal in the log, which the next marker tells of (R23). */
    private View lastSealed;

    private long lastAppendNanos = System.nanoTime();

    // A copy for readers without the lock.
    private volatile LleMap shownMap;

    // The appending thread.
    private boolean newFile;

    /**
     * What has to be forced.
     *
     * @param files with entries that are not forced
     * @param through the last entry in them
     */
    record Unforced(TxnLogFile.Unforced files, long through) {}

    /**
     * @param epochEnds of the log on disk
     * @param map what the markers say of everyone's last logged entry
     * @param view what they say of the own view
     */
    LogWriter(
            Path directory,
            EpochEnds epochEnds,
            LleMap map,
            View view,
            RestartProof proof,
            LogFile.Opener files,
            LogFailure failure,
            RemovedLogWatch removal) {
        this.directory = directory;
        this.proof = proof;
        this.failure = failure;
        this.removal = removal;
        this.file = new TxnLogFile(files);
        this.knowledge = new LleKnowledge(map);
        this.shownMap = map;
        this.lastSealed = view;
        this.epochEnds = epochEnds;
        this.lastAppended = epochEnds.last();
    }

    /** Nobody appends, and nothing of this class is changed, until {@link #unlock}. */
    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    // ---- The appending thread ----

    /**
     * Appends an entry to the buffer.
     *
     * @param tag that goes with it, null if none
     * @param seals the view that it seals, null if none
     */
    void append(long zxid, byte[] bytes, ProposalTag tag, View seals) throws IOException {
        lock.lock();
        try {
            if (zxid <= lastAppended) {
                LOG.warn(
                        "Transaction 0x{} follows 0x{}",
                        Long.toHexString(zxid),
                        Long.toHexString(lastAppended));
            }
            failure.orBroken(
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
            if (tag != null) {
                knowledge.appended(tag, zxid);
            }
        } finally {
            lock.unlock();
        }
    }

    private void openFile(long zxid) throws IOException {
        Path path = directory.resolve(TxnLogFormat.fileName(zxid));
        DataFolder.requireFreeOfLinks(path);
        LOG.info("Creating new log file: {}", path.getFileName());
        file.create(path);
        removal.newestFileIs(path);
        newFile = true;
        Uninterrupted.run(() -> proof.logFile(path));
        file.writeHeader(lastAppended, zxid);
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

    /** Whether a file is open. Does not wait: false if somebody is at work. */
    boolean hasOpenFile() {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            return file.isOpen();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the log has a new file since {@link #newFileIsNoted}. */
    boolean hasNewFile() {
        return newFile;
    }

    void newFileIsNoted() {
        newFile = false;
    }

    // ---- Files ----

    /** Writes the buffer to the page cache. */
    void drain() throws IOException {
        lock.lock();
        try {
            failure.orBroken(file::drain);
        } finally {
            lock.unlock();
        }
    }

    /** Writes the buffer, and takes what has to be forced. */
    Unforced takeUnforced() throws IOException {
        lock.lock();
        try {
            drain();
            return new Unforced(file.takeUnforced(), lastAppended);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the current file; the next entry gets a new one. */
    void roll() throws IOException {
        lock.lock();
        try {
            failure.requireIntact();
            if (file.isOpen()) {
                drain();
                file.roll();
            }
        } finally {
            lock.unlock();
        }
    }

    void rollIfTooLarge() throws IOException {
        long limit = FileTxnLog.getTxnLogSizeLimit();
        if (limit > 0 && size() > limit) {
            roll();
        }
    }

    private long size() {
        lock.lock();
        try {
            return file.size();
        } finally {
            lock.unlock();
        }
    }

    /** See {@link TxnLogFile#placeBefore}. */
    long placeBefore(Path log, long zxid) {
        lock.lock();
        try {
            return file.placeBefore(log, zxid);
        } finally {
            lock.unlock();
        }
    }

    void closedFilesHave(long bytes) {
        lock.lock();
        try {
            file.closedFilesHave(bytes);
        } finally {
            lock.unlock();
        }
    }

    long totalSize() {
        lock.lock();
        try {
            return file.totalSize();
        } finally {
            lock.unlock();
        }
    }

    void closeAll() throws IOException {
        lock.lock();
        try {
            file.closeAll();
            proof.close();
        } finally {
            lock.unlock();
        }
    }

    // ---- Other files in its place ----

    /**
     * Takes the files from this writer, which has forced everything.
     *
     * @param ownView of the markers: a seal that is cut off before its marker was written was never
     *     acked
     */
    void leaveFiles(View ownView) throws IOException {
        file.close();
        removal.newestFileIs(null);
        lastSealed = ownView;
    }

    /** The log has other files now, and ends with these epochs; under the lock. */
    void filesAre(EpochEnds ends) throws IOException {
        epochEnds = ends;
        lastAppended = ends.last();
        long bytes = 0;
        for (Path each : DataFolder.logs(directory)) {
            bytes += Files.size(each);
        }
        file.closedFilesHave(bytes);
    }

    /** They are complete; under the lock. */
    void countTruncation() {
        truncations++;
    }

    // ---- What is known of the entries ----

    /** The zxid of the last entry, on disk or not. Waits for nothing. */
    long lastAppended() {
        return lastAppended;
    }

    long lastAppendNanos() {
        lock.lock();
        try {
            return lastAppendNanos;
        } finally {
            lock.unlock();
        }
    }

    /** Where the log ends in each epoch, on disk or not. */
    EpochEnds epochEnds() {
        lock.lock();
        try {
            return epochEndsNow();
        } finally {
            lock.unlock();
        }
    }

    /** How often the files were replaced. */
    long truncations() {
        lock.lock();
        try {
            return truncations;
        } finally {
            lock.unlock();
        }
    }

    /** The last logged zxid and the LLE map, as they belong together. */
    SaucrTxnLog.Knowledge knowledge() {
        lock.lock();
        try {
            return new SaucrTxnLog.Knowledge(lastAppended, knowledge.snapshot());
        } finally {
            lock.unlock();
        }
    }

    /** What this server knows of everyone's last logged entry (R8). */
    LleMap lleMap() {
        lock.lock();
        try {
            return knowledge.snapshot();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #lleMap}, or of the question before if somebody is at work for long. */
    LleMap mapToShow() {
        try {
            if (lock.tryLock(LOCK_TO_SHOW_MILLIS, TimeUnit.MILLISECONDS)) {
                try {
                    shownMap = knowledge.snapshot();
                } finally {
                    lock.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return shownMap;
    }

    /**
     * The own view once the entries up to this one are on disk (R23).
     *
     * @param before the own view until then
     */
    View viewThrough(long covered, View before) {
        lock.lock();
        try {
            return lastSealed.seal() <= covered ? lastSealed : before;
        } finally {
            lock.unlock();
        }
    }
}
