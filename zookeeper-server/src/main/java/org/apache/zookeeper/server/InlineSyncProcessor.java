package org.apache.zookeeper.server;

import java.io.Flushable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.server.RequestProcessor.RequestProcessorException;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;

/**
 * The stage that logs: entries that are acked from memory are appended by the thread that brings
 * them, and acked by {@link #flush} at the end of its batch. Whatever needs the disk first, a slow
 * entry or a marker, goes to ZooKeeper's own thread, and so does all that follows until that one
 * has acked everything: the thread that brings entries must not wait for the disk. What that one
 * acks in one piece is bounded ({@link LogWindow}).
 *
 * <p>Entries and flushes by one thread at a time.
 */
public final class InlineSyncProcessor extends SyncRequestProcessor {
    private final ZooKeeperServer server;
    private final SaucrTxnLog log;
    private final Acks acks;
    private final SnapshotSchedule snapshots;
    private final LogWindow window = new LogWindow(super::processRequest);

    /** Appended here and not acked. */
    private List<Request> batch = new ArrayList<>();

    /** Held while something is appended or acked here, which must not happen after the end. */
    private final Object lock = new Object();

    private boolean stopped;

    /** What had come in with the entry before. */
    private long announcedBefore;

    /**
     * @param next takes each entry once it may be acked, in order; flushed after the last of
     *     several
     */
    public <T extends RequestProcessor & Flushable> InlineSyncProcessor(
            ZooKeeperServer server, SaucrTxnLog log, T next) {
        this(server, log, new Acks(server, next, next));
    }

    private InlineSyncProcessor(ZooKeeperServer server, SaucrTxnLog log, Acks acks) {
        super(server, acks);
        this.server = server;
        this.log = log;
        this.acks = acks;
        acks.window = window;
        snapshots = new SnapshotSchedule(server);
    }

    @Override
    public void processRequest(Request request) {
        synchronized (lock) {
            long announced = log.announcedBytes();
            long bytes = announced - announcedBefore;
            announcedBefore = announced;
            if (stopped) {
                return;
            }
            if (mayAppend(request)) {
                append(request);
                return;
            }
            if (!batch.isEmpty()) {
                giveBatchToThread();
            }
            giveToThread(request, bytes);
        }
    }

    private boolean mayAppend(Request request) {
        return acks.inThread.get() == 0
                && request.getHdr() != null
                && !request.isThrottled()
                && log.isAckedFromMemory(request.getHdr().getZxid());
    }

    private void append(Request request) {
        request.syncQueueStartTime = Time.currentElapsedTime();
        ServerMetrics.getMetrics().SYNC_PROCESSOR_QUEUED.add(1);
        try {
            server.getZKDatabase().append(request);
            batch.add(request);
            snapshots.snapshotIfDue();
        } catch (IOException e) {
            handleException(getName(), e);
        }
    }

    /** Acks what was appended since the last call, in one piece. */
    public void flush() {
        synchronized (lock) {
            if (!batch.isEmpty() && !stopped) {
                commitBatch();
            }
        }
    }

    /** Returns when nothing is appended or acked any more, here or by the thread. */
    @Override
    public void shutdown() {
        synchronized (lock) {
            stopped = true;
        }
        window.giveAll();
        super.shutdown();
    }

    private void commitBatch() {
        try {
            if (!log.commitInMemory()) {
                giveBatchToThread();
                return;
            }
            ServerMetrics.getMetrics().BATCH_SIZE.add(batch.size());
            for (int i = 0; i < batch.size(); i++) {
                acks.ack(batch.get(i));
            }
            batch.clear();
            acks.flush();
        } catch (IOException | RequestProcessorException | RuntimeException e) {
            handleException(getName(), e);
        }
    }

    private void giveBatchToThread() {
        // They are written already.
        giveToThread(new Appended(batch), 0);
        batch = new ArrayList<>();
    }

    private void giveToThread(Request request, long bytes) {
        acks.inThread.incrementAndGet();
        window.add(request, bytes);
    }

    /**
     * Tells the thread of entries that are appended, and may be acked when what it does is done.
     */
    private static final class Appended extends Request {
        private final List<Request> entries;

        Appended(List<Request> entries) {
            super(null, 0, 0, 0, null, null);
            this.entries = entries;
        }
    }

    /** What the thread acks; counts what it has yet to ack. */
    private static final class Acks implements RequestProcessor, Flushable {
        private final ZooKeeperServer server;
        private final RequestProcessor next;
        private final Flushable flushable;
        private final AtomicInteger inThread = new AtomicInteger();
        private LogWindow window;

        Acks(ZooKeeperServer server, RequestProcessor next, Flushable flushable) {
            this.server = server;
            this.next = next;
            this.flushable = flushable;
        }

        @Override
        public void processRequest(Request request) throws RequestProcessorException {
            if (request instanceof Appended appended) {
                commit();
                for (Request each : appended.entries) {
                    ack(each);
                }
            } else {
                next.processRequest(request);
            }
            inThread.decrementAndGet();
            window.acked(1);
        }

        private void commit() throws RequestProcessorException {
            try {
                server.getZKDatabase().commit();
            } catch (IOException e) {
                throw new RequestProcessorException("the log cannot be written", e);
            }
        }

        void ack(Request request) throws RequestProcessorException {
            ServerMetrics.getMetrics()
                    .SYNC_PROCESSOR_QUEUE_AND_FLUSH_TIME
                    .add(Time.currentElapsedTime() - request.syncQueueStartTime);
            next.processRequest(request);
        }

        @Override
        public void flush() throws IOException {
            flushable.flush();
        }

        @Override
        public void shutdown() {
            next.shutdown();
        }
    }
}
