package org.apache.zookeeper.server;

import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
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

    private final Buffer buffer = new Buffer();
    private final BinaryOutputArchive archive = new BinaryOutputArchive((DataOutput) buffer);

    /** Forgets what was encoded before. */
    public void clear() {
        buffer.clear();
    }

    /**
     * Adds the record to what was encoded since {@link #clear}.
     *
     * @param tag how ZooKeeper names the record where it encodes one; no byte of it is written
     */
    public void add(Record record, String tag) {
        try {
            archive.writeRecord(record, tag);
        } catch (IOException e) {
            throw new IllegalStateException("memory takes every byte", e);
        }
    }

    /**
     * What was encoded since {@link #clear}: the first {@link #size} bytes, until the next call.
     */
    public byte[] bytes() {
        return buffer.to.array();
    }

    public int size() {
        return buffer.to.position();
    }

    /** A copy of what was encoded. */
    byte[] copy() {
        return buffer.copy();
    }

    /** Numbers are big-endian. What no record writes goes through a stream. */
    static final class Buffer extends OutputStream implements DataOutput {
        private ByteBuffer to = ByteBuffer.allocate(BYTES);

        void clear() {
            to = to.capacity() > MOST_KEPT_BYTES ? ByteBuffer.allocate(BYTES) : to.clear();
        }

        byte[] copy() {
            return Arrays.copyOf(to.array(), to.position());
        }

        private ByteBuffer with(int more) {
            if (to.remaining() < more) {
                int needed = Math.addExact(to.position(), more);
                int doubled = (int) Math.min(2L * to.capacity(), Integer.MAX_VALUE - 8);
                to = ByteBuffer.allocate(Math.max(needed, doubled)).put(to.flip());
            }
            return to;
        }

        @Override
        public void write(int value) {
            with(1).put((byte) value);
        }

        @Override
        public void write(byte[] from) {
            with(from.length).put(from);
        }

        @Override
        public void write(byte[] from, int offset, int length) {
            with(length).put(from, offset, length);
        }

        @Override
        public void writeBoolean(boolean value) {
            write(value ? 1 : 0);
        }

        @Override
        public void writeByte(int value) {
            write(value);
        }

        @Override
        public void writeShort(int value) {
            with(Short.BYTES).putShort((short) value);
        }

        @Override
        public void writeChar(int value) {
            writeShort(value);
        }

        @Override
        public void writeInt(int value) {
            with(Integer.BYTES).putInt(value);
        }

        @Override
        public void writeLong(long value) {
            with(Long.BYTES).putLong(value);
        }

        @Override
        public void writeFloat(float value) {
            writeInt(Float.floatToIntBits(value));
        }

        @Override
        public void writeDouble(double value) {
            writeLong(Double.doubleToLongBits(value));
        }

        @Override
        public void writeBytes(String text) throws IOException {
            new DataOutputStream(this).writeBytes(text);
        }

        @Override
        public void writeChars(String text) throws IOException {
            new DataOutputStream(this).writeChars(text);
        }

        @Override
        public void writeUTF(String text) throws IOException {
            new DataOutputStream(this).writeUTF(text);
        }
    }
}
