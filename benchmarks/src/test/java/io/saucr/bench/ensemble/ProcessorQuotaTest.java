package io.saucr.bench.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ProcessorQuotaTest {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    /** Where this machine lets nobody make a group, it must say so. */
    @Test
    void aProcessThatOnlyComputesIsStopped() throws Exception {
        Process loop = new ProcessBuilder("sh", "-c", "while :; do :; done").start();
        try {
            ProcessorQuota quota = ProcessorQuota.of(0.01, List.of(loop.pid()));
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> quota.stops() > 0);
            quota.close();
            assertThat(loop.isAlive()).isTrue();
            assertThat(quota.stops()).as("its group is gone").isZero();
        } catch (IOException e) {
            assertThat(e).hasMessageStartingWith("processors cannot be taken away");
        } finally {
            loop.destroyForcibly();
        }
    }

    @Test
    void aProcessThatIsNotThereIsRefusedAndLeavesNoGroup() {
        long none = Integer.MAX_VALUE;
        assertThatThrownBy(() -> ProcessorQuota.of(1, List.of(none)))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("processors cannot be taken away");
        assertThat(ROOT.resolve("cpu/saucr-bench-" + ProcessHandle.current().pid() + "-" + none))
                .doesNotExist();
    }
}
