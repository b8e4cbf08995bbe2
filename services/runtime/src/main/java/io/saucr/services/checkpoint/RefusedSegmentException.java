package io.saucr.services.checkpoint;

import java.io.IOException;

/**
 * Bytes that are not a segment that may be used here. The message says what is wrong, at which
 * byte, and what to do.
 */
public final class RefusedSegmentException extends IOException {

    private static final long serialVersionUID = 1L;

    /** What is wrong with it. */
    public enum Reason {
        /** The bytes end before the segment does. */
        TORN,
        /** It is no segment, or some of its bytes are not those that were written. */
        GARBLED,
        /** A later release wrote it. */
        NEWER,
        /** A length that no segment has. */
        LENGTH,
        /** There are bytes behind its end. */
        TRAILING,
        /** It belongs to another service. */
        FOREIGN_SERVICE,
        /** It belongs to another birth of the service (K11, C17). */
        FOREIGN_BIRTH,
        /** It is whole, but does not continue what is before it, or is not the one asked for. */
        OUT_OF_PLACE,
    }

    private final Reason reason;
    private final long offset;

    RefusedSegmentException(Reason reason, long offset, String message) {
        super("segment, byte " + offset + ": " + message);
        this.reason = reason;
        this.offset = offset;
    }

    /** What is wrong with it. */
    public Reason reason() {
        return reason;
    }

    /** The first byte that is not as it should be, counted from the segment's first. */
    public long offset() {
        return offset;
    }
}
