package org.apache.zookeeper.server.persistence;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogDurability;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the markers of a log true (R10 to R14): no entry is acked from memory before they say so,
 * and they say "on disk" only of what is synced. Its lock is the second of those of {@link
 * SaucrTxnLog}; it is held while a marker is written. Thread-safe.
 */
final class LogMarkers {
    private static final Logger LOG = LoggerFactory.getLogger(LogMarkers.class);

    private static final int FLUSH_ATTEMPTS = 100;

    private final MarkerStore store;
    private final RestartProof proof;
    private final LogWriter writer;
    private final LogSync sync;
    private final LogFailure failure;
    private final RemovedLogWatch removal;
    private final LogMetrics metrics;
    private final BooleanSupplier closed;
    private final Runnable notOnDisk;
    private final ReentrantLock lock = new ReentrantLock();

    // Its markers: the lock. What it knows of entries that are not acked: the appending thread.
    private final LogDurability durability;

    // Whether the markers say "on disk"; written under the lock, read by the appending thread
    // without it.
    private volatile boolean onDisk;

    // A copy for readers without the lock: the markers without the map.
    private volatile Markers marked;

    // When the marker write that is under way began (R24); 0 if none is.
    private volatile long since;

    /**
     * @param markers what the files say
     * @param durability of these markers
     * @param closed whether the log is
     * @param notOnDisk runs under the lock whenever the markers stop to say "on disk"
     */
    LogMarkers(
            MarkerStore store,
            Markers markers,
            LogDurability durability,
            RestartProof proof,
            LogWriter writer,
            LogSync sync,
            LogFailure failure,
            RemovedLogWatch removal,
            LogMetrics metrics,
            BooleanSupplier closed,
            Runnable notOnDisk) {
        this.store = store;
        this.marked = markers;
        this.durability = durability;
        this.onDisk = durability.claimsOnDisk();
        this.proof = proof;
        this.writer = writer;
        this.sync = sync;
        this.failure = failure;
        this.removal = removal;
        this.metrics = metrics;
        this.closed = closed;
        this.notOnDisk = notOnDisk;
    }

    /** Keeps every decision about the markers out. */
    void lock() {
        lock.lock();
    }

    /**
     * R12 and the leave to ack are one critical section: a flush that was just about to mark "on
     * disk" has done so before, or finds the entries in the way.
     */
    void settle() throws IOException {
        lock.lock();
        try {
            long zxid = durability.fastSwitchNeeded();
            if (zxid != 0) {
                since = System.nanoTime() | 1;
                failure.orBroken(
                        () -> {
                            Uninterrupted.run(() -> proof.logFile(removal.newestFile()));
                            Uninterrupted.run(() -> store.writeFastSwitch(zxid));
                        });
                since = 0;
                durability.markedFastSwitch(zxid);
                remember(marked.view());
                onDisk = false;
                notOnDisk.run();
            }
            durability.acked();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The same for a thread that must not wait for the disk, with the buffer drained.
     *
     * @return false if a marker has to be written first, or somebody is about it
     */
    boolean settleInMemory() throws IOException {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            writer.drain();
            if (durability.fastSwitchNeeded() != 0) {
                return false;
            }
            durability.acked();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The appending thread has synced everything; nobody else appends meanwhile. */
    void markOnDiskIfOwed(long covered) throws IOException {
        lock.lock();
        try {
            if (durability.mustMarkOnDisk()) {
                writeOnDisk(covered);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Syncs the log and marks it as on disk, unless the markers say so already.
     *
     * @param reason one sentence, for the log line and the reports
     * @return false if entries kept coming in, so that the marker could not be written truthfully;
     *     what was appended before the call is synced all the same
     */
    boolean syncAndMark(FlushCause cause, String reason) throws IOException {
        long start = System.nanoTime();
        for (int attempt = 0; attempt < FLUSH_ATTEMPTS; attempt++) {
            long covered = sync.sync();
            lock.lock();
            try {
                if (durability.claimsOnDisk()) {
                    return true;
                }
                if (durability.mayMarkOnDisk(covered, writer.lastAppended())) {
                    writeOnDisk(covered);
                    metrics.flushed(cause, reason, covered, System.nanoTime() - start);
                    report(
                            cause,
                            "Flushed to disk through 0x{} in {} us: {}",
                            Long.toHexString(covered),
                            TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start),
                            reason);
                    return true;
                }
            } finally {
                lock.unlock();
            }
        }
        report(
                cause,
                "Entries kept coming while flushing ({}): the markers still say fast",
                reason);
        return false;
    }

    /** What goes with every pause of the clients would hide what an operator has to see. */
    private static void report(FlushCause cause, String format, Object... values) {
        if (cause.routine()) {
            LOG.debug(format, values);
        } else {
            LOG.info(format, values);
        }
    }

    /** Everything is synced, and nothing follows it. Under the lock. */
    void markForEver(long covered) throws IOException {
        if (durability.claimsOnDisk()) {
            raiseExtent(covered);
        } else {
            writeOnDisk(covered);
        }
    }

    /** The same while they say "on disk". */
    void raiseExtent(long covered) throws IOException {
        store.raiseExtent(() -> covered);
    }

    /**
     * R26: without it nothing tells later that the end of the log is lost, for the markers stay as
     * they are while every entry is synced.
     */
    void writeExtent() throws IOException {
        failure.orBroken(
                () -> {
                    try {
                        Uninterrupted.run(() -> store.raiseExtent(sync::through));
                    } catch (IOException e) {
                        // The folder may be removed once the log is closed.
                        if (!closed.getAsBoolean()) {
                            throw e;
                        }
                    }
                });
    }

    private void writeOnDisk(long covered) throws IOException {
        since = System.nanoTime() | 1;
        View view = writer.viewThrough(covered, marked.view());
        // The log may have been cut since; the marker never goes down (R13).
        long latest = Math.max(covered, durability.latestOnDisk());
        failure.orBroken(
                () ->
                        Uninterrupted.run(
                                () -> store.writeLatestOnDisk(latest, writer.lleMap(), view)));
        since = 0;
        durability.markedOnDisk(covered);
        remember(view);
        onDisk = true;
    }

    private void remember(View view) {
        marked =
                new Markers(
                        durability.fastSwitch(), durability.latestOnDisk(), LleMap.empty(), view);
    }

    /** Whether they say "on disk". Waits for nothing. */
    boolean sayOnDisk() {
        return onDisk;
    }

    /** The view in them. Waits for nothing. */
    View view() {
        return marked.view();
    }

    /** As they are on disk, or were until now, with the map to show. Waits for nothing. */
    Markers shown() {
        Markers known = marked;
        return new Markers(
                known.fastSwitch(), known.latestOnDisk(), writer.mapToShow(), known.view());
    }

    /** When the marker write that is under way began; 0 if none is. */
    long since() {
        return since;
    }
}
