package io.saucr.crash.fault;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.FsyncShim;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same stock servers and scenarios as on the root back end, with no rights at all. */
@Tag("slow")
class UnprivilegedBackendTest {
    @TempDir Path work;

    @ParameterizedTest
    @ValueSource(strings = {"powerCutOfAllForced", "powerCutOfAllUnforced", "disks"})
    void scenario(String name) throws Exception {
        passes(name);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"silence", "partition", "lostDisks"})
    void anotherScenario(String name) throws Exception {
        passes(name);
    }

    private void passes(String name) throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
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
