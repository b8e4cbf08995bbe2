package io.saucr.services.core.once;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Takes every way through an {@link OnceModel}, each state once. Used by one thread. */
final class OnceExplorer {

    /**
     * What was found.
     *
     * @param states that were visited
     * @param atRest those in which nothing moves without a fault
     * @param violation the first one, or null
     * @param path the events that lead to it
     */
    record Found(int states, int atRest, String violation, List<String> path) {}

    private record Visit(OnceModel model, Deque<OnceModel.Event> left) {}

    private final int mostStates;
    private final Set<StateText.Print> seen = new HashSet<>();
    private final List<OnceModel.Event> path = new ArrayList<>();
    private int atRest;

    /**
     * An explorer.
     *
     * @param mostStates more would mean that something never ends
     */
    OnceExplorer(int mostStates) {
        this.mostStates = mostStates;
    }

    Found explore(OnceModel first) {
        Deque<Visit> visits = new ArrayDeque<>();
        seen.add(first.print());
        if (enter(first, visits)) {
            return found(first.violation());
        }
        while (!visits.isEmpty()) {
            Visit visit = visits.peek();
            OnceModel.Event event = visit.left.poll();
            if (event == null) {
                visits.pop();
                if (!path.isEmpty()) {
                    path.remove(path.size() - 1);
                }
                continue;
            }
            OnceModel next = visit.model.copy();
            next.take(event);
            if (next.violation() == null && !seen.add(next.print())) {
                continue;
            }
            path.add(event);
            if (seen.size() > mostStates) {
                return found("more than " + mostStates + " states");
            }
            if (enter(next, visits)) {
                return found(next.violation());
            }
        }
        return found(null);
    }

    /** Whether the state violates something. */
    private boolean enter(OnceModel model, Deque<Visit> visits) {
        if (model.violation() == null && model.isAtRest()) {
            atRest++;
        }
        visits.push(new Visit(model, new ArrayDeque<>(model.events())));
        return model.violation() != null;
    }

    private Found found(String violation) {
        return new Found(
                seen.size(),
                atRest,
                violation,
                violation == null
                        ? List.of()
                        : path.stream().map(OnceModel.Event::toString).toList());
    }
}
