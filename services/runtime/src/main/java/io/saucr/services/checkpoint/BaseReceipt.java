package io.saucr.services.checkpoint;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Takes a base from another member. Until {@link #finish} returns the folder is as it was before,
 * whatever happens. One thread.
 */
public final class BaseReceipt implements Closeable {

    private static final int PART_BYTES = 64 << 10;

    private final Snapshots snapshots;
    private final Disk.File file;
    private final long number;
    private final long length;
    private final String digest;
    private final boolean held;
    private final MessageDigest sum = Segment.sha256();
    private final ByteBuffer buffer = ByteBuffer.allocate(PART_BYTES);
    private long taken;
    private boolean finished;
    private boolean closed;

    /** Of a base as of a segment that is held already, or of one above all that is held. */
    BaseReceipt(
            Snapshots snapshots,
            Disk.File file,
            long number,
            long length,
            String digest,
            boolean held) {
        this.snapshots = snapshots;
        this.file = file;
        this.number = number;
        this.length = length;
        this.digest = digest;
        this.held = held;
    }

    /**
     * Takes the next part.
     *
     * @param part from position to limit
     * @throws RefusedFolderException where there are more bytes than announced
     * @throws IOException where the disk fails
     */
    public void part(ByteBuffer part) throws IOException {
        if (part.remaining() > length - taken) {
            throw refused("has more bytes than the " + length + " that were announced");
        }
        ByteBuffer rest = part.duplicate();
        sum.update(rest.duplicate());
        while (rest.hasRemaining()) {
            int bytes = Math.min(PART_BYTES, rest.remaining());
            buffer.clear().put(rest.duplicate().limit(rest.position() + bytes)).flip();
            rest.position(rest.position() + bytes);
            file.write(buffer, taken);
            taken += bytes;
        }
    }

    /**
     * Checks what came, and makes it the newest base; on disk when this returns.
     *
     * @return the segment as of which it is: the next one to be appended follows it
     * @throws RefusedFolderException where it is not what was announced, or no whole base of this
     *     service and birth
     * @throws IllegalArgumentException where the folder came up to it meanwhile, or holds another
     *     segment of that number
     * @throws IOException where the disk fails
     */
    public SegmentId finish() throws IOException {
        if (taken != length) {
            throw refused("has " + taken + " bytes, and " + length + " were announced");
        }
        String is = HexFormat.of().formatHex(sum.digest());
        if (!is.equals(digest)) {
            throw refused("has digest " + is + ", and " + digest + " was announced");
        }
        file.force();
        SegmentId at = snapshots.received(file, number, held);
        finished = true;
        return at;
    }

    private RefusedFolderException refused(String what) {
        return snapshots.refusedReceipt(
                "the base as of segment " + number + " that another member sent " + what);
    }

    /** Gives it up, unless it was finished. */
    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            file.close();
        } finally {
            snapshots.receiptClosed(finished);
        }
    }
}
