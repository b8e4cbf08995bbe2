package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Seeded runs of services and clients of which some services are a group, and rules of the group
 * left out in turn (D1 to D13). {@link ServiceCampaign} runs many more.
 */
class GroupSimulationTest {

    private static final int STEPS = 300;
    private static final int RUNS = 100;
    private static final int MOST_RUNS = 3_000;

    private static ServiceWorld world(long seed, ServiceGroup.Broken broken) {
        return new ServiceWorld(seed, ServiceWorld.Broken.NOTHING, Optional.of(broken), false);
    }

    @Test
    void nothingThatIsFinalIsUndone() {
        long consumed = 0;
        long undone = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            ServiceWorld world = world(seed, ServiceGroup.Broken.NOTHING);
            world.run(STEPS);
            assertThat(world.violations).as("seed " + seed).isEmpty();
            consumed += world.consumed;
            undone += world.group.rollbacks;
        }
        // The runs do something.
        assertThat(consumed).isGreaterThan(10L * RUNS);
        assertThat(undone).isGreaterThan(RUNS / 4);
    }

    static List<ServiceGroup.Broken> rules() {
        return Arrays.stream(ServiceGroup.Broken.values())
                .filter(it -> it != ServiceGroup.Broken.NOTHING)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void eachBrokenRuleIsNoticed(ServiceGroup.Broken broken) {
        Seeds.assertNoticed(
                MOST_RUNS,
                seed -> {
                    ServiceWorld world = world(seed, broken);
                    world.run(STEPS);
                    return world.violations;
                });
    }
}
