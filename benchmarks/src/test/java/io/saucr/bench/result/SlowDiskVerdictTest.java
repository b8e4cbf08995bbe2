package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.saucr.bench.report.Results;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlowDiskVerdictTest {
    private static final String CASE = "leader of 5, fast";

    private final List<TimeSample> samples = new ArrayList<>();

    private void round(int round, String configuration, double slow, double pause, double without) {
        add(SlowDiskVerdict.ALL_WELL, configuration, round, 1);
        add(SlowDiskVerdict.SLOW, configuration, round, slow);
        add(SlowDiskVerdict.PAUSE, configuration, round, pause);
        add(SlowDiskVerdict.WITHOUT, configuration, round, without);
    }

    private void add(String what, String configuration, int round, double seconds) {
        samples.add(new TimeSample(CASE + what, configuration, round, seconds));
    }

    @Test
    void theWorstRoundDecides() {
        for (String configuration : List.of("good", "low", "long")) {
            round(1, configuration, 1, 0.1, 1);
            round(2, configuration, 1.25, 0.1, 1);
        }
        round(3, "good", 2, 1.99, 1);
        round(3, "low", 2.1, 0.1, 1);
        round(3, "long", 1, 2, 1);
        List<SlowDiskVerdict> verdicts = SlowDiskVerdict.of(samples);
        assertThat(verdicts)
                .extracting(SlowDiskVerdict::configuration)
                .containsExactly("good", "low", "long");
        assertThat(verdicts).extracting(SlowDiskVerdict::good).containsExactly(true, false, false);
        assertThat(verdicts.get(0))
                .isEqualTo(new SlowDiskVerdict(CASE, "good", 0.8, 0.5, 1.99, true));
        assertThat(verdicts.get(1).leastRatio()).isCloseTo(1 / 2.1, within(1e-9));
        assertThat(Results.slowDisks(verdicts).toString())
                .containsPattern("leader of 5, fast +good +0.800 +0.500 +1.99 +kept\\n")
                .containsPattern("leader of 5, fast +long +1.000 +0.800 +2.00 +MISSED");
    }

    @Test
    void otherTimesHaveNone() {
        samples.add(new TimeSample("recovery of 100 entries", "saucr", 1, 2));
        assertThat(SlowDiskVerdict.of(samples)).isEmpty();
    }
}
