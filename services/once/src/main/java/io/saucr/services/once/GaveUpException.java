package io.saucr.services.once;

/**
 * An operation was given up and never happens: alone under way, it broke one connection after the
 * other. Usually it is larger than the servers take (jute.maxbuffer).
 */
public final class GaveUpException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    GaveUpException(String message) {
        super(message);
    }
}
