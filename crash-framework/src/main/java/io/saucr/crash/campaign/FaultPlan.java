package io.saucr.crash.campaign;

import java.time.Duration;

/**
 * How the steps of a sequence are carried out.
 *
 * @param order which of several servers loses power first
 * @param gap between the power cuts of one step; zero for SIMULTANEOUS and PROCESSES
 * @param young whether the ensemble starts with nothing on disk but what it forced itself; if not,
 *     everything is made durable once before the first fault (stock ZooKeeper does not force its
 *     first snapshot)
 * @param idle how long no client writes before each fault
 * @param dwell how long a state without a majority lasts
 * @param settle how long a state with a majority may take until all its servers serve, before the
 *     sequence continues regardless
 * @param patience how long the last state may take until it serves, before it is called unavailable
 * @param steady whether each fault waits until a situation-aware ensemble is in the state that the
 *     fault is about: fast mode with every server that is up, if these are enough for it, and after
 *     an idle pause everything on disk
 * @param logFolder whether the servers' logs lie in a folder of their own (dataLogDir)
 * @param seed of the order of servers where {@code order} leaves it open
 */
public record FaultPlan(
        Order order,
        Duration gap,
        boolean young,
        Duration idle,
        Duration dwell,
        Duration settle,
        Duration patience,
        boolean steady,
        boolean logFolder,
        long seed) {
    /**
     * So much time between two failures is enough to notice the first, by heartbeat interval and
     * tolerance, and to force the log.
     */
    private static final Duration TIME_TO_NOTICE = Duration.ofMillis(100);

    /** So much time between two failures is enough for an election and a seal. */
    static final Duration TIME_TO_SEAL = Duration.ofSeconds(5);

    /** After so long without writes everything is on disk: twice {@code saucr.idleFlush}. */
    private static final Duration AT_REST = Duration.ofSeconds(1);

    /** How several servers fail: which of them loses power first. */
    public enum Order {
        LEADER_FIRST,
        FOLLOWERS_FIRST,
        SIMULTANEOUS,
        /** No power is lost: the processes are killed at one instant, their machines run on. */
        PROCESSES;

        /** Whether all servers of a step fail at one instant. */
        boolean atOnce() {
            return this == SIMULTANEOUS || this == PROCESSES;
        }
    }

    /** One by one with the paper's gap of 50 ms, the leader first. */
    public static FaultPlan oneByOne() {
        return new FaultPlan(
                Order.LEADER_FIRST,
                Duration.ofMillis(50),
                false,
                Duration.ZERO,
                Duration.ofMillis(500),
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                false,
                false,
                1);
    }

    /** What must come of this plan where servers seal views. */
    AvailabilityModel model(int servers) {
        return new AvailabilityModel(servers, pace(), idle.compareTo(AT_REST) >= 0);
    }

    private AvailabilityModel.Pace pace() {
        if (order.atOnce()) {
            return AvailabilityModel.Pace.AT_ONCE;
        }
        if (gap.compareTo(TIME_TO_NOTICE) < 0) {
            return AvailabilityModel.Pace.OVERLAPPING;
        }
        return gap.compareTo(TIME_TO_SEAL) < 0
                ? AvailabilityModel.Pace.NOTICED
                : AvailabilityModel.Pace.SEALED;
    }

    /**
     * The same plan with another order. After the death of processes alone every state must serve,
     * so each one then gets the time that otherwise only the last state has.
     */
    public FaultPlan withOrder(Order other) {
        return new FaultPlan(
                other,
                other.atOnce() ? Duration.ZERO : gap,
                young,
                idle,
                dwell,
                other == Order.PROCESSES ? patience : settle,
                patience,
                steady,
                logFolder,
                seed);
    }
}
