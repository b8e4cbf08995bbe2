package io.saucr.services.standby;

import java.util.Optional;

/** What no segment holds yet: turns, or a part of a trace. Any thread. */
interface Uncut {

    /**
     * What becomes a segment.
     *
     * @param count how much it is, in the unit of {@link #tellAt}
     * @param addedNanos when the first of it was added
     */
    @SuppressWarnings("ArrayRecordComponent") // Not compared.
    record Cut(long firstTurn, long lastTurn, int count, byte[] body, long addedNanos) {}

    /** Takes the oldest of it; empty if there is nothing. */
    Optional<Cut> cut();

    /**
     * From now on the thread that cuts is woken once that much is there, or a whole batch.
     *
     * @return whether it is there already; then nobody is woken
     */
    boolean tellAt(int count);

    /** Whether that much is there, or a whole batch. */
    boolean isEnough();

    /** Whether the oldest is a whole batch, to which nothing is added any more. */
    boolean isFull();

    /** Of all in it, roughly. */
    long bytes();

    /**
     * A standby waits for a snapshot as of a later segment. Of turns none waits: only the replay of
     * a trace can differ (X14).
     */
    default void snapshotSoon() {}

    /**
     * Time went by; called a few times in each second, of a trace only.
     *
     * @param millisBehind so far the fastest standby is behind with its replay (X16)
     */
    default void tick(long millisBehind) {}

    /** How long the oldest has been here; 0 for nothing. */
    long oldestMillis();
}
