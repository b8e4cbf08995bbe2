package io.saucr.server.runtime;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessorWaitsTest {
    private static final Path COUNTS = Path.of("/proc/thread-self/schedstat");

    private volatile boolean over;

    @Test
    void whoCompetesForAProcessorWaitsForIt() throws Exception {
        if (!Files.exists(COUNTS)) {
            // Where the system does not tell, nobody is excused.
            assertThat(ProcessorWaits.ofThisThread()).isSameAs(ProcessorWaits.UNKNOWN);
            return;
        }
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            Thread other = new Thread(this::compute);
            other.start();
            others.add(other);
        }
        try (ProcessorWaits waits = ProcessorWaits.ofThisThread()) {
            long waited = 0;
            while (waited == 0) {
                Thread.onSpinWait();
                waited = waits.nanosSinceTold();
            }
            assertThat(waited).isPositive();
        } finally {
            over = true;
            for (Thread each : others) {
                each.join();
            }
        }
    }

    private void compute() {
        while (!over) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aThreadThatHasEndedWaitsForNothing() throws Exception {
        ProcessorWaits[] made = new ProcessorWaits[1];
        Thread thread = new Thread(() -> made[0] = ProcessorWaits.ofThisThread());
        thread.start();
        thread.join();
        // The system's thread ends a moment after Java's.
        await().until(() -> made[0].nanosSinceTold() == 0);
        made[0].close();
        assertThat(made[0].nanosSinceTold()).isZero();
        assertThat(ProcessorWaits.UNKNOWN.nanosSinceTold()).isZero();
    }
}
