package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.util.Queue;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.txn.ErrorTxn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first stage of a follower or an observer, without a thread: the thread that brings a request
 * hands it to the next stage, and a write to the leader.
 *
 * <p>Any thread; requests of one session by one thread at a time. Writes reach the next stage and
 * the leader in the same order, by which commits find their requests again.
 */
final class InlineLearnerProcessor implements RequestProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(InlineLearnerProcessor.class);

    private final String name;
    private final LearnerZooKeeperServer server;
    private final Queue<Request> pendingSyncs;
    private final CommitProcessor next;
    private final boolean skipsOthers =
            Boolean.getBoolean(FollowerRequestProcessor.SKIP_LEARNER_REQUEST_TO_NEXT_PROCESSOR);
    private volatile boolean stopped;

    /**
     * @param name of the stage, in the message of its failure
     * @param pendingSyncs gets the syncs that the leader answers, in their order
     * @param next made so that a sync waits for a commit, as a write does
     */
    InlineLearnerProcessor(
            String name,
            LearnerZooKeeperServer server,
            Queue<Request> pendingSyncs,
            CommitProcessor next) {
        this.name = name;
        this.server = server;
        this.pendingSyncs = pendingSyncs;
        this.next = next;
    }

    @Override
    public void processRequest(Request request) {
        processRequest(request, true);
    }

    /**
     * @param checkForUpgrade whether the request may be of a session of this server alone
     */
    void processRequest(Request request, boolean checkForUpgrade) {
        if (stopped) {
            return;
        }
        try {
            if (checkForUpgrade) {
                upgrade(request);
            }
            forward(request);
        } catch (Exception | Error e) {
            stopped = true;
            LOG.error("{} has failed", name, e);
            server.getZooKeeperServerListener()
                    .notifyStopping(name, ExitCode.UNEXPECTED_ERROR.getValue());
        }
    }

    /** A session of this server alone becomes one of the ensemble with its first ephemeral node. */
    private void upgrade(Request request) throws Exception {
        Request first = null;
        try {
            first = server.checkUpgradeSession(request);
        } catch (KeeperException e) {
            if (request.getHdr() != null) {
                request.getHdr().setType(OpCode.error);
                request.setTxn(new ErrorTxn(e.code().intValue()));
            }
            request.setException(e);
            LOG.warn("The session of {} cannot become one of the ensemble", request, e);
        } catch (IOException e) {
            LOG.error("The session of {} cannot become one of the ensemble", request, e);
        }
        if (first != null) {
            forward(first);
        }
    }

    private void forward(Request request) throws Exception {
        if (!server.authWriteRequest(request)) {
            return;
        }
        if (!next.needCommit(request)) {
            toNext(request);
            return;
        }
        synchronized (this) {
            if (stopped) {
                return;
            }
            try {
                toNext(request);
                if (request.type == OpCode.sync) {
                    pendingSyncs.add(request);
                }
                server.getLearner().request(request);
            } catch (Exception | Error e) {
                // The next stage waits for a write that was not sent: no later one would be
                // matched. Set before another thread has its turn.
                stopped = true;
                throw e;
            }
        }
    }

    private void toNext(Request request) {
        if (skipsOthers && request.isFromLearner()) {
            ServerMetrics.getMetrics().SKIP_LEARNER_REQUEST_TO_NEXT_PROCESSOR_COUNT.add(1);
        } else {
            next.processRequest(request);
        }
    }

    @Override
    public void shutdown() {
        stopped = true;
        next.shutdown();
    }
}
