package org.apache.zookeeper.server.quorum;

import io.saucr.core.leader.NominatedSuccessor;

/**
 * ZooKeeper's election; among candidates that have the same the one wins that the last leader has
 * named (R28).
 */
public final class SaucrElection extends FastLeaderElection {
    private final SaucrQuorumPeer peer;

    private SaucrElection(SaucrQuorumPeer peer, QuorumCnxManager manager) {
        super(peer, manager);
        this.peer = peer;
    }

    /** The election of a peer, which may be one without SAUCR. */
    public static FastLeaderElection of(QuorumPeer peer, QuorumCnxManager manager) {
        return peer instanceof SaucrQuorumPeer ours
                ? new SaucrElection(ours, manager)
                : new FastLeaderElection(peer, manager);
    }

    @Override
    protected boolean totalOrderPredicate(
            long newId, long newZxid, long newEpoch, long curId, long curZxid, long curEpoch) {
        NominatedSuccessor named = peer.named();
        if (named == null || !peer.getVotingView().containsKey(named.sid())) {
            return super.totalOrderPredicate(newId, newZxid, newEpoch, curId, curZxid, curEpoch);
        }
        return switch (named.compare(newId, newZxid, newEpoch, curId, curZxid, curEpoch)) {
            case BETTER -> true;
            case NOT_BETTER -> false;
            case UNDECIDED ->
                    super.totalOrderPredicate(newId, newZxid, newEpoch, curId, curZxid, curEpoch);
        };
    }
}
