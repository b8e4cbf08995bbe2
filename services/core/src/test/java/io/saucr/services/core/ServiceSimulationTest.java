package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.ServiceWorld.Broken;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Thousands of seeded runs of services and clients, and each rule left out in turn. */
class ServiceSimulationTest {

    private static final int STEPS = 200;
    private static final int RUNS = 700;
    private static final int MOST_RUNS = 3_000;

    @Test
    void nothingIsLostDoubledOrInvented() {
        long consumed = 0;
        long crashes = 0;
        long halts = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            ServiceWorld world = new ServiceWorld(seed, Broken.NOTHING, false);
            world.run(STEPS);
            assertThat(world.violations).as("seed " + seed).isEmpty();
            consumed += world.consumed;
            crashes += world.crashes;
            halts += world.halts;
        }
        // The runs do something.
        assertThat(consumed).isGreaterThan(10L * RUNS);
        assertThat(crashes).isGreaterThan(2L * RUNS);
        assertThat(halts).isPositive();
    }

    static List<Broken> rules() {
        return ServiceWorld.rules();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void eachBrokenRuleIsNoticed(Broken broken) {
        Seeds.assertNoticed(
                MOST_RUNS,
                seed -> {
                    ServiceWorld world = new ServiceWorld(seed, broken, false);
                    world.run(STEPS);
                    return world.violations;
                });
    }
}
