package io.saucr.services.tool;

/** A command did not do what it was asked to; the message says why and what to do. */
final class FailureException extends Exception {

    private static final long serialVersionUID = 1L;

    FailureException(String message) {
        super(message);
    }

    FailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
