package org.apache.zookeeper.server;

import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;

/**
 * Encodes records into a buffer that is used again. Of ZooKeeper's streams each locks for each
 * field, and begins with 32 bytes that grow. Large values are not copied: a packet of one is
 * encoded once for all that get it, and they share it.
 *
 * <p>One thread at a time. What was added must not change until {@link #clear}, and its large
 * values not as long as somebody holds what {@link #giveTo} has handed out.
 */
public final class Encoder {
    private static final int BYTES = 2048;

    /** A buffer that had to grow beyond this is given up. */
    private static final int MOST_KEPT_BYTES = 512 * 1024;

    /** A value of at least so many bytes is not copied. */
    public static final int LARGE_BYTES = 16 * 1024;

    /** Takes what was encoded, in pieces, in their order. */
    public interface Sink {
        /** A piece that is to be copied: the array is used again. */
        void copy(byte[] from, int offset, int length);

        /** A large value, which is not changed any more. */
        void share(byte[] value);
    }

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

    /** How many bytes were encoded since {@link #clear}. */
    public int size() {
        return buffer.size();
    }

    /** Adds these bytes, without their number. */
    public void addBytes(byte[] bytes) {
        buffer.write(bytes);
    }

    /** Where what is no record of ZooKeeper's is added, field by field. */
    public OutputArchive archive() {
        return archive;
    }

    /** Hands out what was encoded since {@link #clear}. */
    public void giveTo(Sink sink) {
        buffer.giveTo(sink);
    }

    /** A copy of what was encoded, behind so many bytes that are left free. */
    byte[] copyBehind(int free) {
        return buffer.copyBehind(free);
    }

    /** Numbers are big-endian. What no record writes goes through a stream. */
    static final class Buffer extends OutputStream implements DataOutput {
        private ByteBuffer to = ByteBuffer.allocate(BYTES);
        private final List<Large> larges = new ArrayList<>();
        private int largeBytes;

        /** A value, and what is in the buffer before it. */
        private static final class Large {
            final int behind;
            final byte[] value;

            Large(int behind, byte[] value) {
                this.behind = behind;
                this.value = value;
            }
        }

        void clear() {
            larges.clear();
            largeBytes = 0;
            to = to.capacity() > MOST_KEPT_BYTES ? ByteBuffer.allocate(BYTES) : to.clear();
        }

        int size() {
            return Math.addExact(to.position(), largeBytes);
        }

        void giveTo(Sink sink) {
            int done = 0;
            for (int i = 0; i < larges.size(); i++) {
                Large each = larges.get(i);
                sink.copy(to.array(), done, each.behind - done);
                sink.share(each.value);
                done = each.behind;
            }
            sink.copy(to.array(), done, to.position() - done);
        }

        byte[] copyBehind(int free) {
            byte[] all = new byte[Math.addExact(free, size())];
            int done = 0;
            int at = free;
            for (int i = 0; i < larges.size(); i++) {
                Large each = larges.get(i);
                System.arraycopy(to.array(), done, all, at, each.behind - done);
                at += each.behind - done;
                System.arraycopy(each.value, 0, all, at, each.value.length);
                at += each.value.length;
                done = each.behind;
            }
            System.arraycopy(to.array(), done, all, at, to.position() - done);
            return all;
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

        /** A record's value, whole. */
        @Override
        public void write(byte[] from) {
            if (from.length >= LARGE_BYTES) {
                larges.add(new Large(to.position(), from));
                largeBytes = Math.addExact(largeBytes, from.length);
            } else {
                with(from.length).put(from);
            }
        }

        /** Of an array that may be used again, such as the one in which texts are encoded. */
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
