package io.saucr.core.leader;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.saucr.core.Mode;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the leader and a follower decide for every proposal allocates nothing in steady state. */
class SteadyStateAllocationTest {
    private static final long EPOCH = 1L << 32;
    private static final int PROPOSALS = 20_000;

    /**
     * The JVM may allocate a little for itself, such as when it compiles; never for each proposal.
     */
    private static final double MOST_BYTES_PER_PROPOSAL = 0.5;

    private final CommitRule rule = new CommitRule(1, List.of(1L, 2L, 3L, 4L, 5L));
    private final LeaderState<String, String> leader =
            new LeaderState<>(
                    1,
                    new FailureDetector(1_000_000_000, 1_000_000),
                    1_000_000_000,
                    5_000_000_000L,
                    rule,
                    new ModeController(5, 3, 20_000_000, 0),
                    new ReadIndex<>(1),
                    sids -> true,
                    0);
    private final List<FollowerConnection<String>> followers = new ArrayList<>();
    private final LleKnowledge knowledge = new LleKnowledge(LleMap.empty());
    private ProposalTag tag;
    private long now;
    private long zxid = EPOCH;
    private long committed = EPOCH;

    private static long allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getCurrentThreadAllocatedBytes();
    }

    private void propose() {
        zxid++;
        now += 1_000;
        proposed(leader.propose(zxid, now));
    }

    private void proposed(ProposalTag next) {
        leader.sent(now);
        if (next != null) {
            tag = next;
        }
        tag.encode();
        knowledge.appended(tag, zxid);
        leader.handedToLog(zxid, now);
        commit(leader.ackedByLeader(zxid, now));
        for (int i = 0; i < followers.size(); i++) {
            followers.get(i).heard(now);
            commit(leader.acked(followers.get(i), zxid, now));
        }
        leader.decisions().clear();
    }

    private void commit(long through) {
        for (; committed < through; committed++) {
            if (leader.nextSyncBefore(committed + 1) != null) {
                throw new AssertionError("nobody asked for a sync");
            }
            leader.committed(committed + 1, now);
        }
        leader.settled(now);
    }

    private double bytesPerProposal() {
        for (int i = 0; i < PROPOSALS; i++) {
            propose();
        }
        long before = allocated();
        for (int i = 0; i < PROPOSALS; i++) {
            propose();
        }
        return (double) (allocated() - before) / PROPOSALS;
    }

    @Test
    void nothingIsAllocatedForAProposal() {
        leader.startEpoch(new ReplicationSet(1, LleMap.empty(), EPOCH), EPOCH, 0);
        for (int sid = 2; sid <= 5; sid++) {
            FollowerConnection<String> follower = leader.connected("", sid, true, sid, 0);
            leader.forwarded(follower);
            leader.keepsViews(follower);
            leader.synced(follower, 0);
            followers.add(follower);
        }
        leader.pin("an operator asks", 0);
        proposed(leader.proposeNoop(++zxid, now));
        assertThat(leader.view().members()).hasSize(5);
        assertThat(bytesPerProposal()).isLessThan(MOST_BYTES_PER_PROPOSAL);
        assertThat(leader.mode()).isEqualTo(Mode.SLOW);
        leader.unpin();
        bytesPerProposal();
        assertThat(leader.mode()).isEqualTo(Mode.FAST);
        assertThat(bytesPerProposal()).isLessThan(MOST_BYTES_PER_PROPOSAL);
        assertThat(leader.mode()).isEqualTo(Mode.FAST);
        assertThat(rule.outstanding()).isZero();
    }
}
