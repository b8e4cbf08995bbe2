package io.saucr.services.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    void waitsDoubleUpToTheLongestAndAPartIsTakenOff() {
        for (long seed = 0; seed < 200; seed++) {
            Backoff backoff =
                    new Backoff(Duration.ofMillis(20), Duration.ofMillis(100), new Random(seed));
            for (long due : new long[] {20, 40, 80, 100, 100}) {
                assertThat(backoff.nextMillis()).isBetween(due / 2, due);
            }
            backoff.reset();
            assertThat(backoff.nextMillis()).isBetween(10L, 20L);
        }
    }

    @Test
    void twoSidesDoNotComeBackTogether() {
        LongStream waits =
                LongStream.range(0, 100)
                        .map(
                                seed ->
                                        new Backoff(
                                                        Duration.ofMillis(100),
                                                        Duration.ofSeconds(1),
                                                        new Random(seed))
                                                .nextMillis());
        assertThat(waits.distinct().count()).isGreaterThan(20);
    }
}
