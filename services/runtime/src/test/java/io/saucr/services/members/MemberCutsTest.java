package io.saucr.services.members;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Links that are cut at any byte. */
class MemberCutsTest {

    @Test
    void whatArrivesIsWholeAndInOrder() throws Exception {
        MemberCuts.Outcome outcome = MemberCuts.run(Duration.ofSeconds(2), 1);
        assertThat(outcome.links()).isGreaterThan(2);
        assertThat(outcome.segments()).isPositive();
        assertThat(outcome.smallFrames()).isPositive();
        assertThat(outcome.cuts()).isPositive();
    }
}
