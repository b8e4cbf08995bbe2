package io.saucr.services.wire;

/** What a peer sent is no frame of this protocol: its connection ends. The message says why. */
public final class BadFrameException extends RuntimeException {

    public BadFrameException(String message) {
        // No stack trace: a flood of bad frames must not cost more than it sends.
        super(message, null, false, false);
    }
}
