package io.saucr.services.standby;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Restored;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.FlowControl;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A turn is final once the head names a segment that holds it. One life of a member: first a
 * standby, whose {@link #recover} applies what the head names as it comes (C16) and returns once
 * the member is primary; then the primary.
 *
 * <p>{@link #recover} and {@link #confirm} belong to the thread that opens the turns, {@link #done}
 * to the turn thread; the member's thread tells what happens.
 */
final class Replicated implements Guard, Guard.Folding, Guard.Room {

    private static final Logger LOG = LoggerFactory.getLogger(Replicated.class);

    /** With less room on the disk no inputs are taken. */
    private static final long LEAST_ROOM_BYTES = 64L << 20;

    /** What a life asks of its member. Any thread. */
    interface Member {

        /** There are turns to cut. */
        void wake();

        /** Has an empty segment named, which tells this start to all that come later (K14). */
        CompletableFuture<Void> nameStart();

        /** Wants a proof of office that begins from now on (C8). */
        void prove(long read);

        /** Of segments that were cut and no head names. */
        long bytesNotNamed();

        /** What the disk could still take. */
        long usableBytes() throws IOException;

        /** How long the last segment took from its cut until the head named it. */
        long lastCommitMicros();

        /** So long replies may leave before the head covers them (C9); 0 where they wait. */
        long leaseMillis();

        /** Since when this member was primary for certain; empty where it is not (C9). */
        OptionalLong officeSince();
    }

    /** How far the replay of what was applied is. Any thread. */
    interface Progress {

        /** The newest segment that is replayed to its end; 0 if none is. */
        long replayed();

        /** How far that is behind what was applied, in milliseconds of the primary's clock. */
        long millisBehind();
    }

    private sealed interface Order {
        record Apply(SegmentId upTo) implements Order {}

        record TakeOffice(StandbyHead head) implements Order {}

        record End(String reason) implements Order {}
    }

    /** The life ended before the member was primary. */
    static final class EndedException extends IOException {

        private static final long serialVersionUID = 1L;

        EndedException(String reason) {
            super(reason);
        }
    }

    /** So many files of the outbox at most stay open until a base is written. */
    private static final int MOST_DIRTY_FILES = 64;

    /**
     * A member reads so much in 100 to 200 ms: to look at all once more, which is what it does
     * where there is more to read, takes longer.
     */
    private static final long LITTLE_BYTES = 16L << 20;

    /** So many are read in that time however small they are. */
    private static final long FEW_SEGMENTS = 1_000;

    private final String service;
    private final Birth birth;
    private final MemberFolder folder;
    private final OutboxFiles outbox;
    private final Batches batches;
    private volatile Uncut uncut;
    private final Member member;
    private final long leastFoldBytes;
    private final ExecutorService folding;
    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private final List<Incarnation> epochs = new ArrayList<>();

    /** Of base and segments. */
    private final Set<Birth> births = new HashSet<>();

    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicBoolean writingBase = new AtomicBoolean();

    /** Writes the newest snapshot of a trace that waits for the disk; null if none does. */
    private final AtomicReference<Runnable> nextBase = new AtomicReference<>();

    private volatile SegmentId applied = SegmentId.NONE;

    /** Of the thread that recovers. */
    private SegmentId applying = SegmentId.NONE;

    /** The newest that was told to be named. */
    private volatile SegmentId told = SegmentId.NONE;

    private volatile long foldAtBytes;

    /** Of a trace: what was applied is not replayed yet. */
    private volatile Optional<Progress> replay = Optional.empty();

    private volatile Listener listener;
    private StandbyHead head;

    // Guarded by this.
    private SegmentId lastCut = SegmentId.NONE;
    private long lastCutTurn;
    private long foldTurn = -1;
    private SegmentId foldAt = SegmentId.NONE;

    /**
     * Begins a life, as a standby.
     *
     * @param birth of the service
     * @param leastFoldBytes of segments above a base at which the next is written
     * @param folding writes one base at a time
     */
    Replicated(
            String service,
            Birth birth,
            MemberFolder folder,
            OutboxFiles outbox,
            Batches batches,
            Member member,
            long leastFoldBytes,
            ExecutorService folding) {
        this.service = service;
        this.birth = birth;
        this.folder = folder;
        this.outbox = outbox;
        this.batches = batches;
        this.uncut = batches;
        this.member = member;
        this.leastFoldBytes = leastFoldBytes;
        this.foldAtBytes = leastFoldBytes;
        this.folding = folding;
    }

    /** The head names this segment, which the folder holds. */
    void apply(SegmentId upTo) {
        told = upTo;
        orders.add(new Order.Apply(upTo));
    }

    /** The member is primary: recovery ends with the segment that the head names. */
    void takeOffice(StandbyHead with) {
        orders.add(new Order.TakeOffice(with));
    }

    /** The life is over; what recovers hears it, and turns end. */
    void end(String reason) {
        orders.add(new Order.End(reason));
        Listener hears = listener;
        if (hears != null) {
            hears.over(new Ending.Deposed(reason));
        }
        over.countDown();
    }

    /**
     * Whether no base is of this birth yet: members that come after the next accepted loss take no
     * older one (C17). As primary.
     */
    boolean needsBase() {
        return head.replaces()
                .filter(it -> folder.newestBase().number() <= it.upTo().number())
                .isPresent();
    }

    /** What is applied is a trace, whose replay comes later; before {@link #recover}. */
    void replays(Progress progress) {
        replay = Optional.of(progress);
    }

    /** Has a trace cut in place of turns; behind {@link #confirm}. */
    void cuts(Uncut trace) {
        uncut = trace;
    }

    /** What is to be cut. Any thread. */
    Uncut uncut() {
        return uncut;
    }

    /** There is something to cut. Any thread. */
    void changed() {
        member.wake();
    }

    /** Whether it is over. Any thread. */
    boolean isOver() {
        return over.getCount() == 0;
    }

    /** Waits until it is over. */
    void awaitEnd() throws InterruptedException {
        over.await();
    }

    /** The newest segment that is known to be named. Any thread. */
    SegmentId told() {
        return told;
    }

    /** Up to which segment the state is applied. Any thread. */
    SegmentId applied() {
        return applied;
    }

    /**
     * Whether the state is as of this segment, or will be in a moment, as little of what the folder
     * holds is still to be read. Any thread.
     */
    boolean isWarm(SegmentId upTo) {
        // The replay of a trace may take longer than to read it (X16).
        return isRead(upTo) && FlowControl.isWarm(millisBehind());
    }

    /** How far the replay of a trace is behind what was applied, in milliseconds. Any thread. */
    long millisBehind() {
        return replay.map(Progress::millisBehind).orElse(0L);
    }

    private boolean isRead(SegmentId upTo) {
        long from = applied.number();
        if (from >= upTo.number()) {
            return true;
        }
        if (upTo.number() - from >= FEW_SEGMENTS) {
            return false;
        }
        long left =
                from == 0
                        ? folder.baseBytes() + folder.bytesAboveBase()
                        : folder.bytesBetween(from, upTo.number());
        return left < LITTLE_BYTES;
    }

    /**
     * The newest segment that was named, where the state is as of it, or will be in a moment; else
     * 0. Of a trace: the newest one that is replayed to its end. Any thread.
     */
    long warmUpTo() {
        if (replay.isPresent()) {
            return replay.get().replayed();
        }
        SegmentId upTo = told;
        return isWarm(upTo) ? upTo.number() : 0;
    }

    @Override
    public Traits traits() {
        return new Traits(birth, true, true, member.leaseMillis(), true);
    }

    /** The start that is primary. */
    Incarnation incarnation() {
        return head.holder();
    }

    private List<Incarnation> incarnations() {
        List<Incarnation> all = new ArrayList<>(epochs);
        // Those of a birth that was replaced mean nothing to peers of this one (K11).
        all.removeIf(it -> !it.birth().equals(birth));
        all.add(head.holder());
        return all;
    }

    @Override
    public void confirm() throws IOException {
        try {
            member.nameStart().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("a start of " + service + " was interrupted");
        } catch (ExecutionException e) {
            throw new EndedException(e.getCause().getMessage());
        }
    }

    @Override
    public void withdraw() {
        // What is not named never was.
    }

    private List<Birth> formers() {
        // What was done under it ends with the first turn under this one, wherever that runs (K11).
        return head.replaces().map(Replaced::birth).stream().toList();
    }

    private Set<Birth> markers() {
        // An order replaced all but the last one (C17).
        Set<Birth> former = new HashSet<>(births);
        head.replaces().map(Replaced::birth).ifPresent(former::add);
        former.remove(birth);
        return former;
    }

    @Override
    public Start recover(Recovery into) throws IOException {
        try {
            for (; ; ) {
                Order order = orders.take();
                if (order instanceof Order.End it) {
                    throw new EndedException(it.reason());
                } else if (order instanceof Order.Apply it) {
                    apply(it.upTo(), into);
                } else if (order instanceof Order.TakeOffice it) {
                    apply(it.head().segment(), into);
                    head = it.head();
                    synchronized (this) {
                        lastCut = applied;
                        lastCutTurn = head.turn();
                    }
                    return new Start(incarnations(), formers(), markers(), head.turn());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("a life of " + service + " was interrupted");
        }
    }

    private void apply(SegmentId upTo, Recovery into) throws IOException {
        if (upTo.number() <= applied.number()) {
            return;
        }
        if (applied.number() == 0) {
            Restored restored = folder.restore(upTo);
            epochs.addAll(restored.epochs());
            restored.epochs().forEach(it -> births.add(it.birth()));
            restored.sections(outbox.beside(into));
            // What waits is in base and segments: files of an earlier life are of no use.
            outbox.cut();
            applied = restored.base();
            foldAtBytes = Math.max(leastFoldBytes, folder.baseBytes());
        }
        while (applied.number() < upTo.number()) {
            apply(folder.read(applied.number() + 1), into);
        }
        boolean due = folder.bytesAboveBase() >= foldAtBytes || outbox.dirty() > MOST_DIRTY_FILES;
        if (due && writingBase.compareAndSet(false, true)) {
            Memory soFar = into.soFar();
            Base.Sections sections = outbox.inside(soFar.files(), soFar.sections());
            SegmentId at = applied;
            List<Incarnation> starts = List.copyOf(epochs);
            folding.execute(() -> writeBase(at, starts, sections));
        }
    }

    private void apply(Segment segment, Recovery into) throws IOException {
        SegmentHeader header = segment.header();
        Incarnation by = header.by();
        births.add(by.birth());
        if (!epochs.isEmpty() && !epochs.get(0).birth().equals(by.birth())) {
            // A base is of one birth (C17).
            epochs.clear();
        }
        if (epochs.isEmpty() || epochs.get(epochs.size() - 1).number() < by.number()) {
            epochs.add(by);
        }
        applying = segment.id();
        if (segment.body().hasRemaining()) {
            into.turn(header.lastTurn(), segment.body());
        }
        applied = segment.id();
    }

    private void writeBase(SegmentId at, List<Incarnation> starts, Base.Sections sections) {
        try {
            AtomicLong bytes = new AtomicLong();
            folder.base(at, starts, counting(sections, bytes));
            foldAtBytes = Math.max(leastFoldBytes, bytes.get());
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "{}: no base as of segment {} could be written; the one before stands, and"
                            + " another is tried once more turns are there",
                    service,
                    at,
                    e);
        } finally {
            writingBase.set(false);
        }
    }

    private static Base.Sections counting(Base.Sections sections, AtomicLong bytes) {
        return writer ->
                sections.writeTo(
                        section ->
                                new FilterOutputStream(writer.section(section)) {
                                    @Override
                                    public void write(int value) throws IOException {
                                        bytes.incrementAndGet();
                                        out.write(value);
                                    }

                                    @Override
                                    public void write(byte[] from, int at, int length)
                                            throws IOException {
                                        bytes.addAndGet(length);
                                        out.write(from, at, length);
                                    }
                                });
    }

    @Override
    public void begin(Listener hears) {
        listener = hears;
    }

    /** Everything up to this turn is final. The member's thread. */
    void named(long turn) {
        Listener hears = listener;
        if (hears != null) {
            hears.moved(Finals.turns(turn));
        }
    }

    /** Reads up to this one may leave (C8). The member's thread. */
    void proven(long read) {
        Listener hears = listener;
        if (hears != null) {
            hears.moved(Finals.reads(read));
        }
    }

    /** A segment was cut that ends with this turn. */
    synchronized void cut(SegmentId id, long turn) {
        lastCut = id;
        lastCutTurn = turn;
        if (turn == foldTurn) {
            foldAt = id;
        }
    }

    @Override
    public void done(Done turn) {
        if (batches.add(turn.delta(), turn.changes())) {
            member.wake();
        }
    }

    @Override
    public boolean beginsCheckpoint() {
        return batches.begins();
    }

    @Override
    public void prove(long read) {
        member.prove(read);
    }

    @Override
    public OptionalLong officeSince() {
        return over.getCount() == 0 ? OptionalLong.empty() : member.officeSince();
    }

    @Override
    public Folding folding() {
        return this;
    }

    @Override
    public Room room() {
        return this;
    }

    @Override
    public boolean isThere() throws IOException {
        return member.usableBytes() > LEAST_ROOM_BYTES;
    }

    @Override
    public boolean isScarce() throws IOException {
        return member.usableBytes() < 4 * LEAST_ROOM_BYTES;
    }

    @Override
    public long lastFsyncMicros() {
        return member.lastCommitMicros();
    }

    @Override
    public long bytesNotFinal() {
        return uncut.bytes() + member.bytesNotNamed();
    }

    @Override
    public long bytesAboveBase() {
        return folder.bytesAboveBase();
    }

    @Override
    public long baseBytes() {
        return folder.baseBytes();
    }

    @Override
    public OutboxFiles outbox() {
        return outbox;
    }

    /** The next segment that ends with this turn is kept in mind. */
    synchronized void mark(long turn) {
        foldTurn = turn;
        foldAt = lastCutTurn == turn ? lastCut : SegmentId.NONE;
    }

    /** The segment that ends with a turn that was marked; NONE if it was not cut. */
    private synchronized SegmentId marked(long turn) {
        return foldTurn == turn ? foldAt : SegmentId.NONE;
    }

    /** The segment that is being applied. What recovers. */
    SegmentId applying() {
        return applying;
    }

    /** Starts up to the segment that is being applied. What recovers. */
    List<Incarnation> starts() {
        return List.copyOf(epochs);
    }

    /**
     * Writes a snapshot that no turns lead to, later and on a thread of its own: what a trace was
     * at a quiet cut. One that fails leaves the one before it. One that still waits for its turn is
     * given up for a newer one, as each is a copy of the state.
     *
     * @param at the segment as of which it is; the head names it
     * @param starts up to that segment
     */
    void base(SegmentId at, List<Incarnation> starts, Base.Sections sections) {
        if (at.number() > folder.newestBase().number()
                && nextBase.getAndSet(() -> writeBase(at, starts, sections)) == null) {
            folding.execute(() -> nextBase.getAndSet(null).run());
        }
    }

    /** The same, as of the segment that ends with a turn that was marked. Of a primary. */
    void base(long turn, Base.Sections sections) {
        base(marked(turn), incarnations(), sections);
    }

    @Override
    public void due(Memory of) {
        // A base is of a whole segment, which therefore ends here.
        batches.end();
        mark(of.turn());
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        SegmentId at = marked(turn);
        if (at.equals(SegmentId.NONE)) {
            throw new IOException("no segment ends with turn " + turn);
        }
        // Behind one that this member began as a standby.
        Future<Void> written =
                folding.submit(
                        () -> {
                            folder.base(at, incarnations(), outbox.inside(files, sections));
                            return null;
                        });
        try {
            written.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("a base of turn " + turn + " was interrupted");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            if (e.getCause() instanceof RuntimeException failed) {
                throw failed;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public void close() throws IOException {
        end("closed");
        outbox.close();
    }
}
