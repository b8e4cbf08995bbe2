package io.saucr.bench.result;

import java.util.Arrays;

/**
 * How many times as large one series is as another that was measured in the same rounds: the
 * Hodges-Lehmann estimate over the logarithms of the ratios of each round, with the confidence
 * interval of Wilcoxon's signed-rank test. What disturbs a whole round cancels out, a single
 * disturbed slice has little weight, and nothing is assumed about the distribution but symmetry.
 * Immutable.
 *
 * @param ratio the estimate
 * @param low lower end of the interval
 * @param high upper end of the interval
 * @param confidence that the interval has, at least 0.95 if there are six rounds or more; with
 *     fewer, the interval spans all rounds and its confidence is lower
 * @param rounds pairs that it comes from
 */
public record PairedRatio(double ratio, double low, double high, double confidence, int rounds) {
    private static final double WANTED = 0.95;

    /**
     * @param numerators one value per round, positive
     * @param denominators the value of the same round, positive
     */
    public static PairedRatio of(double[] numerators, double[] denominators) {
        if (numerators.length != denominators.length || numerators.length == 0) {
            throw new IllegalArgumentException(
                    numerators.length + " and " + denominators.length + " rounds");
        }
        int rounds = numerators.length;
        double[] logs = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            if (!(numerators[i] > 0) || !(denominators[i] > 0)) {
                throw new IllegalArgumentException(
                        "round " + (i + 1) + ": " + numerators[i] + " to " + denominators[i]);
            }
            logs[i] = Math.log(numerators[i] / denominators[i]);
        }
        double[] averages = new double[rounds * (rounds + 1) / 2];
        int next = 0;
        for (int i = 0; i < rounds; i++) {
            for (int j = i; j < rounds; j++) {
                averages[next++] = (logs[i] + logs[j]) / 2;
            }
        }
        Arrays.sort(averages);
        double[] cumulative = signedRankDistribution(rounds);
        int cut = 0;
        while (2 * cumulative[cut] <= 1 - WANTED) {
            cut++;
        }
        // The statistic is below `cut` with at most the probability that may lie outside.
        int first = Math.max(0, cut - 1);
        double outside = 2 * cumulative[first];
        return new PairedRatio(
                Math.exp(Spread.of(averages).median()),
                Math.exp(averages[first]),
                Math.exp(averages[averages.length - 1 - first]),
                Math.max(0, 1 - outside),
                rounds);
    }

    /** Probability that the signed-rank statistic of n pairs is at most the index. */
    private static double[] signedRankDistribution(int n) {
        double[] probability = new double[n * (n + 1) / 2 + 1];
        probability[0] = 1;
        for (int rank = 1; rank <= n; rank++) {
            for (int sum = probability.length - 1; sum >= 0; sum--) {
                double without = probability[sum] / 2;
                double with = sum >= rank ? probability[sum - rank] / 2 : 0;
                probability[sum] = without + with;
            }
        }
        double total = 0;
        for (int i = 0; i < probability.length; i++) {
            total += probability[i];
            probability[i] = total;
        }
        return probability;
    }

    /** Half the width of the confidence interval, divided by the ratio. */
    public double relativeHalfWidth() {
        return (high - low) / 2 / ratio;
    }
}
