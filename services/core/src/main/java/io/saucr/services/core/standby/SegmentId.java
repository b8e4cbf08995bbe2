package io.saucr.services.core.standby;

import java.util.regex.Pattern;

/**
 * Names a segment, which is written once (C2). Immutable.
 *
 * @param epoch of the primary that wrote it, from 1; 0 for {@link #NONE}
 * @param number from 1, without gaps over all epochs; 0 for {@link #NONE}
 * @param digest SHA-256 of all its bytes, which name its predecessor's (C4): 64 hex digits
 */
public record SegmentId(long epoch, long number, String digest) {

    // Before the constants, which are checked by it.
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    /** The predecessor's digest of the first segment. */
    public static final String NO_DIGEST = "0".repeat(64);

    /** Before the first segment. */
    public static final SegmentId NONE = new SegmentId(0, 0, NO_DIGEST);

    public SegmentId {
        if (!DIGEST.matcher(digest).matches()) {
            throw new IllegalArgumentException(
                    "a segment's digest has 64 hex digits: \"" + digest + "\"");
        }
        boolean none = number == 0 && epoch == 0 && digest.equals(NO_DIGEST);
        if (!none && (number < 1 || epoch < 1)) {
            throw new IllegalArgumentException(
                    "segments and epochs are numbered from 1, not " + number + ", " + epoch);
        }
    }

    @Override
    public String toString() {
        return number + " of epoch " + epoch + " (" + digest.substring(0, 8) + ")";
    }
}
