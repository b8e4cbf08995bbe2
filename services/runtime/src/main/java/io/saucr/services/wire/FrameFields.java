package io.saucr.services.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.saucr.services.core.Birth;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;

/**
 * What frames consist of. A name is two bytes of length, from 1, and printable UTF-8; a text the
 * same and any UTF-8; a birth 16 bytes; numbers are big-endian.
 *
 * <p>Reading gives a value or throws {@link BadFrameException}, whatever bytes there are; lengths
 * are checked before anything of that length is made. Any thread.
 */
public final class FrameFields {

    public static final int BIRTH_BYTES = 16;

    /** Of a reason for people; what is longer is cut. */
    public static final int LONGEST_TEXT_BYTES = 1000;

    public static final int LONGEST_NAME_BYTES = 800;

    private FrameFields() {}

    /** Writes what {@link #nameBytes} gave. */
    public static void writeName(ByteBuf out, byte[] name) {
        out.writeShort(name.length);
        out.writeBytes(name);
    }

    /** Writes what {@link #textBytes} gave. */
    public static void writeText(ByteBuf out, byte[] text) {
        out.writeShort(text.length);
        out.writeBytes(text);
    }

    /** Writes a birth. */
    public static void writeBirth(ByteBuf out, Birth birth) {
        out.writeLong(birth.high());
        out.writeLong(birth.low());
    }

    /**
     * The bytes of a name of a service or type.
     *
     * @throws IllegalArgumentException where it is empty, too long or not printable
     */
    public static byte[] nameBytes(String what, String name) {
        byte[] bytes = name.getBytes(UTF_8);
        if (bytes.length == 0 || bytes.length > LONGEST_NAME_BYTES || !isPrintable(name)) {
            throw new IllegalArgumentException(
                    "the name of a "
                            + what
                            + " has 1 to "
                            + LONGEST_NAME_BYTES
                            + " bytes and no control characters: \""
                            + printable(name)
                            + "\"");
        }
        return bytes;
    }

    /** The bytes of a text; what is too long is cut. */
    public static byte[] textBytes(String text) {
        // Without this look a stack trace of megabytes would be copied to be cut.
        String part =
                text.length() > LONGEST_TEXT_BYTES ? text.substring(0, LONGEST_TEXT_BYTES) : text;
        byte[] bytes = part.getBytes(UTF_8);
        if (bytes.length <= LONGEST_TEXT_BYTES) {
            return bytes;
        }
        int end = LONGEST_TEXT_BYTES;
        while ((bytes[end] & 0xC0) == 0x80) {
            end--;
        }
        return Arrays.copyOf(bytes, end);
    }

    private static boolean isPrintable(String text) {
        return text.codePoints().noneMatch(FrameFields::isUnprintable);
    }

    private static boolean isUnprintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    true;
            default -> false;
        };
    }

    /** What a stranger sent, so that it can stand in a log. */
    public static String printable(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints()
                .limit(LONGEST_TEXT_BYTES)
                .forEach(point -> out.appendCodePoint(isUnprintable(point) ? '?' : point));
        return out.toString();
    }

    /** What a stranger speaks whose first four bytes are these. */
    public static String foreign(int magic) {
        int first = magic >>> 24;
        if ((first == 0x16 || first == 0x15) && (magic >>> 16 & 0xFF) == 3) {
            return "it speaks TLS, and this side does not: set ssl.* on both, or on none";
        }
        return switch (magic) {
            case 0x47455420, 0x504F5354, 0x50555420, 0x48454144, 0x48545450 ->
                    "it speaks HTTP; this port is for services and their clients";
            default -> String.format("it begins with %08x; no service begins so", magic);
        };
    }

    /** Reads a birth. */
    public static Birth readBirth(ByteBuf in) {
        return new Birth(readLong(in), readLong(in));
    }

    /**
     * Reads a number.
     *
     * @param what it numbers, for people
     * @param least that it may be
     */
    public static long readNumber(ByteBuf in, String what, long least) {
        long number = readLong(in);
        if (number < least) {
            throw new BadFrameException(tooSmall(what, number, least));
        }
        return number;
    }

    /**
     * Fails where a number of a frame that is made is too small.
     *
     * @param what it numbers, for people
     * @param least that it may be
     * @throws IllegalArgumentException then
     */
    public static void checkNumber(String what, long number, long least) {
        if (number < least) {
            throw new IllegalArgumentException(tooSmall(what, number, least));
        }
    }

    private static String tooSmall(String what, long number, long least) {
        return "the number of the " + what + " is from " + least + ", not " + number;
    }

    /** Reads any number. */
    public static long readLong(ByteBuf in) {
        need(in, 8);
        return in.readLong();
    }

    /** Reads a byte that is 0 or 1. */
    public static boolean readFlag(ByteBuf in) {
        int flag = readByte(in);
        if (flag > 1) {
            throw new BadFrameException("a flag is 0 or 1, not " + flag);
        }
        return flag == 1;
    }

    /** Reads a byte, not negative. */
    public static int readByte(ByteBuf in) {
        need(in, 1);
        return in.readUnsignedByte();
    }

    /** Reads a name. */
    public static String readName(ByteBuf in) {
        need(in, 2);
        int length = in.readUnsignedShort();
        checkNameBytes(length);
        String name = readUtf8(in, length);
        if (!isPrintable(name)) {
            throw new BadFrameException("a name has control characters: " + printable(name));
        }
        return name;
    }

    /** Checks the length of a name that is to come. */
    public static void checkNameBytes(int length) {
        if (length < 1 || length > LONGEST_NAME_BYTES) {
            throw new BadFrameException(
                    "a name has 1 to " + LONGEST_NAME_BYTES + " bytes, not " + length);
        }
    }

    /** Reads a text. */
    public static String readText(ByteBuf in) {
        need(in, 2);
        int length = in.readUnsignedShort();
        if (length > LONGEST_TEXT_BYTES) {
            throw new BadFrameException(
                    "a text has at most " + LONGEST_TEXT_BYTES + " bytes, not " + length);
        }
        return readUtf8(in, length);
    }

    private static String readUtf8(ByteBuf in, int length) {
        need(in, length);
        byte[] bytes = new byte[length];
        in.readBytes(bytes);
        try {
            // Not by the constructor of String, which replaces what it does not understand.
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new BadFrameException("a text is not UTF-8");
        }
    }

    /** Checks that so many bytes are there. */
    public static void need(ByteBuf in, int bytes) {
        if (in.readableBytes() < bytes) {
            throw new BadFrameException("a frame ends within a field");
        }
    }
}
