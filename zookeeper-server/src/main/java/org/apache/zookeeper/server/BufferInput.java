package org.apache.zookeeper.server;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Reads out of a buffer, numbers big-endian, as {@link DataInputStream} does; but without a lock
 * and a call for each byte.
 *
 * <p>One thread at a time.
 */
public final class BufferInput extends InputStream implements DataInput {

    /** Where more comes from. */
    public interface Source {
        /**
         * The buffer is empty: puts at least one byte into it, or into another one, and flips it.
         *
         * @return the buffer to read from; null at the end of the stream, or if nothing more comes
         */
        ByteBuffer fill(ByteBuffer buffer) throws IOException;

        /**
         * The buffer is empty, and more is asked for than it holds: reads straight into the array.
         *
         * @return how many bytes were read, -1 at the end of the stream; 0 if they have to come by
         *     way of the buffer
         */
        default int read(byte[] to, int offset, int length) throws IOException {
            return 0;
        }

        void close() throws IOException;
    }

    private static final Source NOTHING =
            new Source() {
                @Override
                public ByteBuffer fill(ByteBuffer buffer) {
                    return null;
                }

                @Override
                public void close() {
                    // Has nothing.
                }
            };

    private ByteBuffer buffer;
    private final Source source;

    /**
     * @param buffer what lies between its position and its limit is read first
     */
    public BufferInput(ByteBuffer buffer, Source source) {
        this.buffer = buffer;
        this.source = source;
    }

    /** Reads these bytes and nothing else. */
    public BufferInput(byte[] bytes) {
        this(ByteBuffer.wrap(bytes), NOTHING);
    }

    private boolean fill() throws IOException {
        if (buffer.hasRemaining()) {
            return true;
        }
        ByteBuffer filled = source.fill(buffer);
        if (filled == null) {
            return false;
        }
        buffer = filled;
        return true;
    }

    @Override
    public int read() throws IOException {
        return fill() ? buffer.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, to.length);
        if (length == 0) {
            return 0;
        }
        if (!buffer.hasRemaining() && length > buffer.capacity()) {
            int direct = source.read(to, offset, length);
            if (direct != 0) {
                return direct;
            }
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, buffer.remaining());
        buffer.get(to, offset, count);
        return count;
    }

    @Override
    public int available() {
        return buffer.remaining();
    }

    @Override
    public void close() throws IOException {
        source.close();
    }

    @Override
    public void readFully(byte[] to) throws IOException {
        readFully(to, 0, to.length);
    }

    @Override
    public void readFully(byte[] to, int offset, int length) throws IOException {
        int done = 0;
        while (done < length) {
            int count = read(to, offset + done, length - done);
            if (count < 0) {
                throw new EOFException();
            }
            done += count;
        }
    }

    @Override
    public byte readByte() throws IOException {
        return (byte) readUnsignedByte();
    }

    @Override
    public int readUnsignedByte() throws IOException {
        int value = read();
        if (value < 0) {
            throw new EOFException();
        }
        return value;
    }

    @Override
    public boolean readBoolean() throws IOException {
        return readUnsignedByte() != 0;
    }

    @Override
    public int readInt() throws IOException {
        return buffer.remaining() >= Integer.BYTES ? buffer.getInt() : inPieces().readInt();
    }

    @Override
    public long readLong() throws IOException {
        return buffer.remaining() >= Long.BYTES ? buffer.getLong() : inPieces().readLong();
    }

    // ---- What is rare ----

    /** Reads byte by byte: it holds nothing back, and keeps nothing to itself. */
    private DataInputStream inPieces() {
        return new DataInputStream(this);
    }

    @Override
    public int skipBytes(int count) throws IOException {
        return inPieces().skipBytes(count);
    }

    @Override
    public short readShort() throws IOException {
        return inPieces().readShort();
    }

    @Override
    public int readUnsignedShort() throws IOException {
        return inPieces().readUnsignedShort();
    }

    @Override
    public char readChar() throws IOException {
        return inPieces().readChar();
    }

    @Override
    public float readFloat() throws IOException {
        return Float.intBitsToFloat(readInt());
    }

    @Override
    public double readDouble() throws IOException {
        return Double.longBitsToDouble(readLong());
    }

    @Override
    @Deprecated
    public String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        int next = read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = read()) {
            line.append((char) next);
        }
        int end = line.length() - 1;
        if (end >= 0 && line.charAt(end) == '\r') {
            line.setLength(end);
        }
        return line.toString();
    }

    @Override
    public String readUTF() throws IOException {
        return inPieces().readUTF();
    }
}
