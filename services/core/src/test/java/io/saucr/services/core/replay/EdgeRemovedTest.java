package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.ReplayWorld.Done;
import io.saucr.services.core.replay.ReplayWorld.Size;
import io.saucr.services.core.replay.ReplayWorld.Step;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * No edge is superfluous: without any one of them a follower has a schedule in which the event
 * comes before the one that it came after on the primary, and differs then. An edge leads from the
 * release of a lock. The event comes earlier if it comes before the acquisition of that lock. If
 * other edges forbid that, the real lock keeps the order of the two, and the edge that of a third
 * one.
 */
class EdgeRemovedTest {

    private static final int WORLDS = 60;

    /** An edge of a lane. */
    private record Removed(int lane, Edge edge) {}

    private static ReplayWorld recorded(long seed, List<TraceSegment> replaced) throws Exception {
        Random random = new Random(seed);
        List<List<List<Op>>> channels = new ArrayList<>();
        for (int channel = 0; channel < 4; channel++) {
            List<Op> lines = Op.handler(random, false);
            lines.removeIf(it -> it.kind() == Op.Kind.POISON);
            channels.add(List.of(lines, List.copyOf(lines)));
        }
        ReplayWorld world =
                new ReplayWorld(new Size(2, 3, channels, 0, 0, 0, 1000), Broken.NOTHING);
        while (true) {
            List<Step> steps = world.steps();
            steps.removeIf(it -> it.member() != 0);
            if (steps.isEmpty()) {
                break;
            }
            world.take(steps.get(random.nextInt(steps.size())));
        }
        assertThat(world.violations).isEmpty();
        for (int i = 0; i < replaced.size(); i++) {
            world.log().set(i, TraceFormat.encode(replaced.get(i)));
        }
        return world;
    }

    private static List<TraceSegment> segments(ReplayWorld world) throws Exception {
        List<TraceSegment> segments = new ArrayList<>();
        for (byte[] body : world.log()) {
            segments.add(TraceFormat.decode(body));
        }
        return segments;
    }

    private static List<TraceSegment> without(List<TraceSegment> segments, Removed removed) {
        List<TraceSegment> less = new ArrayList<>();
        for (TraceSegment segment : segments) {
            List<List<LaneRecord>> lanes = new ArrayList<>(segment.lanes());
            List<LaneRecord> lines = new ArrayList<>(lanes.get(removed.lane - 1));
            lines.remove(removed.edge);
            lanes.set(removed.lane - 1, lines);
            less.add(new TraceSegment(segment.barrier(), segment.until(), segment.turns(), lanes));
        }
        return less;
    }

    /**
     * Follows to the end, in an order that {@code random} chooses, without one event for a time.
     */
    private static boolean follows(ReplayWorld world, Random random, int lane, int notBefore) {
        while (world.violations.isEmpty()) {
            List<Step> steps = world.steps();
            steps.removeIf(
                    it ->
                            it.member() != 1
                                    || (it.kind() == Step.Kind.LANE
                                            && it.at() == lane
                                            && world.isBeforeEvent(1, lane)
                                            && world.executed(1, lane) + 1 == notBefore));
            if (steps.isEmpty()) {
                return true;
            }
            world.take(steps.get(random.nextInt(steps.size())));
        }
        return false;
    }

    /** The clock at which the lock, whose release is the edge's source, was acquired. */
    private static int acquired(List<Done> done, Edge edge) {
        int clock = 0;
        for (Done each : done) {
            if (each.lane() == edge.sourceLane()
                    && each.clock() <= edge.sourceClock()
                    && each.event().resource() != null
                    && each.event().resource().number() == edge.resource()
                    && !each.event().releases()) {
                clock = each.clock();
            }
            if (each.lane() == edge.sourceLane()
                    && each.clock() == edge.sourceClock()
                    && each.event().kind() == LaneEvent.Kind.CALL) {
                clock = each.clock();
            }
        }
        return clock;
    }

    /** By lane, the newest event that comes before the one that lost its edge. */
    private static int[] before(List<TraceSegment> segments, Removed removed) {
        int[] before = new int[segments.get(0).until().size()];
        before[removed.lane] = removed.edge.clock() - 1;
        boolean moved = true;
        while (moved) {
            int[] next = before.clone();
            int turn = 0;
            int[] laneOf = new int[64];
            for (TraceSegment segment : segments) {
                for (TurnRecord record : segment.turns()) {
                    turn++;
                    if (record instanceof Begin begin) {
                        laneOf[(int) begin.request()] = begin.lane();
                        if (begin.clock() <= before[begin.lane()]) {
                            next[0] = Math.max(next[0], turn);
                        }
                    } else if (record instanceof End end && turn <= before[0]) {
                        int lane = laneOf[(int) end.request()];
                        next[lane] = Math.max(next[lane], end.clock());
                    }
                }
                for (int lane = 1; lane < before.length; lane++) {
                    for (LaneRecord line : segment.lanes().get(lane - 1)) {
                        boolean counts =
                                line.clock() <= before[lane]
                                        || (lane == removed.lane
                                                && line.clock() == removed.edge.clock());
                        if (counts && line instanceof Edge edge) {
                            next[edge.sourceLane()] =
                                    Math.max(next[edge.sourceLane()], edge.sourceClock());
                        }
                    }
                }
            }
            moved = !Arrays.equals(next, before);
            before = next;
        }
        return before;
    }

    @Test
    void x2WithoutAnyOneEdgeSomeScheduleDiffers() throws Exception {
        int needed = 0;
        int keptByLock = 0;
        for (long seed = 0; seed < WORLDS; seed++) {
            Random random = new Random(seed);
            ReplayWorld whole = recorded(seed, List.of());
            List<TraceSegment> segments = segments(whole);
            assertThat(follows(whole, random, 0, 0)).as(whole.violations.toString()).isTrue();
            whole.checkRest();
            assertThat(whole.violations).isEmpty();
            for (Removed removed : edges(segments)) {
                Edge edge = removed.edge;
                List<TraceSegment> less = without(segments, removed);
                int acquired = acquired(whole.done, edge);
                assertThat(acquired).isPositive();
                boolean kept = before(less, removed)[edge.sourceLane()] >= acquired;
                ReplayWorld world = recorded(seed, less);
                boolean differs = !follows(world, random, edge.sourceLane(), acquired);
                boolean earlier = world.executed(1, removed.lane) >= edge.clock();
                assertThat(differs || earlier)
                        .as("seed %d without %s of lane %d", seed, edge, removed.lane)
                        .isEqualTo(!kept);
                if (kept) {
                    keptByLock++;
                } else {
                    needed++;
                    if (follows(world, random, 0, 0)) {
                        world.checkRest();
                    }
                    assertThat(world.violations)
                            .as("seed %d without %s of lane %d", seed, edge, removed.lane)
                            .isNotEmpty();
                }
            }
        }
        assertThat(needed).isGreaterThan(10 * WORLDS / 2);
        assertThat(keptByLock).isLessThan(needed / 4);
    }

    private static List<Removed> edges(List<TraceSegment> segments) {
        List<Removed> edges = new ArrayList<>();
        for (TraceSegment segment : segments) {
            for (int lane = 1; lane <= segment.lanes().size(); lane++) {
                for (LaneRecord line : segment.lanes().get(lane - 1)) {
                    if (line instanceof Edge edge) {
                        edges.add(new Removed(lane, edge));
                    }
                }
            }
        }
        return edges;
    }
}
