package io.saucr.services.core.replay;

/** A member's handler did something else than the primary's (X14). */
public final class DivergedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final long request;

    DivergedException(long request, String message) {
        super(message);
        this.request = request;
    }

    /** The request whose handler differs. */
    public long request() {
        return request;
    }
}
