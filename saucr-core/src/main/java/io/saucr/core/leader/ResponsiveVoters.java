package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.Quorums;
import java.util.List;

/**
 * Which voters are responsive: they answer heartbeats (R9) and their acks come in time (R24). In
 * fast mode only members of the newest sealed view count, in slow mode also the voters whom the
 * next seal would include (R23).
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 *
 * @param <C> what the leader's shell reads and writes
 */
final class ResponsiveVoters<C> {
    private final long self;
    private final CommitRule rule;
    private final ModeController controller;
    private final Heartbeats<C> heartbeats;
    private final AckProgress.Peer own;
    private final List<FollowerConnection<C>> connections;

    /**
     * @param own the leader's own log
     * @param connections everyone who is connected, as it changes
     */
    ResponsiveVoters(
            long self,
            CommitRule rule,
            ModeController controller,
            Heartbeats<C> heartbeats,
            AckProgress.Peer own,
            List<FollowerConnection<C>> connections) {
        this.self = self;
        this.rule = rule;
        this.controller = controller;
        this.heartbeats = heartbeats;
        this.own = own;
        this.connections = connections;
    }

    /** So many voters are too few for fast mode. */
    int bareMajority() {
        return Quorums.bareMajority(rule.voters());
    }

    /** How many voters are responsive, the leader included. */
    int count(long now) {
        return count(controller.mode() == Mode.FAST, now);
    }

    /** Whether more than a bare majority of the voters is responsive, members of the view alone. */
    boolean fastQuorumOfMembers(long now) {
        return count(true, now) > bareMajority();
    }

    private int count(boolean members, long now) {
        int count = rule.voter(self) && own.inTime(now) ? 1 : 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (counts(each, members) && answersInTime(each, now)) {
                count++;
            }
        }
        return count;
    }

    /** As {@link #count}, but those whose acks are late count, too. */
    int heard(long now) {
        boolean members = controller.mode() == Mode.FAST;
        int count = rule.voter(self) ? 1 : 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (counts(each, members) && heartbeats.heard(each, now)) {
                count++;
            }
        }
        return count;
    }

    /** How many of the others answer in time and have a recent entry on disk. */
    int othersOnDisk(long recent, long now) {
        int count = 0;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (each.synced
                    && rule.voter(each.sid())
                    && answersInTime(each, now)
                    && rule.durableThrough(each.sid()) >= recent) {
                count++;
            }
        }
        return count;
    }

    /** Whether somebody's last ack was late, and only a further entry can show more. */
    boolean somebodyIsLateAndIdle() {
        if (own.lateAndIdle()) {
            return true;
        }
        for (int i = 0; i < connections.size(); i++) {
            AckProgress.Peer acks = connections.get(i).acks;
            if (acks != null && acks.lateAndIdle()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the follower's acks count towards F if they come in time. */
    boolean counts(FollowerConnection<C> connection) {
        return counts(connection, controller.mode() == Mode.FAST);
    }

    private boolean counts(FollowerConnection<C> connection, boolean asMember) {
        return connection.synced
                && connection.keepsViews
                && (asMember ? rule.sealed(connection.sid()) : rule.voter(connection.sid()));
    }

    /** Whether the follower was heard in time and acks in time. */
    boolean answersInTime(FollowerConnection<C> connection, long now) {
        return heartbeats.heard(connection, now) && connection.acksInTime(now);
    }

    /** Who is missing, and for how long; and whether it was this process, rather (H11). */
    String missing(long now) {
        MissingVoters missing = new MissingVoters();
        missing.ownLog(own, now);
        for (long sid : rule.voterSids()) {
            FollowerConnection<C> follower = FollowerConnection.of(sid, connections);
            if (follower != null) {
                missing.connected(
                        follower, counts(follower, true), heartbeats.heard(follower, now), now);
            } else if (sid != self) {
                missing.notConnected(sid);
            }
        }
        return missing.text(heartbeats.ownPauses(), now);
    }
}
