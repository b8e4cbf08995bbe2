package io.saucr.services.core;

/**
 * How far a channel has come, and under which start of the service that gave the number this was
 * seen. A service that no longer knows that start, or gave that number later, is an old copy (K14).
 * Immutable.
 *
 * @param number of the last message; 0 where there is none
 * @param incarnation the number of that start; 0 where there is none
 * @param nonce of that start
 */
public record Count(long number, long incarnation, long nonce) {

    /** Nothing yet. */
    public static final Count NONE = new Count(0, 0, 0);

    public Count {
        if (number < 0 || incarnation < 0) {
            throw new IllegalArgumentException(
                    "numbers and incarnations are not negative: " + number + ", " + incarnation);
        }
    }

    static Count of(long number, Incarnation by) {
        return new Count(number, by.number(), by.nonce());
    }
}
