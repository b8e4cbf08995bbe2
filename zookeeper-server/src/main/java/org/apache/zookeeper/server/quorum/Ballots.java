package org.apache.zookeeper.server.quorum;

import io.saucr.core.leader.NominatedSuccessor;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.apache.zookeeper.server.quorum.FastLeaderElection.Notification;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;

/**
 * The votes that come in while this server looks for a leader. When a quorum has voted for one,
 * Apache's election waits 200 ms for a better vote. That wait ends here when nobody is left who
 * could cast one: every voter that is awaited has voted for this leader, too.
 *
 * <p>After a hand-over (R28) the wait also ends when the quorum has voted for the named server, as
 * no server has more. For another one it lasts until the named server has voted, as long as the
 * name holds: that server may be late. And servers that have not heard of the hand-over yet still
 * report the leader that has left; who believed them would follow it again, and not vote.
 *
 * <p>The wait is a courtesy and no safeguard: a leader has its quorum before and after it, and a
 * server that votes later follows. Votes are taken by the thread that looks for a leader, and put
 * by any.
 */
final class Ballots extends LinkedBlockingQueue<Notification> {
    private static final long serialVersionUID = 1L;

    /** How soon it is noticed that somebody need not be awaited any more. */
    private static final long LOOK_MILLIS = 5;

    private final transient QuorumPeer self;
    private final transient FastLeaderElection election;
    private final transient LongPredicate awaited;
    private final transient Supplier<NominatedSuccessor> named;

    // The thread that looks for a leader: the last vote of each voter, and whose wait was ended.
    private final transient Map<Long, Vote> votes = new HashMap<>();
    private transient Vote ended;

    /**
     * @param awaited of the voters, whose vote may still come
     * @param named whom the last leader has named, while that holds and the server is there; else
     *     null
     */
    Ballots(
            QuorumPeer self,
            FastLeaderElection election,
            LongPredicate awaited,
            Supplier<NominatedSuccessor> named) {
        this.self = self;
        this.election = election;
        this.awaited = awaited;
        this.named = named;
    }

    /** Null when the time is over, or when a leader has the votes of all who are awaited. */
    @Override
    public Notification poll(long timeout, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        Notification vote = newest(poll());
        while (vote == null) {
            long left = deadline - System.nanoTime();
            Vote proposal = proposal();
            boolean agreed = agreed(proposal);
            NominatedSuccessor next = agreed ? named.get() : null;
            boolean over = left <= 0 && !namedMayWin(next, proposal);
            if (over || (agreed && isFinal(proposal, next))) {
                ended = agreed ? proposal : ended;
                return null;
            }
            long look = TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS);
            long wait = agreed ? (left <= 0 ? look : Math.min(left, look)) : left;
            vote = newest(super.poll(wait, TimeUnit.NANOSECONDS));
        }
        if (vote.state == ServerState.LOOKING) {
            votes.put(
                    vote.sid, new Vote(vote.leader, vote.zxid, vote.electionEpoch, vote.peerEpoch));
        }
        return vote;
    }

    /** Null for what is said of a term that has ended by a hand-over. */
    private Notification newest(Notification vote) {
        if (vote == null
                || vote.state == ServerState.LOOKING
                || vote.electionEpoch >= election.logicalclock.get()) {
            return vote;
        }
        NominatedSuccessor next = named.get();
        return next != null && vote.leader == next.by() ? null : vote;
    }

    /** Whether a server was named that is not the proposed one, and has not voted in this round. */
    private boolean namedMayWin(NominatedSuccessor next, Vote proposal) {
        if (next == null || next.sid() == proposal.getId()) {
            return false;
        }
        Vote own = votes.get(next.sid());
        return own == null || own.getElectionEpoch() != proposal.getElectionEpoch();
    }

    private boolean isFinal(Vote proposal, NominatedSuccessor next) {
        return (next != null && next.sid() == proposal.getId()) || nobodyLeft(proposal);
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
     * came of that, the election continues at its own pace.
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
