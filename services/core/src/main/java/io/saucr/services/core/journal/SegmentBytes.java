package io.saucr.services.core.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of one segment, which are read in pieces, so that no segment need fit in memory. */
public interface SegmentBytes {

    /** How many bytes the whole file has. */
    long size();

    /**
     * Reads a part.
     *
     * @param at from 0
     * @param bytes at most up to {@link #size}
     * @return the bytes from its position to its limit, big endian; valid until the next call
     * @throws IOException where the disk fails, or the file has become shorter
     */
    ByteBuffer view(long at, int bytes) throws IOException;
}
