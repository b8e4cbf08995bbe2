package io.saucr.services.journal;

import io.saucr.services.core.journal.SegmentBytes;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Reads a file, mostly from its beginning to its end, in pieces that are not too small. One thread.
 */
public final class FileWindow implements SegmentBytes {

    private final Disk.File file;
    private final long size;
    private final int pieceBytes;
    private ByteBuffer content = ByteBuffer.allocate(0);
    private long begin;

    /**
     * Reads nothing yet.
     *
     * @param size up to where the file is read
     * @param pieceBytes so much is read at once, or more
     */
    public FileWindow(Disk.File file, long size, int pieceBytes) {
        this.file = file;
        this.size = size;
        this.pieceBytes = pieceBytes;
    }

    /** Up to where the file is read. */
    @Override
    public long size() {
        return size;
    }

    @Override
    public ByteBuffer view(long at, int bytes) throws IOException {
        ByteBuffer view = there(at, bytes);
        if (view.remaining() < bytes) {
            throw shorter();
        }
        return view;
    }

    /** Bytes as they are until the next call; fewer where the file has become shorter. */
    ByteBuffer there(long at, int bytes) throws IOException {
        if (at < begin || at + bytes > begin + content.limit()) {
            int piece = (int) Math.max(bytes, Math.min(pieceBytes, size - at));
            if (content.capacity() < piece) {
                content = ByteBuffer.allocate(piece);
            }
            content.clear().limit(piece);
            // If this fails, nothing that was read counts.
            begin = Long.MAX_VALUE;
            file.read(content, at);
            content.flip();
            begin = at;
        }
        int from = (int) (at - begin);
        return content.slice(from, Math.min(bytes, content.limit() - from));
    }

    /**
     * Bytes that nothing else holds.
     *
     * @throws IOException where the disk fails, or the file has become shorter
     */
    public ByteBuffer read(long at, int bytes) throws IOException {
        return bytes < pieceBytes
                ? whole(ByteBuffer.allocate(bytes).put(there(at, bytes)))
                : read(file, at, bytes);
    }

    /**
     * The same of a file that is not read from its beginning to its end.
     *
     * @throws IOException as {@link #read(long, int)}
     */
    public static ByteBuffer read(Disk.File file, long at, int bytes) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(bytes);
        file.read(content, at);
        return whole(content);
    }

    private static ByteBuffer whole(ByteBuffer content) throws IOException {
        if (content.hasRemaining()) {
            throw shorter();
        }
        return content.flip();
    }

    private static IOException shorter() {
        return new IOException("a log file became shorter while it was read");
    }
}
