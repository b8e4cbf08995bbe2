package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.model.cluster.Server.Role;
import java.util.Set;

/**
 * Who answers a server that recovers, and whose answers count for it (R15, R16, R20, R26).
 *
 * <p>Owned by its cluster's thread.
 */
final class RecoveryQueries {
    private final Server[] servers;
    private final Set<BrokenRule> broken;
    private final boolean r20;

    RecoveryQueries(ModelCluster cluster) {
        servers = cluster.servers;
        broken = cluster.broken;
        r20 = cluster.broken.contains(BrokenRule.R20_NO_NOTICE);
    }

    /**
     * Whether the answer counts. A server that lost its disk acked what it does not have any more,
     * and a leader may count that: so it listens first to a leader, who drops these acks, and only
     * then to the others. Or it has heard all of them: then nobody counts these acks.
     *
     * <p>One that lost its memory asks everybody again and again. A later answer is as if the
     * earlier one had been lost, so only such are looked at that may be enough although the earlier
     * one was not: those that name a newer view (R23).
     */
    boolean counts(Server s, Server asker) {
        Recovery recovery = asker.recovery;
        boolean first = recovery.received[s.index] == null;
        if (!asker.lost) {
            return first || recovery.ownView().isOlderThan(namedView(s));
        }
        if (broken.contains(BrokenRule.R26_LEADER_NOT_FIRST)) {
            return first;
        }
        boolean any = recovery.afterAll() || broken.contains(BrokenRule.R26_NO_NEW_ROUND);
        return leadsAnew(s, recovery) || (first && (any || promise(s) <= recovery.ledEpoch));
    }

    /**
     * Whether this server's answer begins a round: it is an established leader of a newer epoch
     * than the leader before, so it has dropped the acks of the lost disk, and from now on the
     * answers of others count.
     */
    boolean leadsAnew(Server s, Recovery recovery) {
        return !recovery.afterAll() && s.established && promise(s) > recovery.ledEpoch;
    }

    /**
     * Whether a server that lost its disk makes progress by hearing this one, even if the answer
     * does not count. Once all others were heard, none of them counts the old acks any more, and
     * answers count without a leader's (see {@link #makesBegin}).
     */
    boolean isNewToHear(Server s, Server asker) {
        Recovery recovery = asker.recovery;
        if (!asker.lost
                || recovery.afterAll()
                || broken.contains(BrokenRule.R26_LEADER_NOT_FIRST)) {
            return false;
        }
        boolean speaks = s.role == Role.RECOVERING || answersQueries(s, true);
        boolean isNew = (recovery.heard & 1 << s.index) == 0;
        return speaks && (isNew || (recovery.allHeard() && makesBegin(s, recovery)));
    }

    /**
     * Whether this server, heard after all others were heard, makes the asker begin the round in
     * which answers count without a leader's: because its answer cannot count in the leader's
     * round, or because no leader was heard.
     */
    boolean makesBegin(Server s, Recovery recovery) {
        return answersQueries(s, true)
                ? recovery.received[s.index] == null && promise(s) > recovery.ledEpoch
                : recovery.ledEpoch == Server.NOWHERE;
    }

    /** The newest epoch that the server says it has promised to. */
    long promise(Server s) {
        return broken.contains(BrokenRule.R26_ACCEPTED_EPOCH_FORGOTTEN)
                ? s.currentEpoch
                : s.acceptedEpoch;
    }

    /** The seal of the own view that the server names in its answers (R23). */
    long namedView(Server s) {
        return broken.contains(BrokenRule.R23_CUT_SEAL_COUNTS)
                ? s.ownView.seal()
                : s.ownView.sealIn(s.lastLogged());
    }

    /** Whether the leader of a server that is queried, or itself, learns of a restart by that. */
    boolean hasNews(Server s, Server asker) {
        if (silent(asker) || !(s.leads() || s.attached())) {
            return false;
        }
        Server l = s.leads() ? s : servers[s.leader];
        Link link = l.links[asker.index];
        boolean news =
                link.open
                        ? link.incarnation != asker.incarnation
                        : l.count.durableThrough(asker.sid) != Zxid.NONE;
        return news && (s.leads() || !s.link.tells(asker.index, asker.incarnation));
    }

    /** Whether nobody tells the leader of this one's restart. */
    boolean silent(Server asker) {
        return r20 || (asker.lost && broken.contains(BrokenRule.R26_NO_NOTICE));
    }

    /**
     * Whether the server answers one that recovers. A leader that is not established may hold an
     * ack of NEWLEADER of a disk that is lost (R26).
     */
    boolean answersQueries(Server s, boolean asksForLostDisk) {
        return switch (s.role) {
            case DOWN -> false;
            case RECOVERING ->
                    s.lost
                            ? broken.contains(BrokenRule.R26_LOST_ANSWERS)
                            : broken.contains(BrokenRule.R16_RECOVERING_ANSWERS);
            case LOOKING -> true;
            case LEADING -> s.established || !asksForLostDisk;
            case FOLLOWING -> s.upToDate;
        };
    }
}
