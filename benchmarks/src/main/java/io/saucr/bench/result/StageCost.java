package io.saucr.bench.result;

/**
 * What the threads of one stage of the pipeline used for an operation. Immutable.
 *
 * @param role leader, followers (all of them together), or busiest thread
 * @param stage the threads, by what they do
 * @param cpuMicros on a processor, microseconds for one operation
 * @param waitMicros ready to run but without a processor, microseconds for one operation
 * @param switches times that a thread was put on a processor, for one operation
 */
public record StageCost(
        String configuration,
        String role,
        int round,
        String stage,
        double cpuMicros,
        double waitMicros,
        double switches) {
    /** The role of the one leader. */
    public static final String LEADER = "leader";

    /** The role of all followers together. */
    public static final String FOLLOWERS = "followers";

    /** The one thread of the leader that used most, which one of its stages has, too. */
    public static final String BUSIEST = "busiest thread";
}
