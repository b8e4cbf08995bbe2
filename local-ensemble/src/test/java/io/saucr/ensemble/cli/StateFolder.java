package io.saucr.ensemble.cli;

import io.saucr.ensemble.LocalEnsemble;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of commands, each on a state folder of its own, which leave no process. */
abstract class StateFolder {
    @TempDir Path folder;

    @AfterEach
    void leaveNoProcess() {
        LocalEnsemble.in(state()).ifPresent(LocalEnsemble::killAll);
    }

    Path state() {
        return folder.resolve("state");
    }

    CommandRun saucr(String... args) {
        return CommandRun.of(state(), args);
    }

    LocalEnsemble ensemble() {
        return LocalEnsemble.in(state()).orElseThrow();
    }
}
