package io.saucr.crash.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.campaign.Outcome.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the systems promise, against made-up outcomes. */
class ExpectationTest {
    private static Outcome outcome(String system, String plan, Verdict verdict, String reason) {
        return outcome(system, plan, verdict, reason, List.of());
    }

    private static Outcome outcome(
            String system, String plan, Verdict verdict, String reason, List<Event> events) {
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
                events,
                Activity.NONE,
                model(plan));
    }

    /** Plans with "views" are of systems that seal them. */
    private static AvailabilityModel.Judgement model(String plan) {
        return plan.contains("views") ? new AvailabilityModel.Judgement(true, "why") : null;
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
    void whereViewsAreSealedTheModelDecides() {
        String claim =
                "saucr with sealed views: serves wherever the model of views says that it has to";
        assertThat(broken("saucr", "simultaneous, views", Verdict.CORRECT)).isEmpty();
        assertThat(broken("saucr", "simultaneous, views", Verdict.TOO_FEW_RECOVERED)).isEmpty();
        assertThat(broken("saucr", "simultaneous, views", Verdict.UNAVAILABLE))
                .containsExactly(claim);
        assertThat(broken("saucr", "leader first, gap 50 ms, views", Verdict.UNAVAILABLE))
                .containsExactly("saucr, servers failing one by one: serves in the end", claim);
    }

    @Test
    void processesThatDieAreNoLossOfPower() {
        assertThat(broken("saucr", "processes", Verdict.CORRECT)).isEmpty();
        assertThat(broken("saucr", "processes", Verdict.UNAVAILABLE))
                .containsExactly("saucr, processes dying at one instant: serves every time");
        String late =
                "saucr, processes dying at one instant: serves within the time of a normal start";
        assertThat(startsAfter(2000, 1500, 6999)).isEmpty();
        assertThat(startsAfter(2000, 7001, 1500)).containsExactly(late);
        assertThat(startsAfter(2000, -1, 1500)).containsExactly(late);
    }

    /** A long history takes its time, however the servers ended. */
    @Test
    void aStartAfterAnOrderlyStopIsANormalOneToo() {
        List<Event> events = starts(2000, 12_000);
        assertThat(broken(outcome("saucr", "processes", Verdict.CORRECT, "", events))).hasSize(1);
        events.add(new Event(20_000, "orderly-start", "12345", Map.of()));
        events.add(new Event(26_000, "serving", "12345", Map.of()));
        Outcome outcome = outcome("saucr", "processes", Verdict.CORRECT, "", events);
        assertThat(outcome.startMillis()).containsExactly(2000L, 12_000L);
        assertThat(outcome.orderlyStartMillis()).containsExactly(6000L);
        assertThat(broken(outcome)).isEmpty();
    }

    /** Broken promises of servers that served so many milliseconds after each start; -1: never. */
    private static List<String> startsAfter(long... times) {
        return broken(outcome("saucr", "processes", Verdict.CORRECT, "", starts(times)));
    }

    private static List<Event> starts(long... times) {
        List<Event> events = new ArrayList<>();
        long now = 0;
        for (long millis : times) {
            events.add(new Event(now, "start", "12345", Map.of()));
            now += Math.abs(millis);
            String kind = millis < 0 ? "not-serving" : "serving";
            events.add(new Event(now, kind, "12345", Map.of()));
            events.add(new Event(now, "acknowledged", "12345", Map.of()));
            events.add(new Event(now, "kill", "-", Map.of()));
        }
        return events;
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
