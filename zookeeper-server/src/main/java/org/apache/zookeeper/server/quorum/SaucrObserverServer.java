package org.apache.zookeeper.server.quorum;

import io.saucr.server.requests.RequestWatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.zookeeper.server.BatchingServer;
import org.apache.zookeeper.server.FinalRequestProcessor;
import org.apache.zookeeper.server.InlineRequestThrottler;
import org.apache.zookeeper.server.ObserverLog;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestThrottler;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * The server of an observer's clients, whose stages need no thread to pass on what they have; only
 * its log has one.
 */
final class SaucrObserverServer extends ObserverZooKeeperServer implements BatchingServer {
    private final RequestWatch watch;
    private final LongSupplier nanoTime;
    private final boolean logs = self.getSyncEnabled();
    private volatile InlineCommitProcessor commits;
    private volatile ObserverLog log;

    /** Read from the leader and not handed to the log; of the thread that reads. */
    private final List<Request> unlogged = new ArrayList<>();

    SaucrObserverServer(
            FileTxnSnapLog logFactory, QuorumPeer self, ZKDatabase database, RequestWatch watch)
            throws IOException {
        this(logFactory, self, database, watch, System::nanoTime);
    }

    SaucrObserverServer(
            FileTxnSnapLog logFactory,
            QuorumPeer self,
            ZKDatabase database,
            RequestWatch watch,
            LongSupplier nanoTime)
            throws IOException {
        super(logFactory, self, database);
        this.watch = watch;
        this.nanoTime = nanoTime;
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
                        getZooKeeperServerListener(),
                        nanoTime);
        made.callersApply(true);
        commits = made;
        commitProcessor = made;
        commitProcessor.start();
        firstProcessor =
                new InlineLearnerProcessor(
                        "ObserverRequestProcessor:" + getServerId(), this, pendingSyncs, made);
        if (logs) {
            ObserverLog madeLog = new ObserverLog(this);
            log = madeLog;
            syncProcessor = madeLog;
            syncProcessor.start();
        }
    }

    /** Whether what is committed is also logged. */
    boolean logs() {
        return logs;
    }

    /** By the thread that reads, which calls {@link #endOfBatch} soon. */
    @Override
    public void commitRequest(Request request) {
        if (logs) {
            unlogged.add(request);
        }
        commitProcessor.commit(request);
    }

    /**
     * Hands what was read from the leader to the log, and applies it. For the thread that reads.
     */
    void endOfBatch() {
        if (!unlogged.isEmpty()) {
            log.append(unlogged);
            unlogged.clear();
        }
        InlineCommitProcessor made = commits;
        if (made != null) {
            made.apply();
        }
    }
}
