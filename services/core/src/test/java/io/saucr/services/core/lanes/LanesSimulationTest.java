package io.saucr.services.core.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Thousands of seeded schedules of handlers in lanes, and each rule left out in turn. */
class LanesSimulationTest {

    private static final int RUNS = 3_000;

    @Test
    void turnsDoWhatTheyDoOneByOne() {
        long again = 0;
        long here = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            LanesWorld world = new LanesWorld(seed, Broken.NOTHING, false);
            world.run();
            assertThat(world.violations).as("seed " + seed).isEmpty();
            assertThat(world.committed).isEqualTo(12);
            again += world.again();
            here += world.here;
        }
        // The runs meet each other, some of them so often that a turn runs alone.
        assertThat(again).isGreaterThan(RUNS);
        assertThat(here).isPositive();
    }

    @Test
    void p2TurnsThatOnlyWriteNeverRunAgain() {
        for (long seed = 0; seed < RUNS; seed++) {
            assertThat(blind(seed, Broken.NOTHING)).as("seed " + seed).isEmpty();
        }
    }

    private static List<String> blind(long seed, Broken broken) {
        LanesWorld world = new LanesWorld(seed, broken, true);
        world.run();
        return world.again() == 0 ? world.violations : List.of("a turn that only wrote ran again");
    }

    static List<Broken> rules() {
        return Arrays.stream(Broken.values()).filter(it -> it != Broken.NOTHING).toList();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void eachBrokenRuleIsNoticed(Broken broken) {
        for (long seed = 0; seed < RUNS; seed++) {
            LanesWorld world = new LanesWorld(seed, broken, false);
            world.run();
            if (!world.violations.isEmpty() || !blind(seed, broken).isEmpty()) {
                return;
            }
        }
        throw new AssertionError("nobody noticed in " + RUNS + " runs");
    }
}
