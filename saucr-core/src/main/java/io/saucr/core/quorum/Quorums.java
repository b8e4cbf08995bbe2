package io.saucr.core.quorum;

/**
 * Quorum sizes for {@code voters} voters (section 3 of the paper: bare majority, fast quorum,
 * recovery quorum). This is the only place with quorum arithmetic. It holds for any number of
 * voters from 1 on: with fewer than 3 the fast quorum is larger than the ensemble, which therefore
 * never switches to fast mode.
 */
public final class Quorums {
    private Quorums() {}

    /** B: the smallest majority. */
    public static int bareMajority(int voters) {
        return voters / 2 + 1;
    }

    /** F: how many must hold a fast entry before it commits. */
    public static int fastQuorum(int voters) {
        return bareMajority(voters) + 1;
    }

    /**
     * R: how many recovered voters must answer a recovering one (R16). At least 1: without any
     * answer no server recovers.
     */
    public static int recoveryQuorum(int voters) {
        return Math.max(1, voters - bareMajority(voters));
    }

    /**
     * How many recovered members of its view must answer a recovering server (R23): |W| - F + 1. F
     * - 1 other members acked what counted its own memory ack, and any so many of the |W| - 1
     * others include one of these.
     *
     * @param members of the view, the recovering server perhaps among them
     * @param voters of the configuration in which it was sealed
     */
    public static int viewQuorum(int members, int voters) {
        return Math.max(1, members - fastQuorum(voters) + 1);
    }

    /**
     * How many recovered voters must answer one that lost its disk (R26): n - B + 1. A durable ack
     * of the lost disk counted together with those of at least B - 1 others; among the n - 1
     * others, any n - B + 1 include one of these.
     */
    public static int lostDiskQuorum(int voters) {
        return voters - bareMajority(voters) + 1;
    }
}
