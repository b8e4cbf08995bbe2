package io.saucr.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.saucr.server.metrics.Histogram.Counts;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistogramTest {
    private static final double ERROR = 0.004;

    private final Histogram histogram = new Histogram();

    @Test
    void eachSmallValueIsExact() {
        for (long value = -256; value < 256; value++) {
            Histogram alone = new Histogram();
            alone.record(value);
            assertThat(alone.counts().quantile(0.5)).isEqualTo((double) value);
        }
    }

    @ParameterizedTest
    @ValueSource(
            longs = {
                256,
                1_000,
                1_023,
                1_024,
                123_456_789,
                (1L << 32) - 1,
                1L << 32,
                1L << 62,
                Long.MAX_VALUE,
                -257,
                -1_000,
                -123_456_789,
                Long.MIN_VALUE
            })
    void anyOtherIsWithinAPartOfItself(long value) {
        histogram.record(value);
        assertThat(histogram.counts().quantile(0.5))
                .isCloseTo((double) value, within(Math.abs((double) value) * ERROR));
        assertThat(histogram.counts().total()).isEqualTo(1);
    }

    @Test
    void ranksAreExactOverAllOctavesAndBothSigns() {
        long[] values =
                new Random(7)
                        .longs(20_000)
                        .map(random -> random >> (random & 63))
                        .peek(histogram::record)
                        .sorted()
                        .toArray();
        Counts counts = histogram.counts();
        assertThat(counts.total()).isEqualTo(values.length);
        for (double fraction : new double[] {0.000001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.9999, 1}) {
            long exact = values[(int) Math.ceil(fraction * values.length) - 1];
            assertThat(counts.quantile(fraction))
                    .as("quantile %s", fraction)
                    .isCloseTo((double) exact, within(Math.abs((double) exact) * ERROR));
        }
    }

    @Test
    void withoutValuesThereIsNoQuantile() {
        assertThat(histogram.counts().quantile(0.5)).isNaN();
        assertThat(Counts.NONE.quantile(0.99)).isNaN();
    }

    @Test
    void aDifferenceHasWhatWasRecordedBetween() {
        LongStream.of(-5_000, 1, 1, 70_000).forEach(histogram::record);
        Counts earlier = histogram.counts();
        LongStream.of(-3, 1, 300, 1L << 40).forEach(histogram::record);
        Counts between = histogram.counts().since(earlier);
        assertThat(between.total()).isEqualTo(4);
        assertThat(LongStream.of(1, 2, 3).mapToDouble(rank -> between.quantile(rank / 4.0)))
                .containsExactly(-3.0, 1.0, 301.0);
        assertThat(histogram.counts().since(histogram.counts()).quantile(0.5)).isNaN();
    }

    @Test
    void noCountOfManyWritersIsLost() throws Exception {
        int each = 200_000;
        Thread[] writers = new Thread[8];
        for (int i = 0; i < writers.length; i++) {
            long factor = i + 1L;
            writers[i] =
                    new Thread(
                            () ->
                                    LongStream.range(0, each)
                                            .forEach(value -> histogram.record(value * factor)));
        }
        Arrays.stream(writers).forEach(Thread::start);
        long seen = 0;
        while (Arrays.stream(writers).anyMatch(Thread::isAlive)) {
            long now = histogram.counts().total();
            assertThat(now).isGreaterThanOrEqualTo(seen);
            seen = now;
        }
        for (Thread writer : writers) {
            writer.join();
        }
        assertThat(histogram.counts().total()).isEqualTo(8L * each);
    }
}
