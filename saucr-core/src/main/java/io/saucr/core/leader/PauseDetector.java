package io.saucr.core.leader;

/**
 * For how long this process stood still lately (GC, SIGSTOP, a busy machine): it had planned to
 * wake up and did so later (H11). The last few pauses are remembered. Owned by the leader's lock.
 * Times are monotonic nanoseconds.
 */
final class PauseDetector {
    private static final int REMEMBERED = 8;

    private final long leastNanos;
    private final long[] lengths = new long[REMEMBERED];
    private final long[] ends = new long[REMEMBERED];
    private int newest;

    /**
     * @param leastNanos shorter pauses are not worth a word
     */
    PauseDetector(long leastNanos) {
        this.leastNanos = leastNanos;
    }

    /**
     * The process runs, and had meant to so many nanoseconds ago; negative if that is to come.
     * Every ack says so, until there is another plan: it is one pause all the same.
     */
    void awake(long lateNanos, long now) {
        if (lateNanos < leastNanos) {
            return;
        }
        if (!beganAt(newest, now - lateNanos)) {
            newest = (newest + 1) % REMEMBERED;
        }
        lengths[newest] = lateNanos;
        ends[newest] = now;
    }

    /** Whether a remembered pause began then. */
    private boolean beganAt(int pause, long planned) {
        return lengths[pause] > 0 && ends[pause] - lengths[pause] == planned;
    }

    /** The longest pause that ended after this time, nanoseconds; 0 if there was none. */
    long since(long since) {
        long longest = 0;
        for (int i = 0; i < REMEMBERED; i++) {
            if (ends[i] - since > 0) {
                longest = Math.max(longest, lengths[i]);
            }
        }
        return longest;
    }
}
