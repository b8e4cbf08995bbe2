package org.apache.zookeeper.server.persistence;

import io.saucr.server.metrics.LogMetrics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ServerStats;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Syncs the files of a log to disk, one sync at a time, and knows up to which entry that succeeded.
 * Its lock is the third of those of {@link SaucrTxnLog}. Thread-safe.
 */
final class LogSync {
    private static final Logger LOG = LoggerFactory.getLogger(LogSync.class);

    private static final long WARNING_MILLIS =
            Long.getLong(
                    "zookeeper.fsync.warningthresholdms",
                    Long.getLong("fsync.warningthresholdms", 1000));

    private final Path directory;
    private final LogWriter writer;
    private final LogFailure failure;
    private final LogMetrics metrics;
    private final ReentrantLock lock = new ReentrantLock();

    // Written under the lock; the last entry at the time of the newest sync that succeeded, or less
    // if that was truncated since.
    private volatile long through;

    // When the sync that is under way began (R24); 0 if none is.
    private volatile long since;

    private volatile long lastMillis = -1;
    private ServerStats stats;

    /**
     * @param directory where the log's files are
     * @param through the last entry on disk
     */
    LogSync(
            Path directory,
            LogWriter writer,
            LogFailure failure,
            LogMetrics metrics,
            long through) {
        this.directory = directory;
        this.writer = writer;
        this.failure = failure;
        this.metrics = metrics;
        this.through = through;
    }

    /** Keeps every sync out. */
    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /**
     * Writes the buffer, syncs every file that has changed, and returns the last zxid that this
     * covers.
     */
    long sync() throws IOException {
        lock.lock();
        try {
            since = System.nanoTime() | 1;
            LogWriter.Unforced unforced = writer.takeUnforced();
            failure.orBroken(
                    () -> {
                        for (LogFile each : unforced.files().rolled()) {
                            sync(each);
                            each.close();
                        }
                        if (unforced.files().current() != null) {
                            sync(unforced.files().current());
                        }
                        if (unforced.files().created()) {
                            Uninterrupted.run(() -> MarkerStore.forceDirectory(directory));
                        }
                    });
            through = unforced.through();
            return unforced.through();
        } finally {
            since = 0;
            lock.unlock();
        }
    }

    private void sync(LogFile each) throws IOException {
        long start = System.nanoTime();
        each.force();
        long nanos = System.nanoTime() - start;
        lastMillis = TimeUnit.NANOSECONDS.toMillis(nanos);
        metrics.forced(nanos);
        ServerMetrics.getMetrics().FSYNC_TIME.add(lastMillis);
        if (lastMillis > WARNING_MILLIS) {
            ServerStats server = stats;
            if (server != null) {
                server.incrementFsyncThresholdExceedCount();
            }
            LOG.warn("The fsync of the transaction log took {} ms", lastMillis);
        }
    }

    /** The last entry that is on disk. Waits for nothing. */
    long through() {
        return through;
    }

    /** The files were changed, and are synced up to this entry. Under the lock. */
    void isThrough(long zxid) {
        through = zxid;
    }

    /** Never again claims that more than this is synced. */
    void atMost(long zxid) {
        through = Math.min(through, zxid);
    }

    /** When the sync that is under way began; 0 if none is. */
    long since() {
        return since;
    }

    /** How long the newest fsync took; -1 before the first one. */
    long lastMillis() {
        return lastMillis;
    }

    /** Counts slow ones there, too. */
    void countIn(ServerStats server) {
        stats = server;
    }
}
