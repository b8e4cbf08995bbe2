package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State folders that cannot be. */
class LocalEnsembleTest {
    @TempDir Path folder;

    @Test
    void aStateFolderThatIsAFileIsNamed() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> LocalEnsemble.exclusively(file, () -> 1))
                .isInstanceOf(EnsembleException.class)
                .hasMessageContaining(file + " cannot be made or written (it is no folder)")
                .hasMessageContaining("SAUCR_STATE");
    }

    @Test
    void aStateFolderThatCannotBeMadeIsNamed() throws Exception {
        Path below = Files.createFile(folder.resolve("file")).resolve("state");
        assertThatThrownBy(() -> LocalEnsemble.exclusively(below, () -> 1))
                .isInstanceOf(EnsembleException.class)
                .hasMessageContaining(below + " cannot be made or written")
                .hasMessageContaining("SAUCR_STATE");
    }
}
