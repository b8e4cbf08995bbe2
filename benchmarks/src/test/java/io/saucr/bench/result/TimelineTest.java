package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.bench.ensemble.ServerThreads;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private static TimelinePoint point(double seconds, double throughput, String mode) {
        return new TimelinePoint("saucr", 1, seconds, throughput, mode, 4);
    }

    @Test
    void aPhaseLastsFromOneEventToTheNext() {
        RunResult result =
                new RunResult(
                                "fig9",
                                "",
                                Map.of(),
                                Machine.here(),
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null)
                        .withTimeline(
                                List.of(
                                        point(1, 1000, "fast"),
                                        point(2, 500, "fast"),
                                        point(3, 100, "slow"),
                                        point(4, 200, "slow")),
                                List.of(
                                        new TimelineEvent(
                                                "saucr", 1, 1.5, "a follower is killed")));
        List<Timeline.Phase> phases = Timeline.of(result).get(0).phases();
        assertThat(phases).hasSize(2);
        assertThat(phases.get(0).throughput()).isEqualTo(1000);
        assertThat(phases.get(1).modes()).isEqualTo("fast>slow");
        assertThat(phases.get(1).throughput()).isEqualTo(800.0 / 3);
        assertThat(phases.get(1).after()).isEqualTo("a follower is killed");
    }

    @Test
    void threadsAreStagesByTheBeginningOfTheirNames() {
        assertThat(ServerThreads.stage("LearnerHandler-")).startsWith("LearnerHandler");
        assertThat(ServerThreads.stage("QuorumPeer[myid")).startsWith("QuorumPeer");
        assertThat(ServerThreads.stage("SaucrBackground")).isEqualTo("background flush");
        assertThat(ServerThreads.stage("SaucrHeartbeats")).startsWith("heartbeats");
        assertThat(ServerThreads.stage("main")).isEqualTo(ServerThreads.OTHER);
    }

    @Test
    void theBusiestThreadIsOneAndNotTheBusiestStage() {
        ServerThreads before = threads(Map.of(1L, usage(50), 2L, usage(0)));
        ServerThreads after = threads(Map.of(1L, usage(52), 2L, usage(5), 3L, usage(4)));
        assertThat(after.since(before).busiest()).isEqualTo(usage(5));
        assertThat(ServerThreads.NONE.busiest()).isEqualTo(usage(0));
        assertThat(ServerThreads.of(ProcessHandle.current().pid()).busiest().cpuNanos())
                .isPositive();
    }

    private static ServerThreads.Usage usage(long cpuNanos) {
        return new ServerThreads.Usage(cpuNanos, 0, 0);
    }

    private static ServerThreads threads(Map<Long, ServerThreads.Usage> serving) {
        return new ServerThreads(Map.of(), serving);
    }
}
