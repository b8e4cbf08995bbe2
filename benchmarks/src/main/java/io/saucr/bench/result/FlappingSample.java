package io.saucr.bench.result;

import java.util.List;

/**
 * What one ensemble did while a follower of it was killed and returned again and again, or while
 * other processes kept its machine busy. Immutable.
 *
 * @param round from 1; the configurations take turns in each
 * @param seconds length of the window that all counts are of, but for {@code noops}
 * @param writes acknowledged
 * @param longestGapSeconds without an acknowledged write
 * @param modeSwitches of the leader, both ways; 0 if it has no modes
 * @param fastCommits of the leader; 0 if it has no modes
 * @param noops proposals that no client asked for, no-ops and seals, from the clients' first to
 *     their last
 * @param serverCpuSeconds of all servers, the starts of the one that flaps included
 * @param kills of the follower
 * @param returns after which it served again
 */
public record FlappingSample(
        String configuration,
        int round,
        double seconds,
        long writes,
        double longestGapSeconds,
        double p99Millis,
        long modeSwitches,
        long fastCommits,
        long noops,
        double serverCpuSeconds,
        int kills,
        int returns)
        implements Sample {

    /** In the order of the tables. */
    private static final List<Samples.Measure<FlappingSample>> MEASURES =
            List.of(
                    new Samples.Measure<>("writes/s", each -> each.writes / each.seconds),
                    new Samples.Measure<>("longest gap s", FlappingSample::longestGapSeconds),
                    new Samples.Measure<>("p99 ms", FlappingSample::p99Millis),
                    new Samples.Measure<>("mode switches", FlappingSample::modeSwitches),
                    new Samples.Measure<>(
                            "mode switches/h", each -> 3600 * each.modeSwitches / each.seconds),
                    new Samples.Measure<>(
                            "committed fast",
                            each -> (double) each.fastCommits / Math.max(1, each.writes)),
                    new Samples.Measure<>("no-ops and seals", FlappingSample::noops),
                    new Samples.Measure<>(
                            "CPU s per 10,000 writes",
                            each -> each.serverCpuSeconds * 10_000 / Math.max(1, each.writes)),
                    new Samples.Measure<>("returns", FlappingSample::returns));

    /**
     * How many proposals between two zxids were nobody's write, nor the beginning or end of a
     * client's session.
     *
     * @param clients whose sessions began and ended meanwhile
     * @throws IllegalStateException if another epoch has begun, whose zxids begin anew
     */
    public static long noops(long zxidBefore, long zxidAfter, long writes, int clients) {
        if (zxidBefore >>> 32 != zxidAfter >>> 32) {
            throw new IllegalStateException("another leader was elected while a follower flapped");
        }
        return zxidAfter - zxidBefore - writes - 2L * clients;
    }

    /** With what is compared of them. */
    public static Samples<FlappingSample> compared(List<FlappingSample> samples) {
        return new Samples<>(samples, MEASURES);
    }
}
