package io.saucr.services.core.journal;

import io.saucr.services.core.Incarnation;
import java.util.List;
import java.util.function.Predicate;

/**
 * Decides what a journal holds after a crash (K9, K10): the longest valid chain over its segments
 * from the base on. Only the end of the last segment may be torn, as a segment gets its name once
 * everything before it is on disk. What is damaged although something calls it forced is refused;
 * what is torn and nothing calls forced is cut off; what is whole and nothing calls forced is to be
 * written again, as it may stand in the page cache alone after a force that failed.
 */
public final class JournalRecovery {

    private JournalRecovery() {}

    /**
     * The first segment that matters above a base: the newest that can hold the turn behind it.
     * Those before it may be damaged, half deleted or lie behind a gap.
     *
     * @param firstTurns of all segments, rising
     * @param baseTurn the turn that the base covers; 0 without one
     * @return the index of it; 0 where none can hold it
     */
    public static int firstNeeded(List<Long> firstTurns, long baseTurn) {
        int first = 0;
        for (int index = 0; index < firstTurns.size(); index++) {
            if (firstTurns.get(index) <= baseTurn + 1) {
                first = index;
            }
        }
        return first;
    }

    /**
     * Decides.
     *
     * @param baseTurn the turn that the base covers; 0 without one
     * @param reach a turn that was on disk for certain, as a base of it was, though that base
     *     cannot be read; 0 where nothing is known
     * @param segments from {@link #firstNeeded} on, each scanned up to the first turn of the next
     * @param known whether a start is one of this folder's
     */
    public static Decision decide(
            long baseTurn, long reach, List<SegmentScan> segments, Predicate<Incarnation> known) {
        if (segments.isEmpty()) {
            return baseTurn < reach
                    ? missing(0, baseTurn + 1, reach)
                    : new Decision.GoOn(baseTurn, 0, Behind.NOTHING, 0, 0);
        }
        SegmentScan before = null;
        for (SegmentScan segment : segments) {
            SegmentHeader header = segment.header();
            long first = header.firstTurn();
            if (!known.test(header.start())) {
                return new Decision.Refuse(
                        first,
                        16,
                        "the segment was written by another folder's start, "
                                + header.start()
                                + "; put back the files of this folder");
            }
            if (before == null) {
                if (first > baseTurn + 1) {
                    return missing(first, baseTurn + 1, first - 1);
                }
            } else if (before.lastTurn() != first - 1) {
                return new Decision.Refuse(
                        before.header().firstTurn(),
                        before.end(),
                        "turn "
                                + (before.lastTurn() + 1)
                                + " is damaged or missing, although it was on disk: the next segment"
                                + " begins with turn "
                                + first
                                + ". "
                                + WHAT_TO_DO);
            } else if (header.previousChecksum() != before.lastChecksum()) {
                return new Decision.Refuse(
                        first,
                        SegmentHeader.PREVIOUS_CHECKSUM_OFFSET,
                        "the segment was written behind another turn "
                                + (first - 1)
                                + " than the one before it ends with. "
                                + WHAT_TO_DO);
            }
            before = segment;
        }
        return behind(before, baseTurn, reach);
    }

    private static final String WHAT_TO_DO =
            "The disk lost or changed what was synced. The folder was left as it is. Put it back"
                    + " from a copy under a new generation, or give the service up";

    private static Decision behind(SegmentScan last, long baseTurn, long reach) {
        long first = last.header().firstTurn();
        long lastTurn = last.lastTurn();
        if (last.calledForced() > lastTurn) {
            return new Decision.Refuse(
                    first,
                    last.end(),
                    "turn "
                            + (lastTurn + 1)
                            + " is damaged, although it was on disk: a later record calls turn "
                            + last.calledForced()
                            + " synced. "
                            + WHAT_TO_DO);
        }
        if (lastTurn < reach && baseTurn < reach) {
            return missing(first, Math.max(lastTurn, baseTurn) + 1, reach);
        }
        if (lastTurn < baseTurn) {
            // Nothing was forced where the journal ends, but the base was, later.
            return new Decision.GoOn(baseTurn, 0, Behind.NOTHING, 0, 0);
        }
        return last.isEmpty()
                ? new Decision.GoOn(
                        lastTurn, last.header().previousChecksum(), Behind.NOTHING, 0, 0)
                : new Decision.GoOn(
                        lastTurn,
                        last.lastChecksum(),
                        last.torn() ? Behind.TORN : Behind.ZEROS,
                        last.unforced(),
                        last.end());
    }

    private static Decision missing(long segment, long from, long to) {
        return new Decision.Refuse(
                segment,
                0,
                "turns "
                        + from
                        + " to "
                        + to
                        + " are missing, although they were on disk. "
                        + WHAT_TO_DO);
    }

    /** What stands behind the last valid record. */
    public enum Behind {
        /** There is no such record in a segment that continues to matter. */
        NOTHING,
        /** Zeros, or the end of the file. */
        ZEROS,
        /** Something torn, to be cut off. */
        TORN,
    }

    /** What to do with a journal. */
    public sealed interface Decision {

        /**
         * Make the end of the last segment durable and continue in a new one: write the bytes from
         * {@code from} to {@code end} again, where torn cut the file at {@code end}, and force it.
         * Then a new segment begins with the turn after the last; where a segment of that name
         * exists, which holds no valid record, it is replaced. Only then may anything leave.
         *
         * @param lastTurn the newest turn of the chain or of the base
         * @param lastChecksum what the new segment's header repeats
         * @param behind what stands behind the chain in the last segment
         * @param from where the part begins that nothing calls forced
         * @param end where the chain ends
         */
        record GoOn(long lastTurn, int lastChecksum, Behind behind, int from, int end)
                implements Decision {}

        /**
         * Refuse the folder and change nothing.
         *
         * @param segment the first turn of the segment where it shows; 0 for the journal as a whole
         * @param offset the byte in that segment
         * @param reason what is wrong, and what to do
         */
        record Refuse(long segment, long offset, String reason) implements Decision {}
    }
}
