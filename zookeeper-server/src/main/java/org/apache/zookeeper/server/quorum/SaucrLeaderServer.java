package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.DirectLog;
import org.apache.zookeeper.server.DirectRequests;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;

/**
 * The server of a leader's own clients. Their syncs wait like those of its followers' clients
 * (R22); with Apache's leader they pass like reads.
 */
final class SaucrLeaderServer extends LeaderZooKeeperServer {

    private final SaucrTxnLog log;
    private volatile DirectCommits commits;
    private volatile DirectProposals proposals;

    /** Guarded by this. */
    private ContainerManager containers;

    SaucrLeaderServer(
            FileTxnSnapLog logFactory, SaucrTxnLog log, QuorumPeer self, ZKDatabase database)
            throws IOException {
        super(logFactory, self, database);
        this.log = log;
    }

    @Override
    protected RequestThrottler createRequestThrottler() {
        return new DirectRequests(this);
    }

    @Override
    protected void setupRequestProcessors() {
        // As in followers, a sync waits for its turn among the commits.
        DirectCommits made =
                new DirectCommits(
                        getZKDatabase(),
                        new Leader.ToBeAppliedRequestProcessor(
                                new FinalRequestProcessor(this), getLeader()),
                        Long.toString(getServerId()),
                        true,
                        getZooKeeperServerListener());
        commits = made;
        commitProcessor = made;
        commitProcessor.start();
        SaucrLeader leader = (SaucrLeader) getLeader();
        // Not in line: if its disk hangs, the others' acks go on committing what it proposes (R24).
        DirectLog madeLog = new DirectLog(this, log, false, leader.ownAcks());
        madeLog.start();
        DirectProposals madeProposals = new DirectProposals(this, leader, made, madeLog);
        proposals = madeProposals;
        prepRequestProcessor = madeProposals;
        prepRequestProcessor.start();
        containers =
                new ContainerManager(
                        getZKDatabase(),
                        prepRequestProcessor,
                        Integer.getInteger("znode.container.checkIntervalMs", 60_000),
                        Integer.getInteger("znode.container.maxPerMinute", 10_000),
                        Long.getLong("znode.container.maxNeverUsedIntervalMs", 0));
        RequestProcessor next = new LeaderRequestProcessor(this, prepRequestProcessor);
        firstProcessor =
                new RequestProcessor() {
                    @Override
                    public void processRequest(Request request) throws RequestProcessorException {
                        boolean waits = request.type == OpCode.sync && !request.isThrottled();
                        next.processRequest(waits ? new OwnSync(request) : request);
                    }

                    @Override
                    public void shutdown() {
                        next.shutdown();
                    }
                };
    }

    @Override
    public synchronized void startup() {
        super.startup();
        containers.start();
    }

    @Override
    protected synchronized void shutdownComponents() {
        if (containers != null) {
            containers.stop();
        }
        super.shutdownComponents();
    }

    /** Null before this server has started. */
    DirectCommits commits() {
        return commits;
    }

    /** Null before this server has started. */
    DirectProposals proposals() {
        return proposals;
    }

    /** Takes the client's request to the thread that proposes. */
    final class OwnSync extends LearnerSyncRequest {
        private final Request request;

        OwnSync(Request request) {
            super(
                    null,
                    request.sessionId,
                    request.cxid,
                    request.type,
                    RequestRecord.fromBytes(new byte[0]),
                    request.authInfo);
            this.request = request;
            setOwner(request.getOwner());
        }

        /** Queues the request with those that wait for a commit, in the order of proposals. */
        void enqueue() {
            request.zxid = zxid;
            request.setException(getException());
            commitProcessor.processRequest(request);
        }

        /** Answers it: its turn has come. */
        void answer() {
            commitProcessor.commit(request);
        }
    }
}
