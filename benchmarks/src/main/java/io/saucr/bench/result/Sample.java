package io.saucr.bench.result;

/** What was measured of one configuration in one round. */
public interface Sample {
    String configuration();

    /** From 1; the configurations take turns in each. */
    int round();

    /** What was measured, if a run measures several things; else empty. */
    default String subject() {
        return "";
    }
}
