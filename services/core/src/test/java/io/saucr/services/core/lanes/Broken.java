package io.saucr.services.core.lanes;

/** A rule that {@link LanesWorld} breaks, so that a test shows that this is noticed. */
enum Broken {
    NOTHING,
    P1_NOT_COMPARED,
    P1_VERSION_MOVES,
    P1_OUT_OF_ORDER,
    P1_NEVER_ALONE,
    P2_WHOLE_NOT_SEEN,
    P2_BLIND_WRITE_SEEN,
    P3_NOT_ASKED_AGAIN,
    P4_TIME_OF_EACH_RUN,
    P4_RANDOM_OF_EACH_RUN
}
