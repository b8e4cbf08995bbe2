package io.saucr.services.testkit;

import io.saucr.services.Protection;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import io.saucr.services.turns.UnboundedGuard;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The members of a service with standbys and their head, in memory: turns are cut into segments
 * (C1), each member receives them in order (C4), the head names a segment once enough members have
 * it (C3). A {@link #crash} takes the primary: the next start is another member, which continues
 * from what the head names (C6, C16). A write of the head that is in flight then succeeds or not.
 * Thread of the test.
 */
final class MemoryMembers implements Storage {

    /** Small, so that files come and go. */
    private static final int OUTBOX_FILE_BYTES = 1 << 10;

    private static final Path FOLDER = Path.of("memory");

    /** Turns that no segment holds yet. */
    private static final class Batch {
        final List<Delta> deltas = new ArrayList<>();
        final Changes.Joiner changes = new Changes.Joiner();

        long lastTurn() {
            return deltas.get(deltas.size() - 1).turn();
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Segment(long lastTurn, byte[] bytes) {}

    private final Protection.Standby protection;
    private final RandomGenerator random;
    private final LongSupplier steadyMillis;
    private final Birth birth;
    private final List<Incarnation> starts = new ArrayList<>();

    /** The segments above the snapshot. */
    private final List<Segment> chain = new ArrayList<>();

    private Map<String, byte[]> snapshot = new LinkedHashMap<>();
    private long snapshotTurn;

    /** How many segments there were up to the snapshot. */
    private long folded;

    /** How many segments each member has, by its index; the primary has all. */
    private final long[] has;

    private long head;

    /** The segment that a write in flight names; 0 without one. */
    private long writing;

    private int primary;
    private long cutMillis;
    private OfStart current;

    MemoryMembers(
            Protection.Standby protection, RandomGenerator random, LongSupplier steadyMillis) {
        this.protection = protection;
        this.random = random;
        this.steadyMillis = steadyMillis;
        birth = new Birth(random.nextLong(), random.nextLong());
        has = new long[protection.copies() + 1];
    }

    @Override
    public Guard start() {
        if (!starts.isEmpty()) {
            primary = successor();
        }
        current = new OfStart(new Incarnation(birth, starts.size() + 1, random.nextLong()));
        return current;
    }

    /**
     * Another member that has what the head names (C6); with one copy the same one may be alone.
     */
    private int successor() {
        List<Integer> may = new ArrayList<>();
        for (int member = 0; member < has.length; member++) {
            if (member != primary && has[member] >= head) {
                may.add(member);
            }
        }
        return may.isEmpty() ? primary : may.get(random.nextInt(may.size()));
    }

    /** Which member is primary, or was before the crash. */
    int primary() {
        return primary;
    }

    @Override
    public void crash() {
        if (writing > 0 && random.nextBoolean()) {
            head = writing;
        }
        writing = 0;
        // What the head does not name is never served (C16).
        chain.subList((int) (head - folded), chain.size()).clear();
        Arrays.setAll(has, member -> Math.min(has[member], head));
        current = null;
    }

    @Override
    public long newest() {
        return current == null || current.batches.isEmpty()
                ? lastTurn(cut())
                : current.batches.getLast().lastTurn();
    }

    private long cut() {
        return folded + chain.size();
    }

    private long lastTurn(long segment) {
        return segment == folded ? snapshotTurn : chain.get((int) (segment - folded - 1)).lastTurn;
    }

    @Override
    public MemoryDisk disk() {
        throw new IllegalStateException(
                "the members of a service with standbys have a disk each: backups and new"
                        + " generations are of services without a protection of their own in the"
                        + " test kit");
    }

    @Override
    public void steps(List<BooleanSupplier> possible) {
        if (mayCut()) {
            possible.add(this::cutOne);
        }
        for (int member = 0; member < has.length; member++) {
            int receiver = member;
            if (has[member] < cut()) {
                possible.add(() -> receive(receiver));
            }
        }
        if (writing == 0 && enoughHave() > head) {
            possible.add(
                    () -> {
                        writing = enoughHave();
                        return true;
                    });
        }
        if (writing > 0) {
            possible.add(this::named);
        }
        if (current.asked > current.proven) {
            possible.add(
                    () -> {
                        current.proven = current.asked;
                        current.listener.moved(Finals.reads(current.proven));
                        return true;
                    });
        }
    }

    private boolean mayCut() {
        return !current.batches.isEmpty()
                && protection
                        .every()
                        .map(it -> steadyMillis.getAsLong() - cutMillis >= it.toMillis())
                        .orElse(true);
    }

    private boolean cutOne() {
        Batch batch = current.batches.remove();
        chain.add(
                new Segment(
                        batch.lastTurn(),
                        DeltaFormat.bytes(Delta.join(batch.deltas), batch.changes.joined())));
        has[primary] = cut();
        cutMillis = steadyMillis.getAsLong();
        return true;
    }

    private boolean receive(int member) {
        // A snapshot comes as a whole.
        has[member] = Math.max(has[member] + 1, folded);
        return true;
    }

    /** The newest segment that so many members have as are asked for. */
    private long enoughHave() {
        long[] sorted = has.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length - protection.copies()];
    }

    private boolean named() {
        head = writing;
        writing = 0;
        current.listener.moved(Finals.turns(lastTurn(head)));
        return true;
    }

    @Override
    public void finishAll() {
        while (!current.batches.isEmpty()) {
            boolean unused = cutOne();
        }
        Arrays.fill(has, cut());
        if (head < cut()) {
            writing = cut();
            boolean unused = named();
        }
    }

    /** One epoch's view; an epoch before has none any more. */
    private final class OfStart implements UnboundedGuard {

        private final Incarnation mine;
        private final OutboxFiles outbox;
        private final ArrayDeque<Batch> batches = new ArrayDeque<>();
        private boolean closed;
        private long asked;
        private long proven;
        private Listener listener;

        OfStart(Incarnation mine) {
            this.mine = mine;
            outbox =
                    new OutboxFiles(
                            new MemoryFiles(random), FOLDER, mine, mine::equals, OUTBOX_FILE_BYTES);
        }

        private void throwUnlessCurrent() {
            if (current != this) {
                throw new IllegalStateException(
                        "epoch "
                                + mine.number()
                                + " is over, and still uses its segments: the test kit is broken");
            }
        }

        @Override
        public Traits traits() {
            return new Traits(birth, true, true, protection.leaseMillis(), true);
        }

        private List<Incarnation> incarnations() {
            List<Incarnation> all = new ArrayList<>(starts);
            if (!all.contains(mine)) {
                all.add(mine);
            }
            return all;
        }

        /** An empty segment tells this start to all that come later (K14). */
        @Override
        public void confirm() {
            starts.add(mine);
        }

        @Override
        public void withdraw() {
            // What is not named never was.
        }

        @Override
        public Start recover(Recovery into) throws IOException {
            throwUnlessCurrent();
            Base.SectionReader all = outbox.beside(into);
            for (Map.Entry<String, byte[]> section : snapshot.entrySet()) {
                all.section(section.getKey(), new ByteArrayInputStream(section.getValue()));
            }
            outbox.cut();
            for (Segment segment : chain) {
                into.turn(segment.lastTurn, ByteBuffer.wrap(segment.bytes).asReadOnlyBuffer());
            }
            return new Start(incarnations(), List.of(), Set.of(), lastTurn(cut()));
        }

        @Override
        public void begin(Listener hears) {
            listener = hears;
            cutMillis = steadyMillis.getAsLong();
        }

        @Override
        public void done(Done turn) {
            throwUnlessCurrent();
            if (turn.turn() != newest() + 1) {
                throw new IllegalArgumentException(
                        "turn " + (newest() + 1) + " comes next, not " + turn.turn());
            }
            if (beginsCheckpoint()) {
                batches.add(new Batch());
                closed = false;
            }
            Batch last = batches.getLast();
            last.deltas.add(turn.delta());
            long unused = last.changes.add(turn.changes());
        }

        @Override
        public boolean beginsCheckpoint() {
            return batches.isEmpty() || closed;
        }

        @Override
        public void prove(long read) {
            asked = read;
        }

        /** It looks as often as it has to: nobody takes over from a primary that is up. */
        @Override
        public OptionalLong officeSince() {
            return current == this
                    ? OptionalLong.of(steadyMillis.getAsLong())
                    : OptionalLong.empty();
        }

        @Override
        public long bytesNotFinal() {
            return bytes((int) (head - folded));
        }

        @Override
        public long bytesAboveBase() {
            return bytes(0);
        }

        private long bytes(int fromIndex) {
            return chain.stream().skip(fromIndex).mapToLong(it -> it.bytes.length).sum();
        }

        @Override
        public OutboxFiles outbox() {
            return outbox;
        }

        @Override
        public void due(Memory of) {
            // A snapshot is of a whole segment, which therefore ends here.
            closed = true;
        }

        @Override
        public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
                throws IOException {
            throwUnlessCurrent();
            long at = folded + 1;
            while (at < head && lastTurn(at) < turn) {
                at++;
            }
            if (at > head || lastTurn(at) != turn) {
                throw new IOException("no segment that the head names ends with turn " + turn);
            }
            Map<String, ByteArrayOutputStream> next = new LinkedHashMap<>();
            outbox.inside(files, sections)
                    .writeTo(name -> next.computeIfAbsent(name, it -> new ByteArrayOutputStream()));
            snapshot = new LinkedHashMap<>();
            next.forEach((name, bytes) -> snapshot.put(name, bytes.toByteArray()));
            chain.subList(0, (int) (at - folded)).clear();
            folded = at;
            snapshotTurn = turn;
        }

        @Override
        public void close() {
            throwUnlessCurrent();
            finishAll();
        }
    }
}
