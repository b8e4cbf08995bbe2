package org.apache.zookeeper.server.quorum;

import io.saucr.server.requests.RequestWatch;
import java.io.IOException;
import org.apache.zookeeper.server.BatchingServer;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.InlineRequestThrottler;
import org.apache.zookeeper.server.InlineSyncProcessor;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;

/** The server of a follower's clients, whose stages need no thread to pass on what they have. */
final class SaucrFollowerServer extends FollowerZooKeeperServer implements BatchingServer {

    private final SaucrTxnLog log;
    private final RequestWatch watch;
    private volatile InlineCommitProcessor commits;
    private volatile InlineSyncProcessor inlineSyncProcessor;

    SaucrFollowerServer(
            FileTxnSnapLog logFactory,
            SaucrTxnLog log,
            QuorumPeer self,
            ZKDatabase database,
            RequestWatch watch)
            throws IOException {
        super(logFactory, self, database);
        this.log = log;
        this.watch = watch;
    }

    @Override
    protected RequestThrottler createRequestThrottler() {
        return new InlineRequestThrottler(this);
    }

    @Override
    protected void setupRequestProcessors() {
        InlineCommitProcessor made =
                new InlineCommitProcessor(
                        getZKDatabase(),
                        new FinalRequestProcessor(this),
                        watch,
                        Long.toString(getServerId()),
                        true,
                        getZooKeeperServerListener());
        made.callersApply(true);
        commits = made;
        commitProcessor = made;
        commitProcessor.start();
        firstProcessor = new InlineFollowerProcessor(this, commitProcessor);
        InlineSyncProcessor madeLog =
                new InlineSyncProcessor(this, log, new SendAckRequestProcessor(getFollower()));
        inlineSyncProcessor = madeLog;
        syncProcessor = madeLog;
        syncProcessor.start();
    }

    /**
     * Acks what was read from the leader, then applies what it has committed: acks wait for
     * nothing. For the thread that reads.
     */
    void endOfBatch() {
        InlineSyncProcessor madeLog = inlineSyncProcessor;
        if (madeLog != null) {
            madeLog.flush();
        }
        InlineCommitProcessor made = commits;
        if (made != null) {
            made.apply();
        }
    }
}
