package io.saucr.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WindowedSummaryTest {
    private final WindowedSummary summary = new WindowedSummary();

    @Test
    void quantilesAreOfFourToFivePeriodsAndTheRestOfAllTime() {
        summary.add(10);
        assertThat(median()).isEqualTo(10);
        IntStream.range(0, 4).forEach(period -> summary.nextPeriod());
        assertThat(median()).isEqualTo(10);
        summary.add(200);
        summary.add(200);
        assertThat(median()).isEqualTo(200);
        summary.nextPeriod();
        assertThat(summary.values(List.of(0.01)).quantiles()).isEqualTo(List.of(200.0));
        IntStream.range(0, 5).forEach(period -> summary.nextPeriod());
        assertThat(median()).isNaN();
        assertThat(summary.values(List.of()).count()).isEqualTo(3);
        assertThat(summary.values(List.of()).sum()).isEqualTo(410);
    }

    @Test
    void sumsOfLargeValuesDoNotOverflow() {
        summary.add(Long.MAX_VALUE);
        summary.add(Long.MAX_VALUE);
        assertThat(summary.values(List.of()).sum()).isEqualTo(2.0 * Long.MAX_VALUE);
        summary.add(Long.MIN_VALUE);
        summary.add(Long.MIN_VALUE);
        summary.add(-7);
        assertThat(summary.values(List.of()).sum()).isEqualTo(-7);
        assertThat(summary.values(List.of()).count()).isEqualTo(5);
    }

    private double median() {
        return summary.values(List.of(0.5)).quantiles().get(0);
    }
}
