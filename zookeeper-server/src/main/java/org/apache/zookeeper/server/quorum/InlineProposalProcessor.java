package org.apache.zookeeper.server.quorum;

import io.saucr.server.requests.RequestWatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.server.PrepRequestProcessor;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.SelectorBatch;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.quorum.Leader.Proposal;
import org.apache.zookeeper.server.quorum.Leader.XidRolloverException;
import org.apache.zookeeper.txn.TxnHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Validates, proposes and logs a leader's requests in the threads that bring them: one thread at a
 * time, in the order of {@link #processRequest}. If a thread is inside, another one queues its
 * requests and returns; the thread inside drains the queue. That thread has other things to do,
 * such as reading acks, so it leaves after {@value #MOST_AT_A_STRETCH} requests or {@value
 * #STRETCH_MILLIS} ms. Then this stage's own thread continues, before all others, until no request
 * waits.
 *
 * <p>Requests are proposed in slices. At the end of a slice this leader's own log gets the entries
 * first, and then the learners get them. So no learner has entries much earlier than this log,
 * however many requests wait (R24). The acks of a slice come while the next one is made.
 *
 * <p>Uses the validation of ZooKeeper's class, and its thread for requests of threads that end no
 * batch.
 */
final class InlineProposalProcessor extends PrepRequestProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(InlineProposalProcessor.class);

    static final int MOST_AT_A_STRETCH = 500;
    static final int STRETCH_MILLIS = 50;
    private static final long STRETCH_NANOS = TimeUnit.MILLISECONDS.toNanos(STRETCH_MILLIS);

    /** A slice ends after so long, or so many bytes. */
    static final int SLICE_MILLIS = 5;

    static final int SLICE_BYTES = 256 << 10;
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(SLICE_MILLIS);

    /** A session with more ephemeral nodes takes long to close: what is before it does not wait. */
    static final int MANY = 500;

    /** The leader, as far as this stage needs it. */
    interface Proposer {
        /**
         * Whether the next request may be proposed now. After a no the leader reports when it may.
         */
        boolean mayPropose();

        Proposal propose(Request request) throws XidRolloverException;

        void processSync(LearnerSyncRequest sync);

        long getLastProposed();

        /** Everything up to the zxid is about to be handed to the own log. */
        void handedToLog(long zxid);
    }

    /** The batches of threads that bring requests. */
    interface Batches {
        /** Sends what is proposed. Never waits. */
        void flush();

        /** Requests wait: {@link #batch} has to be called, by this thread or this stage's. */
        void later();

        /** Proposes what waits, and sends and applies. */
        void batch();
    }

    private final SaucrLeaderServer server;
    private final Proposer leader;
    private final Batches batches;
    private final RequestProcessor next;
    private final LeaderLog log;
    private final RequestWatch watch;
    private final Slice slice;
    private final LongSupplier nanoTime;
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final AtomicInteger entered = new AtomicInteger();

    /** Held by the thread that proposes; the end of the server waits until it has left. */
    private final Object inside = new Object();

    private final Object wake = new Object();
    private volatile boolean stopped;

    /** The thread that was inside has left the rest to this stage's thread. */
    private volatile boolean left;

    // Guarded by wake.
    private boolean wanted;

    /**
     * @param next files requests of this server's own clients until they are committed
     * @param watch gets each write that is proposed
     */
    InlineProposalProcessor(
            SaucrLeaderServer server,
            Proposer leader,
            Batches batches,
            RequestProcessor next,
            LeaderLog log,
            RequestWatch watch) {
        this(server, leader, batches, next, log, watch, System::nanoTime);
    }

    InlineProposalProcessor(
            SaucrLeaderServer server,
            Proposer leader,
            Batches batches,
            RequestProcessor next,
            LeaderLog log,
            RequestWatch watch,
            LongSupplier nanoTime) {
        this(server, leader, batches, next, log, watch, nanoTime, new Slice());
    }

    private InlineProposalProcessor(
            SaucrLeaderServer server,
            Proposer leader,
            Batches batches,
            RequestProcessor next,
            LeaderLog log,
            RequestWatch watch,
            LongSupplier nanoTime,
            Slice slice) {
        super(server, new Proposing(server, leader, next, slice));
        this.server = server;
        this.leader = leader;
        this.batches = batches;
        this.next = next;
        this.log = log;
        this.watch = watch;
        this.nanoTime = nanoTime;
        this.slice = slice;
    }

    /** What is proposed and not handed to the log yet. Used by the thread that is inside. */
    private static final class Slice {
        private final List<Logged> entries = new ArrayList<>();
        private long bytes;

        void add(Request request, int length) {
            entries.add(new Logged(request, length));
            bytes += length;
        }

        boolean isEmpty() {
            return entries.isEmpty();
        }

        long last() {
            return entries.get(entries.size() - 1).request.zxid;
        }

        void clear() {
            entries.clear();
            bytes = 0;
        }
    }

    private record Logged(Request request, int bytes) {}

    /**
     * What becomes of a request that is validated.
     *
     * @param slice gets what has to be logged
     */
    private record Proposing(
            SaucrLeaderServer server, Proposer leader, RequestProcessor next, Slice slice)
            implements RequestProcessor {
        @Override
        public void processRequest(Request request) throws RequestProcessorException {
            if (request instanceof LearnerSyncRequest sync) {
                leader.processSync(sync);
                return;
            }
            if (request.getHdr() != null) {
                haveOwnZxid(request);
            }
            if (request.getOwner() instanceof LearnerHandler) {
                ServerMetrics.getMetrics().REQUESTS_NOT_FORWARDED_TO_COMMIT_PROCESSOR.add(1);
            } else {
                next.processRequest(request);
            }
            if (request.getHdr() != null) {
                try {
                    byte[] data = leader.propose(request).getQuorumPacket().getData();
                    slice.add(request, data.length);
                } catch (XidRolloverException e) {
                    throw new RequestProcessorException(e.getMessage(), e);
                }
            }
        }

        /**
         * ZooKeeper's validation gives a write that it cannot decode the zxid of the entry before
         * it, which that one would be replaced by where it is not committed yet.
         */
        private void haveOwnZxid(Request request) {
            TxnHeader header = request.getHdr();
            if (header.getZxid() > leader.getLastProposed()) {
                return;
            }
            long zxid = server.getZxid() + 1;
            server.setZxid(zxid);
            request.zxid = zxid;
            request.setHdr(
                    new TxnHeader(
                            header.getClientId(),
                            header.getCxid(),
                            zxid,
                            header.getTime(),
                            header.getType()));
        }

        @Override
        public void shutdown() {
            // The creator of both shuts them down.
        }
    }

    @Override
    public void processRequest(Request request) {
        request.prepQueueStartTime = Time.currentElapsedTime();
        requests.add(request);
        ServerMetrics.getMetrics().PREP_PROCESSOR_QUEUED.add(1);
        batches.later();
    }

    /** Proposes what waits, as far as it may be proposed now. */
    void propose() {
        if (left && Thread.currentThread() == this) {
            left = false;
        } else if (entered.getAndIncrement() != 0) {
            return;
        }
        Stretch stretch = new Stretch(nanoTime.getAsLong());
        while (true) {
            int seen = entered.get();
            synchronized (inside) {
                proposeWaiting(stretch);
            }
            if (stretch.over && !requests.isEmpty()) {
                // Until it runs, other threads queue their requests for it.
                left = true;
                wake();
                return;
            }
            if (entered.addAndGet(-seen) == 0) {
                return;
            }
        }
    }

    /** How long one thread has been inside. */
    private static final class Stretch {
        private final long begin;
        private int requests;
        private boolean over;

        Stretch(long begin) {
            this.begin = begin;
        }

        /** Another request is proposed. */
        void goesOn(long now) {
            requests++;
            over = requests >= MOST_AT_A_STRETCH || now - begin >= STRETCH_NANOS;
        }
    }

    private void proposeWaiting(Stretch stretch) {
        try {
            long sliceBegin = nanoTime.getAsLong();
            while (!stretch.over && !stopped && !requests.isEmpty() && leader.mayPropose()) {
                Request request = requests.poll();
                if (!slice.isEmpty() && mayTakeLong(request)) {
                    endSlice();
                    sliceBegin = nanoTime.getAsLong();
                }
                long begin = nanoTime.getAsLong();
                request.prepStartTime = TimeUnit.NANOSECONDS.toMillis(begin);
                ServerMetrics.getMetrics()
                        .PREP_PROCESSOR_QUEUE_TIME
                        .add(request.prepStartTime - request.prepQueueStartTime);
                pRequest(request);
                long now = nanoTime.getAsLong();
                if (request.getHdr() != null) {
                    watch.proposed(request, now - begin);
                }
                stretch.goesOn(now);
                if (slice.bytes >= SLICE_BYTES || now - sliceBegin >= SLICE_NANOS) {
                    endSlice();
                    sliceBegin = now;
                }
            }
        } catch (RequestProcessorException | RuntimeException | Error e) {
            stopped = true;
            handleException(getName(), e);
        } finally {
            log();
        }
    }

    private boolean mayTakeLong(Request request) {
        return request.type == OpCode.closeSession
                && server.getZKDatabase().getDataTree().getEphemerals(request.sessionId).size()
                        > MANY;
    }

    /** Learners get it after the own log; the last slice of a batch they get at its end. */
    private void endSlice() {
        log();
        batches.flush();
    }

    /** All at once: the log's thread is woken once, and writes and acks them in one piece. */
    private void log() {
        if (slice.isEmpty()) {
            return;
        }
        leader.handedToLog(slice.last());
        for (Logged each : slice.entries) {
            log.append(each.request, each.bytes);
        }
        slice.clear();
    }

    /** Returns when no request is being proposed that was allowed to be before this call. */
    void awaitInside() {
        synchronized (inside) {
            LOG.debug("{} requests wait", requests.size());
        }
    }

    /** Whether requests wait, for instance for the end of a drain. */
    boolean waits() {
        return !requests.isEmpty();
    }

    // ---- The thread ----

    void wake() {
        synchronized (wake) {
            wanted = true;
            wake.notifyAll();
        }
    }

    @Override
    public void run() {
        SelectorBatch.begin();
        while (awaitWork()) {
            batches.batch();
            SelectorBatch.end();
        }
    }

    private boolean awaitWork() {
        synchronized (wake) {
            while (!wanted && !stopped) {
                try {
                    wake.wait();
                } catch (InterruptedException e) {
                    LOG.debug("Only the end of the server ends this thread", e);
                }
            }
            wanted = false;
            return !stopped;
        }
    }

    /** Returns when nothing is proposed any more, except by the thread that calls. */
    @Override
    public void shutdown() {
        stopped = true;
        synchronized (inside) {
            requests.clear();
        }
        wake();
        next.shutdown();
        log.shutdown();
    }
}
