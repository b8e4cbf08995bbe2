package io.saucr.core.leader;

/**
 * When a heartbeat is due and when silence means suspicion (R9, R10, H11). Stateless but for its
 * two settings, so any thread may ask. All times are monotonic nanoseconds of one clock.
 *
 * <p>A peer that is alive and reachable is heard from at least once an interval plus a round trip:
 * a side that hears or sends nothing for an interval sends a heartbeat, which is answered at once.
 *
 * @param intervalNanos one heartbeat interval, at least 1
 * @param toleranceNanos how much later than an interval an answer may come
 */
public record FailureDetector(long intervalNanos, long toleranceNanos) {

    /** Below this, a busy machine alone would make acks late. */
    private static final long LEAST_ACK_BOUND_NANOS = 200_000_000;

    /**
     * At the most so many heartbeats go out in the time after which silence means suspicion (R27).
     */
    private static final int MOST_PINGS = 7;

    /** What a follower does about its leader's silence (R10). */
    public enum Reaction {
        /** The leader was heard in time. */
        NONE,
        /** Force the log and mark it. */
        FLUSH,
        /** Leave this leader and look for another. */
        LOOK_FOR_LEADER
    }

    /**
     * @throws IllegalArgumentException if the interval is not positive or the tolerance is negative
     */
    public FailureDetector {
        if (intervalNanos < 1 || toleranceNanos < 0) {
            throw new IllegalArgumentException(
                    "interval " + intervalNanos + " ns, tolerance " + toleranceNanos + " ns");
        }
    }

    /**
     * How long a follower may be quiet before it is pinged (R9): one interval, or less where
     * answers take long (R27). Then twice the slowest answer has room before the follower is
     * suspected, which happens no later for it.
     *
     * @param slowestAnswerNanos of late, the leader's own delay included
     */
    public long pingAfterNanos(long slowestAnswerNanos) {
        long limit = limitNanos();
        long room = Math.max(toleranceNanos, 2 * slowestAnswerNanos);
        return Math.min(intervalNanos, Math.max(limit / MOST_PINGS, limit - room));
    }

    /**
     * When the leader pings a follower (R9): it was not heard, or got nothing, for so long.
     *
     * @param heard when something last came from it
     * @param sent when something was last sent to it, pings included
     * @param pinged when it was last pinged, at most {@code sent}
     * @param afterNanos from {@link #pingAfterNanos}
     */
    public static long pingAt(long heard, long sent, long pinged, long afterNanos) {
        long quiet = heard - sent < 0 ? heard : sent;
        return (quiet - pinged < 0 ? pinged : quiet) + afterNanos;
    }

    /**
     * Whether a ping is due now, or so soon that it may go with those of others: one wake-up serves
     * them all.
     */
    public static boolean pingDue(long heard, long sent, long pinged, long afterNanos, long now) {
        return pingAt(heard, sent, pinged, afterNanos) - now <= afterNanos / 8;
    }

    /**
     * How long an ack may take, and an entry in fast mode may wait (R24): four intervals plus
     * tolerance, at least 200 milliseconds.
     */
    public long ackBoundNanos() {
        return Math.max(4 * intervalNanos + toleranceNanos, LEAST_ACK_BOUND_NANOS);
    }

    /** After how long a silence a peer is suspected: an interval plus tolerance. */
    public long limitNanos() {
        return intervalNanos + toleranceNanos;
    }

    /** Whether the peer has been silent for an interval plus tolerance. */
    public boolean suspected(long heard, long now) {
        return silentIntervals(heard, now) > 0;
    }

    /** When a peer that stays silent is suspected. */
    public long suspectedAt(long heard) {
        return silentFor(1, heard);
    }

    /** How many intervals in a row nothing was heard in, the tolerance left out; 0 if trusted. */
    public int silentIntervals(long heard, long now) {
        return (int) Math.max(0, (now - heard - toleranceNanos) / intervalNanos);
    }

    /** When a peer that stays silent has been so for this many intervals. */
    public long silentFor(int intervals, long heard) {
        return heard + intervals * intervalNanos + toleranceNanos;
    }

    /**
     * Whether the observer itself stood still (GC, SIGSTOP), so that what it has not heard says
     * nothing yet (H11).
     *
     * @param planned when it meant to wake up
     */
    public boolean overslept(long planned, long now) {
        return now - planned >= toleranceNanos;
    }

    /**
     * What an observer that overslept takes for the time at which it last heard its peer: one
     * interval ago, however long it slept, so that the peer has one tolerance to be heard in (H11).
     */
    public long heardBeforeSleep(long heard, long now) {
        return Math.max(heard, now - intervalNanos);
    }

    /**
     * The same for an observer that oversleeps again and again: a silence is excused once, and then
     * only for as long as the observer slept. Else a peer that is lost would never be noticed.
     *
     * @param excused what it took for that time before; not later than {@code heard} if the peer
     *     was heard since
     * @param lateNanos by how much it has overslept now
     */
    public long heardBeforeSleep(long heard, long excused, long lateNanos, long now) {
        return excused - heard > 0 ? excused + lateNanos : heardBeforeSleep(heard, now);
    }

    /**
     * A follower's reaction to its leader's silence (R10).
     *
     * @param silentIntervals intervals in a row in which nothing was heard
     * @param missedBeforeElection after how many of them the follower looks for a new leader, at
     *     least 1
     */
    public Reaction reaction(int silentIntervals, int missedBeforeElection) {
        if (silentIntervals < 1) {
            return Reaction.NONE;
        }
        return silentIntervals >= missedBeforeElection ? Reaction.LOOK_FOR_LEADER : Reaction.FLUSH;
    }
}
