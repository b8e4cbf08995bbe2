package io.saucr.core.recovery;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** An immutable sequence of bytes, equal to another one if the content is. */
public final class Bytes {
    private static final Bytes EMPTY = new Bytes(new byte[0]);

    private final byte[] content;

    private Bytes(byte[] content) {
        this.content = content;
    }

    /** Wraps the array without a copy: the caller must not change it afterwards. */
    public static Bytes wrap(byte[] content) {
        return content.length == 0 ? EMPTY : new Bytes(content);
    }

    /** A copy of a part. */
    public Bytes slice(int from, int length) {
        if (from < 0 || length < 0 || length > content.length - from) {
            throw new IndexOutOfBoundsException(
                    length + " bytes from " + from + " of " + content.length);
        }
        return wrap(Arrays.copyOfRange(content, from, from + length));
    }

    public int length() {
        return content.length;
    }

    /** A copy. */
    public byte[] toArray() {
        return content.clone();
    }

    /** A view that cannot be written through. */
    public ByteBuffer asReadOnlyBuffer() {
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

    @Override
    public String toString() {
        return content.length + " bytes";
    }
}
