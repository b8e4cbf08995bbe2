package io.saucr.services.checkpoint;

import java.io.IOException;

/** A segment is not where it was looked for. The message says where, and what is there. */
public final class MissingSegmentException extends IOException {

    private static final long serialVersionUID = 1L;

    MissingSegmentException(String message) {
        super(message);
    }
}
