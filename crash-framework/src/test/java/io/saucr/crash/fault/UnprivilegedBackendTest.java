package io.saucr.crash.fault;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same stock servers and scenarios as on the root back end, with no rights at all. */
class UnprivilegedBackendTest {
    @TempDir Path work;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "powerCutOfAllForced",
                "powerCutOfAllUnforced",
                "silence",
                "partition",
                "disks",
                "lostDisks"
            })
    void scenario(String name) throws Exception {
        UnprivilegedBackend backend = new UnprivilegedBackend(work, 3);
        try (Ensemble ensemble =
                Ensemble.of(Distribution.stock(), work)
                        .hosting(backend)
                        .set("forceSync", name.endsWith("Unforced") ? "no" : "yes")
                        .build()) {
            MachineScenarios.run(name, ensemble, backend);
        }
    }
}
