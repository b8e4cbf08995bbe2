package io.saucr.crash.campaign;

import io.saucr.ensemble.Majority;
import java.util.Collections;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which servers are alive. Written as their numbers, {@code 1245}, or {@code -} for none.
 * Immutable.
 */
public record ClusterState(SortedSet<Integer> alive) {
    public ClusterState {
        alive = Collections.unmodifiableSortedSet(new TreeSet<>(alive));
    }

    /** All of n servers. */
    public static ClusterState all(int n) {
        SortedSet<Integer> alive = new TreeSet<>();
        for (int id = 1; id <= n; id++) {
            alive.add(id);
        }
        return new ClusterState(alive);
    }

    /**
     * @throws IllegalArgumentException if the text is not ascending digits from 1, or {@code -}
     */
    public static ClusterState parse(String text) {
        SortedSet<Integer> alive = new TreeSet<>();
        if (!text.equals("-")) {
            int last = 0;
            for (int i = 0; i < text.length(); i++) {
                int id = text.charAt(i) - '0';
                if (id <= last || id > 9) {
                    throw new IllegalArgumentException(
                            "state \"" + text + "\": expected ascending server numbers, or -");
                }
                alive.add(id);
                last = id;
            }
        }
        if (alive.isEmpty() != text.equals("-")) {
            throw new IllegalArgumentException("an empty state is written -");
        }
        return new ClusterState(alive);
    }

    /** The servers of this state that the other does not have. */
    public SortedSet<Integer> without(ClusterState other) {
        SortedSet<Integer> rest = new TreeSet<>(alive);
        rest.removeAll(other.alive);
        return rest;
    }

    public boolean hasMajorityOf(int n) {
        return alive.size() >= Majority.of(n);
    }

    @Override
    public String toString() {
        return alive.isEmpty()
                ? "-"
                : alive.stream().map(String::valueOf).collect(Collectors.joining());
    }
}
