package org.apache.zookeeper.server.quorum;

import io.saucr.server.requests.RequestWatch;
import java.io.File;
import java.io.IOException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.BatchingServer;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.InlineRequestThrottler;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;

/**
 * The server of a leader's own clients. Their syncs wait like those of its followers' clients
 * (R22); with Apache's leader they pass like reads.
 *
 * <p>Apache's leader writes a snapshot of the whole tree before it serves, which takes minutes for
 * millions of nodes (ZOOKEEPER-4766). This one writes none if its disk has that tree anyway, as a
 * snapshot and the log behind it. That is the rule: a server between two roles is what its log says
 * (H14), and a first start, a recovery (R17) and a synchronisation by snapshot leave a snapshot of
 * their own. What is not committed yet can then be truncated from the log alone. Snapshots are
 * taken as often as a follower's: every {@code snapCount} entries.
 */
final class SaucrLeaderServer extends LeaderZooKeeperServer implements BatchingServer {
    private final SaucrTxnSnapLog snapLog;
    private final RequestWatch watch;

    /** Guarded by this. */
    private ContainerManager containers;

    // The thread that leads; nothing else runs before the tree is loaded.
    private boolean loading;
    private boolean killedSession;

    SaucrLeaderServer(
            SaucrTxnSnapLog snapLog, QuorumPeer self, ZKDatabase database, RequestWatch watch)
            throws IOException {
        super(snapLog, self, database);
        this.watch = watch;
        this.snapLog = snapLog;
    }

    @Override
    public void loadData() throws IOException, InterruptedException {
        loading = true;
        try {
            super.loadData();
        } finally {
            loading = false;
        }
    }

    /**
     * Ephemeral nodes go with a session that nobody knows any more; the log does not tell of it.
     */
    @Override
    protected void killSession(long sessionId, long zxid) {
        killedSession = true;
        super.killSession(sessionId, zxid);
    }

    @Override
    public File takeSnapshot() throws IOException {
        return loading && diskHasTree() ? null : super.takeSnapshot();
    }

    /**
     * A tree that a dead leader sent may be in memory alone, and so may one that was loaded from a
     * log without a snapshot (zookeeper.snapshot.trust.empty).
     */
    private boolean diskHasTree() throws IOException {
        return !killedSession && snapLog.hasOnDisk(getZKDatabase().getDataTreeLastProcessedZxid());
    }

    @Override
    protected RequestThrottler createRequestThrottler() {
        return new InlineRequestThrottler(this);
    }

    @Override
    protected void setupRequestProcessors() {
        // As in followers, a sync waits for its turn among the commits.
        SaucrLeader leader = (SaucrLeader) getLeader();
        LeaderPipeline pipeline = leader.pipeline();
        InlineCommitProcessor made =
                new InlineCommitProcessor(
                        getZKDatabase(),
                        new Leader.ToBeAppliedRequestProcessor(
                                new FinalRequestProcessor(this), getLeader()),
                        watch,
                        Long.toString(getServerId()),
                        true,
                        getZooKeeperServerListener());
        pipeline.appliesBy(made);
        commitProcessor = made;
        commitProcessor.start();
        // Not in line: if its disk hangs, the others' acks continue committing what it proposes
        // (R24).
        LeaderLog madeLog = new LeaderLog(this, pipeline::ackedByOwnLog);
        madeLog.start();
        pipeline.logsBy(madeLog);
        InlineProposalProcessor madeProposals =
                new InlineProposalProcessor(this, leader, pipeline, made, madeLog, watch);
        pipeline.proposesBy(madeProposals);
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
