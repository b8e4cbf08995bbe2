package io.saucr.services.replay;

/**
 * Ends a handler that has no attempts left, or that waits in a circle of lock waits (X11). Each
 * member throws it at the same event. A handler must not catch it: until the handler has ended,
 * each further acquisition throws it again.
 */
public final class HandlerKilledError extends Error {

    private static final long serialVersionUID = 1;

    HandlerKilledError(String message) {
        super(message);
    }
}
