package io.saucr.crash.campaign;

/** What became of the acknowledged writes at the end of a sequence. */
public enum Verdict {
    /** The ensemble serves, and all of them are there. */
    CORRECT,
    /** It does not serve, or not reliably enough to be read. */
    UNAVAILABLE,
    /** It serves, and at least one of them is missing or has another value. */
    DATA_LOSS
}
