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

class WorldTest {

    @Test
    void aFastWriteCommitsOnceAllThreeHaveItInMemory() {
        World world = new World(3, Bounds.none());
        run(world, "elect 1 with 1,2", "connect 3 to 1", "sync 2", "sync 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "uptodate 2", "uptodate 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "confirm 1", "noop 1");
        run(world, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "confirm 1");
        assertThat(world.fastMode(0)).isTrue();

        run(world, "propose 1", "append 1", "append 2", "append 3", "ack 1", "ack 2");
        run(world, "receive 1 from 2");
        assertThat(world.committedLength(0)).isEqualTo(1);
        run(world, "ack 3", "receive 1 from 3");
        assertThat(world.committedLength(0)).isEqualTo(2);
        assertThat(world.forcedLength(0)).isEqualTo(1);
        assertThat(world.violation()).isNull();
    }

    @Test
    void aServerThatCrashedInFastModeRecoversWhatItHadInMemory() {
        World world = new World(3, Bounds.none());
        run(world, "elect 1 with 1,2", "connect 3 to 1", "sync 2", "sync 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "uptodate 2", "uptodate 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "confirm 1", "noop 1");
        run(world, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(world, "receive 1 from 2", "receive 1 from 3", "confirm 1", "propose 1");
        run(world, "append 1", "append 2", "append 3", "ack 1", "ack 2", "ack 3");
        run(world, "crash 3", "restart 3");
        assertThat(world.recovering(2)).isTrue();
        assertThat(world.logLength(2)).isEqualTo(1);

        run(world, "answer 2 to 3", "learn 3 from 2", "source 3", "history 3", "source 3");
        run(world, "history 3", "finish 3");
        assertThat(world.recovered(2)).isTrue();
        assertThat(world.logLength(2)).isEqualTo(2);
    }

    /**
     * R25: what a process has written outlives it; a loss of power before its next start counts.
     */
    @Test
    void aServerWhoseProcessWasKilledIsCompleteUnlessItsMachineLosesPowerToo() {
        World world = new World(3, Bounds.none());
        Schedules.COMMITTED.forEach(step -> run(world, step));
        run(world, "kill 3", "restart 3");
        assertThat(world.recovered(2)).isTrue();
        assertThat(world.forcedLength(2)).isEqualTo(2);
        run(world, "kill 2", "crash 2", "restart 2");
        assertThat(world.recovering(1)).isTrue();
        assertThat(world.logLength(1)).isEqualTo(1);

        run(world, "kill 2", "restart 2");
        assertThat(world.recovering(1)).isTrue();
        run(world, "answer 3 to 2", "learn 2 from 3", "source 2", "history 2", "source 2");
        run(world, "history 2", "finish 2");
        assertThat(world.logLength(1)).isEqualTo(2);
    }

    /** R26: its log, its epoch and its promise come back with it; until then it is lost. */
    @Test
    void aServerThatLostItsDiskListensToALeaderFirstAndCopiesEverything() {
        World world = new World(3, Bounds.none());
        Schedules.COMMITTED.forEach(step -> run(world, step));
        run(world, "lose-disk 3", "restart 3", "answer 2 to 3");
        assertThat(offered(world)).doesNotContain("learn 3 from 2");
        run(world, "answer 1 to 3", "learn 3 from 1");
        run(world, "answer 2 to 3", "learn 3 from 2", "source 3", "history 3", "crash 3");
        run(world, "restart 3");
        assertThat(world.lost(2)).isTrue();
        run(world, "answer 1 to 3", "learn 3 from 1", "answer 2 to 3", "learn 3 from 2");
        run(world, "source 3", "history 3", "source 3", "history 3", "finish 3");
        assertThat(world.lost(2)).isFalse();
        assertThat(world.logLength(2)).isEqualTo(2);
        assertThat(world.forcedLength(2)).isEqualTo(2);
    }

    /**
     * H5: server 4 is sent a fast entry before UPTODATE, so it acks it from its disk, with markers
     * that say "on disk" and a map that knows nothing of it. Did its ack count towards F, then 2
     * and 3 would recover without the entry, one after the other, and 5 would lead without it.
     */
    @Test
    void aFollowerThatIsStillJoiningDoesNotCountTowardsF() {
        World world = new World(5, Bounds.none());
        run(world, "elect 1 with 1,2,3", "connect 5 to 1", "sync 2", "sync 3", "sync 5");
        run(world, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5");
        run(world, "uptodate 2", "uptodate 3", "uptodate 5");
        run(world, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5");
        run(world, "confirm 1", "noop 1", "append 1", "append 2", "append 3", "append 5");
        run(world, "ack 1", "ack 2", "ack 3", "ack 5");
        run(world, "receive 1 from 2", "receive 1 from 3", "receive 1 from 5", "confirm 1");
        assertThat(world.fastMode(0)).isTrue();

        run(world, "connect 4 to 1", "propose 1", "append 1", "append 2", "append 3");
        run(world, "ack 1", "ack 2", "ack 3", "receive 1 from 2", "receive 1 from 3");
        run(world, "sync 4", "receive 1 from 4", "uptodate 4", "ack 4");
        run(world, "receive 1 from 4", "receive 1 from 4");
        assertThat(world.committedLength(0)).isEqualTo(1);

        run(world, "append 5", "ack 5", "receive 1 from 5");
        assertThat(world.committedLength(0)).isEqualTo(2);
        assertThat(world.violation()).isNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5})
    void randomSchedulesBreakNothing(int servers) {
        World world = new World(servers, Bounds.none());
        int[] steps = new int[World.MAX_ENABLED];
        for (int seed = 0; seed < 20; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            world.reset();
            for (int i = 0; i < 500; i++) {
                int count = world.enabled(steps);
                int step = steps[random.nextInt(count)];
                if (isCrash(step) && random.nextInt(20) > 0) {
                    continue;
                }
                assertThat(world.apply(step)).as(world.explanation()).isTrue();
            }
        }
    }

    /** After a step only what it may have broken is looked at. */
    @ParameterizedTest
    @NullSource
    @EnumSource
    void whatIsLookedAtAfterAStepIsAllThatCanBreak(BrokenRule rule) {
        Set<BrokenRule> broken = rule == null ? Set.of() : EnumSet.of(rule);
        int[] steps = new int[World.MAX_ENABLED];
        for (int servers = 3; servers <= 5; servers++) {
            World world = new World(servers, Bounds.none(), broken);
            for (int seed = 0; seed < 12; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                world.reset();
                for (int i = 0; i < 300 && world.violation() == null; i++) {
                    int count = world.enabled(steps);
                    int step = steps[random.nextInt(count)];
                    if (isCrash(step) && random.nextInt(20) > 0) {
                        continue;
                    }
                    world.apply(step);
                    for (Invariant invariant : Invariant.afterSteps()) {
                        String broke = invariant.anywhere(world);
                        if (broke != null) {
                            assertThat(world.violation()).as(broke).isNotNull();
                        } else {
                            assertThat(invariant.name()).isNotEqualTo(world.violation());
                        }
                    }
                }
            }
        }
    }

    @Test
    void everyStepIsItsText() {
        World world = new World(5, Bounds.none());
        int[] steps = new int[World.MAX_ENABLED];
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2000; i++) {
            int count = world.enabled(steps);
            for (int j = 0; j < count; j++) {
                assertThat(Step.parse(Step.toString(steps[j]))).isEqualTo(steps[j]);
            }
            world.apply(steps[random.nextInt(count)]);
        }
    }

    private static boolean isCrash(int step) {
        return switch (Step.kind(step)) {
            case CRASH, KILL, LOSE_DISK -> true;
            default -> false;
        };
    }

    private static void run(World world, String... texts) {
        for (String text : texts) {
            assertThat(offered(world)).contains(text);
            world.apply(Step.parse(text));
        }
    }

    private static List<String> offered(World world) {
        int[] steps = new int[World.MAX_ENABLED];
        int count = world.enabled(steps);
        List<String> offered = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            offered.add(Step.toString(steps[i]));
        }
        return offered;
    }
}
