package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.leader.LeaderDecisions.Closing;
import io.saucr.core.leader.LeaderDecisions.Why;
import java.util.List;

/**
 * Whose disk is too late to stay (R24): a follower's connection is closed, and a leader steps down,
 * but only while the others commit without it.
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 *
 * @param <C> what the leader's shell reads and writes
 */
final class LateDisks<C> {
    private final FailureDetector detector;
    private final long diskTimeoutNanos;
    private final AckProgress progress;
    private final AckProgress.Peer own;
    private final AckProgress.Peer commits;
    private final ResponsiveVoters<C> voters;
    private final List<FollowerConnection<C>> connections;
    private final LeaderDecisions<C, ?> decisions;
    private boolean ownLate;
    private long ownLateSince;

    /**
     * @param diskTimeoutNanos how long a log may be late before its server is left out
     * @param own the leader's own log
     * @param commits a peer that acks what is committed
     * @param connections everyone who is connected, as it changes
     */
    LateDisks(
            FailureDetector detector,
            long diskTimeoutNanos,
            AckProgress progress,
            AckProgress.Peer own,
            AckProgress.Peer commits,
            ResponsiveVoters<C> voters,
            List<FollowerConnection<C>> connections,
            LeaderDecisions<C, ?> decisions) {
        this.detector = detector;
        this.diskTimeoutNanos = diskTimeoutNanos;
        this.progress = progress;
        this.own = own;
        this.commits = commits;
        this.voters = voters;
        this.connections = connections;
        this.decisions = decisions;
    }

    /**
     * Proposals that a follower has not logged fill its memory. If the others commit without it,
     * its connection is closed; it connects again once its log has caught up.
     */
    void closeHopeless(long now) {
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (!each.closing
                    && each.acks != null
                    && each.acks.owedFor(now) > diskTimeoutNanos
                    && commits.owedFor(now) <= detector.ackBoundNanos()) {
                each.closing = true;
                decisions.closings.add(
                        new Closing<>(each, Why.ACKS_TOO_LATE, each.acks.owedFor(now)));
            }
        }
    }

    /**
     * This leader steps down only if the others can elect a leader and commit without it: else
     * nobody would lead, or serve reads.
     *
     * @param switches learns if fast mode must end first
     */
    void considerSteppingDown(Mode mode, ModeSwitches switches, long silenceNanos, long now) {
        if (mode == Mode.FAST && silenceNanos > diskTimeoutNanos) {
            switches.diskSilent(silenceNanos, now);
        }
        if (own.inTime(now)) {
            ownLate = false;
            return;
        }
        if (!ownLate) {
            ownLate = true;
            ownLateSince = now - Math.max(own.owedFor(now), silenceNanos);
        }
        if (now - ownLateSince >= diskTimeoutNanos
                && voters.othersOnDisk(progress.recent(), now) >= voters.bareMajority()) {
            decisions.stepDownNanos = Math.max(1, now - ownLateSince);
        }
    }
}
