package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.DirectRequests;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * The server of a leader's own clients. Their syncs wait like those of its followers' clients
 * (R22); with Apache's leader they pass like reads.
 */
final class SaucrLeaderServer extends LeaderZooKeeperServer {

    SaucrLeaderServer(FileTxnSnapLog logFactory, QuorumPeer self, ZKDatabase database)
            throws IOException {
        super(logFactory, self, database);
    }

    @Override
    protected RequestThrottler createRequestThrottler() {
        return new DirectRequests(this);
    }

    @Override
    protected void setupRequestProcessors() {
        super.setupRequestProcessors();
        // As in followers, a sync waits for its turn among the commits. Set before anything is
        // queued.
        commitProcessor.matchSyncs = true;
        RequestProcessor next = firstProcessor;
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
