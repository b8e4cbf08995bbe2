package io.saucr.services.journal;

/**
 * How a journal writes. Immutable.
 *
 * @param force when to force
 * @param segmentBytes the size of a segment's file, from 4 KiB to 1 GiB; a larger record gets a
 *     segment of its own
 */
public record JournalOptions(ForceMode force, int segmentBytes) {

    /** The size of a segment unless another is asked for. */
    public static final int SEGMENT_BYTES = 64 << 20;

    private static final int SMALLEST_SEGMENT_BYTES = 4 << 10;
    private static final int LARGEST_SEGMENT_BYTES = 1 << 30;

    public JournalOptions {
        if (segmentBytes < SMALLEST_SEGMENT_BYTES || segmentBytes > LARGEST_SEGMENT_BYTES) {
            throw new IllegalArgumentException(
                    "a segment has %s to %s bytes, not %s"
                            .formatted(
                                    SMALLEST_SEGMENT_BYTES, LARGEST_SEGMENT_BYTES, segmentBytes));
        }
    }

    /** Segments of 64 MiB. */
    public JournalOptions(ForceMode force) {
        this(force, SEGMENT_BYTES);
    }
}
