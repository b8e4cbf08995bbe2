package io.saucr.bench.micro;

import io.saucr.core.CommitRule;
import io.saucr.core.LleKnowledge;
import io.saucr.core.LleMap;
import io.saucr.core.Mode;
import io.saucr.core.ModeController;
import io.saucr.core.ProposalTag;
import io.saucr.core.ReplicationSet;
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

    /** Voters of the ensemble. */
    @Param({"3", "5", "7"})
    public int voters;

    private final long[] connections = new long[10];
    private CommitRule rule;
    private ModeController controller;
    private ReplicationSet set;
    private LleKnowledge knowledge;
    private ProposalTag tag;
    private long zxid;

    @Setup
    public void ensemble() {
        List<Long> sids = LongStream.rangeClosed(1, voters).boxed().toList();
        rule = new CommitRule(1, sids);
        rule.startEpoch(EPOCH);
        set = new ReplicationSet(1, LleMap.empty(), EPOCH);
        for (int sid = 2; sid <= voters; sid++) {
            connections[sid] = rule.connect(sid, true);
            rule.join(sid, connections[sid]);
            set.join(sid);
        }
        controller = new ModeController(voters, CONFIRMATIONS, DRAIN_NANOS);
        knowledge = new LleKnowledge(LleMap.empty());
        tag = set.propose(EPOCH + 1, Mode.FAST);
        zxid = EPOCH;
    }

    private long commit(Mode mode) {
        zxid++;
        rule.propose(zxid, mode);
        rule.ack(1, CommitRule.SELF, zxid);
        long through = 0;
        for (int sid = 2; sid <= voters; sid++) {
            rule.ack(sid, connections[sid], zxid);
            through = rule.committableThrough();
        }
        rule.committed(through);
        return through;
    }

    /** A proposal, all acks with the question what may commit after each, the commit (R4). */
    @Benchmark
    public long commitFast() {
        return commit(Mode.FAST);
    }

    /** The same in slow mode. */
    @Benchmark
    public long commitSlow() {
        return commit(Mode.SLOW);
    }

    /** The leader looks at who answers promptly, after a proposal (R5, R6). */
    @Benchmark
    public ModeController.Decision promptness() {
        return controller.promptness(voters, true, false, ++zxid);
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
