package io.saucr.services.checkpoint;

import io.saucr.services.core.standby.SegmentId;
import java.io.Closeable;
import java.io.IOException;

/**
 * Where segments are kept: a member's own disk, a folder that members share, or the ensemble. What
 * was {@linkplain #force forced} is there after any crash, and is never replaced by other bytes
 * (C2). Whose it is and what the head names the caller knows (C3).
 */
public interface SegmentStore extends Closeable {

    /**
     * Writes a segment; it is safe once {@link #force} returns.
     *
     * @throws IllegalArgumentException where it may not be put here; nothing was written
     * @throws IOException where it could not be written
     */
    void append(Segment segment) throws IOException;

    /**
     * Returns when all segments that were appended before are safe.
     *
     * @throws IOException where they may not be
     */
    void force() throws IOException;

    /**
     * Reads a segment.
     *
     * @param id its number, and its digest, which its bytes were checked against
     * @throws MissingSegmentException where it is not here
     * @throws RefusedSegmentException where what is here in its place is not it
     * @throws IOException where it could not be read
     */
    Segment read(SegmentId id) throws IOException;
}
