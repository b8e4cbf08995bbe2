package io.saucr.services.replay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.TraceFormat;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.replay.ReplayedLanes.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** X16: when a primary holds requests back. */
@Timeout(60)
class LaneFlowTest {

    private static final int EIGHT_MEGABYTES = 8 << 20;

    private final List<byte[]> log = new ArrayList<>();

    private static LaneMember member() {
        return new LaneMember("primary", 2, state -> (body, turn) -> new byte[] {body[0]}, 1);
    }

    /** The channels whose requests began in a segment. */
    private List<Long> begun(int segment) throws Exception {
        return TraceFormat.decode(log.get(segment)).turns().stream()
                .filter(Begin.class::isInstance)
                .map(it -> ((Begin) it).sender())
                .toList();
    }

    private void finish(LaneMember primary, CompletableFuture<Reply> reply) throws Exception {
        while (!reply.isDone()) {
            primary.cut(log);
        }
        assertThat(reply.get().threw()).isFalse();
    }

    @Test
    void x16NoRequestBeginsWhileTheFastestFollowerIsASecondBehind() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            finish(primary, primary.lanes.ask(1, 1, "a".getBytes(UTF_8)));
            primary.lanes.tick(1_001);
            CompletableFuture<Reply> held = primary.lanes.ask(2, 1, "b".getBytes(UTF_8));
            primary.lanes.tick(1_001);
            assertThat(primary.cut(log)).as("something was recorded").isFalse();
            primary.lanes.tick(1_000);
            finish(primary, held);
        }
    }

    @Test
    void x16NoRequestBeginsWhileEightMegabytesAreNotFinal() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            finish(primary, primary.lanes.ask(3, 1, "a".getBytes(UTF_8)));
            int segments = log.size();
            byte[] large = new byte[EIGHT_MEGABYTES];
            CompletableFuture<Reply> first = primary.lanes.ask(1, 1, large);
            CompletableFuture<Reply> second = primary.lanes.ask(2, 1, "b".getBytes(UTF_8));
            assertThat(primary.cut(log)).isTrue();
            assertThat(begun(segments)).containsExactly(1L);
            // That was named, so the second one begins.
            finish(primary, first);
            finish(primary, second);
        }
    }

    /** A client that asks again while its request waits has it handled once. */
    @Test
    void x10ARequestThatIsAskedTwiceBeforeItBeginsBeginsOnce() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            primary.lanes.tick(1_001);
            CompletableFuture<Reply> next = primary.lanes.ask(1, 2, "b".getBytes(UTF_8));
            CompletableFuture<Reply> first = primary.lanes.ask(1, 1, "a".getBytes(UTF_8));
            CompletableFuture<Reply> again = primary.lanes.ask(1, 1, "a".getBytes(UTF_8));
            primary.lanes.tick(0);
            finish(primary, first);
            finish(primary, again);
            finish(primary, next);
            assertThat(primary.ran).hasValue(2);
        }
    }

    /** What is cut and not named counts as what is not cut. */
    @Test
    void x16WhatIsCutIsNotFinalUntilItIsNamed() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            finish(primary, primary.lanes.ask(3, 1, "a".getBytes(UTF_8)));
            CompletableFuture<Reply> first = primary.lanes.ask(1, 1, "b".getBytes(UTF_8));
            assertThat(primary.lanes.cut()).isPresent();
            primary.lanes.recorded(EIGHT_MEGABYTES);
            CompletableFuture<Reply> second = primary.lanes.ask(2, 1, "c".getBytes(UTF_8));
            assertThat(primary.lanes.nextNumber(2)).as("it has not begun").isEqualTo(1);
            primary.lanes.named();
            assertThat(primary.lanes.nextNumber(2)).isEqualTo(2);
            finish(primary, first);
            finish(primary, second);
            assertThat(primary.ran).hasValue(3);
            assertThat(primary.becameFinal).hasValue(3);
        }
    }

    @Test
    void aPrimaryThatHandsOverLetsRequestsEndAndCutsNoMore() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            finish(primary, primary.lanes.ask(1, 1, "a".getBytes(UTF_8)));
            assertThat(primary.lanes.hold(Duration.ofMinutes(1))).as("all was answered").isTrue();
            CompletableFuture<Reply> waits = primary.lanes.ask(2, 1, "b".getBytes(UTF_8));
            assertThat(primary.cut(log)).isFalse();
            primary.lanes.resume();
            finish(primary, waits);
            CompletableFuture<Reply> open = primary.lanes.ask(3, 1, "c".getBytes(UTF_8));
            // Nobody cuts, so its reply can not leave.
            assertThat(primary.lanes.hold(Duration.ZERO)).isFalse();
            assertThat(primary.cut(log)).isFalse();
            assertThat(open).isNotDone();
            primary.lanes.resume();
            finish(primary, open);
        }
    }

    /** X15: what a query saw may be lost until that is named. */
    @Test
    void x15AQueryWaitsUntilWhatItSawIsNamed() throws Exception {
        try (LaneMember primary = member()) {
            primary.takeOver(log, 5);
            finish(primary, primary.lanes.ask(1, 1, "a".getBytes(UTF_8)));
            while (primary.cut(log)) {
                assertThat(log).isNotEmpty();
            }
            assertThat(primary.lanes.awaitNamed()).as("nothing is uncut").isCompleted();
            CompletableFuture<Reply> open = primary.lanes.ask(1, 2, "b".getBytes(UTF_8));
            CompletableFuture<Void> waits = primary.lanes.awaitNamed();
            assertThat(primary.lanes.cut()).isPresent();
            assertThat(waits).as("it is cut, and not named").isNotDone();
            CompletableFuture<Void> lost = primary.lanes.awaitNamed();
            primary.lanes.named();
            assertThat(waits).isCompleted();
            finish(primary, open);
            assertThat(lost).isCompleted();
            CompletableFuture<Reply> last = primary.lanes.ask(1, 3, "c".getBytes(UTF_8));
            CompletableFuture<Void> never = primary.lanes.awaitNamed();
            primary.kill();
            assertThat(never).isCompletedExceptionally();
            assertThat(last).isCompletedExceptionally();
            assertThat(primary.lanes.awaitNamed()).isCompletedExceptionally();
        }
    }
}
