package io.saucr.services.core.replay;

/** Whether all lanes of a member arrive before the first event of a segment happens (X8). */
public enum Barrier {
    /** The segment continues the one before it. */
    NONE,
    /** The segment is the first one of another primary. */
    EPOCH,
    /** No request is open: each member keeps a snapshot here (X13). */
    QUIET
}
