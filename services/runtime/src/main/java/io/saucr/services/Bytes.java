package io.saucr.services;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes that cannot be changed, for states and messages. */
public final class Bytes {

    private static final int SHOWN_BYTES = 16;

    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    /** A copy of these bytes. */
    public static Bytes of(byte... content) {
        return new Bytes(content.clone());
    }

    /** A copy of what remains in a buffer, whose position stays. */
    public static Bytes of(ByteBuffer content) {
        byte[] copy = new byte[content.remaining()];
        content.get(content.position(), copy);
        return new Bytes(copy);
    }

    /** How many there are. */
    public int size() {
        return content.length;
    }

    /**
     * One of them.
     *
     * @param index from 0 to one less than the size
     * @throws IndexOutOfBoundsException where it is not
     */
    public byte get(int index) {
        return content[index];
    }

    /** A copy of all. */
    public byte[] toArray() {
        return content.clone();
    }

    /** All, without a copy; read only. */
    public ByteBuffer asBuffer() {
        return ByteBuffer.wrap(content).asReadOnlyBuffer();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes that && Arrays.equals(content, that.content);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(content);
    }

    /** The size and the first bytes in hexadecimal digits. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder().append(content.length).append(" bytes");
        for (int index = 0; index < Math.min(content.length, SHOWN_BYTES); index++) {
            text.append(index == 0 ? " " : "").append(String.format("%02x", content[index]));
        }
        return text.append(content.length > SHOWN_BYTES ? "..." : "").toString();
    }
}
