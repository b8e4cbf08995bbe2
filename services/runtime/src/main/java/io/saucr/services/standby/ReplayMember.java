package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.BadTraceException;
import io.saucr.services.core.replay.Barrier;
import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.core.replay.TraceSegment;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.Disk;
import io.saucr.services.replay.LaneHandler;
import io.saucr.services.replay.LaneSnapshot;
import io.saucr.services.replay.LaneState;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of a service whose handlers run in lanes: it replays the segments that the head names,
 * and as primary it records. Head, segments, folders and links are those of standbys (X4).
 *
 * <p>A member whose handler differs stores segments until it has loaded a snapshot of the primary
 * (X14). A snapshot copies the state while lanes stand at the quiet cut.
 */
final class ReplayMember implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ReplayMember.class);

    /** So long requests that are open may take to end before another member continues them. */
    private static final Duration DRAIN = Duration.ofSeconds(1);

    /** So long a query waits until this member's state is new enough, and looks so often. */
    private static final Duration QUERY_PATIENCE = Duration.ofSeconds(10);

    private static final long QUERY_LOOK_MILLIS = 2;

    private static final int SEGMENT_BYTES = 1 << 20;

    private static final String SECTION = "lanes";

    /** Of segments that are in memory and not replayed; more stay on disk. */
    private static final long MOST_BYTES_BEHIND = 16L << 20;

    /**
     * What a member is made of.
     *
     * @param halt hears that it must not continue, and is to close it then
     */
    record Parts(
            Disk disk,
            Path folder,
            ServicePath path,
            String name,
            int copies,
            boolean strict,
            boolean fast,
            LaneCode code,
            Function<LaneState, LaneHandler> constructor,
            NetOptions net,
            Address at,
            Fronts fronts,
            Halt halt) {}

    /** Opens where clients meet a primary. */
    @FunctionalInterface
    interface Fronts {

        /**
         * Listens.
         *
         * @param proofs gives proofs that this member is primary after the call (C8)
         * @return empty if nobody is to reach it
         * @throws IOException if port or keys can not be used; says what to do
         */
        Optional<LaneFront> open(ReplayedLanes lanes, Supplier<CompletableFuture<Void>> proofs)
                throws IOException;
    }

    /** A quiet cut as of which a snapshot is to be written. */
    private record Mark(SegmentId at, List<Incarnation> starts) {}

    /** A snapshot that waits until the head names its segment. */
    private record Waiting(long turn, LaneSnapshot snapshot) {}

    private final Parts parts;
    private final Membership membership;
    private volatile Optional<ReplayedLanes> serving = Optional.empty();
    private volatile Optional<Trace> filling = Optional.empty();
    private volatile Optional<Supplier<CompletableFuture<Void>>> proofs = Optional.empty();
    private volatile Optional<LaneFront> front = Optional.empty();
    private volatile Measures measures = Measures.NONE;

    private ReplayMember(Parts parts) {
        this.parts = parts;
        membership =
                new Membership(
                        new Membership.Parts(
                                parts.disk(),
                                parts.folder(),
                                parts.path(),
                                parts.name(),
                                parts.net(),
                                parts.at(),
                                Membership.rules(parts.copies(), parts.strict(), parts.fast(), 0),
                                0,
                                // Snapshots are of quiet cuts, not of a number of bytes.
                                Long.MAX_VALUE,
                                SEGMENT_BYTES,
                                SEGMENT_BYTES,
                                Optional.of(parts.code()),
                                parts.halt()),
                        new Lives());
    }

    /**
     * Starts a member; returns once it follows or is primary. Nothing runs, and nothing is held, if
     * that fails.
     *
     * @throws IOException if folder or port can not be used
     * @throws ServiceException if the head is not for this folder
     */
    static ReplayMember start(Parts parts) throws IOException, InterruptedException {
        ReplayMember member = new ReplayMember(parts);
        boolean done = false;
        try {
            member.membership.open();
            member.membership.begin(Optional.empty());
            member.membership.awaitStart();
            done = true;
            return member;
        } finally {
            if (!done) {
                member.close();
            }
        }
    }

    // ---- lives, on a thread of their own

    private void live(Replicated life) throws InterruptedException {
        Trace trace = new Trace(life);
        life.replays(trace);
        filling = Optional.of(trace);
        if (life.isOver()) {
            trace.over("it ended before it began");
        }
        Optional<LaneFront> opened = Optional.empty();
        try {
            Guard.Start start = life.recover(trace);
            ReplayedLanes lanes = trace.lanes();
            takeOver(lanes);
            Naming naming = new Naming(life, lanes, start.newestTurn());
            // Before clients ask: else a proof could come before anybody hears of it.
            life.begin(naming);
            opened = parts.fronts().open(lanes, naming::prove);
            opened.ifPresent(it -> membership.member().serves(it.address()));
            life.confirm();
            TraceCuts cuts = new TraceCuts(lanes, parts.code(), start.newestTurn());
            life.cuts(cuts);
            trace.recorded.into(cuts, naming);
            front = opened;
            proofs = Optional.of(naming::prove);
            serving = Optional.of(lanes);
            if (life.needsBase()) {
                lanes.quietSoon();
            }
            life.awaitEnd();
        } catch (Replicated.EndedException e) {
            LOG.debug("{}: a life ended: {}", parts.name(), e.getMessage());
        } catch (IOException | RuntimeException e) {
            if (!membership.isClosing()) {
                membership.halt(parts.name() + " can't serve: " + e.getMessage(), e);
            }
        } finally {
            filling = Optional.empty();
            serving = Optional.empty();
            proofs = Optional.empty();
            front = Optional.empty();
            opened.ifPresent(LaneFront::close);
            if (!trace.close()) {
                membership.halt(
                        "a handler of " + parts.name() + " does not end, and its life is over",
                        null);
            }
            try {
                life.close();
            } catch (IOException e) {
                LOG.warn("{}: a life could not be closed", parts.name(), e);
            }
        }
    }

    /** A life that ends meanwhile is followed by the next one (X18). */
    private static void takeOver(ReplayedLanes lanes)
            throws Replicated.EndedException, InterruptedException {
        try {
            lanes.takeOver(ReplayedLanes.MOST_ATTEMPTS);
        } catch (ReplayedLanes.EndedException e) {
            throw new Replicated.EndedException(e.getMessage());
        }
    }

    /** A segment that was given to the lanes. */
    private record Given(long number, long bytes) {}

    /** Replays what the head names. The terms' thread, apart from what is said of others. */
    private final class Trace implements Guard.Recovery, Replicated.Progress {

        private final Replicated life;
        private final Recorded recorded;
        private volatile Optional<ReplayedLanes> lanes = Optional.empty();

        /** Why the life is over; empty text if it is not. */
        private volatile String over = "";

        // Guarded by given: what is not replayed, the oldest first; what is replayed; how many that
        // is.
        private final Deque<Given> given = new ArrayDeque<>();
        private long replayed;
        private long count;

        Trace(Replicated life) {
            this.life = life;
            recorded = new Recorded(life);
        }

        /** Lanes as of the snapshot that was read, or of the beginning. */
        ReplayedLanes lanes() {
            if (lanes.isEmpty()) {
                begin(Optional.empty());
            }
            return lanes.orElseThrow();
        }

        private void begin(Optional<LaneSnapshot> from) {
            lanes =
                    Optional.of(
                            new ReplayedLanes(
                                    parts.name(),
                                    parts.code().lanes(),
                                    parts.constructor(),
                                    recorded,
                                    from));
            if (!over.isEmpty()) {
                // It ended before it had lanes.
                lanes.orElseThrow().over(over);
            }
        }

        @Override
        public void section(String name, InputStream content) throws IOException {
            if (!name.equals(SECTION)) {
                throw new IOException(
                        "section "
                                + name
                                + " of a snapshot, and that of a trace has the section "
                                + SECTION);
            }
            begin(Optional.of(LaneSnapshot.read(content)));
        }

        @Override
        public void turn(long turn, ByteBuffer body) throws IOException {
            int bytes = body.remaining();
            try {
                TraceSegment segment = TraceCuts.decode(body, parts.code());
                if (segment.barrier() == Barrier.QUIET) {
                    recorded.marks.add(new Mark(life.applying(), life.starts()));
                }
                awaitRoom();
                synchronized (given) {
                    given.add(new Given(life.applying().number(), bytes));
                }
                lanes().follow(segment);
            } catch (BadTraceException e) {
                throw new IOException("segment of cut " + turn + ": " + e.getMessage(), e);
            }
        }

        /** What waits for its replay stays on disk, but for a bounded part of it. */
        private void awaitRoom() throws IOException {
            long until;
            synchronized (given) {
                forgetReplayed();
                long bytes = given.stream().mapToLong(Given::bytes).sum();
                if (bytes < MOST_BYTES_BEHIND) {
                    return;
                }
                until = count + (given.size() + 1) / 2;
            }
            try {
                lanes().awaitReplayed(until);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("a replay was interrupted");
            } catch (ReplayedLanes.EndedException e) {
                throw new Replicated.EndedException(e.getMessage());
            }
        }

        /** With the monitor of what is given. */
        private void forgetReplayed() {
            long now = lanes.map(ReplayedLanes::replayed).orElse(0L);
            for (; count < now; count++) {
                replayed = given.remove().number();
            }
        }

        /** Any thread. */
        @Override
        public long replayed() {
            synchronized (given) {
                forgetReplayed();
                return given.isEmpty() ? life.applied().number() : replayed;
            }
        }

        /** Any thread. */
        @Override
        public long millisBehind() {
            return lanes.map(ReplayedLanes::millisBehind).orElse(0L);
        }

        /** The life is over. The member's thread. */
        void over(String reason) {
            over = reason;
            lanes.ifPresent(it -> it.over(reason));
        }

        @Override
        public void memory(Memory of) {
            throw new IllegalStateException("nothing lived before this");
        }

        @Override
        public Memory soFar() {
            throw new IllegalStateException("snapshots of a trace are of quiet cuts");
        }

        /** Whether all lanes have ended. */
        boolean close() throws InterruptedException {
            return lanes.isEmpty() || lanes.get().close(Membership.PATIENCE);
        }
    }

    /** Hears which cuts are named, and what is proven. The member's thread; {@link #prove} any. */
    private static final class Naming implements Guard.Listener {

        private final Replicated life;
        private final ReplayedLanes lanes;
        private final Queue<Waiting> snapshots = new ConcurrentLinkedQueue<>();
        private long named;

        // Guarded by proofs: those that wait, by their number; the newest number; why it is over.
        private final TreeMap<Long, CompletableFuture<Void>> proofs = new TreeMap<>();
        private long asked;
        private String over = "";

        Naming(Replicated life, ReplayedLanes lanes, long named) {
            this.life = life;
            this.lanes = lanes;
            this.named = named;
        }

        @Override
        public void moved(Finals now) {
            while (named < now.outside()) {
                named++;
                lanes.named();
            }
            while (!snapshots.isEmpty() && snapshots.element().turn() <= named) {
                Waiting next = snapshots.remove();
                life.base(next.turn(), sections(next.snapshot()));
            }
            List<CompletableFuture<Void>> proven;
            synchronized (proofs) {
                Map<Long, CompletableFuture<Void>> done = proofs.headMap(now.reads(), true);
                proven = List.copyOf(done.values());
                done.clear();
            }
            proven.forEach(it -> it.complete(null));
        }

        /** Completes once it is proven that this member is primary after this call (C8). */
        CompletableFuture<Void> prove() {
            CompletableFuture<Void> proof = new CompletableFuture<>();
            long number;
            synchronized (proofs) {
                if (!over.isEmpty()) {
                    return CompletableFuture.failedFuture(new IllegalStateException(over));
                }
                asked++;
                number = asked;
                proofs.put(number, proof);
            }
            life.prove(number);
            return proof;
        }

        @Override
        public void over(Ending why) {
            lanes.over(why.reason());
            List<CompletableFuture<Void>> none;
            synchronized (proofs) {
                over = why.reason();
                none = List.copyOf(proofs.values());
                proofs.clear();
            }
            none.forEach(it -> it.completeExceptionally(new IllegalStateException(why.reason())));
        }
    }

    private static Base.Sections sections(LaneSnapshot snapshot) {
        return writer -> snapshot.writeTo(writer.section(SECTION));
    }

    /** Hears of the lanes of a life. */
    private final class Recorded implements ReplayedLanes.Listener {

        private final Replicated life;
        private final Queue<Mark> marks = new ConcurrentLinkedQueue<>();
        private volatile Optional<TraceCuts> cuts = Optional.empty();
        private volatile Naming naming;

        Recorded(Replicated life) {
            this.life = life;
        }

        void into(TraceCuts those, Naming with) {
            naming = with;
            cuts = Optional.of(those);
            changed();
        }

        @Override
        public void changed() {
            cuts.ifPresent(
                    it -> {
                        it.changed();
                        life.changed();
                    });
        }

        @Override
        public void quiet(LaneSnapshot snapshot) {
            if (cuts.isPresent()) {
                // The segment of this cut is the next one, and nobody has named it yet.
                long turn = cuts.get().turn() + 1;
                life.mark(turn);
                naming.snapshots.add(new Waiting(turn, snapshot));
            } else {
                Mark mark = marks.remove();
                life.base(mark.at(), mark.starts(), sections(snapshot));
            }
        }

        @Override
        public void ran(long nanos, boolean threw) {
            measures.ran(nanos);
            if (threw) {
                measures.failed();
            }
        }

        @Override
        public void becameFinal(long nanos) {
            measures.becameFinal(nanos);
        }

        @Override
        public void diverged(DivergedException e) {
            membership.member().diverged(life, e.getMessage());
        }

        @Override
        public void failed(Throwable cause) {
            membership.halt("a lane failed: " + cause, cause);
        }
    }

    /** What this member does in its lives. */
    private final class Lives implements Membership.Living {

        @Override
        public void live(Replicated life) throws InterruptedException {
            ReplayMember.this.live(life);
        }

        @Override
        public void over(Replicated life, String reason) {
            // A primary hears that itself; what replays may be waiting for its lanes.
            filling.filter(it -> it.life == life).ifPresent(it -> it.over(reason));
        }

        @Override
        public long handlerMillis() {
            return 0;
        }

        @Override
        public long blockedMillis() {
            return 0;
        }

        @Override
        public void halts(String reason) {
            filling.ifPresent(it -> it.over(reason));
        }
    }

    // ---- what people ask

    /** Lanes of the life in which this member is primary; empty if it is not. */
    Optional<ReplayedLanes> serving() {
        return serving;
    }

    /**
     * Answers a query from this member's state (X15): of a primary once all that it saw is named,
     * of a standby from what it has replayed.
     *
     * @param atLeast of a standby: a segment that is replayed to its end before
     * @throws ServiceException if the state is not there in time, or the handler fails
     */
    byte[] query(byte[] body, long atLeast) throws InterruptedException {
        long until = System.nanoTime() + QUERY_PATIENCE.toNanos();
        for (; ; ) {
            Optional<Trace> from = filling;
            Optional<ReplayedLanes> primary = serving;
            try {
                if (primary.isPresent()) {
                    byte[] answer = primary.get().query(body);
                    primary.get()
                            .awaitNamed()
                            .thenCompose(done -> prover().get())
                            .get(QUERY_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                    return answer;
                }
                if (from.isPresent()
                        && from.get().lanes.isPresent()
                        && from.get().replayed() >= atLeast) {
                    return from.get().lanes.get().query(body);
                }
            } catch (ExecutionException | TimeoutException e) {
                throw new ServiceException(
                        parts.name() + " did not stay primary while it answered a query", e);
            } catch (RuntimeException e) {
                throw new ServiceException(
                        parts.name() + " did not answer a query: " + e.getMessage(), e);
            }
            if (System.nanoTime() > until) {
                throw new ServiceException(
                        "the state of this member of "
                                + parts.name()
                                + " is as of segment "
                                + from.map(Trace::replayed).orElse(0L)
                                + " after "
                                + QUERY_PATIENCE.toSeconds()
                                + " s, and the query wants segment "
                                + atLeast
                                + " at least");
            }
            TimeUnit.MILLISECONDS.sleep(QUERY_LOOK_MILLIS);
        }
    }

    private Supplier<CompletableFuture<Void>> prover() {
        return proofs.orElseThrow(() -> new IllegalStateException("it is not primary any more"));
    }

    /** Where clients meet this member while it is primary. */
    Optional<Address> address() {
        return front.map(LaneFront::address);
    }

    /** Generation of the service; empty before it is known. */
    Optional<Birth> birth() {
        return membership.folder().birth();
    }

    /** As of which segment the newest snapshot is; 0 without one. */
    long snapshot() {
        return membership.folder().newestBase().number();
    }

    MemberStatus status() {
        return membership.member().status();
    }

    /** Hears how long requests take here, while this member is primary. */
    void measure(Measures those) {
        measures = those;
    }

    /**
     * Has another member take over: requests may end for a second, and the other member continues
     * those that do not (X9).
     *
     * @throws IllegalArgumentException if that one is not ready; says which are
     * @throws ServiceException if this member is not primary, or the successor did not come
     */
    synchronized void handOver(Optional<String> to) throws InterruptedException {
        ReplayedLanes lanes =
                serving.orElseThrow(
                        () ->
                                new ServiceException(
                                        "this member of "
                                                + parts.name()
                                                + " is not primary: give the command to the"
                                                + " primary"));
        membership.handOver(
                to,
                new Membership.Held() {
                    @Override
                    public void hold(String successor) throws InterruptedException {
                        if (!lanes.hold(DRAIN)) {
                            LOG.info(
                                    "{}: open requests continue on member {}",
                                    parts.name(),
                                    successor);
                        }
                        Optional<LaneFront> clients = front;
                        if (clients.isPresent()) {
                            clients.get().awaitAnswers();
                        }
                    }

                    @Override
                    public void resume() {
                        lanes.resume();
                    }
                });
    }

    /** Ends it at once; the head stays, as after a crash. Returns once all is closed. */
    @Override
    public void close() {
        membership.close();
    }
}
