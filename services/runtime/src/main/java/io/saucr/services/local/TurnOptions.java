package io.saucr.services.local;

import io.saucr.services.core.Limits;

/**
 * Sizes that a service keeps to while its turns run. Immutable.
 *
 * @param limits of channels and attempts
 * @param largestMessageBytes of one message, from 1 KiB to 16 MiB
 * @param foldBytes of turns above the base at which the next base is written, from 1 KiB; a base
 *     that is larger counts instead, so that folding costs a part of the writing (K10)
 * @param unforcedBytes of turns that are not final at which no inputs of outside clients are taken,
 *     from 64 KiB; at four times as many none at all (K13)
 * @param checksValues whether every value that a turn saw is looked at for changes in place: for
 *     tests (C12)
 */
public record TurnOptions(
        Limits limits,
        int largestMessageBytes,
        long foldBytes,
        long unforcedBytes,
        boolean checksValues) {

    public TurnOptions {
        check("largestMessageBytes", largestMessageBytes, 1 << 10, 16 << 20);
        check("foldBytes", foldBytes, 1 << 10, Long.MAX_VALUE);
        check("unforcedBytes", unforcedBytes, 64 << 10, Long.MAX_VALUE / 4);
    }

    /** Messages of just under 1 MiB, a base each 64 MiB, 16 MiB that are not final. */
    public static TurnOptions standard() {
        return new TurnOptions(Limits.standard(), (1 << 20) - 2048, 64L << 20, 16L << 20, false);
    }

    /** These with other limits. */
    public TurnOptions with(Limits other) {
        return new TurnOptions(other, largestMessageBytes, foldBytes, unforcedBytes, checksValues);
    }

    /** These with another time to fold. */
    public TurnOptions foldBytes(long bytes) {
        return new TurnOptions(limits, largestMessageBytes, bytes, unforcedBytes, checksValues);
    }

    /** These, and values are looked at. */
    public TurnOptions checkingValues() {
        return new TurnOptions(limits, largestMessageBytes, foldBytes, unforcedBytes, true);
    }

    private static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    name + " is from " + least + " to " + most + ", not " + value);
        }
    }
}
