package io.saucr.core.log;

/**
 * A marker file does not hold what was written: somebody edited it, the disk lost it, or a newer
 * version wrote it. The message says in which line, what was expected there and what was found.
 */
public final class MalformedMarkerException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedMarkerException(String message) {
        super(message);
    }

    MalformedMarkerException(String message, Throwable cause) {
        super(message, cause);
    }
}
