package org.apache.zookeeper.server.quorum;

import io.saucr.server.runtime.ProcessorWaits;
import java.io.Flushable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.server.LogWindow;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A leader's own log, written by ZooKeeper's thread: a disk that hangs does not keep the leader
 * from proposing (R24). What it acks in one piece is bounded ({@link LogWindow}).
 *
 * <p>Any thread; entries by one thread at a time.
 */
final class LeaderLog extends SyncRequestProcessor {
    private final LogWindow window = new LogWindow(this::processRequest);
    private volatile ProcessorWaits waits = ProcessorWaits.UNKNOWN;

    /**
     * @param acked gets what is in the log and may be acked, in order; called by this thread
     */
    LeaderLog(ZooKeeperServer server, Consumer<List<Request>> acked) {
        this(server, new Acks(acked));
    }

    private LeaderLog(ZooKeeperServer server, Acks acks) {
        super(server, acks);
        acks.window = window;
    }

    /**
     * Hands an entry over.
     *
     * @param request with a transaction
     * @param bytes of the transaction
     */
    void append(Request request, long bytes) {
        window.add(request, bytes);
    }

    /** For how long its thread was ready to run and had no processor. */
    ProcessorWaits waits() {
        return waits;
    }

    @Override
    public void run() {
        try (ProcessorWaits own = ProcessorWaits.ofThisThread()) {
            waits = own;
            super.run();
        }
    }

    /** Writes what it was handed, and returns when nothing is written or acked any more. */
    @Override
    public void shutdown() {
        window.giveAll();
        super.shutdown();
    }

    /** What the thread acks, in one piece. */
    private static final class Acks implements RequestProcessor, Flushable {
        private final Consumer<List<Request>> acked;
        private final List<Request> batch = new ArrayList<>();
        private LogWindow window;

        Acks(Consumer<List<Request>> acked) {
            this.acked = acked;
        }

        @Override
        public void processRequest(Request request) {
            batch.add(request);
        }

        @Override
        public void flush() {
            if (batch.isEmpty()) {
                return;
            }
            acked.accept(batch);
            window.acked(batch.size());
            batch.clear();
        }

        @Override
        public void shutdown() {
            // Has nothing.
        }
    }
}
