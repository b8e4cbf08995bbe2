package io.saucr.crash.campaign;

/** What became of the acknowledged writes at the end of a sequence. */
public enum Verdict {
    /** The ensemble serves, and all of them are there. */
    CORRECT,
    /**
     * It does not serve, and is right not to: so many of its servers lost what was in their memory
     * that the others are too few to recover from, and it says so. Where an operator can accept the
     * loss, it serves after that.
     */
    TOO_FEW_RECOVERED,
    /**
     * It does not serve, or not reliably enough to be read, and nothing that its servers say of
     * themselves explains it: a fault of the system. So it is where servers seal views and the
     * model says that a state had to be served, at the end or before.
     */
    UNAVAILABLE,
    /** It serves, and at least one of them is missing or has another value. */
    DATA_LOSS;

    /** For people. */
    public String words() {
        return switch (this) {
            case CORRECT -> "correct";
            case TOO_FEW_RECOVERED -> "too few recovered";
            case UNAVAILABLE -> "unavailable";
            case DATA_LOSS -> "data loss";
        };
    }

    /** Whether nobody is served, for whichever reason. */
    public boolean servesNobody() {
        return this == TOO_FEW_RECOVERED || this == UNAVAILABLE;
    }
}
