package io.saucr.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.bench.result.LoadResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClientLoopTest {
    /** A server that stands still once for the first operation, and answers at once otherwise. */
    private static Load standingStill(Duration pause) {
        AtomicInteger operations = new AtomicInteger();
        return new Load() {
            @Override
            public void prepare(String address) {}

            @Override
            public Session open(String address, long seed) {
                return new Session() {
                    @Override
                    public void operate() throws InterruptedException {
                        if (operations.getAndIncrement() == 0) {
                            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                        }
                    }

                    @Override
                    public void close() {}
                };
            }
        };
    }

    private static LoadResult run(double rate, Duration pause, Duration counted)
            throws InterruptedException {
        return new ClientLoop(standingStill(pause))
                .run(
                        List.of("nowhere"),
                        1,
                        rate,
                        Duration.ZERO,
                        counted,
                        1,
                        ClientLoop.Window.NOT_COUNTED);
    }

    @Test
    void anOpenLoopCountsTheTimeInWhichNobodyWasFree() throws Exception {
        LoadResult result = run(100, Duration.ofMillis(500), Duration.ofSeconds(1));
        assertThat(result.latencies().getTotalCount() / result.seconds()).isBetween(95.0, 105.0);
        // Half of the turns came while the server stood still; they waited 250 ms on average.
        assertThat(result.latencies().getValueAtPercentile(75)).isGreaterThan(100_000);
        assertThat(result.latencies().getMaxValue()).isGreaterThan(450_000);
    }

    @Test
    void whatWasOfferedAndNeverDoneCountsWithItsWaiting() throws Exception {
        LoadResult result = run(100, Duration.ofSeconds(3), Duration.ofMillis(500));
        assertThat(result.operations()).isZero();
        assertThat(result.latencies().getTotalCount() / result.seconds()).isBetween(95.0, 105.0);
        assertThat(result.latencies().getMaxValue() / 1e6)
                .isBetween(result.seconds() - 0.1, result.seconds() + 0.1);
    }

    @Test
    void aClosedLoopCountsWhatEnds() throws Exception {
        LoadResult result = run(0, Duration.ZERO, Duration.ofMillis(100));
        assertThat(result.operations()).isPositive().isEqualTo(result.latencies().getTotalCount());
        assertThat(result.throughput()).isGreaterThan(100);
    }
}
