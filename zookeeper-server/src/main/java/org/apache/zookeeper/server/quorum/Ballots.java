package org.apache.zookeeper.server.quorum;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.apache.zookeeper.server.quorum.FastLeaderElection.Notification;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;

/**
 * The votes that come in while this server looks for a leader. When a quorum has voted for one,
 * Apache's election waits 200 ms for a better vote. That wait ends here when nobody is left who
 * could cast one: every voter that is awaited has voted for this leader, too.
 *
 * <p>The wait is a courtesy and no safeguard: a leader has its quorum before and after it, and
 * whoever votes later follows. Votes are taken by the thread that looks for a leader, and put by
 * any.
 */
final class Ballots extends LinkedBlockingQueue<Notification> {
    private static final long serialVersionUID = 1L;

    /** How soon it is noticed that somebody need not be awaited any more. */
    private static final long LOOK_MILLIS = 5;

    private final transient QuorumPeer self;
    private final transient FastLeaderElection election;
    private final transient LongPredicate awaited;

    // The thread that looks for a leader: the last vote of each voter, and whose wait was ended.
    private final transient Map<Long, Vote> votes = new HashMap<>();
    private transient Vote ended;

    /**
     * @param awaited of the voters, whose vote may still come
     */
    Ballots(QuorumPeer self, FastLeaderElection election, LongPredicate awaited) {
        this.self = self;
        this.election = election;
        this.awaited = awaited;
    }

    /** Null when the time is over, or when a leader has the votes of all who are awaited. */
    @Override
    public Notification poll(long timeout, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        Notification vote = poll();
        while (vote == null) {
            long left = deadline - System.nanoTime();
            Vote proposal = proposal();
            boolean agreed = agreed(proposal);
            if (left <= 0 || (agreed && nobodyLeft(proposal))) {
                ended = agreed ? proposal : ended;
                return null;
            }
            long wait = agreed ? Math.min(left, TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS)) : left;
            vote = super.poll(wait, TimeUnit.NANOSECONDS);
        }
        if (vote.state == ServerState.LOOKING) {
            votes.put(
                    vote.sid, new Vote(vote.leader, vote.zxid, vote.electionEpoch, vote.peerEpoch));
        }
        return vote;
    }

    private Vote proposal() {
        return new Vote(
                election.proposedLeader,
                election.proposedZxid,
                election.logicalclock.get(),
                election.proposedEpoch);
    }

    /**
     * Whether a quorum has voted for what this server proposes. Once the wait has ended, whatever
     * came of that, the election goes on at its own pace.
     */
    private boolean agreed(Vote proposal) {
        return !Objects.equals(proposal, ended)
                && election.getVoteTracker(votes, proposal).hasAllQuorums();
    }

    private boolean nobodyLeft(Vote proposal) {
        return self.getCurrentAndNextConfigVoters().stream()
                .allMatch(sid -> proposal.equals(votes.get(sid)) || !awaited.test(sid));
    }
}
