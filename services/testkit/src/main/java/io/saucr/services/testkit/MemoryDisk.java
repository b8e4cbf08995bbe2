package io.saucr.services.testkit;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.UnboundedGuard;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * What a service's disk would hold, in memory: turns that are written, of which those up to the
 * last {@link #force} are final, and a base. A {@link #crash} keeps what was forced and any
 * beginning of the rest. It outlives the starts of its service; one start uses it at a time. Thread
 * of the test.
 */
final class MemoryDisk implements Storage {

    /** Small, so that files come and go. */
    private static final int OUTBOX_FILE_BYTES = 1 << 10;

    private Birth birth;
    private final List<Birth> formers = new ArrayList<>();
    private long numbers;
    private final RandomGenerator random;
    private final MemoryFiles files;
    private final List<byte[]> turns = new ArrayList<>();
    private Map<String, ByteArrayOutputStream> base = new LinkedHashMap<>();
    private long baseTurn;
    private long forced;
    private final List<Incarnation> starts = new ArrayList<>();

    /** Those of births that were replaced, which wrote what is there. */
    private final Set<Incarnation> before = new HashSet<>();

    private OfStart current;

    MemoryDisk(RandomGenerator random) {
        this.random = random;
        files = new MemoryFiles(random);
        birth = new Birth(random.nextLong(), random.nextLong());
    }

    /** Begins the next incarnation (K14). What was written is on disk then, forced or not (K9). */
    @Override
    public Guard start() {
        forced = newest();
        Incarnation start = new Incarnation(birth, ++numbers, random.nextLong());
        starts.add(start);
        current = new OfStart(start);
        return current;
    }

    /** Another birth continues with what is written (K11). */
    void bearAnew() {
        formers.add(birth);
        before.addAll(starts);
        birth = new Birth(random.nextLong(), random.nextLong());
        starts.clear();
    }

    /** What is forced, to go back to. */
    Backup backup() {
        return new Backup(
                new ArrayList<>(turns.subList(0, (int) (forced - baseTurn))),
                base,
                baseTurn,
                files.backup());
    }

    /** Goes back to what was forced then. */
    void restore(Backup backup) {
        turns.clear();
        turns.addAll(backup.turns());
        base = backup.base();
        baseTurn = backup.baseTurn();
        forced = newest();
        files.restore(backup.files());
    }

    /** A copy of what was forced. */
    record Backup(
            List<byte[]> turns,
            Map<String, ByteArrayOutputStream> base,
            long baseTurn,
            Map<Path, byte[]> files) {}

    /**
     * Drops the turns above this one, of which none is final; what stays is. The same start goes
     * on, in another life.
     */
    Guard undo(long turn) {
        if (turn < forced) {
            throw new IllegalArgumentException("turn " + forced + " is final, above " + turn);
        }
        turns.subList((int) (turn - baseTurn), turns.size()).clear();
        forced = turn;
        current.outbox.close();
        current = new OfStart(current.mine);
        return current;
    }

    /** The newest turn that is forced. */
    long forced() {
        return forced;
    }

    /** Another disk with what is forced, as if this start's process had just begun on it. */
    Guard copy() {
        MemoryDisk copy = new MemoryDisk(random);
        copy.birth = birth;
        copy.formers.addAll(formers);
        copy.starts.addAll(starts);
        copy.before.addAll(before);
        copy.numbers = numbers;
        copy.restore(backup());
        copy.current = copy.new OfStart(current.mine);
        return copy.current;
    }

    /** The power goes: of what was not forced a beginning of random length stays. */
    @Override
    public void crash() {
        int unforced = (int) (newest() - forced);
        int lost = unforced == 0 ? 0 : random.nextInt(unforced + 1);
        turns.subList(turns.size() - lost, turns.size()).clear();
        files.crash();
        current = null;
    }

    /** Whether turns are written that are not forced. */
    boolean hasUnforced() {
        return forced < newest();
    }

    /** Forces what is written, and says so to the start that wrote it. */
    void force() {
        if (hasUnforced()) {
            forced = newest();
            current.listener.moved(Finals.turns(forced));
        }
    }

    @Override
    public void steps(List<BooleanSupplier> possible) {
        if (hasUnforced()) {
            possible.add(
                    () -> {
                        force();
                        return true;
                    });
        }
    }

    @Override
    public MemoryDisk disk() {
        return this;
    }

    @Override
    public void finishAll() {
        force();
    }

    /** The newest turn that is written. */
    @Override
    public long newest() {
        return baseTurn + turns.size();
    }

    /** One start's view; a start before has none any more. */
    private final class OfStart implements UnboundedGuard {

        private final Incarnation mine;
        private final OutboxFiles outbox;
        private Listener listener;

        OfStart(Incarnation mine) {
            this.mine = mine;
            outbox =
                    new OutboxFiles(
                            files,
                            Path.of("memory"),
                            mine,
                            it -> starts.contains(it) || before.contains(it),
                            OUTBOX_FILE_BYTES);
        }

        private void throwUnlessCurrent() {
            if (current != this) {
                throw new IllegalStateException(
                        "incarnation "
                                + mine.number()
                                + " crashed, and still uses its disk: the test kit is broken");
            }
        }

        @Override
        public Traits traits() {
            return Traits.of(formers.isEmpty() ? mine.birth() : formers.get(0));
        }

        @Override
        public void confirm() {
            // No head names it.
        }

        @Override
        public void withdraw() {
            starts.remove(mine);
        }

        @Override
        public Start recover(Recovery into) throws IOException {
            throwUnlessCurrent();
            Base.SectionReader all = outbox.beside(into);
            for (Map.Entry<String, ByteArrayOutputStream> section : base.entrySet()) {
                all.section(
                        section.getKey(),
                        new ByteArrayInputStream(section.getValue().toByteArray()));
            }
            outbox.cut();
            for (int index = 0; index < turns.size(); index++) {
                into.turn(
                        baseTurn + 1 + index, ByteBuffer.wrap(turns.get(index)).asReadOnlyBuffer());
            }
            return new Start(starts, formers, Set.of(), newest());
        }

        @Override
        public void begin(Listener hears) {
            listener = hears;
        }

        @Override
        public void done(Done turn) {
            throwUnlessCurrent();
            if (turn.turn() != newest() + 1) {
                throw new IllegalArgumentException(
                        "turn " + (newest() + 1) + " comes next, not " + turn.turn());
            }
            turns.add(DeltaFormat.bytes(turn.delta(), turn.changes()));
        }

        @Override
        public long bytesNotFinal() {
            return bytes((int) (forced - baseTurn));
        }

        @Override
        public long bytesAboveBase() {
            return bytes(0);
        }

        private long bytes(int fromIndex) {
            long sum = 0;
            for (byte[] turn : turns.subList(fromIndex, turns.size())) {
                sum += turn.length;
            }
            return sum;
        }

        @Override
        public OutboxFiles outbox() {
            return outbox;
        }

        @Override
        public void fold(long turn, OutboxFiles.Names named, Base.Sections sections)
                throws IOException {
            throwUnlessCurrent();
            if (turn <= baseTurn || turn > forced) {
                throw new IllegalArgumentException(
                        "a base is of a turn from %s to %s, not %s"
                                .formatted(baseTurn + 1, forced, turn));
            }
            Map<String, ByteArrayOutputStream> next = new LinkedHashMap<>();
            outbox.force(named);
            OutboxFiles.with(named, sections).writeTo(name -> section(next, name));
            base = next;
            turns.subList(0, (int) (turn - baseTurn)).clear();
            baseTurn = turn;
        }

        private static OutputStream section(Map<String, ByteArrayOutputStream> all, String name) {
            ByteArrayOutputStream section = new ByteArrayOutputStream();
            if (all.putIfAbsent(name, section) != null) {
                throw new IllegalArgumentException("section " + name + " is there already");
            }
            return section;
        }

        @Override
        public void close() {
            throwUnlessCurrent();
            force();
        }
    }
}
