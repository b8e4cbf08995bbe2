package io.saucr.core.leader;

/**
 * Whom a voter prefers in its next election because its leader has named it (R28). It decides among
 * candidates that have the same, and nothing else: a vote never goes to a server that has less.
 * Immutable, and its times are monotonic nanoseconds.
 *
 * @param sid the server that was named
 * @param by the leader that named it; its term is over
 * @param ends when ZooKeeper's order holds again, so that an election ends even if only some voters
 *     know the name
 */
public record NominatedSuccessor(long sid, long by, long ends) {
    /** What a comparison of two candidates comes to. */
    public enum Verdict {
        /** The new one is better. */
        BETTER,
        /** It is not. */
        NOT_BETTER,
        /** ZooKeeper's order decides. */
        UNDECIDED
    }

    /** Compares a new candidate with the one that the voter has voted for. */
    public Verdict compare(
            long newSid, long newZxid, long newEpoch, long sidNow, long zxidNow, long epochNow) {
        if (newEpoch != epochNow || newZxid != zxidNow || newSid == sidNow) {
            return Verdict.UNDECIDED;
        }
        if (newSid == sid) {
            return Verdict.BETTER;
        }
        return sidNow == sid ? Verdict.NOT_BETTER : Verdict.UNDECIDED;
    }

    /** Whether it holds. */
    public boolean holds(long now) {
        return now - ends < 0;
    }
}
