package org.apache.zookeeper.server.quorum;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.common.Time;
import org.apache.zookeeper.server.PrepRequestProcessor;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.Rounds;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.quorum.Leader.Proposal;
import org.apache.zookeeper.server.quorum.Leader.XidRolloverException;
import org.apache.zookeeper.txn.TxnHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A leader's stage that validates requests, proposes and logs them, in the threads that bring them:
 * one at a time, in the order of {@link #processRequest}. Who finds another inside leaves its
 * requests to that one, which goes round again; but not for ever: it has other things to do, such
 * as to read acks, and after {@value #MOST_AT_A_STRETCH} requests this stage's thread goes on.
 *
 * <p>Of ZooKeeper's class the validation is used, and its thread for requests of threads that end
 * no batch.
 */
final class DirectProposals extends PrepRequestProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(DirectProposals.class);

    static final int MOST_AT_A_STRETCH = 500;

    /** The leader, as far as this stage needs it. */
    interface Proposer {
        /** Whether the next request may be proposed now; whoever says no says later that it may. */
        boolean mayPropose();

        Proposal propose(Request request) throws XidRolloverException;

        void processSync(LearnerSyncRequest sync);

        long getLastProposed();

        /** Requests wait: {@link #batch} has to be called, by this thread or this stage's. */
        void later();

        /** Proposes what waits, and sends and applies. */
        void batch();
    }

    private final Proposer leader;
    private final RequestProcessor next;
    private final SyncRequestProcessor log;
    private final List<Request> proposed;
    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final AtomicInteger entered = new AtomicInteger();

    /** Held by the one who proposes: at the end of the server it must have left. */
    private final Object inside = new Object();

    private final Object wake = new Object();
    private volatile boolean stopped;

    // Guarded by wake.
    private boolean wanted;

    /**
     * @param next files requests of this server's own clients until they are committed
     */
    DirectProposals(
            SaucrLeaderServer server,
            Proposer leader,
            RequestProcessor next,
            SyncRequestProcessor log) {
        this(server, leader, next, log, new ArrayList<>());
    }

    private DirectProposals(
            SaucrLeaderServer server,
            Proposer leader,
            RequestProcessor next,
            SyncRequestProcessor log,
            List<Request> proposed) {
        super(server, new Proposing(server, leader, next, proposed));
        this.proposed = proposed;
        this.leader = leader;
        this.next = next;
        this.log = log;
    }

    /**
     * What becomes of a request that is validated.
     *
     * @param proposed gets what has to be logged
     */
    private record Proposing(
            SaucrLeaderServer server,
            Proposer leader,
            RequestProcessor next,
            List<Request> proposed)
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
                    leader.propose(request);
                } catch (XidRolloverException e) {
                    throw new RequestProcessorException(e.getMessage(), e);
                }
                proposed.add(request);
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
            // Whoever has made both ends them.
        }
    }

    @Override
    public void processRequest(Request request) {
        request.prepQueueStartTime = Time.currentElapsedTime();
        requests.add(request);
        ServerMetrics.getMetrics().PREP_PROCESSOR_QUEUED.add(1);
        leader.later();
    }

    /** Proposes what waits, as far as it may be proposed now. */
    void propose() {
        if (entered.getAndIncrement() != 0) {
            return;
        }
        int left = MOST_AT_A_STRETCH;
        while (true) {
            int seen = entered.get();
            synchronized (inside) {
                left = proposeWaiting(left);
            }
            if (left == 0) {
                entered.set(0);
                // Those who came meanwhile have left their requests to this thread.
                if (!requests.isEmpty()) {
                    wake();
                }
                return;
            }
            if (entered.addAndGet(-seen) == 0) {
                return;
            }
        }
    }

    /**
     * @param most how many requests at most
     * @return how many less than that
     */
    private int proposeWaiting(int most) {
        int left = most;
        try {
            while (left > 0 && !stopped && !requests.isEmpty() && leader.mayPropose()) {
                left--;
                Request request = requests.poll();
                request.prepStartTime = Time.currentElapsedTime();
                ServerMetrics.getMetrics()
                        .PREP_PROCESSOR_QUEUE_TIME
                        .add(request.prepStartTime - request.prepQueueStartTime);
                pRequest(request);
            }
        } catch (RequestProcessorException | RuntimeException | Error e) {
            stopped = true;
            handleException(getName(), e);
        } finally {
            log();
        }
        return left;
    }

    /** All at once: the log's thread is woken once, and writes and acks them in one piece. */
    private void log() {
        for (Request each : proposed) {
            log.processRequest(each);
        }
        proposed.clear();
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
        Rounds.begin();
        while (awaitWork()) {
            leader.batch();
            Rounds.end();
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
