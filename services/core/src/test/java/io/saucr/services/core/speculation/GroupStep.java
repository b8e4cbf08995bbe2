package io.saucr.services.core.speculation;

/**
 * A step of the modelled group.
 *
 * @param member whose
 * @param other a number that it has, another member as a rule
 */
record GroupStep(Kind kind, int member, int other) {

    /** What may happen. */
    enum Kind {
        REQUEST,
        DELIVER,
        SEAL,
        FORCE,
        UP,
        DOWN,
        LINK,
        CLAIM,
        LAND,
        HEAR,
        RETURN,
        /** The call of a turn returns. */
        RESULT,
        // Faults, and what need not happen.
        BREAK,
        LATE,
        CRASH,
        CUT,
        OVERDUE,
        HASTY,
        LEAVE,
        GIVE_UP
    }

    boolean fault() {
        return kind.compareTo(Kind.BREAK) >= 0;
    }

    @Override
    public String toString() {
        return kind + " " + member + (other < 0 ? "" : " " + other);
    }
}
