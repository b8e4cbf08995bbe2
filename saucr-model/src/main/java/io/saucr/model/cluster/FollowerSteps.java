package io.saucr.model.cluster;

import io.saucr.model.cluster.Server.Role;

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
        logInitialHistory(s, s.initialHistory - firstMissing(s));
        s.claimed = 0;
        logSteps.settle(s);
        s.loggedInitialHistory = true;
        s.currentEpoch = s.acceptedEpoch;
        if (s.attached()) {
            s.link.newLeaderAck = Link.UNREAD;
        }
    }

    private void logInitialHistory(Server s, int entries) {
        int from = firstMissing(s);
        for (int i = from; i < from + entries; i++) {
            logSteps.append(s, s.queue[i], Server.SLOW, null);
        }
    }

    private static int firstMissing(Server s) {
        int from = s.length;
        for (int i = 0; i < s.initialHistory && s.claimed != 0; i++) {
            if (Entry.zxid(s.queue[i]) == s.claimed) {
                from = i + 1;
            }
        }
        return from;
    }

    /** How many entries of its leader's history a follower logs next; 0 if it must cut first. */
    static int mayLog(Server s) {
        return s.role == Role.FOLLOWING && !s.loggedInitialHistory && mustCut(s) == s.length
                ? s.initialHistory - firstMissing(s)
                : 0;
    }

    /** The process dies when it has logged a part, or all, but has not written its epoch. */
    void killedWhileJoining(Server s, int entries) {
        logInitialHistory(s, entries);
        ProcessSteps.kill(s, s.length - s.written);
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
