package io.saucr.core.leader;

/**
 * The end of a term that an operator asks for (R28). From {@link #begin} on the leader proposes
 * nothing, and once all that it has proposed is committed and the server that is to lead next has
 * it, the leader names that server to its voters and leaves. If that takes too long, or a no-op is
 * due (R6), it leads on. Once it is {@link Outcome#READY} there is no way back.
 *
 * <p>It guarantees that nothing is under way when the term ends. Safety does not rest on it: a
 * leader may leave at any time, and the next one's epoch fences this one's.
 *
 * <p>Not thread-safe: owned by the leader's lock. Times are monotonic nanoseconds.
 *
 * @param <C> what the leader's shell reads and writes
 */
public final class HandOver<C> {
    /** How far it is. */
    public enum Outcome {
        /** Not everything is committed, or the next leader lacks some of it. */
        WAIT,
        /** The voters get the name of the next leader, and the leader leaves. */
        READY,
        /** The leader leads on. */
        GIVEN_UP
    }

    private FollowerConnection<C> next;
    private boolean ready;
    private long ends;

    /**
     * Begins it, if there is a server to hand over to.
     *
     * @param sid the server that is to lead next; 0 for the one that elections prefer
     * @param limitNanos how long it may take until everything is committed
     * @return why it does not begin, one sentence; null if it does
     */
    public String begin(LeaderState<C, ?> state, long sid, long limitNanos, long now) {
        if (next != null) {
            return "the leader is already handing over to server " + next.sid();
        }
        if (!state.started()) {
            return "the leader does not serve yet";
        }
        if (state.reconfiguring()) {
            return "a reconfiguration is under way";
        }
        FollowerConnection<C> chosen =
                sid == 0 ? best(state, now) : FollowerConnection.of(sid, state.connections());
        if (chosen == null) {
            return sid == 0
                    ? "no follower could lead next"
                    : "server " + sid + " does not follow as a voter";
        }
        String problem = problem(state, chosen, now);
        if (problem != null) {
            return "server " + sid + " " + problem;
        }
        next = chosen;
        ends = now + limitNanos;
        return null;
    }

    /** The highest id, which wins among equals. */
    private FollowerConnection<C> best(LeaderState<C, ?> state, long now) {
        FollowerConnection<C> best = null;
        for (FollowerConnection<C> each : state.connections()) {
            if (problem(state, each, now) == null && (best == null || each.sid() > best.sid())) {
                best = each;
            }
        }
        return best;
    }

    /** Why a follower cannot lead next; null if it can. */
    private String problem(LeaderState<C, ?> state, FollowerConnection<C> follower, long now) {
        if (!state.voter(follower.sid())) {
            return "is no voter";
        }
        if (!follower.situationAware()) {
            return "runs without SAUCR";
        }
        if (!follower.synced()) {
            return "has not caught up";
        }
        if (!state.heard(follower, now)) {
            return "does not respond";
        }
        return state.answersInTime(follower, now) ? null : "acknowledges too late";
    }

    /** Whether proposals are held back. */
    public boolean underWay() {
        return next != null;
    }

    /** The server that is to lead next. Only while it is under way. */
    public long to() {
        return next.sid();
    }

    /** Looks at it; the caller acts at once. */
    public Outcome look(LeaderState<C, ?> state, long now) {
        if (next == null) {
            return Outcome.GIVEN_UP;
        }
        if (ready || state.hasEverything(next)) {
            ready = true;
            return Outcome.READY;
        }
        if (now - ends >= 0 || !state.connections().contains(next)) {
            next = null;
            return Outcome.GIVEN_UP;
        }
        return Outcome.WAIT;
    }

    /** A no-op is due, which must not wait (R6); changes nothing once it is ready. */
    public void noopIsDue() {
        if (!ready) {
            next = null;
        }
    }
}
