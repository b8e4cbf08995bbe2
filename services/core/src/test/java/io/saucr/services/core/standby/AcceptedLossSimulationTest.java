package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.standby.AcceptedLossWorld.Broken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** C17: losses are accepted while members come and go, by seeds. */
class AcceptedLossSimulationTest {

    private static final int SEEDS = 500;
    private static final int PHASES = 4;

    private static AcceptedLossWorld run(long seed, Broken broken) {
        AcceptedLossWorld world = new AcceptedLossWorld(seed, broken);
        try {
            world.run(PHASES);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
        return world;
    }

    @Test
    void nothingThatWasGivenUpEverCountsAgain() {
        long losses = 0;
        long givenUp = 0;
        long takeovers = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            AcceptedLossWorld world = run(seed, Broken.NOTHING);
            losses += world.losses;
            givenUp += world.givenUp;
            takeovers += world.takeovers;
        }
        assertThat(losses).isGreaterThan(SEEDS / 10);
        assertThat(givenUp).isGreaterThan(SEEDS / 50);
        assertThat(takeovers).isGreaterThan(SEEDS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void aRuleThatIsLeftOutIsNoticed(Broken broken) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try {
                run(seed, broken);
            } catch (AssertionError e) {
                return;
            }
        }
        throw new AssertionError(broken + " was not noticed in " + SEEDS + " runs");
    }
}
