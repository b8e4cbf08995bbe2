package io.saucr.core;

/**
 * How many of {@code voters} voters are enough for what. The only place with this arithmetic, and
 * the same for every number of voters from 1: of fewer than 3 the fast quorum is more than there
 * are, so such an ensemble never gets fast.
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
     * R: how many recovered voters must answer a recovering one (R16). Never less than 1: nobody
     * recovers from nothing.
     */
    public static int recoveryQuorum(int voters) {
        return Math.max(1, voters - bareMajority(voters));
    }

    /**
     * How many recovered voters must answer one that lost its disk (R26): n - B + 1. A durable ack
     * counted together with those of B - 1 others at least, and of n - 1 others so many include one
     * of them.
     */
    public static int lostDiskQuorum(int voters) {
        return voters - bareMajority(voters) + 1;
    }
}
