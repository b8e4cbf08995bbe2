package io.saucr.bench.result;

import java.util.List;

/**
 * What one ensemble did while very much came at once: a bulk load, or sessions that expired.
 * Immutable.
 *
 * @param burst what came, in words
 * @param round from 1; the configurations take turns in each
 * @param seconds length of the window that all counts are of
 * @param operations that clients saw succeed
 * @param longestGapSeconds without one
 * @param modeSwitches of the leader, both ways; 0 if it has no modes, and after an election
 * @param elections of another leader meanwhile
 */
public record BurstSample(
        String burst,
        String configuration,
        int round,
        double seconds,
        long operations,
        double longestGapSeconds,
        double serverCpuSeconds,
        long modeSwitches,
        long elections)
        implements Sample {

    private static final String RATE = "operations/s";

    /** In the order of the tables. */
    private static final List<Samples.Measure<BurstSample>> MEASURES =
            List.of(
                    new Samples.Measure<>(RATE, each -> each.operations / each.seconds),
                    new Samples.Measure<>("seconds", BurstSample::seconds),
                    new Samples.Measure<>("longest gap s", BurstSample::longestGapSeconds),
                    new Samples.Measure<>(
                            "CPU us/op",
                            each -> each.serverCpuSeconds * 1e6 / Math.max(1, each.operations)),
                    new Samples.Measure<>("CPU s", BurstSample::serverCpuSeconds),
                    new Samples.Measure<>("mode switches", BurstSample::modeSwitches),
                    new Samples.Measure<>("elections", BurstSample::elections));

    @Override
    public String subject() {
        return burst;
    }

    /** With what is compared of them. */
    public static Samples<BurstSample> compared(List<BurstSample> samples) {
        return new Samples<>(samples, MEASURES);
    }

    /** Whether the ratio is that of operations per second. */
    public static boolean isRate(Samples.Ratio ratio) {
        return ratio.measure().equals(RATE);
    }
}
