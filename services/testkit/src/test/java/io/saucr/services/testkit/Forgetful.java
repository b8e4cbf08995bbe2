package io.saucr.services.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.saucr.services.core.Delta;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
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
import java.util.Optional;
import java.util.TreeMap;

/**
 * A protection that undoes turns which are not final: the next life begins from memory. It knows of
 * the state behind each turn, and of the core a base with the turns above it, as a protection of
 * services that speculate would. One life; thread of the test.
 */
final class Forgetful implements Guard, Guard.Folding {

    private final Guard disk;
    private final Optional<Forgetful> before;
    private final long upTo;

    /** What the core did above {@link #memory}, and the state behind turns. */
    private final List<Delta> deltas = new ArrayList<>();

    private final Map<Long, StateSnapshot> states = new HashMap<>();

    /** Of the newest base on disk: its files must stay, as a crash leads back to them. */
    private Memory memory;

    private Memory due;
    private Start start;

    /** All that this life began with. */
    private Map<String, String> found;

    /** The first life of a process. */
    Forgetful(Guard disk) {
        this.disk = disk;
        this.before = Optional.empty();
        this.upTo = 0;
    }

    /** Goes on from what another life of the same process was behind that turn. */
    Forgetful(Guard disk, Forgetful before, long upTo) {
        this.disk = disk;
        this.before = Optional.of(before);
        this.upTo = upTo;
    }

    /** What it began with. */
    Map<String, String> found() {
        return found;
    }

    private Memory behind(long turn) {
        List<Delta> above = deltas.stream().filter(it -> it.turn() <= turn).toList();
        return above.isEmpty() ? memory : memory.with(above, states.get(turn));
    }

    @Override
    public Traits traits() {
        return disk.traits();
    }

    @Override
    public Start recover(Recovery into) throws IOException {
        if (before.isPresent()) {
            Forgetful ended = before.get();
            into.memory(ended.behind(upTo));
            memory = ended.memory;
            deltas.addAll(ended.deltas);
            deltas.removeIf(it -> it.turn() > upTo);
            Start old = ended.start;
            start = new Start(old.incarnations(), old.formers(), old.markers(), upTo);
        } else {
            Noting noting = new Noting(into);
            start = disk.recover(noting);
            noting.noteBase();
        }
        Memory all = into.soFar();
        states.put(start.newestTurn(), all.state());
        found = found(all);
        return start;
    }

    private static Map<String, String> found(Memory memory) throws IOException {
        Map<String, ByteArrayOutputStream> sections = new TreeMap<>();
        memory.sections()
                .writeTo(name -> sections.computeIfAbsent(name, it -> new ByteArrayOutputStream()));
        Map<String, String> found = new TreeMap<>();
        sections.forEach((name, bytes) -> found.put(name, bytes.toString(ISO_8859_1)));
        return found;
    }

    /** Notes the base on its way to who recovers, and the turns above it. */
    private final class Noting implements Recovery {

        private final Recovery into;

        Noting(Recovery into) {
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

    @Override
    public void confirm() throws IOException {
        disk.confirm();
    }

    @Override
    public void withdraw() throws IOException {
        disk.withdraw();
    }

    @Override
    public void begin(Listener listener) {
        disk.begin(listener);
    }

    @Override
    public void done(Done turn) {
        deltas.add(turn.delta());
        states.put(turn.turn(), turn.state().get());
        disk.done(turn);
    }

    @Override
    public long lastFsyncMicros() {
        return disk.lastFsyncMicros();
    }

    @Override
    public Folding folding() {
        return this;
    }

    @Override
    public Room room() {
        return disk.room();
    }

    @Override
    public long bytesAboveBase() {
        return disk.folding().bytesAboveBase();
    }

    @Override
    public void due(Memory of) {
        due = of;
        disk.folding().due(of);
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        disk.folding().fold(turn, files, sections);
        memory = due;
        deltas.removeIf(it -> it.turn() <= turn);
        states.keySet().removeIf(it -> it < turn);
    }

    @Override
    public void close() throws IOException {
        disk.close();
    }
}
