package org.apache.zookeeper.server.quorum;

import org.apache.zookeeper.server.Request;

/**
 * {@link InlineLearnerProcessor} of a follower. ZooKeeper looks for its own class, whose thread is
 * never started.
 */
final class InlineFollowerProcessor extends FollowerRequestProcessor {
    private final InlineLearnerProcessor inline;

    /**
     * @param next made so that a sync waits for a commit, as a write does
     */
    InlineFollowerProcessor(FollowerZooKeeperServer server, CommitProcessor next) {
        super(server, next);
        inline = new InlineLearnerProcessor(getName(), server, server.pendingSyncs, next);
    }

    @Override
    void processRequest(Request request, boolean checkForUpgrade) {
        inline.processRequest(request, checkForUpgrade);
    }

    @Override
    public void shutdown() {
        inline.shutdown();
    }
}
