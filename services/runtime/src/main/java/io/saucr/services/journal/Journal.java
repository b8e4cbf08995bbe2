package io.saucr.services.journal;

import java.nio.ByteBuffer;

/**
 * Says which turns are on disk (K4, K8). Turns are appended by one thread, the turn thread, and
 * forced by a thread of the journal's own, one force at a time, each of which covers every turn
 * appended before it began. Turns may run ahead of the force. After a failed write or force the
 * journal is dead.
 *
 * <p>What a turn did, its delta, is bytes to the journal. Turns are numbered without gaps; a once
 * client's turns are its records.
 */
@SuppressWarnings("DoNotCallSuggester") // Until it is written.
public final class Journal implements AutoCloseable {

    /** The most bytes that one turn's delta may have. */
    public static final int LARGEST_DELTA_BYTES = 128 << 20;

    private Journal() {}

    /**
     * Appends a turn. Returns when it is written, not when it is forced; never waits for a force.
     * Turn thread.
     *
     * @param turn the one after {@link #appended}
     * @param delta what the turn did, from position to limit, at most {@link #LARGEST_DELTA_BYTES};
     *     may be reused afterwards, its position is not changed
     * @throws IllegalArgumentException where the turn is not the next one or the delta too large;
     *     nothing was appended
     * @throws DeadJournalException where the journal is dead, or dies of this
     * @throws IllegalStateException where it is closed
     */
    public void append(long turn, ByteBuffer delta) {
        throw new UnsupportedOperationException();
    }

    /** The newest turn that was appended, or the last of the recovery. Any thread. */
    public long appended() {
        throw new UnsupportedOperationException();
    }

    /** The newest turn whose force succeeded. Any thread. */
    public long forced() {
        throw new UnsupportedOperationException();
    }

    /** Bytes of the records that are appended, but not forced: for back pressure. Any thread. */
    public long unforcedBytes() {
        throw new UnsupportedOperationException();
    }

    /** Bytes of records behind the newest base, for deciding when to write another. Any thread. */
    public long bytesAboveBase() {
        throw new UnsupportedOperationException();
    }

    /** How many forces succeeded since the start. Any thread. */
    public long forces() {
        throw new UnsupportedOperationException();
    }

    /**
     * Segments whose turns are all up to this one may go (K10): call it once {@link Base#write} of
     * that turn has returned. Any thread; does not wait for the disk.
     *
     * @param turn that the base on disk covers
     * @throws IllegalArgumentException where that turn is not forced yet
     */
    public void folded(long turn) {
        throw new UnsupportedOperationException();
    }

    /**
     * Forces what was appended, reports it, and ends the journal's threads. Waits for the disk. Not
     * on the force thread.
     */
    @Override
    public void close() {
        throw new UnsupportedOperationException();
    }
}
