package org.apache.zookeeper.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.common.Time;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An observer's log, written by a thread of its own. An observer acknowledges nothing, so nobody
 * waits for its log: after a restart it spares the leader what it holds. So what comes in within
 * {@value #PAUSE_MILLIS} ms is written and forced in one piece, and wakes the thread once. A disk
 * that hangs keeps no client from reading.
 *
 * <p>Any thread; entries by one thread at a time.
 */
public final class ObserverLog extends SyncRequestProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(ObserverLog.class);

    /** From one force to the next, at least. */
    static final int PAUSE_MILLIS = 20;

    private final ZooKeeperServer server;
    private final SnapshotSchedule snapshots;
    private final Object lock = new Object();

    // Guarded by lock.
    private List<Request> waiting = new ArrayList<>();
    private boolean idle;
    private boolean stopped;

    public ObserverLog(ZooKeeperServer server) {
        super(server, null);
        this.server = server;
        this.snapshots = new SnapshotSchedule(server);
    }

    @Override
    public void processRequest(Request request) {
        append(List.of(request));
    }

    /** These are to be logged, after all those before. Waits for nothing. */
    public void append(List<Request> entries) {
        ServerMetrics.getMetrics().SYNC_PROCESSOR_QUEUED.add(entries.size());
        synchronized (lock) {
            if (stopped) {
                return;
            }
            waiting.addAll(entries);
            if (idle) {
                lock.notifyAll();
            }
        }
    }

    @Override
    public void run() {
        try {
            for (List<Request> batch = next(); !batch.isEmpty(); batch = next()) {
                log(batch);
                pause();
            }
        } catch (IOException | RuntimeException | Error e) {
            handleException(getName(), e);
        }
    }

    /** Everything that waits; nothing at the end of the server. */
    private List<Request> next() {
        synchronized (lock) {
            while (waiting.isEmpty() && !stopped) {
                idle = true;
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Only the end of the server ends this thread", e);
                }
            }
            idle = false;
            List<Request> taken = waiting;
            waiting = new ArrayList<>();
            return taken;
        }
    }

    private void log(List<Request> batch) throws IOException {
        long begin = Time.currentElapsedTime();
        for (Request each : batch) {
            server.getZKDatabase().append(each);
            snapshots.snapshotIfDue();
        }
        ServerMetrics.getMetrics().BATCH_SIZE.add(batch.size());
        long appended = Time.currentElapsedTime();
        server.getZKDatabase().commit();
        long end = Time.currentElapsedTime();
        ServerMetrics.getMetrics().SYNC_PROCESSOR_FLUSH_TIME.add(end - appended);
        ServerMetrics.getMetrics().SYNC_PROCESS_TIME.add(end - begin);
    }

    private void pause() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
        synchronized (lock) {
            for (long left = end - System.nanoTime();
                    left > 0 && !stopped;
                    left = end - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock, left);
                } catch (InterruptedException e) {
                    LOG.debug("Only the end of the server ends this thread", e);
                }
            }
        }
    }

    /** Logs what it was handed, and returns when nothing is written any more. */
    @Override
    public void shutdown() {
        synchronized (lock) {
            stopped = true;
            lock.notifyAll();
        }
        try {
            join();
        } catch (InterruptedException e) {
            LOG.warn("Interrupted while the log is written to its end", e);
            Thread.currentThread().interrupt();
        }
    }
}
