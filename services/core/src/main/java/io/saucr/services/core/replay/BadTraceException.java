package io.saucr.services.core.replay;

/** A segment is no trace, or does not continue the trace before it. Nothing of it was taken. */
public final class BadTraceException extends Exception {

    private static final long serialVersionUID = 1;

    BadTraceException(String message) {
        super(message);
    }
}
