package io.saucr.services;

/**
 * Who waits for an answer that {@link Turn#detach} left to a later turn. May be kept in the state.
 * Immutable.
 *
 * @param peer the service or client
 * @param number of the message that waits
 */
public record Caller(String peer, long number) {}
