package io.saucr.core;

/** What an acknowledgement promises (R3). */
public enum Mode {
    /** Acknowledged from memory: more than a bare majority of voters answers promptly. */
    FAST,
    /** Acknowledged from disk. */
    SLOW
}
