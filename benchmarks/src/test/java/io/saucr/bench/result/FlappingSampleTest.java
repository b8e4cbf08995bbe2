package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.saucr.bench.report.Results;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlappingSampleTest {
    private static FlappingSample sample(
            String configuration, int round, long writes, long modeSwitches, double cpuSeconds) {
        return new FlappingSample(
                configuration,
                round,
                10,
                writes,
                0.5,
                20,
                modeSwitches,
                writes / 2,
                3,
                cpuSeconds,
                4,
                3);
    }

    private final List<FlappingSample> samples =
            List.of(
                    sample("tree", 1, 2000, 6, 1),
                    sample("tree", 2, 4000, 9, 2),
                    sample("commit", 1, 1000, 2, 1),
                    sample("commit", 2, 2000, 3, 2),
                    sample("stock", 1, 1000, 0, 2),
                    sample("stock", 2, 2000, 1, 4));

    @Test
    void noopsAreTheProposalsThatNobodyAskedFor() {
        assertThat(FlappingSample.noops(0x3_0000_0010L, 0x3_0000_0010L + 1000 + 16 + 7, 1000, 8))
                .isEqualTo(7);
        assertThat(FlappingSample.noops(0x3_0000_0000L, 0x3_0000_0000L, 0, 0)).isZero();
        assertThatThrownBy(() -> FlappingSample.noops(0x3_0000_0010L, 0x4_0000_0500L, 1000, 8))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another leader");
    }

    @Test
    void theFirstConfigurationIsComparedWithEachOther() {
        List<Samples.Ratio> ratios = FlappingSample.compared(samples).ratios();
        assertThat(ratios)
                .filteredOn(each -> each.other().equals("commit"))
                .extracting(Samples.Ratio::measure)
                .containsExactly(
                        "writes/s",
                        "longest gap s",
                        "p99 ms",
                        "mode switches",
                        "mode switches/h",
                        "committed fast",
                        "no-ops and seals",
                        "CPU s per 10,000 writes",
                        "returns");
        assertThat(ratio(ratios, "writes/s", "commit")).isCloseTo(2, within(1e-9));
        assertThat(ratio(ratios, "mode switches", "commit")).isCloseTo(3, within(1e-9));
        assertThat(ratio(ratios, "CPU s per 10,000 writes", "stock")).isCloseTo(0.25, within(1e-9));
    }

    private static double ratio(List<Samples.Ratio> ratios, String measure, String other) {
        return ratios.stream()
                .filter(each -> each.measure().equals(measure) && each.other().equals(other))
                .findFirst()
                .orElseThrow()
                .ratio()
                .ratio();
    }

    @Test
    void whatIsNothingInARoundHasNoRatio() {
        assertThat(FlappingSample.compared(samples).ratios())
                .filteredOn(each -> each.measure().equals("mode switches"))
                .extracting(Samples.Ratio::other)
                .containsExactly("commit");
        assertThat(FlappingSample.compared(samples.subList(0, 2)).ratios()).isEmpty();
        assertThat(FlappingSample.compared(List.of()).ratios()).isEmpty();
    }

    @Test
    void theTableHasEveryMeasureOfEveryConfiguration() {
        assertThat(Results.flapping(samples).toString())
                .containsPattern("writes/s +tree +300 +\\[250, 350] +2 +- +-\\n")
                .containsPattern("writes/s +commit +150 .* 2\\.000 +\\[2\\.000, 2\\.000] at 50 %")
                .containsPattern("mode switches +stock +0\\.500 .* - +-\\n")
                .containsPattern("mode switches/h +tree +2700 .*")
                .containsPattern("committed fast +tree +0\\.500 .*")
                .containsPattern("CPU s per 10,000 writes +stock +20\\.0 ");
    }
}
