package io.saucr.model.cluster;

import io.saucr.core.CommitRule;
import java.util.Collection;
import java.util.Set;

/** The product's own, but for what it says of the mode (R5, R6). */
final class LenientCommitRule extends CommitRule {
    private final boolean fastBeforeDisks;
    private final boolean neverStuck;

    LenientCommitRule(long self, Collection<Long> voters, Set<BrokenRule> broken) {
        super(self, voters);
        fastBeforeDisks = broken.contains(BrokenRule.R5_FAST_BEFORE_DISKS);
        neverStuck = broken.contains(BrokenRule.R6_STUCK_ENTRY);
    }

    @Override
    public boolean lastSlowOnFastQuorumOfDisks() {
        return fastBeforeDisks || super.lastSlowOnFastQuorumOfDisks();
    }

    @Override
    public boolean disconnect(long sid, long connection) {
        return super.disconnect(sid, connection) && !neverStuck;
    }
}
