package io.saucr.model.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.model.cluster.BrokenRule;
import io.saucr.model.cluster.Liveness;
import io.saucr.model.cluster.Step;
import io.saucr.model.cluster.Step.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("slow")
class SimulationTest {
    private static final int[] ALL_SIZES = {3, 4, 5, 6, 7};
    private static final long NEW_SEEDS_NANOS = 5_000_000_000L;
    private static final long MANY_NEW_SEEDS_NANOS = 30_000_000_000L;
    private static final long COVERAGE_NANOS = 300_000_000_000L;
    private static final int CORES = 2;

    private static final int HUNG_DISKS = 50;
    private static final int MANY_HUNG_DISKS = 200;
    private static final int WITH_MODES = 75;
    private static final int MANY_WITH_MODES = 300;
    private static final int DEATHS_OF_ALL = 50;

    @Test
    void newSeedsBreakNothingAndReachEverything() throws InterruptedException {
        newSeedsBreakNothing(NEW_SEEDS_NANOS);
    }

    @Tag("long")
    @Test
    void manyNewSeedsBreakNothing() throws InterruptedException {
        newSeedsBreakNothing(MANY_NEW_SEEDS_NANOS);
    }

    private static void newSeedsBreakNothing(long atLeast) throws InterruptedException {
        long first = System.currentTimeMillis() << 20;
        try (Campaign campaign = new Campaign(ALL_SIZES, Set.of(), CORES, first, new Coverage())) {
            List<Campaign.Found> found = new ArrayList<>();
            long start = System.nanoTime();
            while (found.isEmpty() && !isEnough(campaign, System.nanoTime() - start, atLeast)) {
                found.addAll(campaign.round(Long.MAX_VALUE));
            }
            System.out.printf(
                    "Simulator: seeds %d to %d, %s%n",
                    first, campaign.nextSeed() - 1, campaign.coverage().counts());
            assertThat(found).isEmpty();
            assertThat(campaign.coverage().missing(false, false)).isEmpty();
        }
    }

    /** A busy machine needs longer to reach everything. */
    private static boolean isEnough(Campaign campaign, long nanos, long atLeast) {
        return nanos >= COVERAGE_NANOS
                || (nanos >= atLeast && campaign.coverage().missing(false, false).isEmpty());
    }

    @Test
    void theSameSeedIsTheSameSchedule() {
        for (int n : ALL_SIZES) {
            Simulation one = new Simulation(n, Set.of());
            Simulation other = new Simulation(n, Set.of());
            one.run(1);
            for (int seed = 10; seed < 13; seed++) {
                one.run(seed);
                other.run(seed);
                assertThat(one.steps()).isEqualTo(other.steps());
            }
        }
    }

    @Test
    void recordedStepsLeadToTheSameEndWithoutTime() {
        Simulation simulation = new Simulation(5, Set.of());
        Replay replay = new Replay(5, Set.of());
        for (int seed = 0; seed < 10; seed++) {
            assertThat(simulation.run(seed)).isTrue();
            assertThat(replay.play(simulation.steps(), true)).as(replay.explanation()).isNull();
            assertThat(replay.played()).isEqualTo(simulation.steps());
        }
    }

    /**
     * A leader that had just turned slow could be fast again before its no-op was proposed; acks
     * counted towards F from followers that were still joining; a fast entry that was forced
     * together with a slow one left neither a marker nor a map.
     */
    @ParameterizedTest
    @CsvSource({"7,504", "6,363", "4,21", "7,9", "5,3724"})
    void seedsThatOnceBroke(int servers, long seed) {
        Simulation simulation = Simulation.ofPowerAlone(servers, Set.of());
        assertThat(simulation.run(seed)).as(simulation.explanation()).isTrue();
    }

    /** Seeds mean without deaths and lost disks what they meant before there were any. */
    @Test
    void untilTheFirstDeathASeedIsTheSameWithoutDeaths() {
        int without = 0;
        for (int n : ALL_SIZES) {
            Simulation simulation = new Simulation(n, Set.of());
            Simulation ofPowerAlone = Simulation.ofPowerAlone(n, Set.of());
            for (int seed = 0; seed < 20; seed++) {
                assertThat(simulation.run(seed)).as(simulation.explanation()).isTrue();
                assertThat(ofPowerAlone.run(seed)).as(ofPowerAlone.explanation()).isTrue();
                assertThat(firstDeath(ofPowerAlone.steps())).isEqualTo(ofPowerAlone.steps().length);
                int death = firstDeath(simulation.steps());
                assertThat(Arrays.copyOf(simulation.steps(), death))
                        .isEqualTo(Arrays.copyOf(ofPowerAlone.steps(), death));
                if (death == simulation.steps().length) {
                    assertThat(ofPowerAlone.steps()).hasSize(death);
                    without++;
                }
            }
        }
        assertThat(without).isPositive();
    }

    /** Pins, drains, missed heartbeats and pauses (R5, R6, R10, H11). */
    @Test
    void whatElseChangesTheModeBreaksNothing() {
        changesOfTheModeBreakNothing(WITH_MODES, HUNG_DISKS);
    }

    @Tag("long")
    @Test
    void whatElseChangesTheModeBreaksNothingInManySchedules() {
        changesOfTheModeBreakNothing(MANY_WITH_MODES, MANY_HUNG_DISKS);
    }

    private static void changesOfTheModeBreakNothing(int schedules, int hungDisks) {
        Coverage all = new Coverage();
        for (int n : ALL_SIZES) {
            Simulation simulation = Simulation.withModes(n, Set.of());
            for (int seed = 0; seed < schedules; seed++) {
                boolean fine = simulation.run(seed);
                assertThat(fine)
                        .as("%d servers, seed %d: %s", n, seed, simulation.explanation())
                        .isTrue();
            }
            for (int seed = 0; seed < hungDisks; seed++) {
                boolean fine = simulation.runWithHungDisk(seed, false);
                assertThat(fine).as("%d servers, hung disk, seed %d", n, seed).isTrue();
            }
            all.add(simulation.coverage());
        }
        assertThat(all.missing(false, true)).isEmpty();
        System.out.println("Simulator: with modes " + all.counts());
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "R6_MISSED_HEARTBEAT_IGNORED",
                "R10_PIN_FORGOTTEN",
                "H11_PAUSE_IS_SILENCE",
                "R28_NAMED_WITH_LESS",
                "R27_UNREAD_COUNTS_WHENEVER_IT_CAME"
            })
    void aBrokenRuleOfTheModeIsFoundAndShrunk(BrokenRule rule) {
        Set<BrokenRule> rules = EnumSet.of(rule);
        Simulation simulation = Simulation.withModes(5, rules);
        int seed = 0;
        while (simulation.run(seed) && seed < 2_000) {
            seed++;
        }
        assertThat(simulation.violation()).isNotNull();
        System.out.println("Simulator: " + rule + " found after " + (seed + 1) + " schedules");
        Replay replay = new Replay(5, rules);
        boolean alone = simulation.violation().equals(Liveness.NAME);
        String broken = simulation.violation();
        assertThat(replay.play(replay.shrink(simulation.steps()), alone)).isEqualTo(broken);
    }

    @Test
    void r5ADrainWithoutAnEndStopsWritesWhileADiskHangs() {
        Simulation simulation = Simulation.withModes(3, EnumSet.of(BrokenRule.R5_DRAIN_NEVER_ENDS));
        int found = 0;
        for (int seed = 0; seed < HUNG_DISKS; seed++) {
            if (!simulation.runWithHungDisk(seed, false)) {
                assertThat(simulation.violation()).isEqualTo(Simulation.PROGRESS);
                found++;
            }
        }
        System.out.println("Simulator: a drain without an end: " + found + " writes stopped");
        assertThat(found).isPositive();
    }

    private static int firstDeath(int[] steps) {
        int first = 0;
        while (first < steps.length
                && Step.kind(steps[first]) != Kind.KILL
                && Step.kind(steps[first]) != Kind.LOSE_DISK) {
            first++;
        }
        return first;
    }

    @Test
    void r25AllProcessesDieAndTheEnsembleServes() {
        for (int n : ALL_SIZES) {
            Simulation simulation = new Simulation(n, Set.of());
            for (int seed = 0; seed < DEATHS_OF_ALL; seed++) {
                boolean fine = simulation.runUntilAllDie(seed);
                assertThat(fine)
                        .as("%d servers, seed %d: %s", n, seed, simulation.explanation())
                        .isTrue();
            }
            Coverage coverage = simulation.coverage();
            assertThat(coverage.fairRuns).isGreaterThan(DEATHS_OF_ALL * 9L / 10);
            assertThat(coverage.fastDeaths).isPositive();
            System.out.println("Simulator: all died, " + n + " servers: " + coverage.counts());
        }
    }

    @Test
    void r24WritesGoOnWhileOneDiskHangs() {
        writesGoOnWhileOneDiskHangs(HUNG_DISKS);
    }

    @Tag("long")
    @Test
    void r24WritesGoOnWhileOneDiskHangsInManySchedules() {
        writesGoOnWhileOneDiskHangs(MANY_HUNG_DISKS);
    }

    private static void writesGoOnWhileOneDiskHangs(int schedules) {
        for (int n : ALL_SIZES) {
            Simulation simulation = new Simulation(n, Set.of());
            for (int seed = 0; seed < schedules; seed++) {
                boolean fine = simulation.runWithHungDisk(seed, false);
                assertThat(fine)
                        .as("%d servers, seed %d: %s", n, seed, simulation.explanation())
                        .isTrue();
            }
        }
    }

    @Test
    void r24HeartbeatsAloneAsASignOfLifeAreFound() {
        for (int n : ALL_SIZES) {
            Simulation simulation = new Simulation(n, Set.of());
            int found = 0;
            for (int seed = 0; seed < HUNG_DISKS; seed++) {
                if (!simulation.runWithHungDisk(seed, true)) {
                    assertThat(simulation.violation()).isEqualTo(Simulation.PROGRESS);
                    found++;
                }
            }
            System.out.println(
                    "Simulator: heartbeats alone, " + n + " servers: " + found + " writes stopped");
            if (n == 3) {
                assertThat(found).isPositive();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "R3_SLOW_ACK_FROM_MEMORY",
                "R6_NO_NOOP",
                "R12_NO_FAST_SWITCH",
                "R13_NO_CRITICAL_SECTION",
                "R15_RECOVERING_TAKES_PART",
                "R17_CUT_TO_L",
                "R21_OLD_CONNECTION_COUNTS",
                "R22_NO_QUESTION",
                "R22_EARLIER_ENTRY",
                "R25_BOOT_ID_NOT_LOOKED_AT",
                "R25_ACK_BEFORE_WRITE",
                "R25_MAP_OF_MARKER",
                "R25_START_WITHOUT_FORCE",
                "R26_LOST_DISK_COUNTS_AS_COMPLETE",
                "R26_LOST_ANSWERS",
                "S4_STALE_MAP_ON_DISK",
                "H5_FAST_BEFORE_UPTODATE",
                "H14_MEMORY_AHEAD_OF_LOG"
            })
    void aBrokenRuleIsFoundAndShrunk(BrokenRule rule) throws InterruptedException {
        Set<BrokenRule> rules = EnumSet.of(rule);
        try (Campaign campaign = new Campaign(ALL_SIZES, rules, CORES, 0, new Coverage())) {
            List<Campaign.Found> found = new ArrayList<>();
            while (found.isEmpty() && campaign.nextSeed() < 6_000) {
                found.addAll(campaign.round(500));
            }
            assertThat(found).isNotEmpty();
            Campaign.Found first = found.get(0);
            Replay replay = new Replay(first.servers(), rules);
            int[] shrunk = replay.shrink(first.steps());
            assertThat(shrunk.length).isLessThanOrEqualTo(first.steps().length);
            boolean alone = first.broken().equals(Liveness.NAME);
            assertThat(replay.play(shrunk, alone)).isEqualTo(first.broken());
        }
    }
}
