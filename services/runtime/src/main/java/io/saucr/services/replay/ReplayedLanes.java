package io.saucr.services.replay;

import io.saucr.services.core.replay.BadTraceException;
import io.saucr.services.core.replay.Barrier;
import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.core.replay.FlowControl;
import io.saucr.services.core.replay.LaneEvent;
import io.saucr.services.core.replay.LockWaits;
import io.saucr.services.core.replay.LockWaits.Waiting;
import io.saucr.services.core.replay.QuietCuts;
import io.saucr.services.core.replay.Recording;
import io.saucr.services.core.replay.Replay;
import io.saucr.services.core.replay.Replay.Step;
import io.saucr.services.core.replay.Replay.What;
import io.saucr.services.core.replay.Requests;
import io.saucr.services.core.replay.Requests.Verdict;
import io.saucr.services.core.replay.TraceSegment;
import io.saucr.services.core.replay.TurnRecord;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One life of a member whose handlers run in lanes: it replays segments, and after {@link
 * #takeOver} it records. The monitor of this object serializes what X1 calls the turn thread:
 * requests begin and end with it, and cuts are made with it. Events that are recorded do not need
 * it.
 *
 * <p>Any thread. A thread that holds the monitor takes no other one but that of {@link Replay}'s
 * data; a thread with the monitor of a lock may take this one.
 */
public final class ReplayedLanes {

    /** Said to a lane: it throws {@link HandlerKilledError}. */
    static final int DIES = -2;

    /** Of a request's records in a trace, apart from its body; roughly. */
    private static final long BYTES_OF_A_REQUEST = 64;

    /** So often it is looked whether all requests were answered. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** So many primaries may run a request (X11). */
    public static final int MOST_ATTEMPTS = 5;

    /** A reply. {@code bytes} is not to be changed. */
    @SuppressWarnings("ArrayRecordComponent") // Not compared.
    public record Reply(long number, boolean threw, byte[] bytes) {}

    /** Hears what happens. With the monitor, so it must not wait. */
    public interface Listener {

        /** There is something to cut. */
        void changed();

        /**
         * All lanes stand at a quiet cut, which is a segment of its own: the one that {@link #cut}
         * is about to return, or one that was followed (X13).
         */
        void quiet(LaneSnapshot snapshot);

        /**
         * A request that is recorded here has ended.
         *
         * @param nanos since it began
         * @param threw whether its handler threw, or was killed
         */
        void ran(long nanos, boolean threw);

        /**
         * The head names the end of a request.
         *
         * @param nanos since it began
         */
        void becameFinal(long nanos);

        /** A handler of this member did something else than the primary's (X14). */
        void diverged(DivergedException e);

        /** The process must end: memory or stack did not suffice, or there is a defect. */
        void failed(Throwable cause);
    }

    /** The life ended while a call waited. */
    public static final class EndedException extends IllegalStateException {

        private static final long serialVersionUID = 1L;

        EndedException(String reason) {
            super(reason);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(ReplayedLanes.class);

    @SuppressWarnings("ArrayRecordComponent") // Not compared.
    private record Asked(long sender, long number, byte[] body, CompletableFuture<Reply> reply) {}

    /** A reply that leaves once the head names a record. */
    private record Answer(long record, Reply reply, CompletableFuture<Reply> to) {}

    /** Waits until the head names as many cuts of this life. */
    private record Waiter(long cuts, CompletableFuture<Void> done) {}

    /** A request that has ended and is not final. */
    private record Ended(long record, long begunNanos) {}

    private static final HexFormat HEX = HexFormat.of();

    private final LaneState state;
    private final LaneHandler handler;
    private final Listener listener;
    private final IntConsumer pace;
    private final LongSupplier clock;
    private final Requests requests;
    private final Replay replay;
    private final Lane[] lanes;
    private final Object circles = new Object();
    private final Map<Long, Reply> replies = new TreeMap<>();
    private final Map<Long, Long> records = new HashMap<>();

    /** By sender: wait until their requests begin, or for the end of those that are open. */
    private final Map<Long, List<Asked>> asked = new HashMap<>();

    /** Of these, what begins once there is a lane, the oldest first. */
    private final Deque<Asked> waiting = new ArrayDeque<>();

    /** For each segment that is not replayed: when the newest request in it or before began. */
    private final Deque<Long> begun = new ArrayDeque<>();

    /** Segments whose {@link #begun} was removed, the newest such time, and the newest of all. */
    private long counted;

    private long replayedMillis;
    private long newestMillis;

    /** Of each cut that is not named, the oldest first; of what is not cut; of both. */
    private final Deque<Long> cutBytes = new ArrayDeque<>();

    private final List<Waiter> waiters = new ArrayList<>();
    private long cutsMade;
    private long cutsNamed;
    private long uncutBytes;
    private long bytesNotFinal;
    private long followersMillisBehind;

    private final Deque<Ended> ended = new ArrayDeque<>();
    private final Map<Long, Long> begunNanos = new HashMap<>();
    private final List<Answer> answers = new ArrayList<>();
    private final SecureRandom seeds = new SecureRandom();
    private volatile String over = "";

    /** Whether nothing is cut any more, as another member is to take over. */
    private volatile boolean held;

    /** Whether no request begins, for the same reason. */
    private boolean drains;

    private Recording recording;
    private QuietCuts quiet;
    private long nowMillis;

    /**
     * A life as of a quiet cut, or of the beginning of the trace.
     *
     * @param name of threads
     * @param lanes from 1 to 64
     * @param constructor declares locks and collections, and gives what handles requests
     * @param from the state; empty at the beginning
     * @throws IllegalArgumentException if the snapshot has a map that is not declared, or not so;
     *     says which
     */
    public ReplayedLanes(
            String name,
            int lanes,
            Function<LaneState, LaneHandler> constructor,
            Listener listener,
            Optional<LaneSnapshot> from) {
        this(
                name,
                lanes,
                constructor,
                listener,
                from,
                lane -> {},
                () -> System.nanoTime() / 1_000_000);
    }

    /**
     * The same.
     *
     * @param pace called by a lane before each event, so that tests choose schedules
     * @param clock milliseconds, for quiet cuts
     */
    ReplayedLanes(
            String name,
            int lanes,
            Function<LaneState, LaneHandler> constructor,
            Listener listener,
            Optional<LaneSnapshot> from,
            IntConsumer pace,
            LongSupplier clock) {
        this.listener = listener;
        this.pace = pace;
        this.clock = clock;
        requests =
                from.map(it -> new Requests(lanes, it.consumed(), it.newest()))
                        .orElseGet(() -> new Requests(lanes));
        state = new LaneState(lanes);
        handler = constructor.apply(state);
        state.seal();
        from.ifPresent(this::restore);
        replay = new Replay(requests, state.resources());
        this.lanes = new Lane[lanes + 1];
        for (int lane = 1; lane <= lanes; lane++) {
            this.lanes[lane] = new Lane(this, lane, name + " lane " + lane);
        }
        for (int lane = 1; lane <= lanes; lane++) {
            this.lanes[lane].start();
        }
    }

    private void restore(LaneSnapshot from) {
        from.maps().forEach(state::restore);
        replies.putAll(from.replies());
        nowMillis = from.nowMillis();
    }

    /** The state; with the monitor, while no request is open. */
    private LaneSnapshot snapshot() {
        return new LaneSnapshot(
                requests.newest(), nowMillis, new TreeMap<>(replies), state.content());
    }

    // ---- following

    /**
     * Replays the next segment that the head names; returns at once.
     *
     * @throws BadTraceException if it does not continue the trace; this life is of no use then
     */
    public synchronized void follow(TraceSegment segment) throws BadTraceException {
        if (!over.isEmpty()) {
            return;
        }
        replay.append(segment);
        for (TurnRecord turn : segment.turns()) {
            if (turn instanceof Begin begin) {
                newestMillis = Math.max(newestMillis, begin.nowMillis());
                // Nothing came before the first request.
                replayedMillis = replayedMillis == 0 ? begin.nowMillis() : replayedMillis;
            }
        }
        begun.add(newestMillis);
        moved();
    }

    /**
     * How far the replay is behind what it was given: the time on the primary from the newest
     * request of what is replayed to the newest one of all, in milliseconds (X16).
     */
    public synchronized long millisBehind() {
        for (; counted < replay.replayed(); counted++) {
            replayedMillis = begun.remove();
        }
        return begun.isEmpty() ? 0 : newestMillis - replayedMillis;
    }

    /** How many segments are replayed to their ends. */
    public synchronized long replayed() {
        return replay.replayed();
    }

    /**
     * Waits until that many segments are replayed to their ends (X15).
     *
     * @throws EndedException if the life ends before
     */
    public synchronized void awaitReplayed(long segments) throws InterruptedException {
        while (replay.replayed() < segments) {
            throwIfOver();
            wait();
        }
    }

    private void throwIfOver() {
        if (!over.isEmpty()) {
            throw new EndedException(over);
        }
    }

    /** The replay has moved: does what the turn thread can do, and wakes lanes. */
    private void moved() {
        try {
            for (TurnRecord turn = replay.turn(); ; turn = replay.turn()) {
                if (turn != null) {
                    turn(turn);
                } else if (replay.barrier() != Barrier.NONE) {
                    if (replay.barrier() == Barrier.QUIET) {
                        listener.quiet(snapshot());
                    }
                    replay.passBarrier();
                } else {
                    break;
                }
            }
        } catch (DivergedException e) {
            diverged(e);
        }
        notifyAll();
    }

    private void turn(TurnRecord turn) {
        if (turn instanceof Begin begin) {
            // What this member begins as primary is no earlier.
            nowMillis = Math.max(nowMillis, begin.nowMillis());
            replay.turnDone(false);
            lanes[begin.lane()].begin(begin);
        } else if (turn instanceof End end) {
            Lane lane = lanes[requests.open(end.request()).lane()];
            replay.turnDone(lane.threw());
            ended(lane);
        } else {
            replay.turnDone(false);
        }
    }

    private Reply ended(Lane lane) {
        Begin request = lane.request();
        Reply reply = new Reply(request.number(), lane.threw(), lane.reply());
        replies.put(request.sender(), reply);
        lane.consumed();
        return reply;
    }

    /**
     * This member is primary: waits until all of the trace is replayed, and records from there. The
     * next cut is the first segment of its epoch, which the head is to name before any handler
     * continues (X9).
     *
     * @param mostAttempts requests that as many primaries have run are killed (X11)
     * @throws EndedException if the life ends before
     */
    public synchronized void takeOver(int mostAttempts) throws InterruptedException {
        while (!replay.isAtCut()) {
            throwIfOver();
            wait();
        }
        throwIfOver();
        recording = replay.takeOver(mostAttempts);
        quiet = new QuietCuts(clock.getAsLong());
        for (int lane = 1; lane < lanes.length; lane++) {
            if (lanes[lane].hasEnded()) {
                consume(lanes[lane]);
            }
        }
        notifyAll();
        listener.changed();
    }

    // ---- recording

    /**
     * Has a request handled, once (X10).
     *
     * @param sender its channel
     * @param number in the channel, from 1 without gaps
     * @param body not to be changed
     * @return completes once the head names the end of the request (X5). Fails with {@link
     *     IllegalStateException} if this member is not primary, and with {@link
     *     IllegalArgumentException} if a newer request of the sender was consumed
     */
    public CompletableFuture<Reply> ask(long sender, long number, byte[] body) {
        Asked request = new Asked(sender, number, body, new CompletableFuture<>());
        synchronized (this) {
            if (recording == null || !over.isEmpty()) {
                request.reply.completeExceptionally(
                        new IllegalStateException(
                                over.isEmpty() ? "this member is not primary" : over));
            } else if (!hasAnswer(request)) {
                asked.computeIfAbsent(sender, it -> new ArrayList<>(1)).add(request);
                beginWaiting();
            }
        }
        deliver();
        return request.reply;
    }

    /** The number of a channel's next request. */
    public synchronized long nextNumber(long sender) {
        return requests.nextNumber(sender);
    }

    /** Whether a request has its answer; else it waits for its begin or its end. */
    private boolean hasAnswer(Asked request) {
        switch (requests.offer(request.sender, request.number)) {
            case BEGIN, NO_LANE -> {
                waiting.add(request);
                return false;
            }
            case CONSUMED -> {
                Reply reply = replies.get(request.sender);
                if (reply.number() == request.number) {
                    // What was replayed is named; the first segment shows that this is primary.
                    long record = records.getOrDefault(request.sender, 0L);
                    answers.add(new Answer(record, reply, request.reply));
                } else {
                    request.reply.completeExceptionally(
                            new IllegalArgumentException(
                                    "sender %d has asked number %d, and asks %d again"
                                            .formatted(
                                                    request.sender,
                                                    reply.number(),
                                                    request.number)));
                }
                return true;
            }
            default -> {
                return false;
            }
        }
    }

    private boolean mayBegin() {
        return !drains
                && quiet.mayBegin(clock.getAsLong())
                && FlowControl.mayBegin(bytesNotFinal, followersMillisBehind);
    }

    private void begin(Asked request) {
        long bytes = BYTES_OF_A_REQUEST + request.body.length;
        uncutBytes += bytes;
        bytesNotFinal += bytes;
        nowMillis = Math.max(nowMillis, System.currentTimeMillis());
        Begin begin =
                recording.begin(
                        request.sender, request.number, nowMillis, seeds.nextLong(), request.body);
        begunNanos.put(begin.request(), System.nanoTime());
        lanes[begin.lane()].begin(begin);
        notifyAll();
        listener.changed();
    }

    /** The handler in a lane that records has ended: its request is consumed. With the monitor. */
    void consume(Lane lane) {
        long sender = lane.request().sender();
        long request = lane.request().request();
        Reply reply = ended(lane);
        long record = recording.end(request, reply.threw(), new byte[0]);
        records.put(sender, record);
        // One that began on another member has no time here.
        Long begun = begunNanos.remove(request);
        if (begun != null) {
            ended.add(new Ended(record, begun));
            listener.ran(System.nanoTime() - begun, reply.threw());
        }
        offerAgain(sender);
        beginWaiting();
        listener.changed();
    }

    /** A request of a sender has ended: another one may begin. */
    private void offerAgain(long sender) {
        List<Asked> all = asked.getOrDefault(sender, List.of());
        if (!all.isEmpty()) {
            all.removeIf(this::hasAnswer);
            if (all.isEmpty()) {
                asked.remove(sender);
            }
        }
    }

    private void beginWaiting() {
        while (!waiting.isEmpty() && requests.open().size() < requests.lanes() && mayBegin()) {
            Asked next = waiting.remove();
            // It may have begun: its sender asked twice.
            if (requests.offer(next.sender, next.number) == Verdict.BEGIN) {
                begin(next);
            }
        }
    }

    /**
     * Cuts what was recorded since the last cut; empty if that is nothing. A quiet cut comes first,
     * if one is due and no request is open.
     */
    public synchronized Optional<TraceSegment> cut() {
        if (recording == null || !over.isEmpty() || held) {
            return Optional.empty();
        }
        if (!quiet.drains() || !recording.isQuiet()) {
            return cutSegment();
        }
        recording.restartQuietly();
        quiet.cutQuietly(clock.getAsLong());
        // The barrier alone, so that the state behind that segment is the one before it.
        Optional<TraceSegment> barrier = cutSegment();
        listener.quiet(snapshot());
        beginWaiting();
        return barrier;
    }

    private Optional<TraceSegment> cutSegment() {
        Optional<TraceSegment> segment = recording.cut();
        if (segment.isPresent()) {
            cutsMade++;
            cutBytes.add(uncutBytes);
            uncutBytes = 0;
        }
        return segment;
    }

    /** The segment of the newest {@link #cut} has so many bytes. */
    public synchronized void recorded(long bytes) {
        quiet.recorded(bytes);
        bytesNotFinal += bytes - cutBytes.removeLast();
        cutBytes.add(bytes);
    }

    /** Asks for a quiet cut as soon as no request is open; of a primary. */
    public synchronized void quietSoon() {
        if (recording != null) {
            quiet.ask();
            look();
        }
    }

    /**
     * Time went by: requests are held back for a quiet cut or for followers, or begin again. To be
     * called a few times in each second, on a primary.
     *
     * @param millisBehind so far the fastest follower is behind with its replay (X16)
     */
    public synchronized void tick(long millisBehind) {
        followersMillisBehind = millisBehind;
        look();
    }

    /** What may begin now begins, or the quiet cut is made that nothing hinders any more. */
    private void look() {
        if (recording == null || !over.isEmpty()) {
            return;
        }
        if (mayBegin()) {
            beginWaiting();
        } else if (quiet.drains() && recording.isQuiet()) {
            listener.changed();
        }
    }

    /** The head names the oldest cut that was not named: replies leave. */
    public void named() {
        synchronized (this) {
            recording.named();
            cutsNamed++;
            bytesNotFinal -= cutBytes.remove();
            while (!ended.isEmpty() && recording.isNamed(ended.element().record())) {
                listener.becameFinal(System.nanoTime() - ended.remove().begunNanos());
            }
            if (over.isEmpty()) {
                beginWaiting();
            }
            notifyAll();
        }
        deliver();
    }

    /** Lets replies leave whose ends are named. Holds no monitor: what waits for them runs here. */
    private void deliver() {
        List<Answer> leave = new ArrayList<>();
        List<Waiter> done = new ArrayList<>();
        synchronized (this) {
            waiters.removeIf(it -> it.cuts <= cutsNamed && done.add(it));
            for (Iterator<Answer> all = answers.iterator(); all.hasNext(); ) {
                Answer answer = all.next();
                if (recording.isNamed(answer.record)) {
                    leave.add(answer);
                    all.remove();
                }
            }
        }
        leave.forEach(it -> it.to.complete(it.reply));
        done.forEach(it -> it.done.complete(null));
    }

    // ---- queries

    /**
     * Answers a query from the state as it is, on this thread, which is no lane (X15). On a primary
     * the answer may leave once {@link #awaitNamed} is done.
     *
     * @throws RuntimeException if the handler throws it
     * @throws IllegalStateException if the life is over
     */
    public byte[] query(byte[] body) {
        try {
            checkOver();
            return handler.query(body);
        } catch (LifeOverError | StackOverflowError e) {
            throw new IllegalStateException("the query was not answered: " + e.getMessage(), e);
        }
    }

    /**
     * Completes once the head names all that was recorded before this call; fails with {@link
     * IllegalStateException} if this member is not primary.
     */
    public CompletableFuture<Void> awaitNamed() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (this) {
            if (recording == null || !over.isEmpty()) {
                done.completeExceptionally(
                        new IllegalStateException(
                                over.isEmpty() ? "this member is not primary" : over));
            } else {
                // What was seen was published before its lock was released (X2).
                boolean cut = recording.isCut();
                waiters.add(new Waiter(cut ? cutsMade : cutsMade + 1, done));
                if (!cut) {
                    listener.changed();
                }
            }
        }
        deliver();
        return done;
    }

    // ---- handing over

    /**
     * Another member is to take over: no request begins, and those that are open may end and be
     * answered for a while. Then nothing is cut any more. What lanes do from then on was never
     * recorded; the other member continues at the last cut (X9).
     *
     * @return whether all open requests have ended and were answered
     * @see #resume
     */
    public boolean hold(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        synchronized (this) {
            drains = true;
            while (recording != null && over.isEmpty() && !isAnswered()) {
                long left = until - System.nanoTime();
                if (left <= 0) {
                    break;
                }
                TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
            }
            held = true;
            return isAnswered();
        }
    }

    private boolean isAnswered() {
        return recording != null
                && recording.requests().open().isEmpty()
                && answers.isEmpty()
                && waiters.isEmpty();
    }

    /** The other member did not take over: requests begin, and what was recorded is cut. */
    public synchronized void resume() {
        held = false;
        drains = false;
        listener.changed();
        look();
    }

    /** Whether nothing is cut any more. Any thread. */
    public boolean isHeld() {
        return held;
    }

    /** Kills one of the lanes that wait for each other's locks, if there are any (X11). */
    void killOneInCircle() {
        synchronized (circles) {
            Lane.Wait[] waits = waits();
            Map<Integer, Waiting> waiting = new TreeMap<>();
            for (int lane = 1; lane < lanes.length; lane++) {
                if (waits[lane] != null) {
                    waiting.put(lane, waits[lane].waiting());
                }
            }
            OptionalInt victim = LockWaits.victim(waiting);
            // Those that waited before and after all was read waited meanwhile, and held what they
            // hold. Others may be no part of a circle.
            Lane.Wait[] after = waits();
            boolean same = true;
            for (int lane = 1; lane < lanes.length; lane++) {
                same &= waits[lane] == after[lane];
            }
            if (victim.isPresent() && same) {
                lanes[victim.getAsInt()].kill(waits[victim.getAsInt()]);
            }
        }
    }

    private Lane.Wait[] waits() {
        Lane.Wait[] waits = new Lane.Wait[lanes.length];
        for (int lane = 1; lane < lanes.length; lane++) {
            waits[lane] = lanes[lane].waits();
        }
        return waits;
    }

    // ---- the end

    /** Ends this life: each lane ends at its next event (X18). Returns at once. */
    public void over(String reason) {
        List<CompletableFuture<?>> nobody = new ArrayList<>();
        synchronized (this) {
            if (over.isEmpty()) {
                over = reason;
            }
            if (recording != null) {
                recording.depose();
            }
            asked.values().forEach(all -> all.forEach(it -> nobody.add(it.reply)));
            answers.forEach(it -> nobody.add(it.to));
            waiters.forEach(it -> nobody.add(it.done));
            asked.clear();
            waiting.clear();
            answers.clear();
            waiters.clear();
            notifyAll();
        }
        state.locks().forEach(LaneLock::wake);
        nobody.forEach(it -> it.completeExceptionally(new IllegalStateException(reason)));
    }

    /**
     * Ends this life, and waits for its lanes.
     *
     * @return whether all have ended; else a handler has not come to its next event, and the
     *     process has to end (X18)
     */
    public boolean close(Duration patience) throws InterruptedException {
        over("closed");
        long until = System.nanoTime() + patience.toNanos();
        boolean ended = true;
        for (int lane = 1; lane < lanes.length; lane++) {
            TimeUnit.NANOSECONDS.timedJoin(lanes[lane], Math.max(1, until - System.nanoTime()));
            ended &= !lanes[lane].isAlive();
        }
        return ended;
    }

    /** Those that wait for cuts hear of it, and end this life. */
    private void diverged(DivergedException e) {
        if (over.isEmpty()) {
            over = e.getMessage();
            notifyAll();
            listener.diverged(e);
        }
    }

    // ---- for lanes

    LaneHandler handler() {
        return handler;
    }

    void pace(int lane) {
        pace.accept(lane);
    }

    void checkOver() {
        if (!over.isEmpty()) {
            throw new LifeOverError(over);
        }
    }

    synchronized Begin nextRequest(Lane lane) {
        while (lane.request() == null || lane.hasEnded()) {
            checkOver();
            await();
        }
        return lane.request();
    }

    /** An event may happen, or dies, or is to be recorded. */
    synchronized int before(Lane lane, LaneEvent event) {
        try {
            for (; ; ) {
                checkOver();
                if (recording != null) {
                    if (records(lane)) {
                        return Lane.RECORDS;
                    }
                } else {
                    Step step = replay.at(lane.number(), event);
                    if (step.what() == What.DIE) {
                        dies(lane);
                        return DIES;
                    }
                    if (step.what() == What.CONTINUE) {
                        return step.choice();
                    }
                }
                await();
            }
        } catch (DivergedException e) {
            diverged(e);
            throw new LifeOverError(over);
        }
    }

    /** Waits until the lane returns to its handler; whether it dies instead. */
    synchronized boolean diesOnReturn(Lane lane) {
        for (; ; ) {
            checkOver();
            if (recording != null) {
                if (records(lane)) {
                    return false;
                }
            } else {
                What what = replay.onReturn(lane.number()).what();
                if (what == What.DIE) {
                    dies(lane);
                    return true;
                }
                if (what == What.CONTINUE) {
                    return false;
                }
            }
            await();
        }
    }

    private boolean records(Lane lane) {
        boolean may = recording.mayRun(lane.number());
        if (may) {
            lane.records(recording.lane(lane.number()));
        }
        return may;
    }

    private void dies(Lane lane) {
        replay.killed(lane.number());
        moved();
    }

    synchronized void done(int lane, LaneEvent event, int choice) {
        checkOver();
        try {
            replay.done(lane, event, choice);
        } catch (DivergedException e) {
            diverged(e);
            throw new LifeOverError(over);
        }
        moved();
    }

    synchronized void saw(Lane lane, byte[] bytes) {
        checkOver();
        replay.saw(lane.number(), bytes);
    }

    void threw(Begin request, Throwable e) {
        LOG.info(
                "request {} (number {} of sender {}) threw: what it changed stays",
                request.request(),
                request.number(),
                request.sender(),
                e);
    }

    void failed(Throwable e) {
        over(e.toString());
        listener.failed(e);
    }

    /** Callers look again. */
    @SuppressWarnings("WaitNotInLoop")
    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            // An interrupt is no event; over() ends a lane.
            return;
        }
    }

    // ---- the state

    /**
     * All entries of all maps, by name, and the newest reply by sender, as text: for comparisons.
     * While no handler runs.
     */
    synchronized String content() {
        StringBuilder text = new StringBuilder();
        state.content()
                .forEach(
                        (name, map) -> {
                            text.append(name).append(':');
                            map.forEach(
                                    (key, value) ->
                                            text.append(HEX.formatHex(LaneMap.bytesOf(key)))
                                                    .append('=')
                                                    .append(HEX.formatHex(value))
                                                    .append(' '));
                        });
        replies.forEach(
                (sender, reply) ->
                        text.append(sender)
                                .append('#')
                                .append(reply.number())
                                .append(reply.threw())
                                .append(HEX.formatHex(reply.bytes()))
                                .append(' '));
        return text.toString();
    }
}
