package io.saucr.model.checker;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.model.checker.ModelChecker.Result;
import io.saucr.model.checker.ModelChecker.Task;
import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.StartingPoint;
import io.saucr.model.cluster.Step;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small clusters, seen whole. Larger ones: {@code bin/saucr-model}. */
@Tag("slow")
class ModelCheckerTest {
    private static final long LIMIT = TimeUnit.MINUTES.toNanos(20);

    private static final BrokenRule MANY_STEPS = BrokenRule.R22_ANSWERS_WITHOUT_NUMBER;
    private static final String MANY_STEPS_BOUNDS = "1 0 1 0 0 0 2 0 2";

    /**
     * Whole state spaces without a violation, in every order of steps and with partial-order
     * reduction; the numbers are the bounds in their order, those that are left out 0.
     */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "START,     1 1 1 0 0 0 0 0 0, 800",
        "FAST,      1 0 0 1 0 0 0 0 0, 2000",
        "FAST,      1 0 1 1 0 0 0 1 0, 20000",
        "FAST,      1 1 0 0 1 0 0 0 0, 900",
        "COMMITTED, 0 0 1 2 0 0 0 0 0, 4000",
        "FAST,      1 0 1 0 0 0 0 1 0 1, 10000",
        "ON_OTHERS, 0 0 1 1 0 0 0 0 0 0 1, 2360",
        "FAST,      1 1 0 0 0 1 0 0 0 0 0 1 0 0 0, 1000",
        "SLOW,      2 1 0 0 0 1 0 0 0 0 0 0 1 0 0, 1000",
        "FAST,      1 1 0 0 0 1 0 0 0 0 0 0 0 1 0, 1000",
        "FAST,      1 0 0 1 0 0 0 0 0 0 0 0 0 0 1, 1000"
    })
    void nothingBreaks(StartingPoint from, String numbers, int atLeast) {
        nothingBreaksInEveryOrderAndReduced(from, numbers, atLeast);
    }

    /** {@link #nothingBreaksWithPartialOrderReduction} is the quicker half of it. */
    @Tag("long")
    @Test
    void nothingBreaksWhenASyncMeetsTwoDisconnects() {
        nothingBreaksInEveryOrderAndReduced(StartingPoint.SLOW, "1 0 1 0 0 0 2 0 1", 100_000);
    }

    private static void nothingBreaksInEveryOrderAndReduced(
            StartingPoint from, String numbers, int atLeast) {
        Result result = check(from, numbers, Set.of(), false, from == StartingPoint.START);
        assertThat(result.violation()).as(result.explanation()).isNull();
        assertThat(result.complete()).isTrue();
        assertThat(result.states()).isGreaterThan(atLeast);
        Result reduced = check(from, numbers, Set.of(), true, false);
        assertThat(reduced.violation()).as(reduced.explanation()).isNull();
        assertThat(reduced.complete()).isTrue();
        assertThat(reduced.states()).isLessThan(result.states());
    }

    /** Larger ones, with partial-order reduction alone. */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "FAST,  1 0 1 2 1 0 0 0 0, 20000",
        "FAST,  2 0 1 1 1 0 0 0 0, 15000",
        "FAST,  1 0 1 1 0 0 0 0 1, 3000",
        "FAST,  1 0 1 1 1 0 0 0 0 1, 15000",
        "LEFT,  0 0 1 1 0 0 0 0 0 0 1, 15000",
        "SLOW,  1 0 1 0 0 0 2 0 1, 10000"
    })
    void nothingBreaksWithPartialOrderReduction(StartingPoint from, String numbers, int atLeast) {
        nothingBreaksReduced(from, numbers, atLeast);
    }

    /** The largest ones. */
    @Tag("long")
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "ACKED, 0 1 0 1 0 0 1 0 0, 60000",
        "SLOW,  1 0 1 0 0 0 2 0 2, 50000",
        "FAST,  1 1 0 0 0 1 1 0 0 0 0 1 0 1 1, 10000"
    })
    void nothingBreaksInLargeSpaces(StartingPoint from, String numbers, int atLeast) {
        nothingBreaksReduced(from, numbers, atLeast);
    }

    private static void nothingBreaksReduced(StartingPoint from, String numbers, int atLeast) {
        Result reduced = check(from, numbers, Set.of(), true, false);
        assertThat(reduced.violation()).as(reduced.explanation()).isNull();
        assertThat(reduced.complete()).isTrue();
        assertThat(reduced.states()).isGreaterThan(atLeast);
    }

    /**
     * L1 and L2: after crashes one by one, or of a majority at one instant, a majority that returns
     * with enough recovered servers serves; seen from every state, reduced, and in every order but
     * for the largest one, which docs/internals/proof.md has as a campaign.
     */
    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "START,     1 1 1 1 0 0 0 0 0 1, 4000, false",
        "FAST,      1 0 0 1, 400, true",
        "FAST,      1 0 1 1 1, 1000, true",
        "COMMITTED, 0 0 1 2, 2000, true"
    })
    void l2AMajorityThatReturnsServes(
            StartingPoint from, String numbers, int atLeast, boolean inEveryOrder) {
        aMajorityServes(from, numbers, atLeast, inEveryOrder);
    }

    @Tag("long")
    @Test
    void l2AMajorityThatReturnsServesFromTheStartInEveryOrder() {
        aMajorityServes(StartingPoint.START, "1 1 1 2", 3000, true);
    }

    private static void aMajorityServes(
            StartingPoint from, String numbers, int atLeast, boolean inEveryOrder) {
        Result reduced = check(from, numbers, Set.of(), true, true);
        assertThat(reduced.violation()).as(reduced.explanation()).isNull();
        assertThat(reduced.complete()).isTrue();
        assertThat(reduced.states()).isGreaterThan(atLeast);
        if (inEveryOrder) {
            Result result = check(from, numbers, Set.of(), false, true);
            assertThat(result.violation()).as(result.explanation()).isNull();
            assertThat(result.complete()).isTrue();
        }
    }

    /** A server that forgets to propose the no-op leaves fast entries in memory for ever. */
    @Test
    void l1ALeaderWithoutItsNoOpIsFoundInEveryOrderAndReduced() {
        for (boolean reduced : new boolean[] {false, true}) {
            Result result =
                    check(
                            StartingPoint.FAST,
                            "1 1 0 1",
                            Set.of(BrokenRule.R6_NO_NOOP),
                            reduced,
                            true);
            assertThat(result.violation()).isEqualTo(Liveness.NAME);
        }
    }

    /**
     * How many steps the shortest counterexample has, after the prefix; and that partial-order
     * reduction does not hide it. Of invariants that break after equally many steps the one is told
     * that a thread comes upon first.
     */
    @ParameterizedTest
    @CsvSource({
        "R3_SLOW_ACK_FROM_MEMORY,        SLOW,     1 0 0 0 0 0 0 0 0, marker truth, 3",
        "R12_NO_FAST_SWITCH,             FAST,     1 0 0 0 0 0 0 0 0, marker truth, 3",
        "R13_MARKER_BEFORE_FORCE,        FAST,     1 0 0 0 0 0 0 0 0, marker truth, 4",
        "R13_NO_CRITICAL_SECTION,        FAST,     2 0 0 0 0 0 0 1 0, marker truth, 7",
        "R15_RECOVERING_TAKES_PART,      FAST,     1 0 0 1 0 0 0 0 0, S3, 6",
        "R16_RECOVERING_ANSWERS,         COMMITTED,0 0 1 2 0 0 0 0 0, S5, 7",
        "R16_ONE_ANSWER_TOO_FEW,         COMMITTED,0 0 1 2 0 0 0 0 0, S5, 4",
        "R2_REJOINED_IN_EVERY_SET,       ACKED,    0 0 0 1 0 0 1 0 0, S4 or S5, 14",
        "R4_DURABLE_ACK_COUNTS_TOWARDS_F,ACKED,    0 1 0 1 0 0 1 0 0, S4 or S5, 16",
        "R20_NO_NOTICE,                  ACKED,    0 0 0 1 0 0 0 0 0, S4 or S5, 9",
        "R21_OLD_CONNECTION_COUNTS,      ACKED,    0 0 0 1 0 0 1 0 0, S5 or mode safety, 6",
        "R22_NO_QUESTION,                SLOW,     1 0 1 0 0 0 2 0 1, synced reads, 14",
        "R22_EARLIER_ENTRY,              SLOW,     2 0 1 0 0 0 2 0 1, synced reads, 14",
        "R25_BOOT_ID_NOT_LOOKED_AT,      FAST,     1 0 0 1 0 0 0 0 0, S3, 6",
        "R25_ACK_BEFORE_WRITE,           FAST,     1 0 0 0 0 0 0 0 0 1, marker truth, 3",
        "R25_MAP_OF_MARKER,              ACKED,    0 0 0 0 0 0 0 0 0 1, S4, 6",
        "R25_START_WITHOUT_FORCE,        FAST,     1 0 0 0 0 0 0 0 0 1, marker truth, 5",
        "R26_LOST_DISK_COUNTS_AS_COMPLETE,FAST,    0 0 0 0 0 0 0 0 0 0 1, S3, 3",
        "R26_LOST_ANSWERS,               COMMITTED,0 0 1 2 0 0 0 0 0 0 1, S5, 7",
        "R26_R_ANSWERS_ENOUGH,           ON_OTHERS,0 0 1 1 0 0 0 0 0 0 1, S5, 7",
        "R26_LEADER_NOT_FIRST,           LEFT,     0 0 1 1 0 0 0 0 0 0 1, S5, 19",
        "R26_NO_NEW_ROUND,               LEFT,     0 0 1 1 0 0 0 0 0 0 1, S5, 19",
        "R26_NO_NOTICE,                  SLOW,     1 0 0 0 0 0 0 0 0 0 1, S5 or mode safety, 15",
        "R28_NAMED_WITH_LESS,            ON_OTHERS,1 0 1 0 0 0 2 0 0, S5 or mode safety, 11",
        "S4_STALE_MAP_ON_DISK,           FAST,     1 1 0 0 1 0 0 0 0, S4, 12",
        "H14_MEMORY_AHEAD_OF_LOG,        SLOW,     2 0 0 0 0 0 1 0 0, log order, 12"
    })
    void aBrokenRuleIsNoticed(
            BrokenRule rule, StartingPoint from, String numbers, String invariant, int steps) {
        isNoticed(rule, from, numbers, invariant, steps);
    }

    /** {@link #aBrokenRuleThatTakesManyStepsIsNoticedReduced} is the quicker half of it. */
    @Tag("long")
    @Test
    void aBrokenRuleThatTakesManyStepsIsNoticed() {
        isNoticed(MANY_STEPS, StartingPoint.SLOW, MANY_STEPS_BOUNDS, "synced reads", 19);
    }

    @Test
    void aBrokenRuleThatTakesManyStepsIsNoticedReduced() {
        Result reduced =
                check(StartingPoint.SLOW, MANY_STEPS_BOUNDS, Set.of(MANY_STEPS), true, false);
        assertThat(reduced.violation()).isEqualTo("synced reads");
    }

    private static void isNoticed(
            BrokenRule rule, StartingPoint from, String numbers, String invariant, int steps) {
        Result result = check(from, numbers, Set.of(rule), false, false);
        assertThat(result.violation()).isIn((Object[]) invariant.split(" or "));
        assertThat(result.steps()).hasSize(from.steps(3).size() + steps);

        Result reduced = check(from, numbers, Set.of(rule), true, false);
        assertThat(reduced.states()).isLessThan(result.states());
        ModelCluster cluster = new ModelCluster(3, Bounds.none(), Set.of(rule));
        int last = reduced.steps().size() - 1;
        for (int i = 0; i <= last; i++) {
            assertThat(cluster.apply(Step.parse(reduced.steps().get(i)))).isEqualTo(i < last);
        }
        assertThat(cluster.violation()).isEqualTo(reduced.violation());
    }

    /** Pins, missed heartbeats and pauses; a drain that never ends needs five servers. */
    @ParameterizedTest
    @CsvSource({
        "R6_MISSED_HEARTBEAT_IGNORED, 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0, 1",
        "R10_PIN_FORGOTTEN,           0 1 0 0 0 1 0 0 0 0 0 1 0 0 0, 2",
        "H11_PAUSE_IS_SILENCE,        0 0 0 0 0 0 0 0 0 0 0 0 0 0 1, 1"
    })
    void aBrokenRuleOfTheModeIsNoticed(BrokenRule rule, String numbers, int steps) {
        for (boolean reduced : new boolean[] {false, true}) {
            Result result = check(StartingPoint.FAST, numbers, Set.of(rule), reduced, false);
            assertThat(result.violation()).isEqualTo("mode is allowed");
            assertThat(result.steps()).hasSize(StartingPoint.FAST.steps(3).size() + steps);
        }
    }

    /** In every order alone: no rule that holds lets a leader see what it has not read. */
    @Test
    void r27WhatIsUnreadIsNoSignOfLifeWheneverItCame() {
        Result result =
                check(
                        StartingPoint.FAST,
                        "1 0 0 0 0 0 0 0 0 0 0 0 0 1 0",
                        Set.of(BrokenRule.R27_UNREAD_COUNTS_WHENEVER_IT_CAME),
                        false,
                        false);
        assertThat(result.violation()).isEqualTo("mode is allowed");
        assertThat(result.steps()).hasSize(StartingPoint.FAST.steps(3).size() + 4);
    }

    private static Bounds bounds(String numbers) {
        int[] n = Arrays.stream(numbers.trim().split(" ")).mapToInt(Integer::parseInt).toArray();
        int[] all = Arrays.copyOf(n, 16);
        return new Bounds(
                all[0],
                all[1],
                all[2],
                all[3],
                all[4],
                all[5],
                all[6],
                all[7],
                all[8],
                all[9],
                all[10],
                all[11],
                all[12],
                all[13],
                all[14],
                false,
                all[15] > 0);
    }

    private static Result check(
            StartingPoint from,
            String numbers,
            Set<BrokenRule> broken,
            boolean reduced,
            boolean liveness) {
        Task task =
                new Task(
                        3,
                        bounds(numbers),
                        broken,
                        from.steps(3),
                        reduced,
                        liveness,
                        2,
                        10_000_000,
                        LIMIT);
        return new ModelChecker(task, (states, waiting, depth, nanos) -> {}).run();
    }
}
