package io.saucr.services.core.replay;

/** A rule that {@link ReplayWorld} breaks, so that a test shows that this is noticed. */
enum Broken {
    NOTHING,
    /** An event is recorded before its lane has the lock. */
    X2_TAKEN_BEFORE_HELD,
    /** A lock is let go before its release is recorded. */
    X2_RELEASED_BEFORE_RECORDED,
    /** A cut is what was read lane by lane. */
    X3_NOT_CLOSED,
    X4_REPLAYED_BEFORE_NAMED,
    X5_REPLY_BEFORE_NAMED,
    X6_EDGE_NOT_AWAITED,
    X6_RUNS_AHEAD,
    /** A follower tries locks itself. */
    X7_CHOICE_NOT_TAKEN,
    /** Lanes continue before the head names the first segment of a primary. */
    X9_ATTEMPT_NOT_NAMED,
    X9_WAITER_NOT_WOKEN,
    X11_NOT_ON_TRIAL,
    X11_NEVER_KILLED,
    X11_CIRCLE_STAYS,
    /** A handler that throws leaves nothing behind. */
    X12_CHANGES_UNDONE,
    /** A snapshot is kept with open requests. */
    X13_HALF_REQUEST,
    /** What handlers store and send is not in their hash; noticed with a race alone. */
    X14_BYTES_NOT_COMPARED,
    /** A primary whose write was refused continues. */
    X18_CONTINUES
}
