package org.apache.zookeeper.server.persistence;

import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that syncs a log in the background: at intervals (R11), with the marker of an idle log
 * (R13), and the extent of a log that is on disk (R26). It also looks whether the log was removed.
 * While the markers say "on disk" it sleeps, but for the extent.
 */
final class LogFlusher {
    private static final Logger LOG = LoggerFactory.getLogger(LogFlusher.class);

    /** How often the extent of slow entries on disk is noted (R26); less often on a slow disk. */
    private static final long EXTENT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Noting the extent takes at most one part in this many of the disk's time. */
    private static final int EXTENT_SHARE = 100;

    private final SaucrTxnLog log;
    private final LogFailure failure;
    private final RemovedLogWatch watch;
    private final long interval;
    private final long idle;
    private final Thread thread;

    /** Whether entries have been forced since the extent was noted. */
    private volatile boolean extentDue;

    // The thread.
    private long extentPause = EXTENT_NANOS;

    /**
     * @param interval between two forces
     * @param idle after how long without an entry the log is marked
     */
    LogFlusher(
            SaucrTxnLog log,
            LogFailure failure,
            RemovedLogWatch watch,
            Duration interval,
            Duration idle) {
        this.log = log;
        this.failure = failure;
        this.watch = watch;
        this.interval = interval.toNanos();
        this.idle = idle.toNanos();
        this.thread = new CriticalThread("SaucrBackgroundFlush", this::run, log::isClosed);
    }

    void start() {
        thread.start();
    }

    /** The markers no longer say "on disk", or the log is closed: there is something to do. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** Slow entries were forced: their extent has to be noted, within a second or so. */
    void extentIsDue() {
        if (!extentDue) {
            extentDue = true;
            wake();
        }
    }

    private void run() {
        while (!log.isClosed() && !failure.failed()) {
            boolean onDisk = log.markersSayOnDisk();
            if (onDisk && !extentDue) {
                LockSupport.parkNanos(log, RemovedLogWatch.LOOK_NANOS);
                watch.look();
                continue;
            }
            await(onDisk ? extentPause : Math.min(interval, idle), onDisk);
            if (log.markersSayOnDisk() != onDisk || log.isClosed()) {
                continue;
            }
            try {
                if (onDisk) {
                    failure.orEnd("writing the extent of the transaction log", this::noteExtent);
                } else if (System.nanoTime() - log.lastAppendNanos() >= idle) {
                    log.flushAndMark(FlushCause.IDLE, "idle");
                } else if (log.unforced()) {
                    failure.orEnd("syncing the transaction log in the background", log::force);
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
    private void await(long nanos, boolean onDisk) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos;
                left > 0 && !log.isClosed() && !(onDisk && !log.markersSayOnDisk());
                left = end - System.nanoTime()) {
            LockSupport.parkNanos(log, Math.min(left, RemovedLogWatch.LOOK_NANOS));
            watch.look();
        }
    }

    private void noteExtent() throws IOException {
        extentDue = false;
        long start = System.nanoTime();
        log.writeExtent();
        extentPause = Math.max(EXTENT_NANOS, EXTENT_SHARE * (System.nanoTime() - start));
    }
}
