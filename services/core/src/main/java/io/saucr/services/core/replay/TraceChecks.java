package io.saucr.services.core.replay;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.Requests.Open;
import io.saucr.services.core.replay.Requests.Verdict;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that each segment continues the trace before it, so that a replay comes to its end: no
 * event comes after one that the trace does not have, or after itself. After a segment that was
 * refused it is of no use.
 */
final class TraceChecks {

    /** An event of a lane comes after an event of another one. */
    private record Needs(int clock, int sourceLane, int sourceClock) {}

    private final int lanes;
    private final int resources;
    private final Requests requests;
    private int[] until;

    /**
     * Starts at a barrier.
     *
     * @param requests those at the barrier; changed here
     * @param resources how many there are
     */
    TraceChecks(Requests requests, int resources) {
        this.requests = requests;
        this.resources = resources;
        lanes = requests.lanes();
        until = new int[lanes + 1];
    }

    void check(TraceSegment segment) throws BadTraceException {
        demand(
                segment.lanes().size() == lanes,
                "there are %d lanes, and the trace has %d",
                lanes,
                segment.lanes().size());
        demand(
                segment.barrier() != Barrier.QUIET
                        || segment.until().stream().allMatch(it -> it == 0),
                "a quiet cut with events up to clocks %s",
                segment.until());
        demand(
                segment.barrier() != Barrier.QUIET || requests.open().isEmpty(),
                "a quiet cut with %d open requests",
                requests.open().size());
        int[] from = segment.barrier() == Barrier.NONE ? until : new int[lanes + 1];
        int[] to = segment.until().stream().mapToInt(it -> it).toArray();
        for (int lane = 0; lane <= lanes; lane++) {
            demand(to[lane] >= from[lane], "lane %d goes back to clock %d", lane, to[lane]);
        }
        List<List<Needs>> needs = new ArrayList<>();
        for (int lane = 0; lane <= lanes; lane++) {
            needs.add(new ArrayList<>());
        }
        checkTurns(segment.turns(), from, to, needs);
        for (int lane = 1; lane <= lanes; lane++) {
            checkLane(lane, segment.lanes().get(lane - 1), from, to, needs.get(lane));
            needs.get(lane).sort((a, b) -> Integer.compare(a.clock, b.clock));
        }
        checkOrder(from, to, needs);
        until = to;
    }

    private void checkTurns(List<TurnRecord> turns, int[] from, int[] to, List<List<Needs>> needs)
            throws BadTraceException {
        demand(
                turns.size() == to[0] - from[0],
                "%d records of the turn thread, up to its clock %d",
                turns.size(),
                to[0]);
        int[] at = from.clone();
        for (TurnRecord turn : turns) {
            at[0]++;
            if (turn instanceof Begin begin) {
                checkBegin(begin, at, to);
                needs.get(begin.lane()).add(new Needs(begin.clock(), 0, at[0]));
                at[begin.lane()] = begin.clock();
            } else if (turn instanceof End end) {
                Open open = requests.open(end.request());
                demand(open != null, "the end of request %d, which is not open", end.request());
                int lane = open.lane();
                demand(
                        end.clock() >= at[lane] && end.clock() <= to[lane],
                        "request %d ends at clock %d of lane %d, which is not in %d to %d",
                        end.request(),
                        end.clock(),
                        lane,
                        at[lane],
                        to[lane]);
                needs.get(0).add(new Needs(at[0], lane, end.clock()));
                at[lane] = end.clock();
                requests.end(end.request());
            } else if (turn instanceof Attempt attempt) {
                demand(
                        requests.open(attempt.request()) != null,
                        "an attempt of request %d, which is not open",
                        attempt.request());
                requests.attempt(attempt.request());
            }
        }
        for (int lane = 1; lane <= lanes; lane++) {
            demand(
                    requests.in(lane) != null || at[lane] == to[lane],
                    "lane %d has no request, and events up to clock %d",
                    lane,
                    to[lane]);
        }
    }

    private void checkBegin(Begin begin, int[] at, int[] to) throws BadTraceException {
        int lane = begin.lane();
        demand(
                lane >= 1 && lane <= lanes,
                "request %d begins in lane %d: there are lanes 1 to %d",
                begin.request(),
                lane,
                lanes);
        demand(
                begin.request() == requests.newest() + 1,
                "request %d begins after request %d",
                begin.request(),
                requests.newest());
        demand(
                requests.in(lane) == null,
                "request %d begins in lane %d, which is not idle",
                begin.request(),
                lane);
        demand(
                begin.clock() == at[lane] + 1 && begin.clock() <= to[lane],
                "request %d begins at clock %d of lane %d, after clock %d",
                begin.request(),
                begin.clock(),
                lane,
                at[lane]);
        Verdict verdict = requests.offer(begin.sender(), begin.number());
        demand(
                verdict == Verdict.BEGIN,
                "request %d is number %d of sender %d, which can not begin: %s",
                begin.request(),
                begin.number(),
                begin.sender(),
                verdict);
        requests.begin(begin.request(), lane, begin.sender(), begin.number());
    }

    private void checkLane(
            int lane, List<LaneRecord> lines, int[] from, int[] to, List<Needs> needs)
            throws BadTraceException {
        int last = from[lane];
        int choiceAt = 0;
        for (LaneRecord line : lines) {
            demand(
                    line.clock() > from[lane] && line.clock() >= last && line.clock() <= to[lane],
                    "lane %d has a record of clock %d, which is not in %d to %d",
                    lane,
                    line.clock(),
                    Math.max(last, from[lane] + 1),
                    to[lane]);
            last = line.clock();
            if (line instanceof Edge edge) {
                demand(
                        edge.resource() >= 0 && edge.resource() < resources,
                        "%s: there are %d resources",
                        edge,
                        resources);
                demand(
                        edge.sourceLane() >= 1
                                && edge.sourceLane() <= lanes
                                && edge.sourceLane() != lane,
                        "%s comes after lane %d: there are lanes 1 to %d, and its own is %d",
                        edge,
                        edge.sourceLane(),
                        lanes,
                        lane);
                demand(
                        edge.sourceClock() >= 1 && edge.sourceClock() <= to[edge.sourceLane()],
                        "%s comes after a future event: lane %d is cut at %d",
                        edge,
                        edge.sourceLane(),
                        to[edge.sourceLane()]);
                needs.add(new Needs(edge.clock(), edge.sourceLane(), edge.sourceClock()));
            } else if (line instanceof Choice choice) {
                demand(
                        choice.clock() > choiceAt
                                && choice.value() >= LaneRecord.Choice.KILLED_BEFORE,
                        "lane %d has %s after a choice at clock %d",
                        lane,
                        choice,
                        choiceAt);
                choiceAt = choice.clock();
            }
        }
    }

    /** Goes through the events as a replay would. */
    private void checkOrder(int[] from, int[] to, List<List<Needs>> needs)
            throws BadTraceException {
        int[] at = from.clone();
        int[] next = new int[lanes + 1];
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int lane = 0; lane <= lanes; lane++) {
                List<Needs> of = needs.get(lane);
                while (next[lane] < of.size()
                        && at[of.get(next[lane]).sourceLane] >= of.get(next[lane]).sourceClock) {
                    next[lane]++;
                }
                int reached = next[lane] < of.size() ? of.get(next[lane]).clock - 1 : to[lane];
                moved |= reached > at[lane];
                at[lane] = Math.max(at[lane], reached);
            }
        }
        for (int lane = 0; lane <= lanes; lane++) {
            demand(
                    at[lane] == to[lane],
                    "a circle of edges: lane %d does not come beyond clock %d",
                    lane,
                    at[lane]);
        }
    }

    @SuppressWarnings("AnnotateFormatMethod") // The annotation is in no library that we have.
    private static void demand(boolean holds, String otherwise, Object... values)
            throws BadTraceException {
        if (!holds) {
            throw new BadTraceException(otherwise.formatted(values));
        }
    }
}
