package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ProcessUsageTest {
    private static final long SELF = ProcessHandle.current().pid();

    @Test
    void workShowsAsCpuTimeAndOnlyAsDifference() {
        ProcessUsage before = ProcessUsage.of(SELF);
        assertThat(before.residentBytes()).isGreaterThan(1_000_000);
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> burn() && ProcessUsage.of(SELF).since(before).cpuSeconds() >= 0.1);
        ProcessUsage used = ProcessUsage.of(SELF).since(before);
        assertThat(used.cpuSeconds()).isLessThan(ProcessUsage.of(SELF).cpuSeconds() + 0.1);
        assertThat(used.readWriteCalls()).isPositive();
    }

    private static boolean burn() {
        double sum = 0;
        for (int i = 1; i < 1_000_000; i++) {
            sum += Math.log(i);
        }
        return sum > 0;
    }

    @Test
    void aProcessThatIsNotThereIsAnError() {
        assertThatThrownBy(() -> ProcessUsage.of(Integer.MAX_VALUE))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("cannot be measured");
    }
}
