package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting.Disk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The machines that tests give to servers have boot ids, as real ones do. */
@NeedsCompiler
class BootIdIT {
    private static final String FLAG = "-Dzookeeper.saucr.bootId=";

    @Test
    void aMachineKeepsItsBootIdWhenProcessesDieAndGetsAnotherWhenItsPowerIsTaken()
            throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("boot-id", 3).disk(Disk.SHIM_WITH_JOURNAL))) {
            String first = bootId(ensemble, 1);
            assertThat(first).matches("[A-Za-z0-9._-]{1,64}");
            ensemble.kill(1);
            ensemble.restart(1);
            assertThat(bootId(ensemble, 1)).isEqualTo(first);
            ensemble.losePower(1);
            ensemble.restart(1);
            assertThat(bootId(ensemble, 1)).isNotEqualTo(first);
            ensemble.awaitServing();
        }
    }

    private static String bootId(SaucrEnsemble ensemble, int id) throws Exception {
        Path commandLine = Path.of("/proc/" + ensemble.server(id).pid() + "/cmdline");
        List<String> flags =
                Files.readString(commandLine)
                        .lines()
                        .flatMap(line -> List.of(line.split("\0", -1)).stream())
                        .filter(word -> word.startsWith(FLAG))
                        .toList();
        assertThat(flags).hasSize(1);
        return flags.get(0).substring(FLAG.length());
    }
}
