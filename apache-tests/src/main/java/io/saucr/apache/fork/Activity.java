package io.saucr.apache.fork;

/**
 * What SAUCR did while a class ran: proof that it was on.
 *
 * @param peers servers that were made situation-aware
 * @param fastCommits entries committed in fast mode
 * @param slowCommits entries committed in slow mode by a situation-aware leader
 */
public record Activity(long peers, long fastCommits, long slowCommits) {
    /** SAUCR did nothing. */
    public static final Activity NONE = new Activity(0, 0, 0);

    /** The sum of both. */
    public Activity plus(Activity other) {
        return new Activity(
                peers + other.peers,
                fastCommits + other.fastCommits,
                slowCommits + other.slowCommits);
    }
}
