package io.saucr.services.speculative;

import io.saucr.services.core.Delta;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What the next life of a member begins from (K21): the newest snapshot on disk, and what the core
 * did above it. The states behind turns are kept by who says which of them survive. One thread at a
 * time.
 */
final class History {

    /** Of the newest snapshot on disk. */
    private Memory base;

    /** Of the snapshot that is to be written. */
    private Memory due;

    private final List<Delta> above = new ArrayList<>();

    /** Notes what is read from disk on its way to a life; then {@link #isRead}. */
    Guard.Recovery noting(Guard.Recovery into) {
        return new Noting(into);
    }

    /** All is read. */
    void isRead(Guard.Recovery into) {
        if (base == null) {
            base = into.soFar();
        }
    }

    private final class Noting implements Guard.Recovery {

        private final Guard.Recovery into;

        Noting(Guard.Recovery into) {
            this.into = into;
        }

        @Override
        public void section(String name, InputStream content) throws IOException {
            into.section(name, content);
        }

        @Override
        public void turn(long turn, ByteBuffer delta) throws IOException {
            isRead(into);
            byte[] bytes = new byte[delta.remaining()];
            delta.duplicate().get(bytes);
            Delta read = DeltaFormat.read(turn, new ByteArrayInputStream(bytes));
            // The state is kept as a whole.
            above.add(new Delta(turn, read.incarnation(), read.nowMillis(), read.changes()));
            into.turn(turn, delta);
        }

        @Override
        public void memory(Memory of) throws IOException {
            into.memory(of);
        }

        @Override
        public Memory soFar() {
            return into.soFar();
        }
    }

    /** A turn follows. */
    void done(Delta turn) {
        above.add(turn);
    }

    /** A snapshot of this is to be written. */
    void due(Memory of) {
        due = of;
    }

    /** That snapshot is on disk. */
    void folded(long turn) {
        if (due == null || due.turn() != turn) {
            throw new IllegalStateException("no snapshot of turn " + turn + " was due");
        }
        base = due;
        due = null;
        above.removeIf(it -> it.turn() <= turn);
    }

    /** The turns above this one that are not in a snapshot, in order. */
    List<Delta> above(long turn) {
        return above.stream().filter(it -> it.turn() > turn).toList();
    }

    /**
     * Drops the turns above this one.
     *
     * @param behind the state that it left
     * @return from what the next life begins
     */
    Memory drop(long upTo, StateSnapshot behind) {
        due = null;
        above.removeIf(it -> it.turn() > upTo);
        return above.isEmpty() ? base : base.with(above, behind);
    }
}
