package io.saucr.model.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelClusterTest {

    @Test
    void aFastWriteCommitsOnceAllThreeHaveItInMemory() {
        ModelCluster cluster = new ModelCluster(3, Bounds.none());
        run(cluster, "elect 1 with 1,2", "connect 3 to 1", "sync 2", "sync 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "uptodate 2", "uptodate 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "confirm 1", "noop 1");
        run(cluster, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "confirm 1");
        assertThat(cluster.fastMode(0)).isTrue();

        run(cluster, "propose 1", "append 1", "append 2", "append 3", "ack 1", "ack 2");
        run(cluster, "receive 1 from 2");
        assertThat(cluster.committedLength(0)).isEqualTo(1);
        run(cluster, "ack 3", "receive 1 from 3");
        assertThat(cluster.committedLength(0)).isEqualTo(2);
        assertThat(cluster.forcedLength(0)).isEqualTo(1);
        assertThat(cluster.violation()).isNull();
    }

    @Test
    void aServerThatCrashedInFastModeRecoversWhatItHadInMemory() {
        ModelCluster cluster = new ModelCluster(3, Bounds.none());
        run(cluster, "elect 1 with 1,2", "connect 3 to 1", "sync 2", "sync 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "uptodate 2", "uptodate 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "confirm 1", "noop 1");
        run(cluster, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "confirm 1", "propose 1");
        run(cluster, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(cluster, "crash 3", "restart 3");
        assertThat(cluster.recovering(2)).isTrue();
        assertThat(cluster.logLength(2)).isEqualTo(1);

        run(cluster, "answer 2 to 3", "learn 3 from 2", "source 3", "history 3", "source 3");
        run(cluster, "history 3", "finish 3");
        assertThat(cluster.recovered(2)).isTrue();
        assertThat(cluster.logLength(2)).isEqualTo(2);
    }

    /**
     * R25: what a process has written outlives it; a loss of power before its next start counts.
     */
    @Test
    void aServerWhoseProcessWasKilledIsCompleteUnlessItsMachineLosesPowerToo() {
        ModelCluster cluster = new ModelCluster(3, Bounds.none());
        StartingPoint.COMMITTED.steps(3).forEach(step -> run(cluster, step));
        run(cluster, "kill 3", "restart 3");
        assertThat(cluster.recovered(2)).isTrue();
        assertThat(cluster.forcedLength(2)).isEqualTo(2);
        run(cluster, "kill 2", "crash 2", "restart 2");
        assertThat(cluster.recovering(1)).isTrue();
        assertThat(cluster.logLength(1)).isEqualTo(1);

        run(cluster, "kill 2", "restart 2");
        assertThat(cluster.recovering(1)).isTrue();
        run(cluster, "answer 3 to 2", "learn 2 from 3", "source 2", "history 2", "source 2");
        run(cluster, "history 2", "finish 2");
        assertThat(cluster.logLength(1)).isEqualTo(2);
    }

    /** R26: its log, its epoch and its promise come back with it; until then it is lost. */
    @Test
    void aServerThatLostItsDiskListensToALeaderFirstAndCopiesEverything() {
        ModelCluster cluster = new ModelCluster(3, Bounds.none());
        StartingPoint.COMMITTED.steps(3).forEach(step -> run(cluster, step));
        run(cluster, "lose-disk 3", "restart 3", "answer 2 to 3");
        assertThat(offered(cluster)).doesNotContain("learn 3 from 2");
        run(cluster, "answer 1 to 3", "learn 3 from 1");
        run(cluster, "answer 2 to 3", "learn 3 from 2", "source 3", "history 3", "crash 3");
        run(cluster, "restart 3");
        assertThat(cluster.lost(2)).isTrue();
        run(cluster, "answer 1 to 3", "learn 3 from 1", "answer 2 to 3", "learn 3 from 2");
        run(cluster, "source 3", "history 3", "source 3", "history 3", "finish 3");
        assertThat(cluster.lost(2)).isFalse();
        assertThat(cluster.logLength(2)).isEqualTo(2);
        assertThat(cluster.forcedLength(2)).isEqualTo(2);
    }

    /**
     * H5: server 4 is sent a fast entry before UPTODATE, so it acks it from its disk, with markers
     * that say "on disk" and a map that knows nothing of it. Did its ack count towards F, then 2
     * and 3 would recover without the entry, one after the other, and 5 would lead without it.
     */
    @Test
    void aFollowerThatIsStillJoiningDoesNotCountTowardsF() {
        ModelCluster cluster = new ModelCluster(5, Bounds.none());
        run(cluster, "elect 1 with 1,2,3", "connect 5 to 1", "sync 2", "sync 3", "sync 5");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5");
        run(cluster, "uptodate 2", "uptodate 3", "uptodate 5");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5");
        run(cluster, "confirm 1", "noop 1", "append 1", "append 2", "append 3", "append 5");
        run(cluster, "ack 1", "ack 2", "ack 3", "ack 5");
        run(cluster, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5", "confirm 1");
        assertThat(cluster.fastMode(0)).isTrue();

        run(cluster, "connect 4 to 1", "propose 1", "append 1", "append 2", "append 3");
        run(cluster, "ack 1", "ack 2", "ack 3", "receive 1 from 2", "receive 1 from 3");
        run(cluster, "sync 4", "receive 1 from 4", "uptodate 4", "ack 4");
        run(cluster, "receive 1 from 4", "receive 1 from 4");
        assertThat(cluster.committedLength(0)).isEqualTo(1);

        run(cluster, "append 5", "ack 5", "receive 1 from 5");
        assertThat(cluster.committedLength(0)).isEqualTo(2);
        assertThat(cluster.violation()).isNull();
    }

    /**
     * R23: 1 answers 2 and 3 before it has forced the seal of a view without 2. Each of them needs
     * a second answer then, and nobody else is up; asked again, 1 names the newer view.
     */
    @Test
    void whoHasAnsweredIsAskedAgainAndHasANewerViewByThen() {
        ModelCluster cluster = new ModelCluster(5, Bounds.none());
        StartingPoint.FAST.steps(5).forEach(step -> run(cluster, step));
        run(cluster, "propose 1", "append 1", "append 2", "append 3", "ack 2", "ack 3");
        run(cluster, "crash 2", "crash 4", "suspect 1", "close 1 from 2", "noop 1", "append 1");
        run(cluster, "crash 3", "crash 5", "restart 2", "restart 3");
        run(cluster, "answer 1 to 2", "learn 2 from 1", "answer 1 to 3", "learn 3 from 1");
        Liveness alone = new Liveness(cluster);
        assertThat(offered(cluster)).doesNotContain("answer 1 to 2", "answer 1 to 3");
        assertThat(alone.promised()).isFalse();

        run(cluster, "ack 1");
        assertThat(offered(cluster)).contains("answer 1 to 2", "answer 1 to 3");
        assertThat(alone.promised()).isTrue();
        assertThat(alone.run()).as(alone.explanation()).isNull();
        assertThat(cluster.recovered(1)).isTrue();
        assertThat(cluster.recovered(2)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5})
    void randomSchedulesBreakNothing(int servers) {
        ModelCluster cluster = new ModelCluster(servers, Bounds.none());
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        for (int seed = 0; seed < 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            cluster.reset();
            for (int i = 0; i < 500; i++) {
                int count = cluster.enabled(steps);
                int step = steps[random.nextInt(count)];
                if (isCrash(step) && random.nextInt(20) > 0) {
                    continue;
                }
                assertThat(cluster.apply(step)).as(cluster.explanation()).isTrue();
            }
        }
    }

    /** After a step only what it may have broken is looked at. */
    @ParameterizedTest
    @NullSource
    @EnumSource
    void whatIsLookedAtAfterAStepIsAllThatCanBreak(BrokenRule rule) {
        Set<BrokenRule> broken = rule == null ? Set.of() : EnumSet.of(rule);
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        for (int servers = 3; servers <= 5; servers++) {
            ModelCluster cluster = new ModelCluster(servers, Bounds.none(), broken);
            for (int seed = 0; seed < 12; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                cluster.reset();
                for (int i = 0; i < 300 && cluster.violation() == null; i++) {
                    int count = cluster.enabled(steps);
                    int step = steps[random.nextInt(count)];
                    if (isCrash(step) && random.nextInt(20) > 0) {
                        continue;
                    }
                    cluster.apply(step);
                    for (Invariant invariant : Invariant.afterSteps()) {
                        String broke = invariant.anywhere(cluster);
                        if (broke != null) {
                            assertThat(cluster.violation()).as(broke).isNotNull();
                        } else {
                            assertThat(invariant.name()).isNotEqualTo(cluster.violation());
                        }
                    }
                }
            }
        }
    }

    @Test
    void everyStepIsItsText() {
        ModelCluster cluster = new ModelCluster(5, Bounds.none());
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2000; i++) {
            int count = cluster.enabled(steps);
            for (int j = 0; j < count; j++) {
                assertThat(Step.parse(Step.toString(steps[j]))).isEqualTo(steps[j]);
            }
            cluster.apply(steps[random.nextInt(count)]);
        }
    }

    private static boolean isCrash(int step) {
        return switch (Step.kind(step)) {
            case CRASH, KILL, LOSE_DISK -> true;
            default -> false;
        };
    }

    private static void run(ModelCluster cluster, String... texts) {
        for (String text : texts) {
            assertThat(offered(cluster)).contains(text);
            cluster.apply(Step.parse(text));
        }
    }

    private static List<String> offered(ModelCluster cluster) {
        int[] steps = new int[ModelCluster.MAX_ENABLED];
        int count = cluster.enabled(steps);
        List<String> offered = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            offered.add(Step.toString(steps[i]));
        }
        return offered;
    }
}
