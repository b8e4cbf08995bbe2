package io.saucr.services;

/**
 * Who waits for an answer that {@link Turn#detach} left to a later turn. May be kept in the state.
 * Immutable.
 *
 * @param peer the service or client
 * @param number of the message that waits
 * @param pair stands for the generations of both ends, to which the number belongs (K11); 0 where
 *     it is not known, as of callers that an earlier release kept
 */
public record Caller(String peer, long number, long pair) {

    /** Of a pair that is not known. */
    public Caller(String peer, long number) {
        this(peer, number, 0);
    }
}
