package io.saucr.services.core;

import java.util.List;

/**
 * All that one turn did, in one record (K3): what it changed, consumed, sent and scheduled. Or all
 * that several turns in a row did. Immutable.
 *
 * @param turn its number, one more than the turn's before; of several turns that of the last one
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
     * Several turns as one, which has the number and time of the last one. Applied it leaves what
     * they leave, one after the other. Associative. Of the core alone: what changed in the state is
     * joined next to it.
     *
     * @param deltas in their order, at least one, all of the same start
     * @throws IllegalArgumentException where they are not in order, of several starts, or hold
     *     changes of the state
     */
    public static Delta join(List<Delta> deltas) {
        JoinedChanges joined = new JoinedChanges();
        Delta last = null;
        for (Delta each : deltas) {
            if (last != null && (each.turn <= last.turn || each.incarnation != last.incarnation)) {
                throw new IllegalArgumentException(
                        "turn "
                                + each.turn
                                + " of start "
                                + each.incarnation
                                + " does not join to turn "
                                + last.turn
                                + " of start "
                                + last.incarnation);
            }
            if (each.state.length > 0) {
                throw new IllegalArgumentException(
                        "turn " + each.turn + " holds bytes of the state: join these separately");
            }
            joined.add(each);
            last = each;
        }
        if (last == null) {
            throw new IllegalArgumentException("no turns to join");
        }
        return new Delta(last.turn, last.incarnation, joined.nowMillis(), joined.changes());
    }
}
