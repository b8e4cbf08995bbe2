package io.saucr.services.core.journal;

import io.saucr.services.core.journal.SegmentHeader.UnreadableSegmentException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the bytes of one segment say: its longest valid chain of records from the front, what stands
 * behind it, and which turns any whole record in it, before or behind a damage, calls forced (K9).
 * Immutable.
 *
 * @param header the segment's
 * @param lastTurn the newest of the chain; the one before the first where there is no record
 * @param lastChecksum of that record; the segment's mark where there is none
 * @param end the byte behind the chain
 * @param unforced the byte where the first record of the chain begins that no record of this
 *     segment calls forced; {@link #end} where there is none
 * @param calledForced the newest turn that a record of this segment calls forced; 0 where none does
 * @param torn whether anything but zeros stands behind the chain; false where it was to end there
 */
public record SegmentScan(
        SegmentHeader header,
        long lastTurn,
        int lastChecksum,
        int end,
        int unforced,
        long calledForced,
        boolean torn) {

    /** Takes the turns of a chain while it is scanned. */
    @FunctionalInterface
    public interface Visitor {

        /**
         * Takes one turn.
         *
         * @param delta read only, from position to limit, a view of the segment's bytes
         */
        void turn(long turn, ByteBuffer delta) throws IOException;
    }

    /** Whether the chain has no record. */
    public boolean isEmpty() {
        return lastTurn < header.firstTurn();
    }

    /**
     * Scans a segment.
     *
     * @param bytes of the whole file, from index 0 to the limit
     * @param lastTurn where to end at the latest: the turn before the next segment's first, as what
     *     stands behind it in this one was cut off once
     * @throws UnreadableSegmentException where its header cannot be read
     */
    public static SegmentScan scan(ByteBuffer bytes, long lastTurn)
            throws UnreadableSegmentException {
        try {
            return scan(bytes, lastTurn, (turn, delta) -> {});
        } catch (IOException e) {
            throw new IllegalStateException("nothing was read or written", e);
        }
    }

    /**
     * Scans a segment and shows its turns.
     *
     * @param bytes of the whole file, from index 0 to the limit
     * @param lastTurn where to end at the latest
     * @param visitor takes each turn of the chain, in order
     * @throws UnreadableSegmentException where its header cannot be read
     * @throws IOException of the visitor
     */
    public static SegmentScan scan(ByteBuffer bytes, long lastTurn, Visitor visitor)
            throws UnreadableSegmentException, IOException {
        SegmentHeader header = SegmentHeader.decode(bytes);
        int mark = header.mark();
        ByteBuffer readOnly = bytes.asReadOnlyBuffer();
        long turn = header.firstTurn() - 1;
        int checksum = mark;
        int end = SegmentHeader.BYTES;
        long calledForced = 0;
        while (turn < lastTurn) {
            SegmentRecord record = SegmentRecord.at(bytes, end, mark);
            if (record == null
                    || record.turn() != turn + 1
                    || record.previousChecksum() != checksum) {
                break;
            }
            turn = record.turn();
            checksum = record.checksum();
            calledForced = Math.max(calledForced, record.forced());
            int delta = record.offset() + SegmentRecord.HEADER_BYTES;
            visitor.turn(turn, readOnly.slice(delta, record.deltaBytes()));
            end = Math.min(record.end(), bytes.limit());
        }
        boolean torn = false;
        int rest = turn < lastTurn ? bytes.limit() - end : 0;
        int aligned = end + rest / SegmentRecord.ALIGNMENT * SegmentRecord.ALIGNMENT;
        for (int at = end; at < aligned; at += SegmentRecord.ALIGNMENT) {
            torn |= bytes.getLong(at) != 0;
            // A record behind a damage that is whole was written after the damaged one: what it
            // calls forced was on disk.
            SegmentRecord record = SegmentRecord.at(bytes, at, mark);
            if (record != null && record.turn() > turn) {
                calledForced = Math.max(calledForced, record.forced());
            }
        }
        for (int at = aligned; at < end + rest; at++) {
            torn |= bytes.get(at) != 0;
        }
        return new SegmentScan(
                header,
                turn,
                checksum,
                end,
                unforced(bytes, header, Math.min(turn, calledForced), end),
                calledForced,
                torn);
    }

    private static int unforced(ByteBuffer bytes, SegmentHeader header, long forced, int end) {
        int at = SegmentHeader.BYTES;
        for (long turn = header.firstTurn(); turn <= forced && at < end; turn++) {
            at = (int) Math.min(at + SegmentRecord.bytes(bytes.getInt(at)), end);
        }
        return at;
    }
}
