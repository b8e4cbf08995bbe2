package io.saucr.suites;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.suites.Outcome.Result;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OutcomeTest {
    @Test
    void aLaterRunOfSomeTestsReplacesTheirResultsAlone() {
        Outcome all = new Outcome(Map.of("a", Result.FAILED, "b", Result.PASSED));
        assertThat(all.replacedBy(new Outcome(Map.of("a", Result.PASSED, "c", Result.SKIPPED))))
                .isEqualTo(
                        new Outcome(
                                Map.of(
                                        "a", Result.PASSED,
                                        "b", Result.PASSED,
                                        "c", Result.SKIPPED)));
    }
}
