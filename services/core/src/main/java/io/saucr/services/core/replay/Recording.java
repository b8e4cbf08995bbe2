package io.saucr.services.core.replay;

import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.Requests.Open;
import io.saucr.services.core.replay.Requests.Verdict;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import io.saucr.services.core.replay.TurnRecord.Own;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/**
 * Records what the primary does, and cuts it. Requests begin and end on the turn thread, which is
 * lane 0 (X1). The turn thread calls all methods; each lane's thread calls its {@link
 * RecordedLane}. Nothing of a segment leaves before the head names it (X4, X5).
 */
public final class Recording {

    private final Requests requests;
    private final List<Resource> resources;
    private final AtomicBoolean deposed = new AtomicBoolean();
    private final RecordedLane[] lanes;
    private final int[] known;
    private final int[] taken;
    private final long[] beginOnTrial;
    private final Map<Long, Long> firstEnds = new HashMap<>();
    private final Deque<Long> cuts = new ArrayDeque<>();
    private long recorded;
    private long named = -1;
    private final List<TurnRecord> turns = new ArrayList<>();
    private Barrier barrier;

    private Recording(Requests requests, List<Resource> resources) {
        this.requests = requests;
        this.resources = List.copyOf(resources);
        known = new int[requests.lanes() + 1];
        taken = new int[known.length];
        beginOnTrial = new long[known.length];
        lanes = new RecordedLane[known.length];
    }

    /**
     * A member becomes primary at the end of the trace that the head names, where all of its lanes
     * stand at the cut. The first segment has a barrier, and counts an attempt of each open
     * request; no lane continues before the head names it (X8, X9).
     *
     * @param hashes of open requests, by lane
     * @param mostAttempts requests that as many primaries have run are killed where they stand
     *     (X11)
     */
    static Recording takeOver(
            Requests requests, List<Resource> resources, HandlerHash[] hashes, int mostAttempts) {
        Recording recording = new Recording(requests, resources);
        recording.restart(Barrier.EPOCH);
        for (Open each : requests.open()) {
            recording.lanes[each.lane()].continues(
                    hashes[each.lane()], each.attempts() >= mostAttempts);
            recording.add(new Attempt(each.request()));
            requests.attempt(each.request());
        }
        return recording;
    }

    /** All clocks, vectors and versions are 0 again (X8). */
    private void restart(Barrier before) {
        barrier = before;
        for (int lane = 0; lane < lanes.length; lane++) {
            known[lane] = 0;
            taken[lane] = 0;
            // The turn thread has its clock in known[0], and its records in turns.
            lanes[lane] = lane == 0 ? null : new RecordedLane(lane, requests.lanes(), deposed);
        }
        resources.forEach(Resource::restart);
    }

    /** Requests that are open. */
    public Requests requests() {
        return requests;
    }

    /** The recording of a lane, from 1, until the next quiet cut. */
    public RecordedLane lane(int lane) {
        return lanes[lane];
    }

    /**
     * Whether the handler in a lane may run. After a takeover none does before the head names the
     * first segment (X9). And while no request that a channel ended here is named, the head names
     * the begin of its next one first: otherwise a message that kills the process would be sent
     * again without an end, as nothing counts its attempts (X11).
     */
    public boolean mayRun(int lane) {
        return named >= beginOnTrial[lane];
    }

    /** The head names the oldest segment that was cut here and was not named (X4). */
    public void named() {
        named = cuts.remove();
    }

    /**
     * Whether the head names a record, so that what it lets out may leave (X5).
     *
     * @param record number that {@link #end} returned
     */
    public boolean isNamed(long record) {
        return named >= record;
    }

    /**
     * Begins a request in an idle lane.
     *
     * @param sender its channel
     * @param number in the channel
     * @throws IllegalStateException where {@link Requests#offer} does not allow it
     */
    public Begin begin(long sender, long number, long nowMillis, long seed, byte[] body) {
        Verdict verdict = requests.offer(sender, number);
        if (verdict != Verdict.BEGIN) {
            throw new IllegalStateException(
                    "number " + number + " of sender " + sender + " does not begin: " + verdict);
        }
        int lane = requests.idleLane();
        long request = requests.newest() + 1;
        requests.begin(request, lane, sender, number);
        // The event of the turn thread first, so that the lane comes after it.
        known[0]++;
        int clock = lanes[lane].begun(known);
        Begin begin = new Begin(request, lane, clock, nowMillis, seed, sender, number, body);
        turns.add(begin);
        recorded++;
        boolean onTrial = !isNamed(firstEnds.getOrDefault(sender, Long.MAX_VALUE));
        beginOnTrial[lane] = onTrial ? recorded : 0;
        return begin;
    }

    /**
     * A request whose lane recorded {@link LaneEvent.Kind#END} is consumed.
     *
     * @param threw whether the handler threw or was killed
     * @param delta what the core changes
     * @return number of the record
     */
    public long end(long request, boolean threw, byte[] delta) {
        RecordedLane lane = lanes[requests.open(request).lane()];
        for (int each = 0; each < known.length; each++) {
            known[each] = Math.max(known[each], lane.known()[each]);
        }
        add(new End(request, lane.published(), lane.hash(), threw, delta));
        firstEnds.putIfAbsent(requests.open(request).sender(), recorded);
        requests.end(request);
        return recorded;
    }

    /** A turn of the core without a handler. */
    public void own(byte[] delta) {
        add(new Own(delta));
    }

    private void add(TurnRecord turn) {
        known[0]++;
        recorded++;
        turns.add(turn);
    }

    /** Whether nothing happened since the last cut. */
    public boolean isCut() {
        boolean cut = turns.isEmpty() && barrier == Barrier.NONE;
        for (int lane = 1; lane < lanes.length; lane++) {
            cut &= lanes[lane].published() == taken[lane];
        }
        return cut;
    }

    /**
     * Whether there may be a quiet cut: no request is open, and all was cut (X13).
     *
     * @see #restartQuietly
     */
    public boolean isQuiet() {
        return requests.open().isEmpty() && isCut();
    }

    /**
     * All lanes start anew behind a quiet cut; the next segment begins with its barrier.
     *
     * @throws IllegalStateException unless {@link #isQuiet}
     */
    public void restartQuietly() {
        if (!isQuiet()) {
            throw new IllegalStateException(
                    requests.open().size() + " requests are open, and not all is cut");
        }
        restart(Barrier.QUIET);
    }

    /** Ends each lane at its next event (X18). Any thread. */
    public void depose() {
        deposed.set(true);
    }

    /**
     * Cuts what is recorded: the clocks that the lanes published, raised until the source of each
     * edge is within the cut. A lane need not stop for it (X3).
     *
     * @return the segment; empty if nothing happened since the last cut
     */
    public Optional<TraceSegment> cut() {
        return cut(lane -> {});
    }

    /** The same; {@code reads} is called before the clock of each lane is read. */
    Optional<TraceSegment> cut(IntConsumer reads) {
        if (isCut()) {
            return Optional.empty();
        }
        int[] until = new int[lanes.length];
        until[0] = known[0];
        for (int lane = 1; lane < lanes.length; lane++) {
            reads.accept(lane);
            until[lane] = lanes[lane].published();
        }
        close(until);
        List<Integer> clocks = new ArrayList<>();
        List<List<LaneRecord>> lines = new ArrayList<>();
        for (int lane = 0; lane < lanes.length; lane++) {
            clocks.add(until[lane]);
            if (lane > 0) {
                lines.add(lanes[lane].take(until[lane]));
            }
            taken[lane] = until[lane];
        }
        cuts.add(recorded);
        TraceSegment segment = new TraceSegment(barrier, clocks, turns, lines);
        turns.clear();
        barrier = Barrier.NONE;
        return Optional.of(segment);
    }

    private void close(int[] until) {
        boolean[] raised = {true};
        while (raised[0]) {
            raised[0] = false;
            for (int lane = 1; lane < lanes.length; lane++) {
                lanes[lane].look(
                        until[lane],
                        line -> {
                            if (line instanceof Edge edge
                                    && edge.sourceClock() > until[edge.sourceLane()]) {
                                raise(until, edge);
                                raised[0] = true;
                            }
                        });
            }
        }
    }

    private void raise(int[] until, Edge edge) {
        int published = lanes[edge.sourceLane()].published();
        if (edge.sourceClock() > published) {
            throw new IllegalStateException(
                    "%s comes after an event of lane %d, which has published %d"
                            .formatted(edge, edge.sourceLane(), published));
        }
        until[edge.sourceLane()] = edge.sourceClock();
    }

    /** The state, for messages and models. */
    @Override
    public String toString() {
        return Arrays.toString(lanes)
                + Arrays.toString(known)
                + Arrays.toString(taken)
                + Arrays.toString(beginOnTrial)
                + firstEnds
                + cuts
                + recorded
                + named
                + barrier
                + turns;
    }
}
