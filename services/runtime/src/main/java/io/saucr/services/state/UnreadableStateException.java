package io.saucr.services.state;

import java.io.IOException;

/** What was stored does not fit what the service declares; says which entry, and what to do. */
public final class UnreadableStateException extends IOException {

    private static final long serialVersionUID = 1L;

    UnreadableStateException(String message) {
        super(message);
    }

    UnreadableStateException(String message, Throwable cause) {
        super(message, cause);
    }
}
