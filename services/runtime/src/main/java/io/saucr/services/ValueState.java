package io.saucr.services;

/**
 * One value, part of a service's {@link State}. Turn thread, in turns and queries; each method
 * throws {@link IllegalStateException} elsewhere, and {@link IllegalArgumentException}, changing
 * nothing, where a value is null or not allowed.
 */
public interface ValueState<V> {

    /** The value, or null where there is none. */
    V value();

    /** The value, or another one where there is none. */
    V orElse(V otherwise);

    /** Sets the value. */
    void update(V value);

    /** Removes the value. */
    void clear();
}
