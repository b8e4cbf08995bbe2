package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import java.util.List;

/**
 * Who is pinged when (R9, R27), and what a pause of this process excuses (H11).
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 *
 * @param <C> what the leader's shell reads and writes
 */
final class Heartbeats<C> {
    private final FailureDetector detector;
    private final CommitRule rule;
    private final AckProgress progress;
    private final List<FollowerConnection<C>> connections;
    private final LeaderDecisions<C, ?> decisions;
    private final PauseDetector ownPauses;
    private long lastBroadcast;

    /**
     * When the next round was planned, or until when a pause of this process was already allowed
     * for (H11).
     */
    private long awakeThrough;

    // When it last looked at everyone.
    private long lastRound;

    /**
     * @param connections everyone who is connected, as it changes
     * @param decisions gets who is to be pinged
     */
    Heartbeats(
            FailureDetector detector,
            CommitRule rule,
            AckProgress progress,
            List<FollowerConnection<C>> connections,
            LeaderDecisions<C, ?> decisions,
            long now) {
        this.detector = detector;
        this.rule = rule;
        this.progress = progress;
        this.connections = connections;
        this.decisions = decisions;
        this.ownPauses = new PauseDetector(detector.toleranceNanos() / 2);
        this.lastBroadcast = now;
        this.awakeThrough = now;
        this.lastRound = now;
    }

    /** Something was put into every connection that is forwarded to. */
    void sent(long now) {
        lastBroadcast = now;
    }

    /** How long this process stood still, lately. */
    PauseDetector ownPauses() {
        return ownPauses;
    }

    /** Whether the follower was heard in time, whatever it has acked (R9). */
    boolean heard(FollowerConnection<C> connection, long now) {
        return !detector.suspected(connection.lastHeard(), now);
    }

    /**
     * Pings everyone for whom that is due.
     *
     * @param tickPings when everyone was last pinged by others than this class
     * @return when the next one will be
     */
    long round(long tickPings, long now) {
        excuseSleep(now);
        lastRound = now;
        long next = now + detector.intervalNanos();
        for (int i = 0; i < connections.size(); i++) {
            if (connections.get(i).synced) {
                next = Math.min(next, ping(connections.get(i), tickPings, now));
            }
        }
        return next;
    }

    /** Nothing is planned before then. */
    long sleepUntil(long next) {
        awakeThrough = next;
        return next;
    }

    /**
     * When to look again, but as soon as somebody who stays silent is suspected: that is promised.
     */
    long nextSuspicion(long otherwise, long now) {
        long next = otherwise;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            if (each.synced && rule.voter(each.sid()) && heard(each, now)) {
                next = Math.min(next, detector.suspectedAt(each.lastHeard()));
            }
        }
        return next;
    }

    /** Pings it if that is due, and returns when it will be. */
    private long ping(FollowerConnection<C> connection, long tickPings, long now) {
        if (connection.toldOfHeartbeats) {
            connection.pinged = later(connection.pinged, tickPings);
        }
        long heard = connection.lastHeard();
        long sent = later(lastBroadcast, connection.pinged);
        boolean suspected = detector.suspected(heard, now);
        connection.answers.look(now);
        // R27: nobody's silence means anything but a voter's, and of one that is suspected anyway.
        boolean early = !suspected && rule.voter(connection.sid());
        long after = detector.pingAfterNanos(early ? connection.answers.slowestNanos() : 0);
        if (FailureDetector.pingDue(heard, sent, connection.pinged, after, now)) {
            connection.answers.asked(
                    FailureDetector.pingAt(heard, sent, connection.pinged, after), now);
            connection.pinged = now;
            sent = now;
            (connection.toldOfHeartbeats ? decisions.pings : decisions.greetings).add(connection);
            connection.toldOfHeartbeats = true;
        }
        return FailureDetector.pingAt(heard, sent, connection.pinged, after);
    }

    private static long later(long a, long b) {
        return a - b < 0 ? b : a;
    }

    /**
     * H11: while the whole process stood still nobody could be heard, and nobody's acks were late.
     * A follower that stays silent after that is excused for the time of further pauses only: a
     * leader that is late again and again must notice, too. So is one that was suspected before:
     * else a pause would switch the mode to fast with a server that is lost.
     */
    void excuseSleep(long now) {
        ownPauses.awake(now - awakeThrough, now);
        if (!detector.overslept(awakeThrough, now)) {
            return;
        }
        long late = now - awakeThrough;
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<C> each = connections.get(i);
            each.excuse(heardBeforeSleep(each, late, now));
        }
        progress.stoodStill(late, now);
        awakeThrough = now;
    }

    private long heardBeforeSleep(FollowerConnection<C> follower, long late, long now) {
        if (follower.excused() || detector.suspected(follower.lastHeard(), lastRound)) {
            return follower.lastHeard() + late;
        }
        // R27: what came in meanwhile is still unread, so its reader has not woken up yet.
        return follower.cameIn(now) ? now : detector.heardBeforeSleep(follower.lastHeard(), now);
    }
}
