package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.ServiceWorld.Broken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every way through small worlds of two services. */
class ServiceModelTest {

    private static final int MOST_STATES = 1_500;

    @Test
    void withoutAFaultEverythingArrives() {
        Exploration.Found found = explore(new ServiceModel.Size(1, 0, 0), Broken.NOTHING);
        assertThat(found.violation()).as(found.path().toString()).isNull();
        assertThat(found.states()).isGreaterThan(50);
        assertThat(found.atRest()).isPositive();
    }

    /** The nearest states; {@link ServiceModelCampaign} looks at all, about 36,000. */
    @ParameterizedTest
    @CsvSource({"1, 0, 1", "1, 1, 0", "2, 1, 0"})
    void withAFaultNothingIsDoubledOrOutOfOrder(int messages, int crashes, int cuts) {
        Exploration.Found found =
                explore(new ServiceModel.Size(messages, crashes, cuts), Broken.NOTHING);
        assertThat(found.violation())
                .as(found.path().toString())
                .isIn(null, Exploration.MORE_STATES);
        assertThat(found.states()).isGreaterThanOrEqualTo(MOST_STATES);
    }

    private static Exploration.Found explore(ServiceModel.Size size, Broken broken) {
        return new ServiceModel(size, broken).exploration().explore(MOST_STATES);
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "K3_CONSUMED_NUMBER_APART",
                "K3_SENDS_APART",
                "K4_LEAVES_BEFORE_THE_FORCE",
                "K6_SENT_ONCE"
            })
    void eachBrokenRuleIsNoticed(Broken broken) {
        Exploration.Found found =
                new ServiceModel(new ServiceModel.Size(1, 1, 0), broken)
                        .exploration()
                        .explore(20_000);
        assertThat(found.violation()).isNotNull().isNotEqualTo(Exploration.MORE_STATES);
    }
}
