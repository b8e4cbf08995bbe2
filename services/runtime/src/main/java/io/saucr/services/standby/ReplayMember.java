package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.BadTraceException;
import io.saucr.services.core.replay.Barrier;
import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.core.replay.TraceSegment;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.core.standby.Primary;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.Standby;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLinks;
import io.saucr.services.replay.LaneHandler;
import io.saucr.services.replay.LaneSnapshot;
import io.saucr.services.replay.LaneState;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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

    /** So long a handler may take to its next event once its life is over (X18). */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final long SILENT_MILLIS = 300;
    private static final long LATE_MILLIS = 1_000;

    /** The same where a standby takes the place of a disk (C15). */
    private static final long FAST_MILLIS = 100;

    /** So long requests that are open may take to end before another member continues them. */
    private static final Duration DRAIN = Duration.ofSeconds(1);

    /** So long a query waits until this member's state is new enough, and looks so often. */
    private static final Duration QUERY_PATIENCE = Duration.ofSeconds(10);

    private static final long QUERY_LOOK_MILLIS = 2;

    /** So long a successor may take. */
    private static final long HANDOVER_SECONDS = 10;

    private static final int SEGMENT_BYTES = 1 << 20;

    private static final String SECTION = "lanes";

    /** Of segments that are in memory and not replayed; more stay on disk. */
    private static final long MOST_BYTES_BEHIND = 16L << 20;

    /**
     * What a member is made of.
     *
     * @param halt hears that it must not go on, and is to close it then
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
    private final SecureRandom random = new SecureRandom();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final BlockingQueue<Replicated> lives = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private volatile boolean closing;
    private volatile Optional<ReplayedLanes> serving = Optional.empty();
    private volatile Optional<Trace> filling = Optional.empty();
    private volatile Optional<Supplier<CompletableFuture<Void>>> proofs = Optional.empty();
    private volatile Optional<LaneFront> front = Optional.empty();
    private volatile CompletableFuture<Void> handing;
    private volatile Measures measures = Measures.NONE;
    private MemberFolder folder;
    private Member member;
    private Thread terms;

    private ReplayMember(Parts parts) {
        this.parts = parts;
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
            member.begin();
            member.awaitStart();
            done = true;
            return member;
        } finally {
            if (!done) {
                member.close();
            }
        }
    }

    private void begin() throws IOException {
        folder = MemberFolder.open(parts.disk(), parts.folder(), parts.name(), random);
        opened.push(folder);
        Store store =
                new Store(
                        parts.name(),
                        folder,
                        parts.fast(),
                        cause ->
                                halt(
                                        "the folder "
                                                + parts.folder()
                                                + " failed; mend the disk, then start again",
                                        cause));
        opened.push(store);
        ScheduledExecutorService thread = threads("member " + parts.name());
        ScheduledExecutorService reading = threads("reading " + parts.name());
        ScheduledExecutorService folding = threads("bases " + parts.name());
        long nonce = random.nextLong();
        member =
                new Member(
                        new Member.Parts(
                                parts.name(),
                                folder.member(),
                                nonce,
                                folder,
                                new Primary.Rules(
                                        parts.copies(),
                                        parts.strict(),
                                        parts.fast(),
                                        parts.fast() ? FAST_MILLIS : SILENT_MILLIS,
                                        parts.fast() ? FAST_MILLIS : LATE_MILLIS,
                                        0),
                                Standby.Rules.standard(),
                                0,
                                // Snapshots are of quiet cuts, not of a number of bytes.
                                Long.MAX_VALUE,
                                SEGMENT_BYTES,
                                () -> parts.disk().usableBytes(parts.folder()),
                                this::outbox,
                                () -> new Birth(random.nextLong(), random.nextLong()),
                                thread,
                                reading,
                                folding,
                                Optional.empty(),
                                Optional.of(parts.code())),
                        store,
                        new OfMember());
        MemberLinks links =
                MemberLinks.open(
                        Transport.shared(),
                        parts.net(),
                        new MemberFrame.Hello(
                                parts.name(),
                                folder.birth(),
                                folder.member(),
                                nonce,
                                MemberLinks.FORMAT),
                        member,
                        thread,
                        member::heartbeat);
        opened.push(links);
        Address at = links.listen(parts.at());
        StandbyNode node =
                new StandbyNode(parts.path(), folder.member(), at.toString(), thread, member);
        opened.push(node);
        terms = new Thread(this::runTerms, "terms " + parts.name());
        terms.setDaemon(true);
        terms.start();
        member.begin(node, links, at.toString());
    }

    private void awaitStart() throws InterruptedException {
        try {
            started.get();
        } catch (ExecutionException e) {
            throw new ServiceException(
                    parts.name() + " does not start: " + e.getCause().getMessage(), e.getCause());
        }
    }

    private ScheduledExecutorService threads(String name) {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        1,
                        task -> {
                            Thread thread = new Thread(task, name);
                            thread.setDaemon(true);
                            return thread;
                        });
        executor.setRemoveOnCancelPolicy(true);
        opened.push(executor::shutdownNow);
        return executor;
    }

    private OutboxFiles outbox(Birth birth) {
        Incarnation start = new Incarnation(birth, 1, random.nextLong());
        return new OutboxFiles(parts.disk(), parts.folder(), start, start::equals, SEGMENT_BYTES);
    }

    // ---- lives, on a thread of their own

    private void runTerms() {
        try {
            while (!closing) {
                live(lives.take());
            }
        } catch (InterruptedException e) {
            LOG.debug("{}: closed", parts.name());
        }
    }

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
            opened.ifPresent(it -> member.serves(it.address()));
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
            if (!closing) {
                halt(parts.name() + " can't serve: " + e.getMessage(), e);
            }
        } finally {
            filling = Optional.empty();
            serving = Optional.empty();
            proofs = Optional.empty();
            front = Optional.empty();
            opened.ifPresent(LaneFront::close);
            if (!trace.close()) {
                halt("a handler of " + parts.name() + " does not end, and its life is over", null);
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
            return lanes.isEmpty() || lanes.get().close(PATIENCE);
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
            member.diverged(life, e.getMessage());
        }

        @Override
        public void failed(Throwable cause) {
            halt("a lane failed: " + cause, cause);
        }
    }

    /** Ends the service: nothing leaves it after this. Any thread. */
    private void halt(String reason, Throwable cause) {
        parts.halt().halt(reason, cause);
        if (!started.completeExceptionally(new ServiceException(reason, cause))) {
            filling.ifPresent(it -> it.over(reason));
        }
    }

    /** On the member's thread. */
    private final class OfMember implements Member.Lives {

        @Override
        public void begin(Replicated life) {
            lives.add(life);
            started.complete(null);
        }

        @Override
        public void over(Replicated life, String reason) {
            // A primary hears that itself; what replays may be waiting for its lanes.
            filling.filter(it -> it.life == life).ifPresent(it -> it.over(reason));
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.complete(null);
            }
        }

        @Override
        public void notHanded(String to) {
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.completeExceptionally(
                        new ServiceException("member " + to + " was not there to take over"));
            }
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
        public void refused(String reason) {
            if (!started.completeExceptionally(new ServiceException(reason))) {
                halt(parts.name() + " must not go on: " + reason, null);
            }
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
        return folder.birth();
    }

    /** As of which segment the newest snapshot is; 0 without one. */
    long snapshot() {
        return folder.newestBase().number();
    }

    MemberStatus status() {
        return member.status();
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
        CompletableFuture<Void> done = new CompletableFuture<>();
        handing = done;
        boolean handed = false;
        try {
            // Requests begin until somebody could handle them in this member's place.
            String successor =
                    member.successor(to).orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            if (!lanes.hold(DRAIN)) {
                LOG.info("{}: open requests continue on member {}", parts.name(), successor);
            }
            Optional<LaneFront> clients = front;
            if (clients.isPresent()) {
                clients.get().awaitAnswers();
            }
            member.handOver(successor).join();
            done.orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            handed = true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(
                    parts.name() + " was not handed over: " + e.getCause().getMessage(), e);
        } finally {
            handing = null;
            if (!handed) {
                lanes.resume();
            }
        }
    }

    /** Ends it at once; the head stays, as after a crash. Returns once all is closed. */
    @Override
    public void close() {
        closing = true;
        synchronized (opened) {
            if (opened.isEmpty()) {
                return;
            }
            if (member != null) {
                member.close();
            }
            if (terms != null) {
                terms.interrupt();
                awaitTerms();
            }
            while (!opened.isEmpty()) {
                try {
                    opened.pop().close();
                } catch (Exception e) {
                    LOG.warn("{}: not everything could be closed", parts.name(), e);
                }
            }
        }
    }

    private void awaitTerms() {
        try {
            terms.join(PATIENCE.plusSeconds(1).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
