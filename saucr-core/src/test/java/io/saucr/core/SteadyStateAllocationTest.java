package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
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
    private final ReplicationSet set = new ReplicationSet(1, LleMap.empty(), EPOCH);
    private final ModeController controller = new ModeController(5, 3, 20_000_000);
    private final AckProgress progress = new AckProgress(1_000);
    private final AckProgress.Peer acker = progress.add();
    private final LleKnowledge knowledge = new LleKnowledge(LleMap.empty());
    private final long[] connections = new long[6];
    private long zxid = EPOCH;

    private static long allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getCurrentThreadAllocatedBytes();
    }

    private void propose(Mode mode) {
        zxid++;
        ProposalTag tag = set.propose(zxid, mode);
        tag.encode();
        rule.propose(zxid, mode);
        progress.proposed(zxid, zxid);
        acker.acked(zxid, zxid);
        knowledge.appended(tag, zxid);
        rule.ack(1, CommitRule.SELF, zxid);
        for (int sid = 2; sid <= 5; sid++) {
            rule.ack(sid, connections[sid], zxid);
            rule.committableThrough();
        }
        rule.committed(rule.committableThrough());
        controller.promptness(
                5, rule.lastSlowOnFastQuorumOfDisks(), !rule.slowEntriesCommitted(), zxid);
    }

    private double bytesPerProposal(Mode mode) {
        for (int i = 0; i < PROPOSALS; i++) {
            propose(mode);
        }
        long before = allocated();
        for (int i = 0; i < PROPOSALS; i++) {
            propose(mode);
        }
        return (double) (allocated() - before) / PROPOSALS;
    }

    @Test
    void nothingIsAllocatedForAProposal() {
        rule.startEpoch(EPOCH);
        for (int sid = 2; sid <= 5; sid++) {
            connections[sid] = rule.connect(sid, true);
            rule.join(sid, connections[sid]);
            set.join(sid);
        }
        assertThat(bytesPerProposal(Mode.SLOW)).isLessThan(MOST_BYTES_PER_PROPOSAL);
        assertThat(bytesPerProposal(Mode.FAST)).isLessThan(MOST_BYTES_PER_PROPOSAL);
        assertThat(rule.outstanding()).isZero();
    }
}
