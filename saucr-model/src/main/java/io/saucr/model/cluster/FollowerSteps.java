package io.saucr.model.cluster;

/**
 * How a follower takes its leader's history, and how it leaves its leader (H5, H14).
 *
 * <p>Owned by its cluster's thread.
 */
final class FollowerSteps {
    private final Server[] servers;
    private final LogSteps logSteps;
    private final boolean h14;

    FollowerSteps(ModelCluster cluster, LogSteps logSteps) {
        servers = cluster.servers;
        this.logSteps = logSteps;
        h14 = cluster.broken.contains(BrokenRule.H14_MEMORY_AHEAD_OF_LOG);
    }

    void leave(Server s) {
        if (h14 && s.upToDate && s.attached()) {
            int applied = Math.min(servers[s.leader].committed, s.queueLength);
            if (applied > s.queueNext) {
                s.claimed = Entry.zxid(s.queue[applied - 1]);
            }
        }
        logSteps.look(s);
    }

    /** The length of the longest prefix that a follower shares with what its leader sends. */
    static int mustCut(Server s) {
        int common = 0;
        while (common < s.length && common < s.initialHistory && s.log[common] == s.queue[common]) {
            common++;
        }
        return common;
    }

    /**
     * The leader sends what comes after the last entry that the follower claims to have, if it has
     * that entry itself.
     */
    void logInitialHistory(Server s) {
        int from = s.length;
        for (int i = 0; i < s.initialHistory && s.claimed != 0; i++) {
            if (Entry.zxid(s.queue[i]) == s.claimed) {
                from = i + 1;
            }
        }
        for (int i = from; i < s.initialHistory; i++) {
            logSteps.append(s, s.queue[i], Server.SLOW, null);
        }
        s.claimed = 0;
        logSteps.settle(s);
        s.loggedInitialHistory = true;
        s.currentEpoch = s.acceptedEpoch;
        if (s.attached()) {
            s.link.newLeaderAck = Link.UNREAD;
        }
    }

    void upToDate(Server s) {
        s.upToDate = true;
        while (s.queueNext < s.upToDateAt) {
            logSteps.appendNext(s, true);
        }
        if (s.attached()) {
            s.link.upToDateAck = Link.UNREAD;
        }
    }

    /** Drops what the leader does not have. */
    static void truncate(Server s) {
        s.cut(mustCut(s));
        s.claimed = 0;
    }
}
