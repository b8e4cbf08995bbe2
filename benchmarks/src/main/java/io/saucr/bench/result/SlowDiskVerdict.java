package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What one server's slow disk cost an ensemble. Immutable.
 *
 * @param measured which server, of how many, in which mode
 * @param ratio throughput with the slow disk as a part of that without its server, median over the
 *     rounds
 * @param leastRatio that of the worst round
 * @param longestPause seconds without any acknowledged write while the disk was slow, longest of
 *     all rounds
 * @param good whether even the worst is within the bounds: half of the throughput, 2 s
 */
public record SlowDiskVerdict(
        String measured,
        String configuration,
        double ratio,
        double leastRatio,
        double longestPause,
        boolean good) {
    /** What is measured of each case; the names of samples end with them. */
    public static final String ALL_WELL = ": 1,000 writes, all well";

    public static final String SLOW = ": 1,000 writes, its disk slow";
    public static final String PAUSE = ": longest pause meanwhile";
    public static final String WITHOUT = ": 1,000 writes without it";

    private static final double LEAST_RATIO = 0.5;
    private static final double PAUSE_SECONDS = 2;

    /** Those of a run, by case and configuration in the order of measurement; none of others. */
    public static List<SlowDiskVerdict> of(List<TimeSample> samples) {
        Map<String, Map<String, List<Double>>> seconds = TimeSample.byMeasure(samples);
        List<SlowDiskVerdict> verdicts = new ArrayList<>();
        for (String measure : seconds.keySet()) {
            if (measure.endsWith(SLOW)) {
                String measured = measure.substring(0, measure.length() - SLOW.length());
                seconds.get(measure)
                        .forEach(
                                (configuration, slow) ->
                                        verdicts.add(
                                                of(
                                                        measured,
                                                        configuration,
                                                        slow,
                                                        seconds.get(measured + WITHOUT)
                                                                .get(configuration),
                                                        seconds.get(measured + PAUSE)
                                                                .get(configuration))));
            }
        }
        return verdicts;
    }

    private static SlowDiskVerdict of(
            String measured,
            String configuration,
            List<Double> slow,
            List<Double> without,
            List<Double> pauses) {
        double[] ratios = new double[slow.size()];
        for (int round = 0; round < ratios.length; round++) {
            ratios[round] = without.get(round) / slow.get(round);
        }
        Spread spread = Spread.of(ratios);
        double pause = pauses.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        return new SlowDiskVerdict(
                measured,
                configuration,
                spread.median(),
                spread.least(),
                pause,
                spread.least() >= LEAST_RATIO && pause < PAUSE_SECONDS);
    }
}
