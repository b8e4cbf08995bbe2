package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Scanner;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ScriptLauncherTest {
    @Test
    void aProcessHoldsItsSocketsUntilItHasEnded() throws Exception {
        Process process = new ProcessBuilder("sleep", "100").start();
        assertThat(ScriptLauncher.holdsSockets(process.toHandle())).isTrue();
        process.destroyForcibly();
        Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .until(() -> !ScriptLauncher.holdsSockets(process.toHandle()));
    }

    @Test
    void whoIsOnlyWaitedForHoldsNone() throws Exception {
        // The shell's child ends once the shell has become another program, and stays a zombie:
        // that one does not wait for it, as the shell might.
        String child = "until read -r name < /proc/$$/comm && [ \"$name\" = sleep ]; do :; done";
        Process process =
                new ProcessBuilder("sh", "-c", "{ " + child + "; } & echo $!; exec sleep 100")
                        .start();
        try (Scanner out = new Scanner(process.getInputStream(), StandardCharsets.UTF_8)) {
            ProcessHandle zombie = ProcessHandle.of(out.nextLong()).orElseThrow();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> !ScriptLauncher.holdsSockets(zombie));
            assertThat(zombie.isAlive()).isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
