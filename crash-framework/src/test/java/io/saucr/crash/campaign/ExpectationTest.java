package io.saucr.crash.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the systems promise, against made-up outcomes. */
class ExpectationTest {
    private static Outcome outcome(String system, String plan, Verdict verdict, String reason) {
        return new Outcome(
                system,
                "1",
                5,
                Sequence.parse("12345>345>12345"),
                plan,
                "root",
                verdict,
                reason,
                0,
                0,
                List.of(),
                plan.contains("memory gone"),
                List.of(),
                0,
                List.of(),
                Activity.NONE);
    }

    private static List<String> broken(String system, String plan, Verdict verdict) {
        return broken(outcome(system, plan, verdict, ""));
    }

    private static List<String> broken(Outcome outcome) {
        return Expectation.of(List.of(outcome)).stream()
                .filter(expectation -> !expectation.held())
                .map(Expectation::claim)
                .toList();
    }

    @Test
    void aLossBreaksWhatTheSystemPromises() {
        String oneByOne = "leader first, gap 50 ms";
        assertThat(broken("saucr", oneByOne, Verdict.DATA_LOSS))
                .containsExactly("saucr loses no acknowledged write");
        assertThat(broken("zk-disk", oneByOne, Verdict.DATA_LOSS)).hasSize(1);
        assertThat(broken("zk-mem", oneByOne, Verdict.DATA_LOSS)).hasSize(1);
        assertThat(broken("zk-mem", oneByOne + ", memory gone", Verdict.DATA_LOSS)).isEmpty();
        assertThat(Expectation.of(List.of())).isEmpty();
    }

    @Test
    void aSystemMayRefuseToServeOnlyWhereTooFewAreRecoveredAfterFailuresAtOneInstant() {
        assertThat(broken("saucr", "simultaneous", Verdict.CORRECT)).isEmpty();
        assertThat(broken("saucr", "simultaneous", Verdict.TOO_FEW_RECOVERED)).isEmpty();
        assertThat(broken("saucr", "simultaneous", Verdict.UNAVAILABLE)).hasSize(1);
        assertThat(broken("saucr", "leader first, gap 50 ms", Verdict.TOO_FEW_RECOVERED))
                .containsExactly("saucr, servers failing one by one: serves in the end");
        assertThat(broken("saucr", "simultaneous, idle 1000 ms", Verdict.TOO_FEW_RECOVERED))
                .containsExactly("saucr, idle before each failure: serves in the end");
        assertThat(broken("vr-ideal", "simultaneous", Verdict.TOO_FEW_RECOVERED)).isEmpty();
    }

    @Test
    void youngStockMayOnlyFailToStartWithoutItsFirstSnapshot() {
        String young = "simultaneous, young";
        String gone = "; server 1 ended: No snapshot found, but there are log entries";
        assertThat(broken(outcome("zk-disk", young, Verdict.UNAVAILABLE, gone))).isEmpty();
        assertThat(broken("zk-disk", young, Verdict.UNAVAILABLE)).hasSize(1);
        assertThat(broken("zk-disk", "simultaneous", Verdict.UNAVAILABLE)).hasSize(1);
        assertThat(broken(outcome("zk-disk", young, Verdict.DATA_LOSS, gone))).hasSize(1);
    }
}
