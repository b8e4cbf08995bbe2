package io.saucr.services.core.replay;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Finds lanes that wait for each other's locks for ever (X11). */
public final class LockWaits {

    /**
     * A lane that waits for a lock.
     *
     * @param holders lanes that hold the lock
     * @param request that runs in the lane
     * @param reacquires whether it waits for the lock of a condition that it awaited: it can not be
     *     killed before it has the lock. A circle has lanes that do not: one that awaits released
     *     the lock before the next one of the circle acquired it
     */
    public record Waiting(Set<Integer> holders, long request, boolean reacquires) {

        public Waiting {
            holders = Set.copyOf(holders);
        }
    }

    private LockWaits() {}

    /**
     * The lane to kill: of those that wait in a circle, and can be killed, the one whose request
     * began last. Empty if there is no circle.
     *
     * @param waiting by lane
     */
    public static OptionalInt victim(Map<Integer, Waiting> waiting) {
        OptionalInt victim = OptionalInt.empty();
        for (Map.Entry<Integer, Waiting> each : waiting.entrySet()) {
            int lane = each.getKey();
            boolean younger =
                    victim.isEmpty()
                            || each.getValue().request > waiting.get(victim.getAsInt()).request;
            if (younger && !each.getValue().reacquires && waitsForItself(lane, waiting)) {
                victim = OptionalInt.of(lane);
            }
        }
        return victim;
    }

    private static boolean waitsForItself(int lane, Map<Integer, Waiting> waiting) {
        Set<Integer> reached = new HashSet<>();
        Deque<Integer> next = new ArrayDeque<>(waiting.get(lane).holders);
        while (!next.isEmpty()) {
            int holder = next.poll();
            if (holder == lane) {
                return true;
            }
            if (reached.add(holder) && waiting.containsKey(holder)) {
                next.addAll(waiting.get(holder).holders);
            }
        }
        return false;
    }
}
