package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Protection.Store;
import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings that are refused, and what is said of them. */
class ProtectionTest {

    @TempDir private Path work;

    @Test
    void aStoreIsOneOfThree() {
        assertThatThrownBy(() -> Protection.standby().store(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Store.members(), Store.folder(path) or Store.ensemble()");
    }

    @Test
    void aSharedFolderHasAPath() {
        assertThatThrownBy(() -> Store.folder(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not null");
        assertThatThrownBy(() -> Store.folder(Path.of("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not an empty one");
    }

    @Test
    void membersAreReachedAtAnAddress() {
        assertThatThrownBy(() -> Protection.standby().members(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("members(...)");
    }

    @Test
    void aFileIsNoFolder() throws Exception {
        Path file = Files.writeString(work.resolve("file"), "text");
        assertThatThrownBy(() -> Disk.local().makeFolder(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + " is no folder")
                .hasMessageContaining("name another folder");
        assertThatThrownBy(() -> Disk.local().makeFolder(file.resolve("below")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + " is no folder");
    }
}
