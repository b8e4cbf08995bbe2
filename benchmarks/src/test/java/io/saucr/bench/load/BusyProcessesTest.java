package io.saucr.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class BusyProcessesTest {
    private static List<ProcessHandle> children() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).toList();
    }

    @Test
    void theyRunUntilTheyAreClosed() throws Exception {
        List<ProcessHandle> before = children();
        try (BusyProcesses busy = BusyProcesses.start(2)) {
            assertThat(children()).hasSize(before.size() + 2);
            busy.requireAlive();
        }
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> children().size() <= before.size());
    }

    @Test
    void oneThatHasEndedIsTold() throws Exception {
        List<ProcessHandle> before = children();
        try (BusyProcesses busy = BusyProcesses.start(1)) {
            ProcessHandle started =
                    children().stream().filter(each -> !before.contains(each)).findFirst().get();
            started.destroyForcibly();
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> !started.isAlive());
            assertThatThrownBy(busy::requireAlive)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("keeps the machine busy has ended");
        }
    }
}
