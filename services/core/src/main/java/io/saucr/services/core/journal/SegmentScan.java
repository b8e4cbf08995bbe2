package io.saucr.services.core.journal;

import io.saucr.services.core.journal.SegmentHeader.UnreadableSegmentException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

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

    /** So much behind a chain is looked at at once; a multiple of the alignment of records. */
    private static final int PIECE_BYTES = 1 << 16;

    /** Takes the turns of a chain while it is scanned. */
    @FunctionalInterface
    public interface Visitor {

        /**
         * Takes one turn.
         *
         * @param delta read only, from position to limit, valid until this returns
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
     * @param bytes of the whole file
     * @param lastTurn where to end at the latest: the turn before the next segment's first, as what
     *     stands behind it in this one was cut off once
     * @throws UnreadableSegmentException where its header cannot be read
     * @throws IOException where a part cannot be read
     */
    public static SegmentScan scan(SegmentBytes bytes, long lastTurn)
            throws UnreadableSegmentException, IOException {
        return scan(bytes, lastTurn, null);
    }

    /**
     * Scans a segment and shows its turns. In memory at once are a piece of it and one turn.
     *
     * @param bytes of the whole file
     * @param lastTurn where to end at the latest
     * @param visitor takes each turn of the chain, in order; null for none
     * @throws UnreadableSegmentException where its header cannot be read
     * @throws IOException of the visitor, or where a part cannot be read
     */
    public static SegmentScan scan(SegmentBytes bytes, long lastTurn, Visitor visitor)
            throws UnreadableSegmentException, IOException {
        int size = Math.toIntExact(bytes.size());
        SegmentHeader header =
                SegmentHeader.decode(bytes.view(0, Math.min(SegmentHeader.BYTES, size)).slice());
        Chain chain = new Chain(bytes, header, size);
        for (SegmentRecord record = chain.next(lastTurn);
                record != null;
                record = chain.next(lastTurn)) {
            if (visitor != null) {
                ByteBuffer delta =
                        bytes.view(
                                record.offset() + SegmentRecord.HEADER_BYTES, record.deltaBytes());
                visitor.turn(record.turn(), delta.slice().asReadOnlyBuffer());
            }
        }
        boolean torn = chain.turn < lastTurn && chain.lookBehind();
        return new SegmentScan(
                header,
                chain.turn,
                chain.checksum,
                chain.end,
                chain.unforced(),
                chain.calledForced,
                torn);
    }

    /** What was found so far. One thread. */
    private static final class Chain {

        private final SegmentBytes bytes;
        private final int size;
        private final int mark;
        private long turn;
        private int checksum;
        private int end = SegmentHeader.BYTES;
        private long calledForced;

        /** A turn of the chain that is called forced, or the first one, and where it begins. */
        private long forcedTurn;

        private int forcedOffset = SegmentHeader.BYTES;

        /** A later one that takes its place once it is called forced. */
        private long laterTurn;

        private int laterOffset = SegmentHeader.BYTES;

        Chain(SegmentBytes bytes, SegmentHeader header, int size) {
            this.bytes = bytes;
            this.size = size;
            mark = header.mark();
            turn = header.firstTurn() - 1;
            checksum = mark;
            forcedTurn = header.firstTurn();
            laterTurn = forcedTurn;
        }

        /** The next record of the chain; null where it ends, or with that turn. */
        SegmentRecord next(long lastTurn) throws IOException {
            SegmentRecord record = turn < lastTurn ? SegmentRecord.at(bytes, end, mark) : null;
            if (record == null
                    || record.turn() != turn + 1
                    || record.previousChecksum() != checksum) {
                return null;
            }
            turn = record.turn();
            checksum = record.checksum();
            calledForced = Math.max(calledForced, record.forced());
            if (laterTurn <= calledForced) {
                forcedTurn = laterTurn;
                forcedOffset = laterOffset;
                laterTurn = turn;
                laterOffset = record.offset();
            }
            end = Math.min(record.end(), size);
            return record;
        }

        /**
         * Looks at what stands behind the chain, and whether that is anything but zeros. A record
         * behind a damage that is whole was written after the damaged one: what it calls forced was
         * on disk.
         */
        boolean lookBehind() throws IOException {
            boolean torn = false;
            for (int at = end; at < size; at += PIECE_BYTES) {
                // The marks of records that begin in this piece are in it, too.
                int length = Math.min(PIECE_BYTES, size - at);
                int more = Math.min(length + SegmentRecord.HEADER_BYTES, size - at);
                ByteBuffer piece = bytes.view(at, more).slice();
                List<Integer> marked = new ArrayList<>();
                for (int each = 0; each < length; each += SegmentRecord.ALIGNMENT) {
                    torn |= !isZero(piece, each);
                    if (more - each >= SegmentRecord.HEADER_BYTES
                            && piece.getInt(each + SegmentRecord.MARK_OFFSET) == mark) {
                        marked.add(at + each);
                    }
                }
                for (int each : marked) {
                    SegmentRecord record = SegmentRecord.at(bytes, each, mark);
                    if (record != null && record.turn() > turn) {
                        calledForced = Math.max(calledForced, record.forced());
                    }
                }
            }
            return torn;
        }

        private static boolean isZero(ByteBuffer piece, int at) {
            if (piece.limit() - at >= Long.BYTES) {
                return piece.getLong(at) == 0;
            }
            boolean zero = true;
            for (int each = at; each < piece.limit(); each++) {
                zero &= piece.get(each) == 0;
            }
            return zero;
        }

        /** Where the first record begins that nothing calls forced. */
        int unforced() throws IOException {
            long forced = Math.min(turn, calledForced);
            int at = forcedOffset;
            for (long each = forcedTurn; each <= forced && at < end; each++) {
                at = (int) Math.min(at + SegmentRecord.bytes(bytes.view(at, 4).getInt()), end);
            }
            return at;
        }
    }
}
