package io.saucr.core.leader;

/**
 * How late a follower's answers to heartbeats come at the worst, of late (R27): from when a
 * heartbeat was due until something was heard, so the leader's own delay counts, too, and so does
 * an answer that is still missing. What is long ago counts for less: in ten seconds without a late
 * answer it falls to about a third.
 *
 * <p>Owned by the leader's lock, but for {@link #heard}, which the thread calls that reads the
 * connection. Times are monotonic nanoseconds.
 */
final class HeartbeatLatency {
    private static final double MEMORY_NANOS = 10e9;

    private final long mostNanos;

    /** Whether nothing was heard since the heartbeat; then when something was. */
    private volatile boolean waiting;

    private volatile long answered;

    // Under the leader's lock.
    private boolean timed;
    private long due;
    private double slowest;
    private long lastLook;

    /**
     * @param mostNanos an answer that takes longer counts as this long
     * @param now when the follower connected
     */
    HeartbeatLatency(long mostNanos, long now) {
        this.mostNanos = mostNanos;
        this.lastLook = now;
    }

    /** A heartbeat is sent, which was due then, or a little later. */
    void asked(long wasDue, long now) {
        if (!timed) {
            timed = true;
            due = Math.min(wasDue, now);
            waiting = true;
        }
    }

    /** Something was heard. */
    void heard(long now) {
        if (waiting) {
            answered = now;
            waiting = false;
        }
    }

    /** A look at the follower, before it is asked again. */
    void look(long now) {
        slowest *= Math.max(0, 1 - (now - lastLook) / MEMORY_NANOS);
        lastLook = now;
        if (timed) {
            timed = waiting;
            long late = Math.min(mostNanos, (timed ? now : answered) - due);
            slowest = Math.max(slowest, (double) late);
        }
    }

    /** The slowest answer of late, nanoseconds. */
    long slowestNanos() {
        return (long) slowest;
    }
}
