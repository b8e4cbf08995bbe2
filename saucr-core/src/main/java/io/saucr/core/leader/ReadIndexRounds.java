package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Asks followers whether they still follow, and answers clients' syncs when enough do (R22): what
 * {@link ReadIndex} decides, on this leader's connections.
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 *
 * @param <C> what the leader's shell reads and writes
 * @param <S> a sync
 */
final class ReadIndexRounds<C, S> {
    private final FailureDetector detector;
    private final CommitRule rule;
    private final ReadIndex<S> syncs;
    private final Predicate<Set<Long>> majority;
    private final List<FollowerConnection<C>> connections;
    private final LeaderDecisions<C, S> decisions;
    private long lastQuestion;

    /**
     * @param majority see {@link LeaderState}'s constructor
     * @param connections everyone who is connected, as it changes
     */
    ReadIndexRounds(
            FailureDetector detector,
            CommitRule rule,
            ReadIndex<S> syncs,
            Predicate<Set<Long>> majority,
            List<FollowerConnection<C>> connections,
            LeaderDecisions<C, S> decisions,
            long now) {
        this.detector = detector;
        this.rule = rule;
        this.syncs = syncs;
        this.majority = majority;
        this.connections = connections;
        this.decisions = decisions;
        this.lastQuestion = now;
    }

    /** Answers what may be answered; asks if that needs a question that was not asked yet. */
    void answer(long lastCommitted, long now) {
        for (S sync = syncs.next(lastCommitted, majority);
                sync != null;
                sync = syncs.next(lastCommitted, majority)) {
            decisions.answers.add(sync);
        }
        if (syncs.questionDue()) {
            ask(now);
        }
    }

    /** Asks who follows: an answer may be lost with its connection. */
    void ask(long now) {
        decisions.question = syncs.ask();
        decisions.asked.clear();
        lastQuestion = now;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (each.synced && each.situationAware() && rule.voter(each.sid())) {
                decisions.asked.add(each);
                each.toldOfHeartbeats = true;
                each.pinged = now;
            }
        }
    }

    /**
     * Servers without SAUCR give no answers: another question, and an entry whose acks say the
     * same.
     */
    void askAgain(long lastProposed, long now) {
        if (now - lastQuestion >= detector.intervalNanos() && syncs.size() > 0) {
            ask(now);
            if (syncs.needsAnswers(lastProposed)) {
                decisions.noop = true;
            }
        }
    }
}
