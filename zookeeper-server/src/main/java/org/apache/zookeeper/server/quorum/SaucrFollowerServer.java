package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import org.apache.zookeeper.server.DirectLog;
import org.apache.zookeeper.server.DirectRequests;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;

/** The server of a follower's clients, whose stages need no thread to pass on what they have. */
final class SaucrFollowerServer extends FollowerZooKeeperServer {

    private final SaucrTxnLog log;
    private volatile DirectCommits commits;
    private volatile DirectLog directLog;

    SaucrFollowerServer(
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
        DirectCommits made =
                new DirectCommits(
                        getZKDatabase(),
                        new FinalRequestProcessor(this),
                        Long.toString(getServerId()),
                        true,
                        getZooKeeperServerListener());
        boolean batches = getFollower().getSocket() instanceof PeerSocket;
        made.callersApply(batches);
        commits = made;
        commitProcessor = made;
        commitProcessor.start();
        firstProcessor = new DirectForwarding(this, commitProcessor);
        SendAckRequestProcessor acks = new SendAckRequestProcessor(getFollower());
        if (batches) {
            DirectLog madeLog = new DirectLog(this, log, acks);
            directLog = madeLog;
            syncProcessor = madeLog;
        } else {
            syncProcessor = new SyncRequestProcessor(this, acks);
        }
        syncProcessor.start();
    }

    /**
     * Acks what was read from the leader, then applies what it has committed: acks wait for
     * nothing. For the thread that reads.
     */
    void endOfBatch() {
        DirectLog madeLog = directLog;
        if (madeLog != null) {
            madeLog.flush();
        }
        DirectCommits made = commits;
        if (made != null) {
            made.apply();
        }
    }
}
