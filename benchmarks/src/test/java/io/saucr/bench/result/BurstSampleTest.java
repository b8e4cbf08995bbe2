package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.saucr.bench.report.Results;
import java.util.List;
import org.junit.jupiter.api.Test;

class BurstSampleTest {
    private static BurstSample sample(
            String burst, String configuration, int round, long operations, long elections) {
        return new BurstSample(burst, configuration, round, 2, operations, 0.5, 1, 4, elections);
    }

    private final List<BurstSample> samples =
            List.of(
                    sample("few", "ours", 1, 1000, 0),
                    sample("few", "ours", 2, 2000, 1),
                    sample("few", "stock", 1, 500, 0),
                    sample("few", "stock", 2, 1000, 0),
                    sample("many", "ours", 1, 3000, 0),
                    sample("many", "stock", 1, 1000, 0));

    @Test
    void eachBurstIsComparedForItself() {
        List<Samples.Ratio> rates =
                BurstSample.compared(samples).ratios().stream()
                        .filter(BurstSample::isRate)
                        .toList();
        assertThat(rates).extracting(Samples.Ratio::subject).containsExactly("few", "many");
        assertThat(rates.get(0).ratio().ratio()).isCloseTo(2, within(1e-9));
        assertThat(rates.get(1).ratio().ratio()).isCloseTo(3, within(1e-9));
    }

    @Test
    void whatDidNotHappenHasNoRatio() {
        assertThat(BurstSample.compared(samples).ratios())
                .extracting(Samples.Ratio::measure)
                .contains("CPU us/op", "longest gap s")
                .doesNotContain("elections");
    }

    @Test
    void theTableTellsOfEveryBurst() {
        assertThat(Results.bursts(samples).toString())
                .contains("few: elections", "many: longest gap s", "ratio of ours");
    }

    @Test
    void resultsNameTheBurst() {
        assertThat(BurstSample.compared(samples).ratios().get(0).described("burst"))
                .containsOnlyKeys("burst", "measure", "configuration", "other", "ratio")
                .containsEntry("burst", "few");
        assertThat(BurstSample.compared(samples).ratios().get(0).described(null))
                .containsOnlyKeys("measure", "configuration", "other", "ratio");
    }
}
