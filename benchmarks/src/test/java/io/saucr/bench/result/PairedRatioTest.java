package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class PairedRatioTest {
    private static double[] times(double[] values, double factor) {
        double[] result = values.clone();
        for (int i = 0; i < result.length; i++) {
            result[i] *= factor;
        }
        return result;
    }

    @Test
    void aConstantRatioIsExactWhateverTheRoundsDo() {
        double[] base = {100, 3, 7000, 55, 1, 90, 12};
        PairedRatio ratio = PairedRatio.of(times(base, 1.25), base);
        assertThat(ratio.ratio()).isCloseTo(1.25, within(1e-9));
        assertThat(ratio.relativeHalfWidth()).isCloseTo(0, within(1e-9));
        assertThat(ratio.rounds()).isEqualTo(7);
    }

    @Test
    void oneDisturbedRoundOfTenHardlyMatters() {
        double[] base = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10};
        double[] other = {10.1, 9.9, 10.2, 9.8, 10, 10.1, 9.9, 10, 10.05, 1};
        PairedRatio ratio = PairedRatio.of(other, base);
        assertThat(ratio.ratio()).isBetween(0.98, 1.01);
    }

    /**
     * The tabulated values of the signed-rank test: 6 rounds span all averages, 10 rounds cut 8.
     */
    @Test
    void confidenceIsThatOfTheSignedRankTest() {
        double[] six = {1, 2, 3, 4, 5, 6};
        double[] ones = {1, 1, 1, 1, 1, 1};
        PairedRatio ratio = PairedRatio.of(six, ones);
        assertThat(ratio.confidence()).isCloseTo(0.96875, within(1e-9));
        assertThat(ratio.low()).isCloseTo(1, within(1e-9));
        assertThat(ratio.high()).isCloseTo(6, within(1e-9));

        double[] ten = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
        double[] tenOnes = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        assertThat(PairedRatio.of(ten, tenOnes).confidence()).isCloseTo(0.951171875, within(1e-9));
    }

    @Test
    void fewRoundsAreSaidToMeanLittle() {
        PairedRatio one = PairedRatio.of(new double[] {2}, new double[] {1});
        assertThat(one.confidence()).isEqualTo(0);
        PairedRatio three = PairedRatio.of(new double[] {1, 2, 3}, new double[] {1, 1, 1});
        assertThat(three.confidence()).isCloseTo(0.75, within(1e-9));
        assertThat(three.low()).isEqualTo(1);
        assertThat(three.high()).isCloseTo(3, within(1e-9));
    }

    @Test
    void theIntervalCoversTheTruthAsOftenAsItSays() {
        SplittableRandom random = new SplittableRandom(7);
        int covered = 0;
        int trials = 2000;
        for (int trial = 0; trial < trials; trial++) {
            double[] first = new double[8];
            double[] second = new double[8];
            for (int i = 0; i < 8; i++) {
                double round = 100 * (1 + random.nextDouble());
                second[i] = round * Math.exp(0.1 * noise(random));
                first[i] = 1.1 * round * Math.exp(0.1 * noise(random));
            }
            PairedRatio ratio = PairedRatio.of(first, second);
            if (ratio.low() <= 1.1 && 1.1 <= ratio.high()) {
                covered++;
            }
        }
        assertThat((double) covered / trials).isBetween(0.945, 0.985);
    }

    private static double noise(SplittableRandom random) {
        double sum = 0;
        for (int i = 0; i < 12; i++) {
            sum += random.nextDouble();
        }
        return sum - 6;
    }

    @Property(tries = 200)
    void turningTheRatioAroundTurnsItsIntervalAround(
            @ForAll @Size(9) List<@DoubleRange(min = 0.1, max = 1000) Double> first,
            @ForAll @Size(9) List<@DoubleRange(min = 0.1, max = 1000) Double> second) {
        double[] numerators = first.stream().mapToDouble(Double::doubleValue).toArray();
        double[] denominators = second.stream().mapToDouble(Double::doubleValue).toArray();
        PairedRatio there = PairedRatio.of(numerators, denominators);
        PairedRatio back = PairedRatio.of(denominators, numerators);
        assertThat(there.ratio() * back.ratio()).isCloseTo(1, within(1e-6));
        assertThat(there.low() * back.high()).isCloseTo(1, within(1e-6));
        assertThat(there.low()).isLessThanOrEqualTo(there.ratio());
        assertThat(there.high()).isGreaterThanOrEqualTo(there.ratio());
    }

    @Test
    void valuesThatHaveNoRatioAreRefused() {
        assertThatThrownBy(() -> PairedRatio.of(new double[] {1, 0}, new double[] {1, 1}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("round 2");
        assertThatThrownBy(() -> PairedRatio.of(new double[] {1}, new double[] {}))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
