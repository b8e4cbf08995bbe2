package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.LaneEvent.Kind;
import io.saucr.services.core.replay.Replay.What;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a follower does with a trace, event by event; and what it does when it becomes primary. */
class ReplayTest {

    /** A process: its locks, and what it records or replays. */
    private static final class Member {
        private final List<Resource> resources =
                List.of(Resource.lock(0), Resource.lock(1), Resource.readWriteLock(2, 2));
        private Replay replay = new Replay(new Requests(2), resources);
        private Recording recording;

        private LaneEvent event(Kind kind, int resource) {
            boolean none = kind == Kind.END || kind == Kind.CHOOSE;
            return new LaneEvent(kind, none ? null : resources.get(resource));
        }

        private void records(int lane, Kind kind, int resource) {
            recording.lane(lane).happened(event(kind, resource), 0);
        }

        private What at(int lane, Kind kind, int resource) {
            return replay.at(lane, event(kind, resource)).what();
        }

        private void replays(int lane, Kind kind, int resource) {
            Replay.Step step = replay.at(lane, event(kind, resource));
            assertThat(step.what()).isEqualTo(What.CONTINUE);
            replay.done(lane, event(kind, resource), step.choice());
        }

        private void takesTurns(int count) {
            for (int i = 0; i < count; i++) {
                assertThat(replay.turn()).isNotNull();
                replay.turnDone(false);
            }
        }

        private What onReturn(int lane) {
            return replay.onReturn(lane).what();
        }
    }

    private final Member primary = new Member();
    private final Member follower = new Member();
    private final Member third = new Member();
    private final List<TraceSegment> log = new ArrayList<>();

    @BeforeEach
    void onePrimary() throws Exception {
        primary.recording = primary.replay.takeOver(5);
        cutAndName(primary);
        follower.replay.passBarrier();
        begin(1);
        begin(2);
    }

    private void begin(long sender) {
        primary.recording.begin(sender, 1, 0, 0, new byte[0]);
    }

    private void cutAndName(Member by) throws BadTraceException {
        TraceSegment segment = by.recording.cut().orElseThrow();
        by.recording.named();
        log.add(segment);
        for (Member each : List.of(follower, third)) {
            if (each.recording == null) {
                each.replay.append(segment);
            }
        }
    }

    @Test
    void x6AnEventWaitsForItsSourceAndALaneForTheNextEvent() throws Exception {
        primary.records(1, Kind.CALL, 0);
        primary.records(2, Kind.CALL, 0);
        assertThat(follower.replay.turn()).as("nothing is named").isNull();
        cutAndName(primary);
        follower.takesTurns(2);
        assertThat(follower.onReturn(2)).isEqualTo(What.CONTINUE);
        assertThat(follower.at(2, Kind.CALL, 0)).isEqualTo(What.WAIT);
        follower.replays(1, Kind.CALL, 0);
        // The primary may have died in the code behind it.
        assertThat(follower.onReturn(1)).isEqualTo(What.WAIT);
        assertThat(follower.replay.replayed()).isEqualTo(1);
        follower.replays(2, Kind.CALL, 0);
        assertThat(follower.replay.replayed()).isEqualTo(2);
        primary.records(1, Kind.END, 0);
        cutAndName(primary);
        assertThat(follower.onReturn(1)).isEqualTo(What.CONTINUE);
        follower.replays(1, Kind.END, 0);
        assertThat(follower.replay.hasEnded(1)).isTrue();
    }

    @Test
    void x8NoLanePassesABarrierBeforeAllHaveArrived() throws Exception {
        primary.records(1, Kind.CALL, 0);
        cutAndName(primary);
        follower.takesTurns(2);
        follower.replays(1, Kind.CALL, 0);
        follower.recording = follower.replay.takeOver(5);
        cutAndName(follower);
        // Known to all that passed the barrier, so no edge.
        follower.records(2, Kind.CALL, 0);
        cutAndName(follower);
        assertThat(log.get(log.size() - 1).lanes().get(1)).isEmpty();

        third.replay.passBarrier();
        third.takesTurns(2);
        assertThat(third.onReturn(2)).isEqualTo(What.WAIT);
        assertThat(third.replay.barrier()).isEqualTo(Barrier.NONE);
        assertThatThrownBy(third.replay::passBarrier).isInstanceOf(IllegalStateException.class);
        third.replays(1, Kind.CALL, 0);
        assertThat(third.replay.barrier()).isEqualTo(Barrier.EPOCH);
        assertThat(third.onReturn(2)).isEqualTo(What.WAIT);
        third.replay.passBarrier();
        third.takesTurns(2);
        assertThat(third.onReturn(2)).isEqualTo(What.CONTINUE);
        third.replays(2, Kind.CALL, 0);
        assertThat(third.replay.isAtCut()).isTrue();
    }

    /** The primary dies with one lane inside a lock, and one before its handler. */
    @Test
    void x9ANewPrimaryContinuesWhereTheTraceEnds() throws Exception {
        primary.records(1, Kind.ACQUIRE, 0);
        cutAndName(primary);
        primary.records(1, Kind.CALL, 1);
        primary.records(1, Kind.RELEASE, 0);
        follower.takesTurns(2);
        assertThatThrownBy(() -> follower.replay.takeOver(5))
                .isInstanceOf(IllegalStateException.class);
        follower.replays(1, Kind.ACQUIRE, 0);
        assertThat(follower.onReturn(1)).isEqualTo(What.WAIT);
        assertThat(follower.onReturn(2)).isEqualTo(What.WAIT);

        follower.recording = follower.replay.takeOver(5);
        assertThat(follower.recording.mayRun(1)).isFalse();
        assertThat(follower.recording.mayRun(2)).isFalse();
        cutAndName(follower);
        assertThat(log.get(log.size() - 1).barrier()).isEqualTo(Barrier.EPOCH);
        assertThat(log.get(log.size() - 1).turns())
                .containsExactly(new TurnRecord.Attempt(1), new TurnRecord.Attempt(2));
        assertThat(follower.recording.mayRun(1)).isTrue();
        follower.records(1, Kind.CALL, 1);
        follower.records(1, Kind.RELEASE, 0);
        follower.records(2, Kind.ACQUIRE, 0);
        cutAndName(follower);
        assertThat(log.get(log.size() - 1).lanes().get(1))
                .containsExactly(new LaneRecord.Edge(1, 0, 0, 1, 2));
        // The requests are sent again, and are open.
        assertThat(follower.recording.requests().offer(1, 1)).isEqualTo(Requests.Verdict.OPEN);
        assertThat(follower.recording.requests().open()).allMatch(open -> open.attempts() == 2);
    }

    /** A request without attempts is killed inside the call in which its lane stands. */
    @Test
    void x11ARequestWithoutAttemptsIsKilledWithoutRunningItsCode() throws Exception {
        primary.records(1, Kind.ACQUIRE, 0);
        primary.records(2, Kind.ACQUIRE, 1);
        primary.records(2, Kind.AWAIT, 1);
        cutAndName(primary);
        follower.takesTurns(2);
        follower.replays(1, Kind.ACQUIRE, 0);
        follower.replays(2, Kind.ACQUIRE, 1);
        follower.replays(2, Kind.AWAIT, 1);
        assertThat(follower.replay.awaits(1)).isFalse();
        assertThat(follower.replay.awaits(2)).isTrue();
        follower.recording = follower.replay.takeOver(1);
        cutAndName(follower);
        assertThat(follower.recording.lane(1).isDoomed()).isTrue();
        follower.recording.lane(1).killed(true);
        assertThat(follower.recording.lane(1).isDoomed()).isFalse();
        follower.records(1, Kind.RELEASE, 0);
        follower.records(1, Kind.END, 0);
        follower.recording.end(1, true, new byte[0]);
        // A lane that awaits gets its lock first: its handler is to let it go.
        follower.records(2, Kind.ACQUIRE, 1);
        assertThat(follower.recording.lane(2).isDoomed()).isTrue();
        follower.recording.lane(2).killed(true);
        cutAndName(follower);

        third.replay.passBarrier();
        third.takesTurns(2);
        third.replays(1, Kind.ACQUIRE, 0);
        third.replays(2, Kind.ACQUIRE, 1);
        third.replays(2, Kind.AWAIT, 1);
        third.replay.passBarrier();
        third.takesTurns(2);
        assertThat(third.onReturn(1)).isEqualTo(What.DIE);
        third.replay.killed(1);
        assertThat(third.onReturn(1)).isEqualTo(What.CONTINUE);
        third.replays(1, Kind.RELEASE, 0);
        third.replays(1, Kind.END, 0);
        third.replay.turnDone(true);
        third.replays(2, Kind.ACQUIRE, 1);
        assertThat(third.onReturn(2)).isEqualTo(What.DIE);
        third.replay.killed(2);
        assertThat(third.replay.isAtCut()).isTrue();
    }

    @Test
    void x11TheVictimOfACircleIsKilledBehindTheCodeThatItRan() throws Exception {
        primary.records(1, Kind.CALL, 0);
        primary.recording.lane(1).killed(false);
        cutAndName(primary);
        follower.takesTurns(2);
        follower.replays(1, Kind.CALL, 0);
        assertThat(follower.onReturn(1)).isEqualTo(What.CONTINUE);
        assertThat(follower.at(1, Kind.ACQUIRE, 1)).isEqualTo(What.DIE);
        follower.replay.killed(1);
        assertThat(follower.replay.isAtCut()).isTrue();
    }

    @Test
    void x14AnotherResourceAnotherVersionAndAnotherEndAreFound() throws Exception {
        primary.records(1, Kind.CALL, 0);
        primary.records(2, Kind.CALL, 0); // after 1@2
        primary.records(1, Kind.END, 0);
        primary.recording.end(1, false, new byte[0]);
        cutAndName(primary);
        follower.takesTurns(2);
        assertThatThrownBy(() -> follower.at(2, Kind.CALL, 1))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("request 2 in lane 2 is about to do CALL of resource 1")
                .extracting(it -> ((DivergedException) it).request())
                .isEqualTo(2L);
        assertThatThrownBy(() -> follower.at(1, Kind.CHOOSE, 0))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("and the primary has choice 0");
        // Early, by one event.
        assertThatThrownBy(() -> follower.at(1, Kind.END, 0))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("and the primary has its end at clock 3");
        // No edge: the hash finds it, or the version of the next edge.
        follower.replays(1, Kind.CALL, 1);
        assertThatThrownBy(() -> follower.replays(2, Kind.CALL, 0))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("here the version is 0");
        follower.replays(1, Kind.END, 0);
        assertThatThrownBy(() -> follower.replay.turnDone(false))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("request 1 in lane 1 ended at clock 3 with hash");
    }

    @Test
    void x14OtherBytesAndAnErrorAreFound() throws Exception {
        primary.recording.lane(1).saw(new byte[] {1});
        primary.records(1, Kind.END, 0);
        primary.recording.end(1, false, new byte[0]);
        cutAndName(primary);
        follower.takesTurns(2);
        third.replay.passBarrier();
        third.takesTurns(2);
        follower.replay.saw(1, new byte[] {2});
        follower.replays(1, Kind.END, 0);
        assertThatThrownBy(() -> follower.replay.turnDone(false))
                .isInstanceOf(DivergedException.class);
        third.replay.saw(1, new byte[] {1});
        third.replays(1, Kind.END, 0);
        assertThatThrownBy(() -> third.replay.turnDone(true))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("and an error, and on the primary");
    }

    @Test
    void x14ALaneThatWantsMoreThanThePrimaryDidIsFound() throws Exception {
        primary.records(1, Kind.END, 0);
        primary.recording.end(1, false, new byte[0]);
        cutAndName(primary);
        follower.takesTurns(2);
        assertThatThrownBy(() -> follower.at(1, Kind.CALL, 0))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("the primary has its end at clock 2");
    }

    @Test
    void x15HowFarItIsReplayedIsCountedInSegments() throws Exception {
        cutAndName(primary);
        primary.records(1, Kind.CALL, 0);
        cutAndName(primary);
        assertThat(follower.replay.replayed()).isEqualTo(1);
        follower.takesTurns(2);
        assertThat(follower.replay.replayed()).isEqualTo(2);
        follower.replays(1, Kind.CALL, 0);
        assertThat(follower.replay.replayed()).isEqualTo(3);
        assertThatCode(() -> follower.replay.takeOver(5)).doesNotThrowAnyException();
    }
}
