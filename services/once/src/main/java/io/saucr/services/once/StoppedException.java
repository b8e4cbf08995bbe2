package io.saucr.services.once;

/**
 * The client does no more: its marker, its folder or its disk is not what it has to be, and going
 * on could lose or repeat an operation, or it was closed. What was not decided is told after a new
 * start on the same folder, where one is possible.
 */
public final class StoppedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StoppedException(String reason) {
        super(reason);
    }
}
