package io.saucr.services.core.replay;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides what a member that replays a trace may do next. Only segments that the head names are
 * appended (X4). The caller serializes all calls.
 *
 * <p>The turn thread takes {@link #turn}. A lane asks {@link #at} when it is about to do an event,
 * acquires the resource, and reports {@link #done}; before it returns to its handler it asks {@link
 * #onReturn}. So no code of a handler runs that the primary may have died in (X6).
 */
public final class Replay {

    /** What a lane does. */
    public enum What {
        /** It asks again once the replay has moved. */
        WAIT,
        CONTINUE,
        /** It calls {@link Replay#killed}, and throws an error into its handler. */
        DIE
    }

    /**
     * An answer to a lane.
     *
     * @param choice result of the event that it is about to do, if the event has one
     */
    public record Step(What what, int choice) {}

    private static final Step WAIT = new Step(What.WAIT, 0);
    private static final Step CONTINUE = new Step(What.CONTINUE, 0);
    private static final Step DIE = new Step(What.DIE, 0);

    private final Requests requests;
    private final List<Resource> resources;
    private final TraceChecks checks;
    private final int[] until;
    private final int[] executed;
    private final Deque<TurnRecord> turns = new ArrayDeque<>();
    private final List<Deque<LaneRecord>> lines = new ArrayList<>();
    private final Deque<TraceSegment> behindBarrier = new ArrayDeque<>();
    private final Deque<List<Integer>> cuts = new ArrayDeque<>();
    private final Map<Long, Integer> ends = new HashMap<>();
    private final HandlerHash[] hashes;
    private final boolean[] ended;
    private final boolean[] awaits;
    private long replayed;

    /**
     * A member at a barrier, without open requests: a new service, or a snapshot.
     *
     * @param requests those of the snapshot
     * @param resources in the order of declaration
     */
    public Replay(Requests requests, List<Resource> resources) {
        this.requests = requests;
        this.resources = List.copyOf(resources);
        checks =
                new TraceChecks(
                        new Requests(requests.lanes(), requests.consumed(), requests.newest()),
                        resources.size());
        until = new int[requests.lanes() + 1];
        executed = new int[until.length];
        hashes = new HandlerHash[until.length];
        ended = new boolean[until.length];
        awaits = new boolean[until.length];
        for (int lane = 0; lane < until.length; lane++) {
            lines.add(new ArrayDeque<>());
        }
        resources.forEach(Resource::restart);
    }

    /** Requests that are open. */
    public Requests requests() {
        return requests;
    }

    /**
     * Appends the next segment that the head names.
     *
     * @throws BadTraceException if it can not be replayed; this object is of no use then
     */
    public void append(TraceSegment segment) throws BadTraceException {
        checks.check(segment);
        if (segment.barrier() != Barrier.NONE || !behindBarrier.isEmpty()) {
            behindBarrier.add(segment);
        } else {
            take(segment);
        }
    }

    private void take(TraceSegment segment) {
        for (int lane = 0; lane < until.length; lane++) {
            until[lane] = segment.until().get(lane);
            if (lane > 0) {
                lines.get(lane).addAll(segment.lanes().get(lane - 1));
            }
        }
        for (TurnRecord turn : segment.turns()) {
            turns.add(turn);
            if (turn instanceof End end) {
                ends.put(end.request(), end.clock());
            }
        }
        cuts.add(segment.until());
        count();
    }

    /** How many segments are replayed to their ends (X15). */
    public long replayed() {
        return replayed;
    }

    /** The clock of a lane's newest event. */
    int executed(int lane) {
        return executed[lane];
    }

    private void count() {
        while (!cuts.isEmpty()) {
            for (int lane = 0; lane < until.length; lane++) {
                if (executed[lane] < cuts.peek().get(lane)) {
                    return;
                }
            }
            cuts.poll();
            replayed++;
        }
    }

    /** Whether all lanes stand at the end of the trace up to the next barrier. */
    public boolean isAtCut() {
        return cuts.isEmpty();
    }

    /** The barrier at which all lanes have arrived; NONE if they have not. */
    public Barrier barrier() {
        return isAtCut() && !behindBarrier.isEmpty()
                ? behindBarrier.peek().barrier()
                : Barrier.NONE;
    }

    /**
     * All lanes have arrived: clocks and versions are 0 again (X8). At {@link Barrier#QUIET} the
     * caller takes a snapshot of the state first (X13).
     */
    public void passBarrier() {
        if (barrier() == Barrier.NONE) {
            throw new IllegalStateException("no barrier, or not all lanes have arrived");
        }
        for (int lane = 0; lane < until.length; lane++) {
            until[lane] = 0;
            executed[lane] = 0;
        }
        resources.forEach(Resource::restart);
        take(behindBarrier.poll());
        while (!behindBarrier.isEmpty() && behindBarrier.peek().barrier() == Barrier.NONE) {
            take(behindBarrier.poll());
        }
    }

    // ---- turn thread

    /** The next record of the turn thread, if it can be done now; else null. */
    public TurnRecord turn() {
        TurnRecord next = turns.peek();
        if (next instanceof End end && !ended[requests.open(end.request()).lane()]) {
            return null;
        }
        return next;
    }

    /**
     * What {@link #turn} returned is done. A request that began is in its lane now, before its
     * handler.
     *
     * @param threw of an {@link End}: whether the handler threw or was killed here
     * @throws DivergedException if the handler of a request that ended did something else
     */
    public void turnDone(boolean threw) {
        TurnRecord turn = turns.poll();
        if (turn instanceof Begin begin) {
            requests.begin(begin.request(), begin.lane(), begin.sender(), begin.number());
            hashes[begin.lane()] = new HandlerHash();
            ended[begin.lane()] = false;
            executed[begin.lane()] = begin.clock();
        } else if (turn instanceof Attempt attempt) {
            requests.attempt(attempt.request());
        } else if (turn instanceof End end) {
            end(end, threw);
        }
        executed[0]++;
        count();
    }

    private void end(End end, boolean threw) {
        int lane = requests.open(end.request()).lane();
        int hash = hashes[lane].value();
        if (executed[lane] != end.clock() || hash != end.hash() || threw != end.threw()) {
            throw new DivergedException(
                    end.request(),
                    "request %d in lane %d ended at clock %d with hash %08x%s, and on the primary at %d with %08x%s"
                            .formatted(
                                    end.request(),
                                    lane,
                                    executed[lane],
                                    hash,
                                    threw ? " and an error" : "",
                                    end.clock(),
                                    end.hash(),
                                    end.threw() ? " and an error" : ""));
        }
        ends.remove(end.request());
        requests.end(end.request());
    }

    // ---- lanes

    /**
     * Decides whether a lane that is about to do an event does it now.
     *
     * @throws DivergedException if the primary's lane did something else
     */
    public Step at(int lane, LaneEvent event) {
        int clock = executed[lane] + 1;
        checkEnd(lane, clock, event);
        if (clock > until[lane]) {
            return WAIT;
        }
        int choice = 0;
        boolean chosen = false;
        boolean waits = false;
        for (LaneRecord line : lines.get(lane)) {
            if (line.clock() > clock) {
                break;
            }
            if (line instanceof Choice made) {
                choice = made.value();
                chosen = true;
            } else if (line instanceof Edge edge) {
                same(
                        event.resource() != null && event.resource().number() == edge.resource(),
                        lane,
                        event,
                        edge);
                waits |= executed[edge.sourceLane()] < edge.sourceClock();
            }
        }
        if (chosen && choice == Choice.KILLED_BEFORE) {
            return DIE;
        }
        same(chosen == event.chooses() && event.allows(choice), lane, event, "choice " + choice);
        return waits ? WAIT : new Step(What.CONTINUE, choice);
    }

    /** Compares with the end of the request, once the trace has it. */
    private void checkEnd(int lane, int clock, LaneEvent event) {
        Integer end = ends.get(requests.in(lane).request());
        if (end != null) {
            boolean ends = event.kind() == LaneEvent.Kind.END;
            same(ends ? end == clock : end > clock, lane, event, "its end at clock " + end);
        }
    }

    private void same(boolean holds, int lane, LaneEvent event, Object primary) {
        if (!holds) {
            long request = requests.in(lane).request();
            throw new DivergedException(
                    request,
                    "request %d in lane %d is about to do %s at clock %d, and the primary has %s"
                            .formatted(request, lane, event, executed[lane] + 1, primary));
        }
    }

    /**
     * A lane did an event; it still holds the resource, or has just acquired it.
     *
     * @param choice that {@link #at} returned
     * @throws DivergedException if the resource has not the version that it had on the primary
     */
    public void done(int lane, LaneEvent event, int choice) {
        Resource resource = event.resource();
        hashes[lane].event(event, choice);
        for (LaneRecord line : takeLines(lane)) {
            if (line instanceof Edge edge) {
                same(
                        resource.version() == edge.version(),
                        lane,
                        event,
                        edge + ", here the version is " + resource.version());
            }
        }
        if (event.acquires(choice)) {
            resource.acquired(event.shares());
        }
        awaits[lane] = event.kind() == LaneEvent.Kind.AWAIT;
        ended[lane] = event.kind() == LaneEvent.Kind.END;
        executed[lane]++;
        count();
    }

    private List<LaneRecord> takeLines(int lane) {
        List<LaneRecord> taken = new ArrayList<>();
        Deque<LaneRecord> of = lines.get(lane);
        while (!of.isEmpty() && of.peek().clock() == executed[lane] + 1) {
            taken.add(of.poll());
        }
        return taken;
    }

    /** Adds bytes that the handler in a lane stored or sent, to be compared (X14). */
    public void saw(int lane, byte[] bytes) {
        hashes[lane].saw(bytes);
    }

    /**
     * Decides whether a lane returns to its handler, or to its first line: once the trace has its
     * next event (X6). A lane that waits for a condition does not ask.
     */
    public Step onReturn(int lane) {
        if (executed[lane] == until[lane]) {
            return WAIT;
        }
        LaneRecord next = lines.get(lane).peek();
        boolean dies =
                next instanceof Choice choice
                        && choice.clock() == executed[lane] + 1
                        && choice.value() == Choice.KILLED_INSIDE;
        return dies ? DIE : CONTINUE;
    }

    /** A lane was asked to die, and throws now. */
    public void killed(int lane) {
        for (LaneRecord line : takeLines(lane)) {
            if (line instanceof Choice choice) {
                hashes[lane].killed(choice.value());
            }
        }
        awaits[lane] = false;
        executed[lane]++;
        count();
    }

    /** Whether a lane waits for a condition: after a takeover it wakes (X9). */
    public boolean awaits(int lane) {
        return awaits[lane];
    }

    /** Whether the handler in a lane has ended, and its request may still be open. */
    public boolean hasEnded(int lane) {
        return ended[lane];
    }

    /**
     * This member has written the head, and becomes primary (X9). Afterwards this object is of no
     * use.
     *
     * @param mostAttempts requests that as many primaries have run are killed (X11)
     * @throws IllegalStateException unless all of the trace is replayed
     */
    public Recording takeOver(int mostAttempts) {
        if (!isAtCut() || !behindBarrier.isEmpty()) {
            throw new IllegalStateException(
                    "not all is replayed: " + (cuts.size() + behindBarrier.size()) + " segments");
        }
        return Recording.takeOver(requests, resources, hashes, mostAttempts);
    }

    /** The state, for messages and models. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(Arrays.toString(executed)).append(Arrays.toString(until)).append(replayed);
        for (HandlerHash hash : hashes) {
            text.append(hash == null ? 0 : hash.value()).append(' ');
        }
        return text.append(behindBarrier.size()).toString();
    }
}
