package io.saucr.bench.micro;

import io.saucr.core.Mode;
import io.saucr.core.leader.FailureDetector;
import io.saucr.core.leader.FollowerConnection;
import io.saucr.core.leader.LeaderState;
import io.saucr.core.leader.ModeController;
import io.saucr.core.leader.ReadIndex;
import io.saucr.core.leader.ReplicationSet;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.CommitRule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What happens for every proposal in steady state: none of it may allocate. */
@State(Scope.Thread)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EveryProposal {
    private static final long EPOCH = 1L << 32;
    private static final int CONFIRMATIONS = 5;
    private static final long DRAIN_NANOS = 20_000_000;
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long DISK_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long BETWEEN_PROPOSALS_NANOS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final int MOST_PROPOSALS_TO_TURN = 1_000_000;

    /** Voters of the ensemble. */
    @Param({"3", "5", "7"})
    public int voters;

    private Leader fast;
    private Leader slow;
    private ModeController controller;
    private ReplicationSet set;
    private LleKnowledge knowledge;
    private ProposalTag tag;
    private long zxid;

    @Setup
    public void ensemble() {
        fast = new Leader(voters);
        fast.turnFast();
        slow = new Leader(voters);
        slow.state.pin("slow mode is measured", 0);
        controller = new ModeController(voters, CONFIRMATIONS, DRAIN_NANOS, 0);
        knowledge = new LleKnowledge(LleMap.empty());
        set = new ReplicationSet(1, LleMap.empty(), EPOCH);
        for (int sid = 2; sid <= voters; sid++) {
            set.join(sid);
        }
        tag = set.propose(EPOCH + 1, Mode.FAST);
        zxid = EPOCH;
    }

    /** A leader to whose proposals every follower answers at once. */
    private static final class Leader {
        final LeaderState<String, String> state;
        private final List<FollowerConnection<String>> followers = new ArrayList<>();
        private long zxid = EPOCH;
        private long committed = EPOCH;
        private long now;

        Leader(int voters) {
            state =
                    new LeaderState<>(
                            1,
                            new FailureDetector(INTERVAL_NANOS, TOLERANCE_NANOS),
                            DISK_TIMEOUT_NANOS,
                            0,
                            new CommitRule(1, LongStream.rangeClosed(1, voters).boxed().toList()),
                            new ModeController(voters, CONFIRMATIONS, DRAIN_NANOS, 0),
                            new ReadIndex<>(1),
                            answered -> true,
                            now);
            state.startEpoch(new ReplicationSet(1, LleMap.empty(), EPOCH), EPOCH, now);
            for (int sid = 2; sid <= voters; sid++) {
                FollowerConnection<String> follower = state.connected("", sid, true, sid, now);
                state.keepsViews(follower);
                state.forwarded(follower);
                state.synced(follower, now);
                followers.add(follower);
            }
            state.decisions().clear();
        }

        void turnFast() {
            for (int i = 0; state.mode() == Mode.SLOW; i++) {
                if (i == MOST_PROPOSALS_TO_TURN) {
                    throw new IllegalStateException("the leader does not switch to fast mode");
                }
                propose(i == 0);
            }
        }

        long commit(Mode mode) {
            propose(false);
            if (state.mode() != mode) {
                throw new IllegalStateException("the leader is in " + state.mode() + " mode");
            }
            return committed;
        }

        private void propose(boolean noop) {
            zxid++;
            now += BETWEEN_PROPOSALS_NANOS;
            if (noop) {
                state.proposeNoop(zxid, now);
            } else {
                state.propose(zxid, now);
            }
            state.sent(now);
            state.handedToLog(zxid, now);
            commitThrough(state.ackedByLeader(zxid, now));
            for (int i = 0; i < followers.size(); i++) {
                followers.get(i).heard(now);
                commitThrough(state.acked(followers.get(i), zxid, now));
            }
            state.decisions().clear();
        }

        private void commitThrough(long through) {
            for (; committed < through; committed++) {
                state.committed(committed + 1, now);
            }
            state.settled(now);
        }
    }

    /** All that a leader decides for a fast proposal, all its acks and its commit (R4). */
    @Benchmark
    public long commitFast() {
        return fast.commit(Mode.FAST);
    }

    /** The same in slow mode. */
    @Benchmark
    public long commitSlow() {
        return slow.commit(Mode.SLOW);
    }

    /** The leader looks at who answers promptly, after a proposal (R5, R6). */
    @Benchmark
    public ModeController.Decision promptness() {
        return controller.promptness(voters, true, false, true, ++zxid);
    }

    /** The tag that goes with a proposal, in the form in which it is sent (R1). */
    @Benchmark
    public String tagOfProposal() {
        return set.propose(++zxid, Mode.FAST).encode();
    }

    /** A receiver learns what the proposal says of everyone's last entry (R8). */
    @Benchmark
    public void learn() {
        knowledge.appended(tag, ++zxid);
    }
}
