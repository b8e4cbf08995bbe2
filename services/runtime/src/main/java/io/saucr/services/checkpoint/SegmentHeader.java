package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.RefusedSegmentException.Reason;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * What a segment says about itself before its body. Its bytes are part of the format that {@link
 * Segment} describes. Immutable.
 *
 * @param service its name, 1 to 255 characters on one line
 * @param by the birth of the service, the epoch, and the nonce of the process that holds that epoch
 * @param number from 1, without gaps over all epochs
 * @param firstTurn the first turn that it holds
 * @param lastTurn the last one; the turn before the first where it holds none
 * @param previous digest of the segment before (C4); {@link SegmentId#NO_DIGEST} for number 1 only
 * @param named number of the newest segment that the head named when this one was written; 0 for
 *     none
 */
public record SegmentHeader(
        String service,
        Incarnation by,
        long number,
        long firstTurn,
        long lastTurn,
        String previous,
        long named) {

    static final int LONGEST_SERVICE = 255;

    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

    static final long MAGIC = 0x7361756372736567L;
    private static final int FORMAT = 1;
    private static final int FORMAT_AT = 8;
    private static final int LENGTH_AT = 12;
    private static final int BIRTH_AT = 16;
    private static final int BODY_BYTES_AT = 112;
    private static final int SERVICE_AT = 116;
    private static final int DIGEST_BYTES = 32;

    /** The least that is needed to learn how long a header is. */
    static final int LEAST_BYTES = SERVICE_AT + 1 + Integer.BYTES;

    /** A character that is one of a Java string takes three bytes of UTF-8 at most. */
    static final int MOST_BYTES = SERVICE_AT + 3 * LONGEST_SERVICE + Integer.BYTES;

    public SegmentHeader {
        checkService(service);
        if (number < 1 || firstTurn < 1 || lastTurn < firstTurn - 1 || named < 0) {
            throw new IllegalArgumentException(
                    "segments and turns are numbered from 1, and turns rise: not segment "
                            + number
                            + " with turns "
                            + firstTurn
                            + " to "
                            + lastTurn
                            + ", the head naming "
                            + named);
        }
        if (named >= number) {
            throw new IllegalArgumentException(
                    "the head cannot name segment " + named + " before " + number + " is written");
        }
        boolean first = previous.equals(SegmentId.NO_DIGEST);
        if (first != (number == 1) || !DIGEST.matcher(previous).matches()) {
            throw new IllegalArgumentException(
                    "segment "
                            + number
                            + " has the digest of the one before, 64 hex digits, which are zeros"
                            + " for number 1 only: not \""
                            + previous
                            + "\"");
        }
    }

    static void checkService(String service) {
        if (service.isEmpty()
                || service.length() > LONGEST_SERVICE
                || service.indexOf('\n') >= 0
                || !StandardCharsets.UTF_8.newEncoder().canEncode(service)) {
            throw new IllegalArgumentException(
                    "a service's name has 1 to "
                            + LONGEST_SERVICE
                            + " characters on one line, not \""
                            + service
                            + "\"");
        }
    }

    /** Whether it holds no turn: then its body has no bytes, and otherwise some. */
    public boolean isEmpty() {
        return lastTurn < firstTurn;
    }

    /**
     * Refuses a segment of somebody else.
     *
     * @param expectedService that the caller serves
     * @param expectedBirth of that service
     * @throws RefusedSegmentException where it is of another service, or of another birth (K11)
     */
    public void throwUnlessOf(String expectedService, Birth expectedBirth)
            throws RefusedSegmentException {
        if (!service.equals(expectedService)) {
            throw new RefusedSegmentException(
                    Reason.FOREIGN_SERVICE,
                    SERVICE_AT,
                    "it belongs to service \""
                            + service
                            + "\", and this is \""
                            + expectedService
                            + "\". Look up which folder or member was named by mistake");
        }
        if (!by.birth().equals(expectedBirth)) {
            throw new RefusedSegmentException(
                    Reason.FOREIGN_BIRTH,
                    BIRTH_AT,
                    "it belongs to generation "
                            + by.birth()
                            + " of \""
                            + service
                            + "\", and this is generation "
                            + expectedBirth
                            + ". A member of a former generation begins with an empty folder");
        }
    }

    /** What stands at the beginning of some bytes, and how long the parts behind it are. */
    record Found(SegmentHeader header, int headerBytes, int bodyBytes, int checksum) {

        /** The bytes of the whole segment. */
        int segmentBytes() {
            return Segment.bytes(headerBytes, bodyBytes);
        }
    }

    /** Its bytes, from position 0 to the limit; the last four are their checksum. */
    ByteBuffer encode(int bodyBytes) {
        byte[] name = service.getBytes(StandardCharsets.UTF_8);
        int length = SERVICE_AT + name.length + Integer.BYTES;
        ByteBuffer bytes =
                ByteBuffer.allocate(length)
                        .putLong(MAGIC)
                        .putInt(FORMAT)
                        .putInt(length)
                        .putLong(by.birth().high())
                        .putLong(by.birth().low())
                        .putLong(by.number())
                        .putLong(by.nonce())
                        .putLong(number)
                        .putLong(firstTurn)
                        .putLong(lastTurn)
                        .putLong(named)
                        .put(HexFormat.of().parseHex(previous))
                        .putInt(bodyBytes)
                        .put(name);
        return bytes.putInt(checksum(bytes, length - Integer.BYTES)).flip();
    }

    private static int checksum(ByteBuffer bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().limit(length).position(0));
        return (int) crc.getValue();
    }

    /**
     * Reads a header.
     *
     * @param from begins with it; from index 0 to the limit, whatever the position
     * @throws RefusedSegmentException where it does not; reasons are the bytes alone
     */
    static Found decode(ByteBuffer from) throws RefusedSegmentException {
        int there = from.limit();
        if (there >= Long.BYTES && from.getLong(0) != MAGIC) {
            throw garbled(0, "it does not begin as a segment does");
        }
        if (there >= LENGTH_AT && from.getInt(FORMAT_AT) > FORMAT) {
            throw new RefusedSegmentException(
                    Reason.NEWER,
                    FORMAT_AT,
                    "it has format "
                            + from.getInt(FORMAT_AT)
                            + ", and this release reads format "
                            + FORMAT
                            + ". Use the release that wrote it");
        }
        if (there < LEAST_BYTES) {
            throw Segment.torn(there, "its header");
        }
        int length = from.getInt(LENGTH_AT);
        if (length < LEAST_BYTES || length > MOST_BYTES) {
            throw new RefusedSegmentException(
                    Reason.LENGTH,
                    LENGTH_AT,
                    "its header says that it has "
                            + length
                            + " bytes, and headers have "
                            + LEAST_BYTES
                            + " to "
                            + MOST_BYTES
                            + Segment.ANOTHER_COPY);
        }
        if (there < length) {
            throw Segment.torn(there, "its header");
        }
        int checksum = from.getInt(length - Integer.BYTES);
        if (checksum != checksum(from, length - Integer.BYTES)
                || from.getInt(FORMAT_AT) != FORMAT) {
            throw garbled(0, "its header is damaged");
        }
        int bodyBytes = from.getInt(BODY_BYTES_AT);
        if (bodyBytes < 0 || bodyBytes > Segment.LARGEST_BODY_BYTES) {
            throw new RefusedSegmentException(
                    Reason.LENGTH,
                    BODY_BYTES_AT,
                    "its header says that the body has "
                            + bodyBytes
                            + " bytes, and bodies have at most "
                            + Segment.LARGEST_BODY_BYTES
                            + Segment.ANOTHER_COPY);
        }
        SegmentHeader header = fields(from, length);
        if (header.isEmpty() != (bodyBytes == 0)) {
            throw garbled(
                    BODY_BYTES_AT,
                    "it holds turns "
                            + header.firstTurn
                            + " to "
                            + header.lastTurn
                            + " in "
                            + bodyBytes
                            + " bytes");
        }
        return new Found(header, length, bodyBytes, checksum);
    }

    private static SegmentHeader fields(ByteBuffer from, int length)
            throws RefusedSegmentException {
        ByteBuffer in = from.duplicate().limit(length - Integer.BYTES).position(BIRTH_AT);
        try {
            Birth birth = new Birth(in.getLong(), in.getLong());
            Incarnation by = new Incarnation(birth, in.getLong(), in.getLong());
            long number = in.getLong();
            long firstTurn = in.getLong();
            long lastTurn = in.getLong();
            long named = in.getLong();
            byte[] previous = new byte[DIGEST_BYTES];
            in.get(previous).position(SERVICE_AT);
            String service = StandardCharsets.UTF_8.newDecoder().decode(in).toString();
            return new SegmentHeader(
                    service,
                    by,
                    number,
                    firstTurn,
                    lastTurn,
                    HexFormat.of().formatHex(previous),
                    named);
        } catch (CharacterCodingException | IllegalArgumentException e) {
            // The checksum fits: the one that wrote this did not mean it as a segment of ours.
            throw garbled(BIRTH_AT, "its header says what none says: " + e.getMessage());
        }
    }

    private static RefusedSegmentException garbled(long offset, String what) {
        return new RefusedSegmentException(Reason.GARBLED, offset, what + Segment.ANOTHER_COPY);
    }
}
