package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoopbackHostingTest {
    @TempDir Path work;

    @Test
    void aMachineHasAnotherBootIdAfterItsPowerWasTaken() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        try (LoopbackHosting hosting =
                new LoopbackHosting(work, 2, LoopbackHosting.Disk.SHIM_WITH_JOURNAL)) {
            final String first = hosting.bootId(1);
            final String neighbour = hosting.bootId(2);
            assertThat(first).matches("[A-Za-z0-9._-]{1,64}");
            hosting.beforeStart(1);
            assertThat(hosting.bootId(1)).isEqualTo(first);
            hosting.shim(1).orElseThrow().losePower(false);
            String second = hosting.bootId(1);
            hosting.reboot(1);
            assertThat(hosting.bootId(1)).isNotIn(first, second);
            assertThat(second).isNotEqualTo(first);
            assertThat(hosting.bootId(2)).isEqualTo(neighbour);
        }
    }
}
