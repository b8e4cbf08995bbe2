package io.saucr.ensemble;

/** A failure that the user can fix: its message says what happened, where, and what to do. */
public final class EnsembleException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public EnsembleException(String message) {
        super(message);
    }

    public EnsembleException(String message, Throwable cause) {
        super(message, cause);
    }
}
