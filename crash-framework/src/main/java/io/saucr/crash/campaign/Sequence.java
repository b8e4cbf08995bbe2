package io.saucr.crash.campaign;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A path through the graph of cluster states, from all servers alive back to all alive; each step
 * crashes servers or brings some back, never both. Written as {@code 12345>345>12345}. Immutable.
 */
public record Sequence(List<ClusterState> states) {
    /** As many as have a digit. */
    public static final int MOST_SERVERS = 9;

    public Sequence {
        states = List.copyOf(states);
        if (states.size() < 3) {
            throw new IllegalArgumentException(text(states) + ": no fault in it");
        }
        ClusterState all = ClusterState.all(states.get(0).alive().size());
        if (!states.get(0).equals(all) || !states.get(states.size() - 1).equals(all)) {
            throw new IllegalArgumentException(
                    text(states) + ": must begin and end with the same servers, all from 1");
        }
        if (all.alive().size() < 3 || all.alive().size() > MOST_SERVERS) {
            throw new IllegalArgumentException(text(states) + ": needs 3 to 9 servers");
        }
        for (int i = 1; i < states.size(); i++) {
            boolean crash = !states.get(i - 1).without(states.get(i)).isEmpty();
            boolean recovery = !states.get(i).without(states.get(i - 1)).isEmpty();
            if (crash == recovery || states.get(i).without(all).size() > 0) {
                throw new IllegalArgumentException(
                        "%s: step %s must either crash servers or bring some back"
                                .formatted(text(states), i));
            }
        }
    }

    /**
     * @throws IllegalArgumentException naming the text and what is wrong with it
     */
    @JsonCreator
    public static Sequence parse(String text) {
        return new Sequence(
                Arrays.stream(text.trim().split(">", -1)).map(ClusterState::parse).toList());
    }

    /** This sequence, repeated so many times without new servers. */
    public Sequence times(int count) {
        List<ClusterState> all = new ArrayList<>(states);
        for (int i = 1; i < count; i++) {
            all.addAll(states.subList(1, states.size()));
        }
        return new Sequence(all);
    }

    /** The number of servers. */
    public int servers() {
        return states.get(0).alive().size();
    }

    private static String text(List<ClusterState> states) {
        return states.stream().map(ClusterState::toString).collect(Collectors.joining(">"));
    }

    @JsonValue
    @Override
    public String toString() {
        return text(states);
    }
}
