package io.saucr.services.core.speculation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Takes every way through a {@link Group}, each state once; of a state it keeps 128 bits. One
 * thread.
 */
final class GroupExplorer {

    /** In place of a violation. */
    static final String MORE_STATES = "more states than allowed";

    /**
     * What was found.
     *
     * @param states that differ
     * @param atRest those in which all is done
     * @param violation the first one, or null
     * @param path that leads to it
     */
    record Found(int states, int atRest, String violation, List<String> path) {}

    private record Visit(Group group, Deque<GroupStep> left) {}

    private final int mostStates;
    private final List<String> path = new ArrayList<>();
    private long[] seen = new long[1 << 17];
    private int states;
    private int atRest;

    GroupExplorer(int mostStates) {
        this.mostStates = mostStates;
    }

    Found explore(Group first) {
        Deque<Visit> visits = new ArrayDeque<>();
        boolean unused = isNew(first.text());
        enter(first, visits);
        while (!visits.isEmpty()) {
            Visit visit = visits.peek();
            GroupStep step = visit.left().poll();
            if (step == null) {
                visits.pop();
                if (!path.isEmpty()) {
                    path.remove(path.size() - 1);
                }
                continue;
            }
            Group next = visit.group().after(step);
            if (next.violation() != null) {
                path.add(step.toString());
                return found(next.violation());
            }
            if (!isNew(next.text())) {
                continue;
            }
            path.add(step.toString());
            if (states > mostStates) {
                return found(MORE_STATES);
            }
            enter(next, visits);
            if (next.violation() != null) {
                return found(next.violation());
            }
        }
        return new Found(states, atRest, null, List.of());
    }

    private void enter(Group group, Deque<Visit> visits) {
        List<GroupStep> steps = group.steps();
        if (steps.stream().allMatch(GroupStep::fault)) {
            atRest++;
            new GroupChecks(group).checkRest();
        }
        visits.push(new Visit(group, new ArrayDeque<>(steps)));
    }

    private Found found(String violation) {
        return new Found(states, atRest, violation, List.copyOf(path));
    }

    // ---- states that were seen

    private boolean isNew(String text) {
        long low = 0xcbf29ce484222325L;
        long high = 0x9e3779b97f4a7c15L;
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            low = (low ^ each) * 0x100000001b3L;
            high = Long.rotateLeft(high ^ each, 23) * 0xff51afd7ed558ccdL;
        }
        if (!put(seen, high, low | 1)) {
            return false;
        }
        if (++states * 3L > seen.length) {
            long[] larger = new long[seen.length * 2];
            for (int at = 0; at < seen.length; at += 2) {
                if (seen[at + 1] != 0) {
                    boolean unused = put(larger, seen[at], seen[at + 1]);
                }
            }
            seen = larger;
        }
        return true;
    }

    private static boolean put(long[] table, long high, long low) {
        int at = (int) (high ^ (high >>> 32)) & (table.length / 2 - 1);
        while (table[2 * at + 1] != 0) {
            if (table[2 * at] == high && table[2 * at + 1] == low) {
                return false;
            }
            at = (at + 1) & (table.length / 2 - 1);
        }
        table[2 * at] = high;
        table[2 * at + 1] = low;
        return true;
    }
}
