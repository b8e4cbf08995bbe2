package io.saucr.bench.result;

import java.util.Arrays;

/**
 * Median, quartiles and extremes of some values. Immutable.
 *
 * @param lowerQuartile a quarter of the values is not above it, by linear interpolation
 */
public record Spread(
        double median, double lowerQuartile, double upperQuartile, double least, double greatest) {
    /**
     * @throws IllegalArgumentException if there are no values
     */
    public static Spread of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Spread(
                quantile(sorted, 0.5),
                quantile(sorted, 0.25),
                quantile(sorted, 0.75),
                sorted[0],
                sorted[sorted.length - 1]);
    }

    private static double quantile(double[] sorted, double part) {
        double position = part * (sorted.length - 1);
        int below = (int) position;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    }
}
