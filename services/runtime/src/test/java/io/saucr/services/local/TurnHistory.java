package io.saucr.services.local;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.saucr.services.core.Delta;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a protection that undoes turns has to know of a life: of the core the newest base on disk
 * and the turns above it, and the state behind each turn. One thread at a time.
 */
public final class TurnHistory {

    /** What the core did above {@link #memory}, and the state behind turns. */
    private final List<Delta> deltas = new ArrayList<>();

    private final Map<Long, StateSnapshot> states = new HashMap<>();

    /** Of the newest base on disk: its files must stay, as a crash leads back to them. */
    private Memory memory;

    private Memory due;

    /** Recovers from a protection, and notes what it gives. */
    public Guard.Start recover(Guard from, Guard.Recovery into) throws IOException {
        Noting noting = new Noting(into);
        Guard.Start start = from.recover(noting);
        noting.noteBase();
        return start;
    }

    /** Begins a life with what another one was behind a turn; the other one is left as it is. */
    public static TurnHistory behind(TurnHistory before, long turn, Guard.Recovery into)
            throws IOException {
        TurnHistory next = new TurnHistory();
        next.memory = before.memory;
        before.deltas.stream().filter(it -> it.turn() <= turn).forEach(next.deltas::add);
        into.memory(
                next.deltas.isEmpty()
                        ? next.memory
                        : next.memory.with(next.deltas, before.states.get(turn)));
        return next;
    }

    /**
     * The life begins behind this turn.
     *
     * @return all that it begins with, as the sections of a base
     */
    public Map<String, String> begins(long turn, Memory all) throws IOException {
        states.put(turn, all.state());
        Map<String, ByteArrayOutputStream> sections = new TreeMap<>();
        all.sections()
                .writeTo(name -> sections.computeIfAbsent(name, it -> new ByteArrayOutputStream()));
        Map<String, String> found = new TreeMap<>();
        sections.forEach((name, bytes) -> found.put(name, bytes.toString(ISO_8859_1)));
        return found;
    }

    public void done(Guard.Done turn) {
        deltas.add(turn.delta());
        states.put(turn.turn(), turn.state().get());
    }

    /** A base of this is to be written. */
    public void due(Memory of) {
        due = of;
    }

    /** That base is on disk. */
    public void folded(long turn) {
        memory = due;
        deltas.removeIf(it -> it.turn() <= turn);
        states.keySet().removeIf(it -> it < turn);
    }

    /** Notes the base on its way to what recovers, and the turns above it. */
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
            noteBase();
            byte[] bytes = new byte[delta.remaining()];
            delta.duplicate().get(bytes);
            deltas.add(DeltaFormat.read(turn, new ByteArrayInputStream(bytes)));
            into.turn(turn, delta);
        }

        void noteBase() {
            if (memory == null) {
                memory = into.soFar();
            }
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
}
