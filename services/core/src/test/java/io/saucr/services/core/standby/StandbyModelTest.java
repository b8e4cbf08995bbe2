package io.saucr.services.core.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Exploration;
import io.saucr.services.core.Exploration.Found;
import io.saucr.services.core.standby.StandbyModel.Size;
import io.saucr.services.core.standby.StandbyWorld.Broken;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every way through small worlds of a service with standbys. {@link StandbyModelCampaign} looks at
 * all of larger ones.
 */
class StandbyModelTest {

    private static final int MOST_STATES = 20_000;
    private static final int NEAREST_STATES = 3_000;

    private static Found explore(Size size, Broken broken, int mostStates) {
        return new StandbyModel(size, broken).exploration().explore(mostStates);
    }

    /** Members, turns, reads, links, deaths, breaks, cuts, waits. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "2 2 0 1 0 0 0 0",
                "2 1 1 1 0 0 0 0",
                "2 1 0 1 1 0 0 0",
                "2 1 0 1 0 1 0 0",
            })
    void nothingThatLeftIsUndone(String size) {
        Found found = explore(Size.parse(size), Broken.NOTHING, MOST_STATES);
        assertThat(found.violation()).as(found.path().toString()).isNull();
        assertThat(found.atRest()).isPositive();
    }

    /** Of worlds that are too large for a test the nearest states. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "2 2 1 1 1 1 0 0",
                "2 1 1 0 0 0 0 2",
                "2 1 0 1 0 0 1 1",
                "3 1 0 2 1 0 0 0",
            })
    void nothingThatLeftIsUndoneNearby(String size) {
        Found found = explore(Size.parse(size), Broken.NOTHING, NEAREST_STATES);
        assertThat(found.violation())
                .as(found.path().toString())
                .isEqualTo(Exploration.MORE_STATES);
    }

    /** C8 takes 47,000 states, by the campaign: 2 1 1 0 0 0 0 2. */
    @ParameterizedTest
    @CsvSource({
        "C3_NAMED_BEFORE_IT_IS_FORCED, 1, 0, 0",
        "C6_TAKEN_WITHOUT_THE_SEGMENT, 0, 0, 2",
        "C7_LEAVES_BEFORE_IT_IS_NAMED, 0, 0, 0",
        "C13_UNKNOWN_IS_SUCCESS, 0, 1, 0",
    })
    void eachBrokenRuleIsNoticed(Broken broken, int links, int breaks, int waits) {
        Found found = explore(new Size(2, 1, 0, links, 0, breaks, 0, waits), broken, MOST_STATES);
        assertThat(found.violation()).isNotNull().isNotEqualTo(Exploration.MORE_STATES);
    }
}
