package org.apache.zookeeper.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;

/**
 * Encodes records into a buffer that is used again. Of ZooKeeper's streams each locks for each
 * field, and begins with 32 bytes that grow.
 *
 * <p>One thread at a time.
 */
public final class Encoder {
    private static final int BYTES = 2048;

    /** A buffer that had to grow beyond this is given up. */
    private static final int MOST_KEPT_BYTES = 512 * 1024;

    private ByteBuf buffer;
    private BinaryOutputArchive archive;

    public Encoder() {
        renew();
    }

    private void renew() {
        buffer = Unpooled.buffer(BYTES);
        archive = new BinaryOutputArchive((DataOutput) new ByteBufOutputStream(buffer));
    }

    /** Forgets what was encoded before. */
    public void clear() {
        if (buffer.capacity() > MOST_KEPT_BYTES) {
            renew();
        }
        buffer.clear();
    }

    /** Adds the record to what was encoded since {@link #clear}. */
    public void add(Record record) {
        try {
            archive.writeRecord(record, "record");
        } catch (IOException e) {
            throw new IllegalStateException("memory takes every byte", e);
        }
    }

    /**
     * What was encoded since {@link #clear}; the first {@link #size} bytes, until the next call.
     */
    public byte[] bytes() {
        return buffer.array();
    }

    public int size() {
        return buffer.readableBytes();
    }

    /** A copy of what was encoded. */
    byte[] copy() {
        return ByteBufUtil.getBytes(buffer);
    }
}
