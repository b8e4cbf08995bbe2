package io.saucr.services.checkpoint;

import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * A file that is read once, from its beginning to its end, and is digested on the way: who checks a
 * gigabyte does not read it twice. One thread.
 */
final class DigestedFile implements Disk.File {

    private final Disk.File file;
    private final MessageDigest sum = Segment.sha256();
    private long next;

    DigestedFile(Disk.File file) {
        this.file = file;
    }

    /**
     * SHA-256 of all bytes: 64 hex digits. Once.
     *
     * @throws IllegalStateException where not all of them were read
     */
    String digest() throws IOException {
        if (next != file.size()) {
            throw new IllegalStateException(next + " of " + file.size() + " bytes were read");
        }
        return HexFormat.of().formatHex(sum.digest());
    }

    @Override
    public void read(ByteBuffer into, long at) throws IOException {
        if (at != next) {
            throw new IllegalStateException("byte " + at + " is read where " + next + " comes");
        }
        int from = into.position();
        file.read(into, at);
        sum.update(into.duplicate().flip().position(from));
        next = at + into.position() - from;
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public void write(ByteBuffer from, long at) {
        throw new UnsupportedOperationException("it is read");
    }

    @Override
    public void truncate(long bytes) {
        throw new UnsupportedOperationException("it is read");
    }

    @Override
    public void force() {
        throw new UnsupportedOperationException("it is read");
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
