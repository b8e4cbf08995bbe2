package io.saucr.core;

/**
 * Quorum arithmetic for {@code voters} voters (section 3 of the paper: bare majority, fast quorum,
 * recovery quorum). Immutable.
 *
 * @param voters number of voters, at least 3: smaller ensembles have no fast quorum
 */
public record Quorums(int voters) {

    /**
     * @throws IllegalArgumentException if there are fewer than 3 voters
     */
    public Quorums {
        if (voters < 3) {
            throw new IllegalArgumentException("SAUCR needs at least 3 voters, not " + voters);
        }
    }

    /** B: the smallest majority. */
    public int bareMajority() {
        return voters / 2 + 1;
    }

    /** F: how many must hold a fast entry before it commits. */
    public int fastQuorum() {
        return bareMajority() + 1;
    }

    /** R: how many recovered voters must answer a recovering one. */
    public int recoveryQuorum() {
        return voters - bareMajority();
    }
}
