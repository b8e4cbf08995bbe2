package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SliceTest {

    @Test
    void aShortSliceUsedAtLeastTheUnitOfTheClock() {
        Slice.Result result = new Slice.Result(20, 10, 0.5, 1, 1, 1, 0);

        assertThat(result.turnsPerSecond()).isEqualTo(20);
        assertThat(result.cpuMicrosPerTurn()).isEqualTo(1000);
    }
}
