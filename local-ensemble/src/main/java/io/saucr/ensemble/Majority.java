package io.saucr.ensemble;

/**
 * How many servers of an ensemble are a majority. The only place with this arithmetic outside the
 * server: a test of a distribution from outside uses none of its classes.
 */
public final class Majority {
    private Majority() {}

    /** The bare majority: so many must run for an ensemble of {@code servers} to serve. */
    public static int of(int servers) {
        return servers / 2 + 1;
    }

    /** The bare minority: so many may be gone while the others are a majority. */
    public static int spares(int servers) {
        return servers - of(servers);
    }
}
