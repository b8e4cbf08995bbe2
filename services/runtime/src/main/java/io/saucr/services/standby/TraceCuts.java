package io.saucr.services.standby;

import io.saucr.services.core.replay.TraceFormat;
import io.saucr.services.replay.ReplayedLanes;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What lanes recorded and no segment holds. A cut takes all of it and counts as one turn, so that
 * the head's turn is the number of cuts. One is under way at a time: the next one is larger
 * instead.
 */
final class TraceCuts implements Uncut {

    private final ReplayedLanes lanes;
    private long turn;
    private OptionalLong changedNanos = OptionalLong.empty();

    /**
     * Behind a takeover.
     *
     * @param turn of the head
     */
    TraceCuts(ReplayedLanes lanes, long turn) {
        this.lanes = lanes;
        this.turn = turn;
    }

    /** There is something to cut. */
    synchronized void changed() {
        if (changedNanos.isEmpty()) {
            changedNanos = OptionalLong.of(System.nanoTime());
        }
    }

    @Override
    public Optional<Cut> cut() {
        long since;
        synchronized (this) {
            since = changedNanos.orElseGet(System::nanoTime);
            // Before the cut: what is recorded meanwhile may not be in it.
            changedNanos = OptionalLong.empty();
        }
        return lanes.cut().map(it -> new Cut(++turn, turn, 1, TraceFormat.encode(it), since));
    }

    @Override
    public synchronized boolean tellAt(int count) {
        return changedNanos.isPresent();
    }

    @Override
    public boolean isEnough() {
        return false;
    }

    @Override
    public boolean isFull() {
        return false;
    }

    @Override
    public synchronized long bytes() {
        return changedNanos.isPresent() ? 1 : 0;
    }

    @Override
    public synchronized long oldestMillis() {
        return changedNanos.isEmpty()
                ? 0
                : (System.nanoTime() - changedNanos.getAsLong()) / 1_000_000;
    }
}
