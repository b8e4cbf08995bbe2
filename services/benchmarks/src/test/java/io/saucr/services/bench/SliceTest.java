package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

class SliceTest {

    @Test
    void aShortSliceUsedAtLeastTheUnitOfTheClock() {
        Slice.Result result = new Slice.Result(20, 10, 0.5, 1, 1, 1, 0);

        assertThat(result.turnsPerSecond()).isEqualTo(20);
        assertThat(result.cpuMicrosPerTurn()).isEqualTo(1000);
    }

    /** No turn of it is ever done. */
    private static final class Stuck implements Contestant {

        @Override
        public void turn(int pair, long n) throws InterruptedException {
            new CountDownLatch(1).await();
        }

        @Override
        public long counter(int pair) {
            return 0;
        }

        @Override
        public void close() {}
    }

    @Test
    void aTurnThatIsNeverDoneIsAFailure() {
        ExecutorService threads = Executors.newFixedThreadPool(1);
        try {
            assertThatThrownBy(
                            () ->
                                    Slice.turns(
                                            new Stuck(),
                                            new long[1],
                                            Duration.ofMillis(1),
                                            Duration.ofMillis(100),
                                            threads))
                    .isInstanceOf(IOException.class)
                    .hasMessage("pair 0: a turn was not done after PT0.1S");
        } finally {
            threads.shutdownNow();
        }
    }
}
