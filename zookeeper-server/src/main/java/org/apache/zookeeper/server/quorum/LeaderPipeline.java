package org.apache.zookeeper.server.quorum;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.SelectorBatch;

/**
 * The way of a write through a leader. A thread that brings a request files it with {@link
 * InlineProposalProcessor}, which calls {@link #later}. At the end of its {@link #batch} the same
 * thread validates and proposes what was filed; {@link SaucrLeader#propose} decides mode and tag,
 * and puts the proposal into every learner's packets. Then the thread sends, each learner's packets
 * in one piece, and applies what acks have committed meanwhile. The own log ({@link LeaderLog}) has
 * a thread of its own; what it acks comes back by {@link #ackedByOwnLog}.
 *
 * <p>Threads without batches leave all of this to the thread of the proposing stage, and the
 * heartbeats' thread looks after each of its rounds. Thread-safe; nothing waits here.
 */
final class LeaderPipeline implements SaucrLearnerHandler.Batches, InlineProposalProcessor.Batches {
    private static final int OWN_ACKS_AT_ONCE = 32;

    private final Thread heartbeats;
    private final Consumer<List<Request>> countOwnAcks;
    private final Runnable batch = this::batch;

    /** Those that somebody has to flush. */
    private final CopyOnWriteArrayList<SaucrLearnerHandler> collecting =
            new CopyOnWriteArrayList<>();

    // Null before the leader serves.
    private volatile InlineProposalProcessor proposals;
    private volatile LeaderLog ownLog;
    private volatile InlineCommitProcessor commits;

    /**
     * @param heartbeats the thread of the leader's heartbeats
     * @param countOwnAcks counts acks of the leader's own log, under the leader's monitor
     */
    LeaderPipeline(Thread heartbeats, Consumer<List<Request>> countOwnAcks) {
        this.heartbeats = heartbeats;
        this.countOwnAcks = countOwnAcks;
    }

    // ---- The stages ----

    void proposesBy(InlineProposalProcessor stage) {
        proposals = stage;
    }

    void logsBy(LeaderLog stage) {
        ownLog = stage;
    }

    void appliesBy(InlineCommitProcessor stage) {
        commits = stage;
    }

    /** The own log, null before the leader serves. */
    LeaderLog ownLog() {
        return ownLog;
    }

    // ---- Batches ----

    /**
     * What a thread has brought and collected is dealt with when its batch ends; of a thread that
     * has no batches, by the thread that validates. Whatever lock it holds.
     */
    @Override
    public void later() {
        if (endsBatch() || Thread.currentThread() == heartbeats) {
            return;
        }
        InlineProposalProcessor proposing = proposals;
        if (proposing != null) {
            proposing.wake();
        }
    }

    /** Whether this thread ends a batch when it has brought everything. */
    private boolean endsBatch() {
        if (Thread.currentThread() instanceof SaucrLearnerHandler handler) {
            handler.batchIsDue();
            return true;
        }
        return SelectorBatch.putOff(batch);
    }

    /**
     * The end of a batch: what was brought is proposed, everything collected is sent, each
     * learner's in one piece, and then what was committed is applied. The caller holds no lock.
     */
    @Override
    public void batch() {
        InlineProposalProcessor proposing = proposals;
        if (proposing != null) {
            proposing.propose();
        }
        flush();
        InlineCommitProcessor applying = commits;
        if (applying != null) {
            applying.apply();
        }
    }

    @Override
    public void flush() {
        for (SaucrLearnerHandler each : collecting) {
            each.flush();
        }
    }

    @Override
    public void collects(SaucrLearnerHandler handler) {
        collecting.addIfAbsent(handler);
    }

    /** The learner's connection has ended. */
    void removed(LearnerHandler handler) {
        collecting.remove(handler);
    }

    /** After a round of heartbeats: sends them, and has proposed what waits, for instance. */
    void afterRound() {
        // Not by a thread that may wait for the disk: heartbeats must go out.
        flush();
        InlineProposalProcessor proposing = proposals;
        if (proposing != null && proposing.waits()) {
            proposing.wake();
        }
    }

    /** Returns when what was being proposed is proposed. The caller holds no lock. */
    void awaitProposals() {
        InlineProposalProcessor proposing = proposals;
        if (proposing != null) {
            proposing.awaitInside();
        }
    }

    // ---- Acks ----

    /**
     * What the calling thread commits until {@link #counted} is applied at the end of its batch, if
     * it has one.
     */
    void counting() {
        InlineCommitProcessor applying = commits;
        if (applying != null) {
            applying.callersApply(endsBatch());
        }
    }

    void counted() {
        InlineCommitProcessor applying = commits;
        if (applying != null) {
            applying.callersApply(false);
        }
    }

    /**
     * What this leader's own log acks. What it commits others send and apply: the log's thread has
     * the log to write, and in fast mode nobody would wait for it if it was kept from that. Code
     * that needs the leader's monitor, such as heartbeats, gets it now and then.
     */
    void ackedByOwnLog(List<Request> entries) {
        for (int i = 0; i < entries.size(); i += OWN_ACKS_AT_ONCE) {
            countOwnAcks.accept(entries.subList(i, Math.min(entries.size(), i + OWN_ACKS_AT_ONCE)));
        }
    }
}
