package io.saucr.services.core;

/**
 * A message that the service gives itself again and again (K16).
 *
 * @param periodMillis from 1
 * @param body of a type that no other of them has
 */
public record Repeat(long periodMillis, Body body) {

    public Repeat {
        if (periodMillis < 1) {
            throw new IllegalArgumentException(
                    "a period is at least 1 ms, not " + periodMillis + ": " + body);
        }
    }
}
