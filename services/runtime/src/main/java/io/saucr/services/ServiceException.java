package io.saucr.services;

/** A service did not do what it was asked; the message says which, why, and what to do. */
public final class ServiceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * A refusal.
     *
     * @param message which service refused what, and why
     */
    public ServiceException(String message) {
        super(message);
    }

    /**
     * A failure.
     *
     * @param message which service failed at what
     * @param cause why
     */
    public ServiceException(String message, Throwable cause) {
        super(message, cause);
    }
}
