package io.saucr.tests.powercut;

import io.saucr.core.Quorums;
import java.util.ArrayList;
import java.util.List;

/** Who loses power, and when. */
enum PowerCutScenario {
    /** One follower. */
    FOLLOWER(false),
    /** The leader. */
    LEADER(false),
    /** A bare minority at one instant, the leader among them. */
    MINORITY_AT_ONCE(false),
    /** A bare majority at one instant, the leader among them. */
    MAJORITY_AT_ONCE(false),
    /** A bare majority, one after the other. */
    MAJORITY_ONE_BY_ONE(false),
    /** Everyone, one after the other, the leader first. */
    ALL_LEADER_FIRST(false),
    /** Everyone, one after the other, the leader last. */
    ALL_FOLLOWERS_FIRST(false),
    /** Everyone at one instant, after a time without writes. */
    ALL_WHEN_IDLE(false),
    /** One more than a bare majority at one instant: unavailable is right. */
    MORE_THAN_MAJORITY_AT_ONCE(true),
    /** Everyone at one instant: unavailable is right. */
    ALL_AT_ONCE(true);

    private final boolean mayStayDown;

    PowerCutScenario(boolean mayStayDown) {
        this.mayStayDown = mayStayDown;
    }

    /** Whether the ensemble may refuse to serve afterwards, until an operator accepts the loss. */
    boolean mayStayDown() {
        return mayStayDown;
    }

    /** Whether the victims go at one instant. */
    boolean atOnce() {
        return switch (this) {
            case MAJORITY_ONE_BY_ONE, ALL_LEADER_FIRST, ALL_FOLLOWERS_FIRST -> false;
            default -> true;
        };
    }

    /**
     * The victims, in their order.
     *
     * @param leader the leader's id, one of 1 to n
     */
    List<Integer> victims(int n, int leader) {
        List<Integer> followers = new ArrayList<>();
        for (int id = 1; id <= n; id++) {
            if (id != leader) {
                followers.add(id);
            }
        }
        int majority = Quorums.bareMajority(n);
        return switch (this) {
            case FOLLOWER -> followers.subList(0, 1);
            case LEADER -> List.of(leader);
            case MINORITY_AT_ONCE -> leaderAnd(leader, followers, n - majority);
            case MAJORITY_AT_ONCE, MAJORITY_ONE_BY_ONE -> leaderAnd(leader, followers, majority);
            case MORE_THAN_MAJORITY_AT_ONCE -> leaderAnd(leader, followers, majority + 1);
            case ALL_LEADER_FIRST, ALL_WHEN_IDLE, ALL_AT_ONCE -> leaderAnd(leader, followers, n);
            case ALL_FOLLOWERS_FIRST -> {
                List<Integer> order = new ArrayList<>(followers);
                order.add(leader);
                yield order;
            }
        };
    }

    private static List<Integer> leaderAnd(int leader, List<Integer> followers, int count) {
        List<Integer> result = new ArrayList<>(List.of(leader));
        result.addAll(followers.subList(0, Math.min(count - 1, followers.size())));
        return result;
    }
}
