package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.LaneEvent.Kind;
import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is recorded of events, and how it is cut. */
class RecordingTest {

    private final Resource a = Resource.lock(0);
    private final Resource b = Resource.lock(1);
    private final Resource shared = Resource.readWriteLock(2, 3);
    private final Requests requests = new Requests(3);
    private final Recording recording = new Replay(requests, List.of(a, b, shared)).takeOver(5);

    @BeforeEach
    void threeRun() {
        cutAndName();
        for (long sender = 1; sender <= 3; sender++) {
            recording.begin(sender, 1, 0, 0, new byte[0]);
        }
        cutAndName();
    }

    private TraceSegment cutAndName() {
        TraceSegment segment = recording.cut().orElseThrow();
        recording.named();
        return segment;
    }

    private void happens(int lane, Kind kind, Resource resource) {
        happens(lane, kind, resource, 0);
    }

    private void happens(int lane, Kind kind, Resource resource, int choice) {
        recording.lane(lane).happened(new LaneEvent(kind, resource), choice);
    }

    private List<LaneRecord> records(int lane) {
        return cutAndName().lanes().get(lane - 1);
    }

    @Test
    void x2AnAcquisitionComesAfterTheReleaseOfAnotherLane() {
        happens(1, Kind.ACQUIRE, a); // 1@2
        happens(1, Kind.RELEASE, a);
        happens(2, Kind.ACQUIRE, a);
        assertThat(records(2)).containsExactly(new Edge(2, 0, 1, 1, 3));
    }

    @Test
    void x2WhatTheLaneKnowsNeedsNoEdge() {
        happens(1, Kind.ACQUIRE, b);
        happens(1, Kind.RELEASE, b); // 1@3
        happens(1, Kind.CALL, a); // 1@4
        happens(1, Kind.CALL, a);
        happens(2, Kind.CALL, a); // 2@2, after 1@5
        happens(3, Kind.CALL, a); // 3@2, after 2@2
        // 1@3 is known by way of lane 2.
        happens(3, Kind.ACQUIRE, b);
        TraceSegment segment = cutAndName();
        assertThat(segment.lanes().get(0)).isEmpty();
        assertThat(segment.lanes().get(1)).containsExactly(new Edge(2, 0, 2, 1, 5));
        assertThat(segment.lanes().get(2)).containsExactly(new Edge(2, 0, 3, 2, 2));
    }

    @Test
    void x2ARequestThatBeginsKnowsThoseThatEnded() {
        happens(1, Kind.CALL, a);
        happens(1, Kind.END, null);
        recording.end(1, false, new byte[0]);
        happens(2, Kind.END, null);
        recording.end(2, false, new byte[0]);
        recording.begin(1, 2, 0, 0, new byte[0]);
        recording.begin(2, 2, 0, 0, new byte[0]);
        happens(2, Kind.CALL, a);
        assertThat(records(2)).isEmpty();
    }

    @Test
    void x2ReadersComeAfterTheWriterAndTheNextWriterAfterAllOfThem() {
        happens(1, Kind.ACQUIRE, shared);
        happens(1, Kind.RELEASE, shared); // 1@3
        happens(2, Kind.ACQUIRE_SHARED, shared);
        happens(3, Kind.ACQUIRE_SHARED, shared);
        happens(3, Kind.RELEASE_SHARED, shared); // 3@3
        happens(2, Kind.RELEASE_SHARED, shared); // 2@3
        happens(1, Kind.ACQUIRE, shared); // 1@4
        TraceSegment segment = cutAndName();
        assertThat(segment.lanes().get(1)).containsExactly(new Edge(2, 2, 1, 1, 3));
        assertThat(segment.lanes().get(2)).containsExactly(new Edge(2, 2, 1, 1, 3));
        assertThat(segment.lanes().get(0))
                .containsExactlyInAnyOrder(new Edge(4, 2, 1, 2, 3), new Edge(4, 2, 1, 3, 3));
    }

    @Test
    void x2AnEdgeThatAnotherEdgeOfTheEventImpliesIsLeftOut() {
        happens(2, Kind.ACQUIRE_SHARED, shared);
        happens(2, Kind.RELEASE_SHARED, shared);
        happens(2, Kind.CALL, a);
        happens(3, Kind.CALL, a);
        happens(3, Kind.ACQUIRE_SHARED, shared);
        happens(3, Kind.RELEASE_SHARED, shared); // 3@4 knows of lane 2
        happens(1, Kind.ACQUIRE, shared);
        assertThat(records(1)).containsExactly(new Edge(2, 2, 0, 3, 4));
    }

    @Test
    void x7AFailedAttemptIsAChoiceWithoutAnEdge() {
        happens(1, Kind.ACQUIRE, a);
        happens(2, Kind.TRY, a, 0);
        happens(1, Kind.RELEASE, a); // 1@3
        happens(2, Kind.TRY, a, 1);
        assertThat(records(2))
                .containsExactly(new Choice(2, 0), new Edge(3, 0, 1, 1, 3), new Choice(3, 1));
        assertThat(a.version()).isEqualTo(2);
        assertThatThrownBy(() -> happens(3, Kind.CHOOSE, null, -1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> happens(3, Kind.ACQUIRE, b, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void x3ACutIsRaisedUntilNoSourceIsMissing() {
        TraceSegment segment =
                recording
                        .cut(
                                lane -> {
                                    if (lane == 3) {
                                        // Lanes 1 and 2 have been read.
                                        happens(1, Kind.CALL, a);
                                        happens(2, Kind.CALL, a);
                                        happens(2, Kind.CALL, b);
                                        happens(2, Kind.CALL, b);
                                        happens(3, Kind.CALL, b);
                                    }
                                })
                        .orElse(null);
        assertThat(segment).as("nothing had happened").isNull();
        happens(3, Kind.CALL, shared);
        segment =
                recording
                        .cut(
                                lane -> {
                                    if (lane == 3) {
                                        happens(1, Kind.CALL, a);
                                        happens(2, Kind.CALL, a);
                                        happens(2, Kind.CALL, b);
                                        happens(3, Kind.CALL, b);
                                        happens(2, Kind.CALL, b);
                                    }
                                })
                        .orElseThrow();
        // Of lane 2 all but the last event, which no other one comes after.
        assertThat(segment.until()).containsExactly(3, 2, 3, 3);
        assertThat(cutAndName().until()).containsExactly(3, 2, 4, 3);
    }

    @Test
    void x5AReplyWaitsUntilTheHeadNamesItsEnd() {
        happens(1, Kind.END, null);
        long record = recording.end(1, false, new byte[0]);
        recording.cut();
        happens(2, Kind.END, null);
        long second = recording.end(2, false, new byte[0]);
        recording.cut();
        assertThat(recording.isNamed(record)).isFalse();
        recording.named();
        assertThat(recording.isNamed(record)).isTrue();
        assertThat(recording.isNamed(second)).isFalse();
        recording.named();
        assertThat(recording.isNamed(second)).isTrue();
    }

    @Test
    void x11TheFirstRequestOfAChannelWaitsForTheHead() {
        happens(1, Kind.END, null);
        recording.end(1, false, new byte[0]);
        recording.begin(1, 2, 0, 0, new byte[0]);
        assertThat(recording.mayRun(1)).as("no end of the channel is named").isFalse();
        cutAndName();
        assertThat(recording.mayRun(1)).isTrue();
        happens(1, Kind.END, null);
        recording.end(4, false, new byte[0]);
        recording.begin(1, 3, 0, 0, new byte[0]);
        assertThat(recording.mayRun(1)).isTrue();
    }

    @Test
    void x13ALaneStartsAnewBehindAQuietCutAlone() {
        for (int lane = 1; lane <= 3; lane++) {
            happens(lane, Kind.CALL, a);
            assertThat(recording.isQuiet()).isFalse();
            happens(lane, Kind.END, null);
            recording.end(lane, false, new byte[0]);
        }
        assertThatThrownBy(recording::restartQuietly)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("0 requests are open, and not all is cut");
        cutAndName();
        recording.restartQuietly();
        assertThat(recording.isQuiet()).as("before the barrier is cut").isFalse();
        recording.begin(9, 1, 0, 0, new byte[0]);
        happens(1, Kind.CALL, a);
        TraceSegment segment = cutAndName();
        assertThat(segment.barrier()).isEqualTo(Barrier.QUIET);
        assertThat(segment.until()).containsExactly(1, 2, 0, 0);
        assertThat(segment.lanes().get(0)).isEmpty();
        assertThat(a.version()).isEqualTo(1);
        assertThat(recording.isQuiet()).isFalse();
    }

    @Test
    void x18EachLaneOfADeposedPrimaryEndsAtItsNextEvent() {
        recording.depose();
        for (int lane = 1; lane <= 3; lane++) {
            int each = lane;
            assertThatThrownBy(() -> happens(each, Kind.CALL, a))
                    .isInstanceOf(DeposedException.class);
            assertThatThrownBy(() -> recording.lane(each).killed(true))
                    .isInstanceOf(DeposedException.class);
        }
        assertThat(recording.isCut()).isTrue();
        assertThat(a.version()).isZero();
    }

    @Test
    void x18ADeposedPrimaryStaysDeposedBehindAQuietCut() {
        for (int lane = 1; lane <= 3; lane++) {
            happens(lane, Kind.END, null);
            recording.end(lane, false, new byte[0]);
        }
        cutAndName();
        recording.depose();
        recording.restartQuietly();
        assertThatThrownBy(() -> recording.begin(1, 2, 0, 0, new byte[0]))
                .isInstanceOf(DeposedException.class);
    }

    @Test
    void x1WhatMayNotBeginIsRefused() {
        assertThatThrownBy(() -> recording.begin(1, 1, 0, 0, new byte[0]))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("number 1 of sender 1 does not begin: OPEN");
    }
}
