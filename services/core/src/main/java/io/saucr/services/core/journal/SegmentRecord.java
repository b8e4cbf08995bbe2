package io.saucr.services.core.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * One turn in a segment. Its checksum is of everything in it, and it repeats that of the record
 * before, so that a record is valid only behind the one that it was written behind. Immutable.
 *
 * <p>Layout, big endian: length of the delta (4), checksum of the record before, or the mark of the
 * segment for its first (4), turn (8), newest turn known to be forced (8), mark of the segment (4),
 * CRC32C of all that and the delta (4), the delta, zeros up to a multiple of 8.
 *
 * @param offset where it begins in its segment
 * @param previousChecksum of the record before, or the segment's mark
 * @param turn its number
 * @param forced the newest turn that was known to be on disk when this was written
 * @param checksum its own
 * @param deltaBytes the length of the delta
 */
public record SegmentRecord(
        int offset, int previousChecksum, long turn, long forced, int checksum, int deltaBytes) {

    /** The bytes before the delta. */
    public static final int HEADER_BYTES = 32;

    static final int ALIGNMENT = 8;

    static final int MARK_OFFSET = 24;

    /** So many bytes of a delta are checked at once. */
    private static final int PIECE_BYTES = 1 << 16;

    private static final int CHECKSUM_OFFSET = 28;

    /** The bytes of a record, its padding included. */
    public static long bytes(int deltaBytes) {
        return (HEADER_BYTES + (long) deltaBytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /**
     * Writes a record.
     *
     * @param mark of the segment
     * @param previousChecksum of the record before in this segment, or the mark
     * @param turn its number
     * @param forced the newest turn known to be on disk, less than the turn
     * @param delta from position to limit, which stay
     * @param into from its position on, which moves behind the padding
     * @return the record's checksum
     */
    public static int put(
            int mark,
            int previousChecksum,
            long turn,
            long forced,
            ByteBuffer delta,
            ByteBuffer into) {
        int at = into.position();
        into.putInt(delta.remaining())
                .putInt(previousChecksum)
                .putLong(turn)
                .putLong(forced)
                .putInt(mark)
                .putInt(0)
                .put(delta.duplicate());
        int checksum = checksum(into, at, delta.remaining());
        into.putInt(at + CHECKSUM_OFFSET, checksum);
        while (into.position() % ALIGNMENT != at % ALIGNMENT) {
            into.put((byte) 0);
        }
        return checksum;
    }

    /**
     * The record that stands somewhere, where one does that is whole and of this segment. Whether
     * it stands behind the right one is not looked at.
     *
     * @return null where there is none
     */
    static SegmentRecord at(SegmentBytes bytes, int offset, int mark) throws IOException {
        long rest = bytes.size() - offset;
        if (rest < HEADER_BYTES) {
            return null;
        }
        ByteBuffer header = bytes.view(offset, HEADER_BYTES);
        int from = header.position();
        int deltaBytes = header.getInt(from);
        long turn = header.getLong(from + 8);
        long forced = header.getLong(from + 16);
        int previous = header.getInt(from + 4);
        int checksum = header.getInt(from + CHECKSUM_OFFSET);
        if (header.getInt(from + MARK_OFFSET) != mark
                || deltaBytes < 0
                || deltaBytes > rest - HEADER_BYTES
                || forced < 0
                || forced >= turn
                || checksum != checksum(bytes, offset, deltaBytes)) {
            return null;
        }
        return new SegmentRecord(offset, previous, turn, forced, checksum, deltaBytes);
    }

    /** Where the next one begins. */
    int end() {
        return (int) (offset + bytes(deltaBytes));
    }

    private static int checksum(ByteBuffer bytes, int offset, int deltaBytes) {
        CRC32C crc = new CRC32C();
        ByteBuffer part = bytes.duplicate();
        crc.update(part.position(offset).limit(offset + CHECKSUM_OFFSET));
        crc.update(part.limit(offset + HEADER_BYTES + deltaBytes).position(offset + HEADER_BYTES));
        return (int) crc.getValue();
    }

    private static int checksum(SegmentBytes bytes, int offset, int deltaBytes) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(bytes.view(offset, CHECKSUM_OFFSET));
        int end = offset + HEADER_BYTES + deltaBytes;
        for (int at = offset + HEADER_BYTES; at < end; at += PIECE_BYTES) {
            crc.update(bytes.view(at, Math.min(PIECE_BYTES, end - at)));
        }
        return (int) crc.getValue();
    }
}
