package io.saucr.services.core.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The first bytes of a segment: who wrote it, which turn is its first, and the checksum of the
 * record before that. A segment gets its name once everything before it is on disk, and its own
 * header too, so that a named segment calls all earlier turns forced (K9). Immutable.
 *
 * <p>Layout, big endian: 8 bytes "saucrjnl", format (4), checksum of the record before (4), birth
 * (16), incarnation (8), nonce (8), first turn (8), zero (4), CRC32C of all that (4).
 *
 * @param start who writes this segment
 * @param firstTurn its first turn, from 1
 * @param previousChecksum of the record of the turn before, in the segment before; 0 where there is
 *     none
 */
public record SegmentHeader(Incarnation start, long firstTurn, int previousChecksum) {

    /** The bytes of a header. */
    public static final int BYTES = 64;

    /** Where {@link #previousChecksum} is. */
    public static final int PREVIOUS_CHECKSUM_OFFSET = 12;

    /** Where {@link #firstTurn} is. */
    public static final int FIRST_TURN_OFFSET = 48;

    private static final long MAGIC = 0x73617563726a6e6cL;
    private static final int FORMAT = 1;
    private static final int CHECKSUM_OFFSET = BYTES - Integer.BYTES;

    public SegmentHeader {
        if (firstTurn < 1) {
            throw new IllegalArgumentException("turns are numbered from 1, not " + firstTurn);
        }
    }

    /** Its bytes, from position 0 to the limit. */
    public ByteBuffer encode() {
        ByteBuffer bytes =
                ByteBuffer.allocate(BYTES)
                        .putLong(MAGIC)
                        .putInt(FORMAT)
                        .putInt(previousChecksum)
                        .putLong(start.birth().high())
                        .putLong(start.birth().low())
                        .putLong(start.number())
                        .putLong(start.nonce())
                        .putLong(firstTurn)
                        .putInt(0);
        bytes.putInt(checksum(bytes));
        return bytes.flip();
    }

    /**
     * What every record of this segment bears, so that none of another segment, or of an earlier
     * use of the same file, passes for one of this. Never 0, as zeros are what no record was
     * written over.
     */
    public int mark() {
        int checksum = encode().getInt(CHECKSUM_OFFSET);
        return checksum == 0 ? 1 : checksum;
    }

    /**
     * Reads a header.
     *
     * @param bytes the segment's, from index 0; its first {@link #BYTES} at least, or all of it
     * @throws UnreadableSegmentException where there is none that this release can read
     */
    static SegmentHeader decode(ByteBuffer bytes) throws UnreadableSegmentException {
        if (bytes.limit() < BYTES) {
            throw new UnreadableSegmentException(
                    bytes.limit(),
                    "the segment ends here, within its header of " + BYTES + " bytes");
        }
        if (bytes.getLong(0) != MAGIC) {
            throw new UnreadableSegmentException(0, "this is no segment of a journal");
        }
        int format = bytes.getInt(8);
        boolean whole = bytes.getInt(CHECKSUM_OFFSET) == checksum(bytes);
        if (whole && format != FORMAT) {
            throw new UnreadableSegmentException(
                    8,
                    "the segment has format "
                            + format
                            + ", and this release reads format "
                            + FORMAT
                            + "; use the release that wrote it");
        }
        if (!whole || bytes.getLong(32) < 1 || bytes.getLong(48) < 1) {
            throw new UnreadableSegmentException(0, "the segment's header is damaged");
        }
        return new SegmentHeader(
                new Incarnation(
                        new Birth(bytes.getLong(16), bytes.getLong(24)),
                        bytes.getLong(32),
                        bytes.getLong(40)),
                bytes.getLong(48),
                bytes.getInt(PREVIOUS_CHECKSUM_OFFSET));
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().position(0).limit(CHECKSUM_OFFSET));
        return (int) crc.getValue();
    }

    /** A file that is no segment which this release can read. */
    public static final class UnreadableSegmentException extends Exception {

        private static final long serialVersionUID = 1L;

        private final long offset;

        UnreadableSegmentException(long offset, String message) {
            super(message);
            this.offset = offset;
        }

        /** The byte that shows it. */
        public long offset() {
            return offset;
        }
    }
}
