package io.saucr.services.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.zip.CRC32C;

/**
 * What the links of standbys and of groups have in common: frames with a checksum behind a preface,
 * all numbers big-endian.
 *
 * <pre>
 * magic, 4 | format, 4
 * length of what follows, 4 | kind, 1 | fields | CRC32C of kind and fields, 4
 * </pre>
 *
 * <p>Whatever bytes arrive, reading gives what they say, asks for more, or throws {@link
 * BadFrameException}; lengths are checked before anything of that length is made. Any thread.
 */
public final class CheckedFrames {

    /** How the links of services and their clients begin. */
    public static final int MAGIC_OF_SERVICES = 0x53415553;

    /** How the links between members of one service begin. */
    public static final int MAGIC_OF_STANDBYS = 0x5341554D;

    /** How the links between members of a group begin. */
    public static final int MAGIC_OF_GROUPS = 0x53415547;

    public static final int PREFACE_BYTES = 8;
    public static final int LENGTH_BYTES = 4;
    public static final int KIND_BYTES = 1;
    public static final int CHECK_BYTES = 4;

    private static final int LEAST_BYTES = KIND_BYTES + CHECK_BYTES;

    private CheckedFrames() {}

    /** A preface. */
    public static ByteBuf preface(int magic, int format, ByteBufAllocator alloc) {
        return alloc.buffer(PREFACE_BYTES).writeInt(magic).writeInt(format);
    }

    /**
     * Reads the preface.
     *
     * @param other what is wrong where the peer begins with another magic number
     * @param members who must run the same release, as a sentence ends
     * @return whether it was there; nothing was taken else
     */
    public static boolean readPreface(
            ByteBuf in, int magic, int format, IntFunction<String> other, String members) {
        int start = in.readerIndex();
        if (in.readableBytes() < 4) {
            return false;
        }
        int begins = in.getInt(start);
        if (begins != magic) {
            throw new BadFrameException(other.apply(begins));
        }
        if (in.readableBytes() < PREFACE_BYTES) {
            return false;
        }
        int theirs = in.getInt(start + 4);
        if (theirs != format) {
            throw new BadFrameException(
                    "it speaks format "
                            + Integer.toUnsignedString(theirs)
                            + ", this side format "
                            + format
                            + ": run the same release on "
                            + members);
        }
        in.skipBytes(PREFACE_BYTES);
        return true;
    }

    /** Ends a frame that has its length, its kind and its fields: writes the checksum. */
    public static ByteBuf end(ByteBuf out) {
        return out.writeInt(check(out, LENGTH_BYTES, out.writerIndex() - LENGTH_BYTES));
    }

    private static int check(ByteBuf bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.nioBuffer(from, length));
        return (int) crc.getValue();
    }

    /**
     * Reads a frame.
     *
     * @param most bytes that it may have behind its length
     * @param fields reads kind and fields, to their end
     * @return null where bytes are missing; nothing was taken then
     */
    public static <F> F read(ByteBuf in, int most, Function<ByteBuf, F> fields) {
        int start = in.readerIndex();
        if (in.readableBytes() < LENGTH_BYTES) {
            return null;
        }
        long length = in.getUnsignedInt(start);
        if (length < LEAST_BYTES || length > most) {
            throw new BadFrameException(
                    "a frame has " + LEAST_BYTES + " to " + most + " bytes, not " + length);
        }
        if (in.readableBytes() < LENGTH_BYTES + length) {
            return null;
        }
        int checked = (int) length - CHECK_BYTES;
        int expected = in.getInt(start + LENGTH_BYTES + checked);
        int found = check(in, start + LENGTH_BYTES, checked);
        if (expected != found) {
            throw new BadFrameException(
                    String.format(
                            "a frame of kind %d and %d bytes has checksum %08x, and says %08x",
                            in.getUnsignedByte(start + LENGTH_BYTES), length, found, expected));
        }
        in.skipBytes(LENGTH_BYTES);
        ByteBuf frame = in.readSlice(checked);
        in.skipBytes(CHECK_BYTES);
        F read;
        try {
            read = fields.apply(frame);
        } catch (IllegalArgumentException e) {
            // Frames check what they are made of.
            throw new BadFrameException(FrameFields.printable(String.valueOf(e.getMessage())));
        }
        if (frame.isReadable()) {
            throw new BadFrameException(
                    frame.readableBytes() + " bytes too many in a frame of " + length);
        }
        return read;
    }
}
