package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import org.apache.zookeeper.server.DirectRequests;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.SyncRequestProcessor;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/** The server of a follower's clients, whose stages need no thread to pass on what they have. */
final class SaucrFollowerServer extends FollowerZooKeeperServer {

    private volatile DirectCommits commits;

    SaucrFollowerServer(FileTxnSnapLog logFactory, QuorumPeer self, ZKDatabase database)
            throws IOException {
        super(logFactory, self, database);
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
        made.callersApply(getFollower().getSocket() instanceof PeerSocket);
        commits = made;
        commitProcessor = made;
        commitProcessor.start();
        firstProcessor = new DirectForwarding(this, commitProcessor);
        syncProcessor = new SyncRequestProcessor(this, new SendAckRequestProcessor(getFollower()));
        syncProcessor.start();
    }

    /** Applies what the leader has committed, if that is for the thread that reads its packets. */
    void applyCommitted() {
        DirectCommits made = commits;
        if (made != null) {
            made.apply();
        }
    }
}
