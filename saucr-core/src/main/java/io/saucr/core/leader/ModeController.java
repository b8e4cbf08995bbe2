package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.quorum.Quorums;
import java.util.EnumSet;
import java.util.Set;

/**
 * Decides between fast and slow mode for one leader's epoch (R5, R6, R7, R24, R27).
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>from</th><th>on</th><th>to</th></tr>
 * <tr><td>(start)</td><td>the epoch begins</td><td>SLOW</td></tr>
 * <tr><td>SLOW</td><td>enough confirmations, the last slow entry on F disks, no pin</td><td>FAST</td></tr>
 * <tr><td>SLOW</td><td>enough confirmations, slow entries still in flight, F disks nearly have
 * them</td><td>DRAINING</td></tr>
 * <tr><td>DRAINING</td><td>the last slow entry on F disks</td><td>FAST</td></tr>
 * <tr><td>DRAINING</td><td>the drain's time is over, a responsive set of at most B, a pin</td><td>SLOW</td></tr>
 * <tr><td>FAST</td><td>a responsive set of at most B, an overdue entry, a pin, a view to be sealed (R23)</td>
 * <td>SLOW</td></tr>
 * </table>
 *
 * <p>While DRAINING the leader holds proposals back for a short while, so that under load, too,
 * there is a moment in which nothing slow is in flight. Proposals are slow in DRAINING. Nobody's
 * disk is waited for (R24): after a drain in vain, or when entries were late in fast mode, the next
 * attempt comes later each time, up to 30 seconds, until fast mode has lasted for so long.
 *
 * <p>After a silence fast mode comes back at once, {@value #SILENCES_AT_ONCE} times; then once
 * every {@value #SILENCE_SECONDS} seconds (R27). So an unsteady machine switches the mode a limited
 * number of times an hour, and fast mode that lasts for that long is never waited for.
 *
 * <p>Not thread-safe: owned by the leader's lock. Times are monotonic nanoseconds.
 */
public final class ModeController {

    /** What the leader has to do. */
    public enum Decision {
        /** Nothing. */
        NONE,
        /** Proposals are fast from now on. */
        TURN_FAST,
        /** Proposals are slow from now on, and a no-op makes what is buffered durable (R6). */
        TURN_SLOW,
        /** A slow no-op is needed to learn whose disk has everything (R5). */
        PROPOSE_NOOP
    }

    /** Why fast mode is forbidden for the time being. */
    public enum Pin {
        /** A reconfiguration is under way (R7). */
        RECONFIGURATION,
        /** An operator asked for it. */
        OPERATOR
    }

    private enum State {
        SLOW,
        DRAINING,
        FAST
    }

    /** The longest time between two attempts; fast mode that lasts for so long ends the backoff. */
    private static final long MOST_BACKOFF_NANOS = 30_000_000_000L;

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** So often fast mode comes back at once after a silence (R27)... */
    static final long SILENCES_AT_ONCE = 6;

    /** ... and once in so long after that. */
    static final long SILENCE_SECONDS = 10;

    private final int confirmationsNeeded;
    private final long drainNanos;
    private final long backoffNanos;
    private final Set<Pin> pins = EnumSet.noneOf(Pin.class);
    private int voters;
    private State state = State.SLOW;
    private int confirmations;
    private long drainEnds;
    private long fastSince;

    // Times count only while the delay is not 0.
    private long attemptDelay;
    private long nextAttempt;
    private long noopDelay;
    private long nextNoop;

    // R27: each silence costs its seconds; when those of all are over, if there was one.
    private boolean silences;
    private long silencesPaidAt;

    /**
     * @param voters number of voters; with fewer than 3 the mode stays slow
     * @param confirmationsNeeded consecutive confirmations before fast mode, at least 1
     * @param drainNanos how long proposals may be held back, nanoseconds
     * @param backoffNanos time before the second attempt after one that failed; it doubles with
     *     every further one. 0 for none, nor after silences
     */
    public ModeController(int voters, int confirmationsNeeded, long drainNanos, long backoffNanos) {
        if (confirmationsNeeded < 1) {
            throw new IllegalArgumentException(
                    "at least 1 confirmation is needed, not " + confirmationsNeeded);
        }
        this.voters = voters;
        this.confirmationsNeeded = confirmationsNeeded;
        this.drainNanos = drainNanos;
        this.backoffNanos = backoffNanos;
    }

    /** The mode that the next proposal gets. */
    public Mode mode() {
        return state == State.FAST ? Mode.FAST : Mode.SLOW;
    }

    /** Whether proposals are held back until {@link #drain} says otherwise. */
    public boolean draining() {
        return state == State.DRAINING;
    }

    /** The number of voters has changed; takes effect at the next event. */
    public void voters(int count) {
        voters = count;
    }

    /**
     * The voters' promptness was looked at, in a round of heartbeats or after a proposal.
     *
     * @param promptVoters how many voters answer promptly, the leader included
     * @param onDisks whether F voters including the leader have the last slow entry on disk (R5)
     * @param slowInFlight whether a slow entry is proposed and not committed
     * @param nearlyOnDisks whether F voters including the leader have a recent entry on disk, so
     *     that a drain would not last (R24)
     */
    public Decision promptness(
            int promptVoters,
            boolean onDisks,
            boolean slowInFlight,
            boolean nearlyOnDisks,
            long now) {
        if (promptVoters <= bareMajority() || !pins.isEmpty()) {
            return tooFewPrompt(now);
        }
        switch (state) {
            case FAST:
                return Decision.NONE;
            case DRAINING:
                return drain(onDisks, now);
            case SLOW:
                if (confirmations < confirmationsNeeded) {
                    confirmations++;
                }
                if (confirmations < confirmationsNeeded
                        || (attemptDelay != 0 && now - nextAttempt < 0)
                        || silencesUnpaid(now)) {
                    return Decision.NONE;
                }
                if (onDisks) {
                    return turnFast(now);
                }
                if (!slowInFlight) {
                    return probe(now);
                }
                if (nearlyOnDisks) {
                    state = State.DRAINING;
                    drainEnds = now + drainNanos;
                }
                return Decision.NONE;
        }
        throw new AssertionError(state);
    }

    /** At most a bare majority of voters is left or responsive (R6). */
    public Decision tooFewPrompt(long now) {
        return turnSlow(now);
    }

    /**
     * Too few voters were heard in time although their connections stand (R6): slow at once. Where
     * that happens again and again, fast mode has to wait (R27).
     */
    public Decision silence(long now) {
        Decision decision = turnSlow(now);
        if (decision == Decision.TURN_SLOW && backoffNanos > 0) {
            silencesPaidAt =
                    (silences && now - silencesPaidAt < 0 ? silencesPaidAt : now)
                            + SILENCE_SECONDS * NANOS_PER_SECOND;
            silences = true;
        }
        return decision;
    }

    /** Whether fast mode has to wait after silences. */
    private boolean silencesUnpaid(long now) {
        long credit = SILENCES_AT_ONCE * SILENCE_SECONDS * NANOS_PER_SECOND;
        return silences && now - silencesPaidAt < -credit;
    }

    /** Looks at a drain that is under way: it ends in fast mode, or when its time is over. */
    public Decision drain(boolean onDisks, long now) {
        if (state != State.DRAINING) {
            return Decision.NONE;
        }
        if (onDisks) {
            return turnFast(now);
        }
        if (now - drainEnds >= 0) {
            state = State.SLOW;
            confirmations = 0;
            tryLater(now);
        }
        return Decision.NONE;
    }

    /**
     * Entries are acked too late for fast mode although everybody answers heartbeats (R24): slow at
     * once, and not fast again so soon.
     */
    public Decision overdue(long now) {
        Decision decision = turnSlow(now);
        if (decision == Decision.TURN_SLOW) {
            tryLater(now);
        }
        return decision;
    }

    /**
     * A voter's last ack was late and it owes none now: only a further entry can show whether it is
     * in time again, so a no-op is due. The time between two of these doubles as long as they
     * change nothing.
     */
    public Decision probe(long now) {
        if (state != State.SLOW || !pins.isEmpty() || (noopDelay != 0 && now - nextNoop < 0)) {
            return Decision.NONE;
        }
        noopDelay = longer(noopDelay);
        nextNoop = now + noopDelay;
        return Decision.PROPOSE_NOOP;
    }

    /** When a drain that is under way gives up, in the caller's nanoseconds. */
    public long drainEnds() {
        return drainEnds;
    }

    /**
     * The view has to be sealed by a slow entry (R23); then fast mode may continue as soon as that
     * is on F disks.
     */
    public Decision reseal(long now) {
        int before = confirmations;
        Decision decision = turnSlow(now);
        confirmations = before;
        return decision;
    }

    /** Fast mode is forbidden until the pin is taken out. */
    public Decision pin(Pin pin, long now) {
        pins.add(pin);
        return turnSlow(now);
    }

    /** Takes a pin out; fast mode needs its confirmations anew. */
    public void unpin(Pin pin) {
        pins.remove(pin);
    }

    /** Whether the pin is set. */
    public boolean pinned(Pin pin) {
        return pins.contains(pin);
    }

    private Decision turnFast(long now) {
        state = State.FAST;
        fastSince = now;
        noopDelay = 0;
        return Decision.TURN_FAST;
    }

    private void tryLater(long now) {
        attemptDelay = longer(attemptDelay);
        nextAttempt = now + attemptDelay;
    }

    private long longer(long delay) {
        return delay == 0 ? backoffNanos : Math.min(2 * delay, MOST_BACKOFF_NANOS);
    }

    private Decision turnSlow(long now) {
        confirmations = 0;
        State before = state;
        state = State.SLOW;
        if (before != State.FAST) {
            return Decision.NONE;
        }
        if (now - fastSince >= MOST_BACKOFF_NANOS) {
            attemptDelay = 0;
        }
        return Decision.TURN_SLOW;
    }

    private int bareMajority() {
        return Quorums.bareMajority(voters);
    }
}
