package io.saucr.services.standby;

import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turns that no segment holds yet, in order. The turn thread adds, between turns; the one that cuts
 * takes all at once, in constant time, so a segment holds whole turns (C1). What they changed is
 * joined as they come: of a value that is written again and again the newest is kept. Any thread.
 */
final class Batches implements Uncut {

    /** What a turn takes in addition to bodies and values, roughly. */
    private static final int TURN_BYTES = 64;

    /**
     * Turns in a row.
     *
     * @param addedNanos when the first of them was added
     */
    record Batch(List<Delta> deltas, Changes changes, long addedNanos) {

        long firstTurn() {
            return deltas.get(0).turn();
        }

        long lastTurn() {
            return deltas.get(deltas.size() - 1).turn();
        }
    }

    private static final class Open {
        final List<Delta> deltas = new ArrayList<>();
        final Changes.Joiner changes = new Changes.Joiner();
        final long addedNanos = System.nanoTime();
        long bytes;
    }

    private final long mostBytes;
    private final ArrayDeque<Open> all = new ArrayDeque<>();
    private boolean closed;
    private long bytes;

    /** Of how many turns the one that cuts wants to be told, from 1. */
    private int enough = 1;

    /**
     * None yet.
     *
     * @param mostBytes at which a batch ends and the next begins
     */
    Batches(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /**
     * Adds the next turn.
     *
     * @return whether somebody has to be told that there is something to cut
     */
    synchronized boolean add(Delta delta, Changes changes) {
        boolean next = begins();
        if (next) {
            all.add(new Open());
            closed = false;
        }
        Open last = all.getLast();
        last.deltas.add(delta);
        long more = bytes(delta) + last.changes.add(changes);
        last.bytes += more;
        bytes += more;
        return last.deltas.size() == enough || (next && all.size() > 1);
    }

    /**
     * From now on an event is due once that many turns are there, or a whole batch.
     *
     * @return whether they are there already; then no event comes
     */
    @Override
    public synchronized boolean tellAt(int turns) {
        enough = turns;
        return isEnough();
    }

    /** Whether that many turns are there, or a whole batch. */
    @Override
    public synchronized boolean isEnough() {
        return isFull() || (!all.isEmpty() && all.getFirst().deltas.size() >= enough);
    }

    /** Whether the next turn begins a batch. */
    synchronized boolean begins() {
        return all.isEmpty() || closed || all.getLast().bytes >= mostBytes;
    }

    /** Whether the oldest turns are a whole batch, to which none is added any more. */
    @Override
    public synchronized boolean isFull() {
        return all.size() > 1;
    }

    /** The next turn begins another batch, so that a segment ends with the newest one. */
    synchronized void end() {
        closed = true;
    }

    @Override
    public Optional<Cut> cut() {
        return take().map(
                        it ->
                                new Cut(
                                        it.firstTurn(),
                                        it.lastTurn(),
                                        it.deltas().size(),
                                        DeltaFormat.bytes(Delta.join(it.deltas()), it.changes()),
                                        it.addedNanos()));
    }

    /** Takes the oldest turns. */
    Optional<Batch> take() {
        Open first;
        synchronized (this) {
            first = all.poll();
            if (first == null) {
                return Optional.empty();
            }
            bytes -= first.bytes;
        }
        return Optional.of(new Batch(first.deltas, first.changes.joined(), first.addedNanos));
    }

    /** Of all turns in it, roughly. */
    @Override
    public synchronized long bytes() {
        return bytes;
    }

    /** How long the oldest turn has been here; 0 for none. */
    @Override
    public synchronized long oldestMillis() {
        return all.isEmpty() ? 0 : (System.nanoTime() - all.getFirst().addedNanos) / 1_000_000;
    }

    private static long bytes(Delta delta) {
        long sum = TURN_BYTES;
        for (Change change : delta.changes()) {
            if (change instanceof Change.Sent it) {
                sum += it.body().bytes().length;
            } else if (change instanceof Change.TimerSet it) {
                sum += it.body().bytes().length;
            } else if (change instanceof Change.OutputMade it) {
                sum += it.body().bytes().length;
            } else if (change instanceof Change.Parked it) {
                sum += it.body().bytes().length;
            }
        }
        return sum;
    }
}
