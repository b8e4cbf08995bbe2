package io.saucr.model.cluster;

import io.saucr.core.quorum.CommitRule;
import java.util.Collection;
import java.util.Set;

/** The product's own, but for what it says of the mode (R5) and of who counts (R23). */
final class LenientCommitRule extends CommitRule {
    private final boolean fastBeforeDisks;
    private final boolean nonMembersCount;
    private final boolean joinersCount;

    LenientCommitRule(long self, Collection<Long> voters, Set<BrokenRule> broken) {
        super(self, voters);
        fastBeforeDisks = broken.contains(BrokenRule.R5_FAST_BEFORE_DISKS);
        nonMembersCount = broken.contains(BrokenRule.R23_NON_MEMBERS_COUNT);
        joinersCount = broken.contains(BrokenRule.R23_JOINER_COUNTS);
    }

    @Override
    public boolean lastSlowOnFastQuorumOfDisks() {
        return fastBeforeDisks || super.lastSlowOnFastQuorumOfDisks();
    }

    @Override
    protected long counting(long connected, long members, long whoGotTheSeal) {
        if (nonMembersCount) {
            return connected;
        }
        return joinersCount ? connected & members : whoGotTheSeal;
    }
}
