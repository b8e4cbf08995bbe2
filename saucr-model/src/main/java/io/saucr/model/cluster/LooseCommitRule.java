package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.Quorums;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Counts acks as {@link io.saucr.core.quorum.CommitRule} does, with one rule broken (R2, R4, R21),
 * and without views (R23). Used only in clusters that break one of these.
 */
final class LooseCommitRule extends CommitRule {
    private final int self;
    private final int bareMajority;
    private final int fastQuorum;
    private final boolean rejoinedInEverySet;
    private final boolean durableCountsTowardsF;
    private final boolean oldConnectionCounts;

    private final long epochStart;
    private final long[] connections;
    private final long[] durableThrough;
    private long lastConnection;
    private int joined;

    // Entries of the epoch: the one with counter c at c - 1.
    private int[] members = new int[16];
    private int[] acks = new int[16];
    private boolean[] slow = new boolean[16];
    private int proposed;
    private int committed;
    private int lastSlow;

    LooseCommitRule(long self, List<Long> sids, long epochStart, Set<BrokenRule> broken) {
        super(self, sids);
        int voters = sids.size();
        this.self = (int) self - 1;
        this.epochStart = epochStart;
        bareMajority = Quorums.bareMajority(voters);
        fastQuorum = Quorums.fastQuorum(voters);
        rejoinedInEverySet = broken.contains(BrokenRule.R2_REJOINED_IN_EVERY_SET);
        durableCountsTowardsF = broken.contains(BrokenRule.R4_DURABLE_ACK_COUNTS_TOWARDS_F);
        oldConnectionCounts = broken.contains(BrokenRule.R21_OLD_CONNECTION_COUNTS);
        connections = new long[voters];
        durableThrough = new long[voters];
        Arrays.fill(connections, -1);
        connections[this.self] = 0;
        joined = 1 << this.self;
    }

    @Override
    public long connect(long sid, boolean situationAware) {
        int server = (int) sid - 1;
        if (!oldConnectionCounts) {
            leaveEverySet(server);
            durableThrough[server] = 0;
        }
        connections[server] = ++lastConnection;
        return lastConnection;
    }

    @Override
    public void join(long sid, long connection) {
        int bit = 1 << (sid - 1);
        joined |= bit;
        if (rejoinedInEverySet) {
            for (int i = committed; i < proposed; i++) {
                members[i] |= bit;
            }
        }
    }

    @Override
    public void disconnect(long sid, long connection) {
        connections[(int) sid - 1] = -1;
        leaveEverySet((int) sid - 1);
    }

    @Override
    public void restarted(long sid) {
        connections[(int) sid - 1] = -1;
        durableThrough[(int) sid - 1] = 0;
        leaveEverySet((int) sid - 1);
    }

    /** There were no views when these rules were looser. */
    @Override
    public boolean sealDue() {
        return false;
    }

    @Override
    public boolean viewIsWhole() {
        return true;
    }

    @Override
    public boolean sealed(long sid) {
        return (joined & 1 << (sid - 1)) != 0;
    }

    @Override
    public void propose(long zxid, Mode mode) {
        if (proposed == members.length) {
            members = Arrays.copyOf(members, proposed * 2);
            acks = Arrays.copyOf(acks, proposed * 2);
            slow = Arrays.copyOf(slow, proposed * 2);
        }
        members[proposed] = joined;
        acks[proposed] = 0;
        slow[proposed] = mode == Mode.SLOW;
        proposed++;
        if (mode == Mode.SLOW) {
            lastSlow = proposed;
        }
    }

    @Override
    public void ack(long sid, long connection, long zxid) {
        int server = (int) sid - 1;
        int i = (int) (zxid - epochStart) - 1;
        if (connections[server] != connection || i < 0 || i >= proposed) {
            return;
        }
        if (slow[i]) {
            durableThrough[server] = Math.max(durableThrough[server], zxid);
        }
        acks[i] |= members[i] & 1 << server;
    }

    @Override
    public long committableThrough() {
        int n = committed;
        while (n < proposed && committable(n)) {
            n++;
        }
        return epochStart + n;
    }

    private boolean committable(int i) {
        return Integer.bitCount(itself(i)) >= fastQuorum
                || Integer.bitCount(durable(epochStart + i + 1)) >= bareMajority;
    }

    /** Whose acks of the entry count towards F. */
    private int itself(int i) {
        int itself = members[i] & acks[i];
        return durableCountsTowardsF ? itself | durable(epochStart + i + 1) : itself;
    }

    @Override
    public boolean ackedItself(long sid, long zxid) {
        int i = (int) (zxid - epochStart) - 1;
        return i >= committed && i < proposed && (itself(i) & 1 << (sid - 1)) != 0;
    }

    @Override
    public void committed(long zxid) {
        committed = (int) (zxid - epochStart);
    }

    @Override
    public boolean lastSlowOnFastQuorumOfDisks() {
        int durable = durable(epochStart + lastSlow);
        return lastSlow == proposed
                && (durable & 1 << self) != 0
                && Integer.bitCount(durable) >= fastQuorum;
    }

    @Override
    public boolean onFastQuorumOfDisks(long zxid) {
        int durable = durable(zxid);
        return (durable & 1 << self) != 0 && Integer.bitCount(durable) >= fastQuorum;
    }

    @Override
    public boolean slowEntriesCommitted() {
        return lastSlow <= committed;
    }

    @Override
    public Mode mode(long zxid) {
        return slow[(int) (zxid - epochStart) - 1] ? Mode.SLOW : Mode.FAST;
    }

    @Override
    public long durableThrough(long sid) {
        return durableThrough[(int) sid - 1];
    }

    void write(StateWriter out) {
        for (int i = committed; i < proposed; i++) {
            out.servers(members[i]);
            out.servers(acks[i]);
        }
        out.servers(joined);
    }

    void read(StateInput in, Server leader, Mode[] modes, long[] durable) {
        for (int i = leader.epochStart; i < leader.queueLength; i++) {
            propose(Entry.zxid(leader.queue[i]), modes[i]);
        }
        committed = Math.max(0, leader.committed - leader.epochStart);
        for (int i = committed; i < proposed; i++) {
            members[i] = in.number();
            acks[i] = in.number();
        }
        joined = in.number();
        System.arraycopy(durable, 0, durableThrough, 0, durable.length);
        for (int j = 0; j < durable.length; j++) {
            if (leader.links[j].open) {
                leader.links[j].connection = ++lastConnection;
                connections[j] = lastConnection;
            }
        }
    }

    private int durable(long zxid) {
        int result = 0;
        for (int server = 0; server < durableThrough.length; server++) {
            if (durableThrough[server] >= zxid) {
                result |= 1 << server;
            }
        }
        return result;
    }

    private void leaveEverySet(int server) {
        int bit = 1 << server;
        joined &= ~bit;
        for (int i = committed; i < proposed; i++) {
            members[i] &= ~bit;
            acks[i] &= ~bit;
        }
    }
}
