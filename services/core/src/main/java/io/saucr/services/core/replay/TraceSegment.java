package io.saucr.services.core.replay;

import java.util.List;

/**
 * A part of a trace up to a consistent cut: whatever an event of it comes after is in it, or in
 * those before it (X3). Immutable.
 *
 * @param barrier before its first event
 * @param until by lane, the clock of its last event; lane 0 is the turn thread
 * @param turns records of lane 0, an event each
 * @param lanes records of lanes 1 and up, in the order of their clocks
 */
public record TraceSegment(
        Barrier barrier,
        List<Integer> until,
        List<TurnRecord> turns,
        List<List<LaneRecord>> lanes) {

    public TraceSegment {
        until = List.copyOf(until);
        turns = List.copyOf(turns);
        lanes = lanes.stream().map(List::copyOf).toList();
        if (until.size() != lanes.size() + 1) {
            throw new IllegalArgumentException(
                    until.size() + " clocks for " + lanes.size() + " lanes and the turn thread");
        }
    }
}
