package io.saucr.services.checkpoint;

import io.saucr.services.journal.Disk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Bytes in memory that are read as a file is. One thread. */
final class BytesFile implements Disk.File {

    private final byte[] bytes;

    BytesFile(byte[] bytes) {
        this.bytes = bytes;
    }

    /** All bytes of a base, of which there are no more than an array takes. */
    static byte[] bytesOf(ShippedBase base, int partBytes) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream((int) base.length());
        for (ByteBuffer part = base.next(partBytes);
                part.hasRemaining();
                part = base.next(partBytes)) {
            byte[] content = new byte[part.remaining()];
            part.get(content);
            all.write(content);
        }
        return all.toByteArray();
    }

    @Override
    public long size() {
        return bytes.length;
    }

    @Override
    public void read(ByteBuffer into, long at) {
        if (at < bytes.length) {
            into.put(bytes, (int) at, (int) Math.min(into.remaining(), bytes.length - at));
        }
    }

    @Override
    public void write(ByteBuffer from, long at) throws IOException {
        throw new IOException("it is only read");
    }

    @Override
    public void truncate(long to) throws IOException {
        throw new IOException("it is only read");
    }

    @Override
    public void force() {}

    @Override
    public void close() {}
}
