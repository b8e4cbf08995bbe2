package io.saucr.core;

import java.util.EnumSet;
import java.util.Set;

/**
 * Decides between fast and slow mode for one leader's epoch (R5, R6, R7).
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>from</th><th>on</th><th>to</th></tr>
 * <tr><td>(start)</td><td>the epoch begins</td><td>SLOW</td></tr>
 * <tr><td>SLOW</td><td>enough confirmations, the last slow entry on F disks, no pin</td><td>FAST</td></tr>
 * <tr><td>SLOW</td><td>enough confirmations, slow entries still in flight</td><td>DRAINING</td></tr>
 * <tr><td>DRAINING</td><td>the last slow entry on F disks</td><td>FAST</td></tr>
 * <tr><td>DRAINING</td><td>the drain's time is over, a prompt set of at most B, a pin</td><td>SLOW</td></tr>
 * <tr><td>FAST</td><td>a prompt set of at most B, a stuck entry, a pin</td><td>SLOW</td></tr>
 * </table>
 *
 * <p>While DRAINING the leader holds proposals back for a short while, so that under load, too,
 * there is a moment in which nothing slow is in flight. Proposals are slow in DRAINING.
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

    private final int confirmationsNeeded;
    private final long drainNanos;
    private final Set<Pin> pins = EnumSet.noneOf(Pin.class);
    private int voters;
    private State state = State.SLOW;
    private int confirmations;
    private long drainEnds;

    /**
     * @param voters number of voters; with fewer than 3 the mode stays slow
     * @param confirmationsNeeded consecutive confirmations before fast mode, at least 1
     * @param drainNanos how long proposals may be held back, nanoseconds
     */
    public ModeController(int voters, int confirmationsNeeded, long drainNanos) {
        if (confirmationsNeeded < 1) {
            throw new IllegalArgumentException(
                    "at least 1 confirmation is needed, not " + confirmationsNeeded);
        }
        this.voters = voters;
        this.confirmationsNeeded = confirmationsNeeded;
        this.drainNanos = drainNanos;
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
     */
    public Decision promptness(int promptVoters, boolean onDisks, boolean slowInFlight, long now) {
        if (promptVoters <= bareMajority() || !pins.isEmpty()) {
            return turnSlow();
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
                if (confirmations < confirmationsNeeded) {
                    return Decision.NONE;
                }
                if (onDisks) {
                    state = State.FAST;
                    return Decision.TURN_FAST;
                }
                if (slowInFlight) {
                    state = State.DRAINING;
                    drainEnds = now + drainNanos;
                    return Decision.NONE;
                }
                return Decision.PROPOSE_NOOP;
        }
        throw new AssertionError(state);
    }

    /** Looks at a drain that is under way: it ends in fast mode, or when its time is over. */
    public Decision drain(boolean onDisks, long now) {
        if (state != State.DRAINING) {
            return Decision.NONE;
        }
        if (onDisks) {
            state = State.FAST;
            return Decision.TURN_FAST;
        }
        if (now - drainEnds >= 0) {
            state = State.SLOW;
            confirmations = 0;
        }
        return Decision.NONE;
    }

    /** When a drain that is under way gives up, in the caller's nanoseconds. */
    public long drainEnds() {
        return drainEnds;
    }

    /** An outstanding fast entry can no longer get F acks from its set (R6). */
    public Decision stuck() {
        return turnSlow();
    }

    /** Fast mode is forbidden until the pin is taken out. */
    public Decision pin(Pin pin) {
        pins.add(pin);
        return turnSlow();
    }

    /** Takes a pin out; fast mode needs its confirmations anew. */
    public void unpin(Pin pin) {
        pins.remove(pin);
    }

    /** Whether the pin is set. */
    public boolean pinned(Pin pin) {
        return pins.contains(pin);
    }

    private Decision turnSlow() {
        confirmations = 0;
        State before = state;
        state = State.SLOW;
        return before == State.FAST ? Decision.TURN_SLOW : Decision.NONE;
    }

    private int bareMajority() {
        return voters < 3 ? voters : voters / 2 + 1;
    }
}
