package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A leader's end of one connection of a follower (R21), and what {@link LeaderState} knows of it.
 * Owned by the leader's lock, but for {@link #heard(long)}, which the thread calls that reads the
 * connection.
 *
 * @param <C> what the leader's shell reads and writes
 */
public final class FollowerConnection<C> {
    private final C endpoint;
    private final long sid;
    private final long number;
    private final boolean situationAware;

    private final AtomicLong heard;

    // While this process slept nothing could be heard (H11): the time that stands in "heard"
    // instead, and when something was heard indeed. Under the leader's lock.
    private boolean excused;
    private long excusedTo;
    private long heardBefore;

    /** Whether the follower has everything up to UPTODATE and may count as responsive (H5). */
    boolean synced;

    /** Whether it has said that it keeps views, so that it may be in one (R23). */
    boolean keepsViews;

    /** Whether every proposal is put into it. */
    boolean joined;

    boolean toldOfHeartbeats;

    /** Whether it is being closed because its acks are too late (R24). */
    boolean closing;

    long pinged;

    /** How late it answers (R27). Under the leader's lock. */
    final HeartbeatLatency answers;

    // R27, under the leader's lock: when its socket was last looked at, whether something unread
    // was in it then, and whether that had come in since the look before. The first look cannot
    // tell since when something is there, so it is no news.
    private long lastLook;
    private boolean unread = true;
    private boolean newlyUnread;

    /** Whether its acks come in time (R24); null before it is synced, and for Apache's servers. */
    AckProgress.Peer acks;

    /**
     * @param number from {@link CommitRule#connect}
     * @param situationAware whether the follower announced SAUCR (H12)
     * @param limitNanos after how long a silence it is suspected
     */
    FollowerConnection(
            C endpoint, long sid, long number, boolean situationAware, long limitNanos, long now) {
        this.endpoint = endpoint;
        this.sid = sid;
        this.number = number;
        this.situationAware = situationAware;
        this.heard = new AtomicLong(now);
        this.pinged = now;
        this.answers = new HeartbeatLatency(limitNanos, now);
    }

    /** The one of this server; null if there is none. */
    static <C> FollowerConnection<C> of(long sid, List<FollowerConnection<C>> connections) {
        for (int i = 0; i < connections.size(); i++) {
            if (connections.get(i).sid == sid) {
                return connections.get(i);
            }
        }
        return null;
    }

    /** The caller's handle of the connection; never used here. */
    public C endpoint() {
        return endpoint;
    }

    /** The follower. */
    public long sid() {
        return sid;
    }

    /** Its number, unique in the leader's epoch. */
    public long number() {
        return number;
    }

    /** Whether the follower announced SAUCR (H12). */
    public boolean situationAware() {
        return situationAware;
    }

    /** Whether the follower has everything up to UPTODATE (H5). */
    public boolean synced() {
        return synced;
    }

    /** Whether the follower has said that it keeps views (R23). */
    public boolean keepsViews() {
        return keepsViews;
    }

    /** A packet came in: any packet is a heartbeat (R9). */
    public void heard(long now) {
        heard.set(now);
        answers.heard(now);
    }

    /** When a packet last came in, or could have if this process had not slept (H11). */
    public long lastHeard() {
        return heard.get();
    }

    /**
     * The connection's socket was looked at, before a round (R27). What is unread and was not there
     * at the look before came in since: the follower was alive then, and the thread that should
     * have read it was late. So it counts as heard at the look before; it may not have lived for
     * longer. Under the leader's lock.
     *
     * @param somethingUnread whether a read would not wait
     */
    public void looked(boolean somethingUnread, long now) {
        newlyUnread = somethingUnread && !unread;
        long before = heard.get();
        if (newlyUnread && lastLook - before > 0) {
            // In vain if a packet comes in just now.
            heard.compareAndSet(before, lastLook);
        }
        lastLook = now;
        unread = somethingUnread;
    }

    /**
     * Whether something is unread at this moment, which is that of a look, and was not there at the
     * look before.
     */
    boolean cameIn(long now) {
        return newlyUnread && lastLook == now;
    }

    /** This process slept: the follower counts as heard at this time, unless it was later. */
    void excuse(long at) {
        long before = heard.get();
        if (before - at >= 0) {
            return;
        }
        long packet = lastPacket();
        if (heard.compareAndSet(before, at)) {
            heardBefore = packet;
            excused = true;
            excusedTo = at;
        }
    }

    /** Whether nothing has come in since the last {@link #excuse}. */
    boolean excused() {
        return excused && heard.get() == excusedTo;
    }

    /** For how long no packet has come in, nanoseconds. Under the leader's lock. */
    public long silentNanos(long now) {
        return now - lastPacket();
    }

    private long lastPacket() {
        return excused() ? heardBefore : heard.get();
    }

    boolean acksInTime(long now) {
        return acks == null || acks.inTime(now);
    }
}
