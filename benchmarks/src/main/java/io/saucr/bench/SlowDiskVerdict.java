package io.saucr.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
record SlowDiskVerdict(
        String measured,
        String configuration,
        double ratio,
        double leastRatio,
        double longestPause,
        boolean good) {
    /** What is measured of each case; the names of samples end with them. */
    static final String ALL_WELL = ": 1,000 writes, all well";

    static final String SLOW = ": 1,000 writes, its disk slow";
    static final String PAUSE = ": longest pause meanwhile";
    static final String WITHOUT = ": 1,000 writes without it";

    private static final double LEAST_RATIO = 0.5;
    private static final double PAUSE_SECONDS = 2;

    /** Those of a run, by case and configuration in the order of measurement; none of others. */
    static List<SlowDiskVerdict> of(List<TimeSample> samples) {
        Map<String, Map<String, List<Double>>> seconds = Results.byMeasure(samples);
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

    /** For people. */
    static TextTable table(List<SlowDiskVerdict> verdicts) {
        TextTable table =
                new TextTable(
                        "slow disk of",
                        "configuration",
                        "throughput / without it",
                        "worst round",
                        "longest pause s",
                        "0.5 and 2 s");
        for (SlowDiskVerdict verdict : verdicts) {
            table.row(
                    verdict.measured,
                    verdict.configuration,
                    String.format(Locale.ROOT, "%.3f", verdict.ratio),
                    String.format(Locale.ROOT, "%.3f", verdict.leastRatio),
                    Results.number(verdict.longestPause),
                    verdict.good ? "kept" : "MISSED");
        }
        return table;
    }
}
