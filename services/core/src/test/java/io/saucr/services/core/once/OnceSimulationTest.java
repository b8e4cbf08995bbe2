package io.saucr.services.core.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Seeds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Thousands of seeded runs of the chain, and each rule left out in turn. */
class OnceSimulationTest {

    private static final int STEPS = 160;
    private static final int RUNS = 20_000;

    @Test
    void everyOperationTakesEffectOnceAndInOrderOrIsRefused() {
        long effects = 0;
        long starts = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            OnceWorld world = new OnceWorld(seed, OnceWorld.Broken.NOTHING);
            world.run(STEPS);
            assertThat(world.violations).as("seed " + seed).isEmpty();
            effects += world.effects.size();
            starts += world.starts;
        }
        // The runs do something.
        assertThat(effects).isGreaterThan(100_000);
        assertThat(starts).isGreaterThan(40_000);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void eachBrokenRuleIsNoticed(OnceWorld.Broken broken) {
        Seeds.assertNoticed(
                RUNS,
                seed -> {
                    OnceWorld world = new OnceWorld(seed, broken);
                    world.run(STEPS);
                    return world.violations;
                });
    }
}
