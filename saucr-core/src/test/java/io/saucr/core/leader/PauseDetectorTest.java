package io.saucr.core.leader;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PauseDetectorTest {
    @Test
    void oneLateWakeUpIsOnePauseHoweverOftenItIsSaid() {
        PauseDetector pauses = new PauseDetector(10);
        // Planned for 1000 and for 2000.
        pauses.awake(500, 1500);
        for (int ack = 0; ack < 20; ack++) {
            pauses.awake(10 + ack, 2010 + ack);
        }
        assertThat(pauses.since(1400)).isEqualTo(500);
        assertThat(pauses.since(1600)).isEqualTo(29);
        assertThat(pauses.since(2029)).isZero();
    }

    @Test
    void theLastEightAreRemembered() {
        PauseDetector pauses = new PauseDetector(10);
        pauses.awake(9, 100);
        pauses.awake(-5, 150);
        assertThat(pauses.since(0)).isZero();
        for (int pause = 1; pause <= 9; pause++) {
            pauses.awake(100 - pause, 1_000L * pause);
        }
        assertThat(pauses.since(0)).isEqualTo(98);
        assertThat(pauses.since(8_000)).isEqualTo(91);
    }
}
