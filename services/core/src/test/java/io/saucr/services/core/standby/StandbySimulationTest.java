package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Seeds;
import io.saucr.services.core.standby.StandbyWorld.Broken;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many seeded runs of a service with standbys, and each rule left out in turn. */
class StandbySimulationTest {

    private static final int RUNS = 800;
    private static final int MOST_RUNS = 2_500;

    @Test
    void nothingThatLeftIsUndoneAndTheServiceGoesOn() {
        long written = 0;
        long read = 0;
        long takeovers = 0;
        long handovers = 0;
        long lost = 0;
        long early = 0;
        long announced = 0;
        long repeated = 0;
        long namedInStore = 0;
        long loaded = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            StandbyWorld world = new StandbyWorld(seed, Broken.NOTHING, false);
            world.run();
            assertThat(world.violations).as("seed " + seed).isEmpty();
            assertThat(world.stalls).as("seed " + seed).isEmpty();
            written += world.written;
            read += world.read;
            takeovers += world.takeovers;
            handovers += world.handovers;
            lost += world.lost;
            early += world.early;
            announced += world.announced;
            repeated += world.repeated;
            namedInStore += world.namedInStore;
            loaded += world.loaded;
        }
        // The runs do something.
        assertThat(written).isGreaterThan(10L * RUNS);
        assertThat(read).isGreaterThan(5L * RUNS);
        assertThat(takeovers).isGreaterThan(RUNS);
        assertThat(handovers).isPositive();
        assertThat(lost).isPositive().isLessThan(RUNS / 10);
        assertThat(early).isGreaterThan(10L * RUNS);
        assertThat(announced).isGreaterThan(RUNS / 10);
        assertThat(repeated).isGreaterThan(RUNS / 100);
        assertThat(namedInStore).isGreaterThan(RUNS);
        assertThat(loaded).isGreaterThan(RUNS / 10);
    }

    static List<Broken> rules() {
        return StandbyWorld.rules();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void eachBrokenRuleIsNoticed(Broken broken) {
        Seeds.assertNoticed(
                MOST_RUNS,
                seed -> {
                    StandbyWorld world = new StandbyWorld(seed, broken, false);
                    world.run();
                    return world.violations;
                });
    }
}
