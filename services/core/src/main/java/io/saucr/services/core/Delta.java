package io.saucr.services.core;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;

/**
 * All that one turn did, in one record (K3): what it changed, consumed, sent and scheduled.
 * Immutable.
 *
 * @param turn its number, one more than the turn's before
 * @param incarnation the number of the start that ran it
 * @param nowMillis the turn's time (K16)
 * @param state the bytes of what changed in the service's state, where the record is read; none as
 *     the core gives it, which knows nothing of the state
 * @param changes what changed in the core, in their order
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Delta(
        long turn, long incarnation, long nowMillis, byte[] state, List<Change> changes) {

    private static final byte[] NO_STATE = {};

    /** Of the core alone. */
    public Delta(long turn, long incarnation, long nowMillis, List<Change> changes) {
        this(turn, incarnation, nowMillis, NO_STATE, changes);
    }

    /** The same with what changed in the state. */
    public Delta with(byte[] changed) {
        return new Delta(turn, incarnation, nowMillis, changed, changes);
    }

    /**
     * Both turns as one. Associative, and applied it leaves what both leave, one after the other.
     *
     * @param next the Delta right behind this one, of the same start
     * @param states joins what changed in the service's state
     */
    public Delta join(Delta next, BinaryOperator<byte[]> states) {
        if (next.turn <= turn || next.incarnation != incarnation) {
            throw new IllegalArgumentException(
                    "turn "
                            + next.turn
                            + " of start "
                            + next.incarnation
                            + " does not join to turn "
                            + turn
                            + " of start "
                            + incarnation);
        }
        List<Change> both = new ArrayList<>(changes);
        both.addAll(next.changes);
        return new Delta(
                next.turn,
                incarnation,
                next.nowMillis,
                states.apply(state, next.state),
                List.copyOf(both));
    }
}
