package io.saucr.services.checkpoint;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of a base, on their way to another member. One thread. */
public final class ShippedBase implements Closeable {

    private final SegmentId at;
    private final Disk.File file;
    private final long length;
    private final String digest;
    private long next;

    /**
     * A base that was read and checked.
     *
     * @param digest SHA-256 of all its bytes: 64 hex digits
     */
    ShippedBase(SegmentId at, Disk.File file, String digest) throws IOException {
        this.at = at;
        this.file = file;
        this.length = file.size();
        this.digest = digest;
    }

    /** The segment as of which it is. */
    public SegmentId at() {
        return at;
    }

    /** How many bytes all parts have. */
    public long length() {
        return length;
    }

    /** SHA-256 of all parts: 64 hex digits. */
    public String digest() {
        return digest;
    }

    /**
     * The next part.
     *
     * @param most bytes of it, at least 1
     * @return no bytes once all were given
     * @throws IOException where the disk fails
     */
    public ByteBuffer next(int most) throws IOException {
        ByteBuffer part = ByteBuffer.allocate((int) Math.min(most, length - next));
        file.read(part, next);
        if (part.hasRemaining()) {
            throw new IOException("the base as of segment " + at + " became shorter meanwhile");
        }
        next += part.limit();
        return part.flip();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
