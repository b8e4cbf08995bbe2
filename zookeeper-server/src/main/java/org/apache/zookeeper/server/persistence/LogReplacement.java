package org.apache.zookeeper.server.persistence;

import io.saucr.core.recovery.EpochEnds;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server's history is truncated, or replaced by a snapshot, in an order in which a crash
 * does no harm. Its lock is the first in the order of {@link SaucrTxnLog}'s locks. The appending
 * thread has ended, or is the one that calls.
 */
final class LogReplacement {
    private static final Logger LOG = LoggerFactory.getLogger(LogReplacement.class);

    private final SaucrTxnLog log;
    private final LogFailure failure;
    private final MarkerStore markerStore;
    private final Path directory;
    private final Path snapshots;
    private final ReentrantLock lock = new ReentrantLock();

    /** Changes the files of a log that is closed meanwhile. */
    interface Change {
        /** Returns the epochs of what the files have then. */
        EpochEnds run() throws IOException;
    }

    LogReplacement(
            SaucrTxnLog log,
            LogFailure failure,
            MarkerStore markerStore,
            Path directory,
            Path snapshots) {
        this.log = log;
        this.failure = failure;
        this.markerStore = markerStore;
        this.directory = directory;
        this.snapshots = snapshots;
    }

    /** Runs the action while the history is not changed. */
    void whileUntruncated(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Cuts the history after the zxid, durably, and continues in a new file. A crash between any
     * two steps leaves a prefix of the history that ends at the zxid or later: newer snapshots go
     * first, which show more than the log then does, and then entries, the newest first.
     *
     * @return false if this server cannot go back to exactly there, because it has what comes
     *     before only together with what comes after; nothing has changed then
     */
    boolean truncate(long zxid) throws IOException {
        String reason = "truncation to 0x" + Long.toHexString(zxid);
        failure.orEnd("flushing: " + reason, () -> log.forceAndMark(FlushCause.LOG, reason));
        // Reading says nothing of what the disk holds: a failure of it is for the caller.
        RawLog history = RawLog.upTo(directory, snapshots, zxid);
        EpochEnds whole = history.scan(Long.MAX_VALUE).epochEnds();
        if (zxid < whole.base() || !whole.contains(zxid) || !history.isComplete()) {
            return false;
        }
        failure.orEnd(
                "truncating the transaction log", () -> truncateHistory(history, whole, zxid));
        return true;
    }

    private void truncateHistory(RawLog history, EpochEnds whole, long zxid) throws IOException {
        lock.lock();
        try {
            log.changeFiles(
                    () -> {
                        historyWillEndAt(zxid);
                        RawLog.removeSnapshotsAfter(snapshots, zxid);
                        history.truncateAfter(zxid);
                        return whole.truncate(zxid);
                    });
        } finally {
            lock.unlock();
        }
    }

    /**
     * A snapshot from the leader replaces the history: what lies before it is in no log. What this
     * server had goes in this order: first whatever is newer than the snapshot, perhaps of a lost
     * branch that the snapshot must not seem to be a part of; then, when the snapshot is in its
     * place, the older rest, over whose end nobody may read on.
     *
     * @param publish puts the snapshot, which is on disk, durably in its place
     */
    void replace(long zxid, LogFailure.Work publish) throws IOException {
        failure.orEnd(
                "replacing the transaction log",
                () -> {
                    lock.lock();
                    try {
                        log.forceAndMark(FlushCause.LOG, "replaced by a snapshot");
                        log.changeFiles(
                                () -> {
                                    historyWillEndAt(log.epochEnds().lastUpTo(zxid));
                                    RawLog.removeSnapshotsAfter(snapshots, zxid);
                                    RawLog.truncateAfter(directory, zxid);
                                    publish.run();
                                    RawLog.removeLogs(directory);
                                    RawLog.removeSnapshotsBefore(snapshots, zxid);
                                    return EpochEnds.startingAt(zxid);
                                });
                    } finally {
                        lock.unlock();
                    }
                });
    }

    /**
     * Before anything is removed: what is on disk will end there, so nothing may continue to
     * promise more (R26).
     */
    private void historyWillEndAt(long zxid) throws IOException {
        LOG.info("The history on disk is taken back to 0x{}", Long.toHexString(zxid));
        log.forcedAtMost(zxid);
        Uninterrupted.run(() -> markerStore.lowerExtent(zxid));
    }
}
