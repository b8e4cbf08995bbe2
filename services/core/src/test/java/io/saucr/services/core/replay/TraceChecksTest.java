package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.TurnRecord.Attempt;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Segments that do not continue a trace: a follower refuses them by name. */
class TraceChecksTest {

    private final TraceChecks checks = new TraceChecks(new Requests(2), 3);

    private static Begin begin(long request, int lane, int clock, long sender, long number) {
        return new Begin(request, lane, clock, 0, 0, sender, number, new byte[0]);
    }

    private static End end(long request, int clock) {
        return new End(request, clock, 0, false, new byte[0]);
    }

    private static TraceSegment segment(
            Barrier barrier,
            List<Integer> until,
            List<TurnRecord> turns,
            List<LaneRecord> first,
            List<LaneRecord> second) {
        return new TraceSegment(barrier, until, turns, List.of(first, second));
    }

    /** Two requests run, each at clock 5. */
    @BeforeEach
    void twoRun() {
        TraceSegment running =
                segment(
                        Barrier.EPOCH,
                        List.of(2, 5, 5),
                        List.of(begin(1, 1, 1, 7, 1), begin(2, 2, 1, 8, 1)),
                        List.of(),
                        List.of(new Edge(2, 0, 0, 1, 5)));
        assertThatCode(() -> checks.check(running)).doesNotThrowAnyException();
    }

    private void refused(TraceSegment segment, String why) {
        assertThatThrownBy(() -> checks.check(segment))
                .isInstanceOf(BadTraceException.class)
                .hasMessageContaining(why);
    }

    private void refusedLines(List<LaneRecord> first, List<LaneRecord> second, String why) {
        refused(segment(Barrier.NONE, List.of(2, 9, 9), List.of(), first, second), why);
    }

    private void refusedTurn(TurnRecord turn, String why) {
        refused(segment(Barrier.NONE, List.of(3, 9, 9), List.of(turn), List.of(), List.of()), why);
    }

    @Test
    void anotherNumberOfLanesIsRefused() {
        refused(
                new TraceSegment(Barrier.NONE, List.of(2, 5), List.of(), List.of(List.of())),
                "there are 2 lanes, and the trace has 1");
    }

    @Test
    void aFutureEventIsRefused() {
        refusedLines(
                List.of(new Edge(6, 0, 0, 2, 10)),
                List.of(),
                "comes after a future event: lane 2 is cut at 9");
    }

    @Test
    void anUnknownLaneOrTheOwnOneIsRefused() {
        refusedLines(List.of(new Edge(6, 0, 0, 3, 1)), List.of(), "there are lanes 1 to 2");
        refusedLines(List.of(new Edge(6, 0, 0, 1, 1)), List.of(), "its own is 1");
        refusedTurn(begin(3, 3, 6, 9, 1), "there are lanes 1 to 2");
    }

    @Test
    void anUnknownResourceIsRefused() {
        refusedLines(List.of(new Edge(6, 3, 0, 2, 1)), List.of(), "there are 3 resources");
    }

    @Test
    void anUnknownRequestIsRefused() {
        refusedTurn(end(3, 9), "the end of request 3, which is not open");
        refusedTurn(new Attempt(3), "an attempt of request 3, which is not open");
    }

    @Test
    void clocksThatGoBackAreRefused() {
        refused(
                segment(Barrier.NONE, List.of(2, 4, 5), List.of(), List.of(), List.of()),
                "lane 1 goes back to clock 4");
        refusedLines(List.of(new Choice(5, 1)), List.of(), "which is not in 6 to 9");
        refusedLines(
                List.of(new Choice(7, 1), new Choice(6, 1)), List.of(), "which is not in 7 to 9");
        refusedLines(List.of(new Choice(10, 1)), List.of(), "which is not in 6 to 9");
        refusedLines(
                List.of(new Choice(7, 1), new Choice(7, 0)),
                List.of(),
                "after a choice at clock 7");
    }

    @Test
    void recordsOfTheTurnThreadThatAreMissingAreRefused() {
        refused(
                segment(Barrier.NONE, List.of(3, 5, 5), List.of(), List.of(), List.of()),
                "0 records of the turn thread, up to its clock 3");
    }

    @Test
    void aCircleOfEdgesIsRefused() {
        refusedLines(
                List.of(new Edge(6, 0, 0, 2, 7)),
                List.of(new Edge(7, 1, 0, 1, 6)),
                "a circle of edges: lane 1 does not come beyond clock 5");
    }

    @Test
    void x1ARequestThatCanNotBeginIsRefused() {
        refusedTurn(begin(4, 1, 6, 9, 1), "request 4 begins after request 2");
        refusedTurn(begin(3, 1, 6, 9, 1), "lane 1, which is not idle");
        refused(
                segment(
                        Barrier.NONE,
                        List.of(4, 6, 9),
                        List.of(end(1, 5), begin(3, 1, 6, 8, 2)),
                        List.of(),
                        List.of()),
                "number 2 of sender 8, which can not begin: NOT_ITS_TIME");
    }

    @Test
    void x10ARequestThatIsOpenOrConsumedDoesNotBeginAgain() {
        refused(
                segment(
                        Barrier.NONE,
                        List.of(4, 6, 9),
                        List.of(end(1, 5), begin(3, 1, 6, 7, 1)),
                        List.of(),
                        List.of()),
                "can not begin: CONSUMED");
    }

    @Test
    void anEndBeforeItsLaneEndedIsRefused() {
        refusedTurn(end(1, 10), "request 1 ends at clock 10 of lane 1, which is not in 5 to 9");
        refused(
                segment(Barrier.NONE, List.of(3, 9, 5), List.of(end(1, 8)), List.of(), List.of()),
                "lane 1 has no request, and events up to clock 9");
        refused(
                segment(
                        Barrier.NONE,
                        List.of(4, 9, 9),
                        List.of(end(2, 9), begin(3, 2, 9, 9, 1)),
                        List.of(),
                        List.of()),
                "request 3 begins at clock 9 of lane 2, after clock 9");
    }

    @Test
    void x13AQuietCutWithOpenRequestsIsRefused() {
        refused(
                segment(Barrier.QUIET, List.of(0, 0, 0), List.of(), List.of(), List.of()),
                "a quiet cut with 2 open requests");
    }

    /** A snapshot is as of that segment, and taken before what is behind its barrier. */
    @Test
    void x13AQuietCutWithEventsIsRefused() {
        refused(
                segment(Barrier.QUIET, List.of(0, 1, 0), List.of(), List.of(), List.of()),
                "a quiet cut with events up to clocks [0, 1, 0]");
    }
}
