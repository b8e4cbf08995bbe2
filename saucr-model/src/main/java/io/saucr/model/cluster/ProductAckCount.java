package io.saucr.model.cluster;

import io.saucr.core.CommitRule;
import io.saucr.core.Mode;
import java.util.Collection;

/** Counts acks with the product's own {@link CommitRule}. */
final class ProductAckCount implements AckCount {
    private final CommitRule rule;

    ProductAckCount(long self, Collection<Long> voters, long epochStart) {
        rule = new CommitRule(self, voters);
        rule.startEpoch(epochStart);
    }

    @Override
    public long connect(long sid) {
        return rule.connect(sid, true);
    }

    @Override
    public void join(long sid, long connection) {
        rule.join(sid, connection);
    }

    @Override
    public boolean disconnect(long sid, long connection) {
        return rule.disconnect(sid, connection);
    }

    @Override
    public void restarted(long sid) {
        rule.restarted(sid);
    }

    @Override
    public void propose(long zxid, Mode mode) {
        rule.propose(zxid, mode);
    }

    @Override
    public void ack(long sid, long connection, long zxid) {
        rule.ack(sid, connection, zxid);
    }

    @Override
    public long committableThrough() {
        return rule.committableThrough();
    }

    @Override
    public void committed(long zxid) {
        rule.committed(zxid);
    }

    @Override
    public boolean lastSlowOnFastQuorumOfDisks() {
        return rule.lastSlowOnFastQuorumOfDisks();
    }

    @Override
    public boolean slowEntriesCommitted() {
        return rule.slowEntriesCommitted();
    }

    @Override
    public Mode mode(long zxid) {
        return rule.mode(zxid);
    }

    @Override
    public long durableThrough(long sid) {
        return rule.durableThrough(sid);
    }
}
