package io.saucr.crash.paper;

import io.saucr.crash.campaign.FaultPlan;
import java.time.Duration;

/**
 * The failure of all servers, one after the other.
 *
 * @param servers 3 to 9
 * @param heartbeat the servers' {@code saucr.heartbeatInterval}
 * @param order LEADER_FIRST or FOLLOWERS_FIRST
 * @param gap between two failures; zero for one instant
 * @param round distinguishes repetitions, from 1
 */
public record ReactionPlan(
        int servers, Duration heartbeat, FaultPlan.Order order, Duration gap, int round) {
    public ReactionPlan {
        if (servers < 3 || servers > 9 || gap.isNegative() || heartbeat.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "3 to 9 servers, a gap of 0 ms or more, a heartbeat of 1 ms or more");
        }
        if (order == FaultPlan.Order.SIMULTANEOUS || order == FaultPlan.Order.PROCESSES) {
            throw new IllegalArgumentException(
                    "servers lose power in an order; simultaneous failures have a gap of 0");
        }
    }
}
