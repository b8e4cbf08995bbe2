package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the files of this machine say where they cannot be reached or read. */
class LocalDiskTest {

    @TempDir Path folder;

    /** Else a service whose disk fails would begin anew. */
    @Test
    void whetherAFileIsThereIsNotGuessed() throws Exception {
        Path loop = Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop"));
        Path file = Files.createFile(folder.resolve("file"));
        for (Disk disk : new Disk[] {Disk.local(), Disk.readOnly()}) {
            assertThat(disk.exists(file)).isTrue();
            assertThat(disk.exists(folder.resolve("none"))).isFalse();
            for (Path unknown : new Path[] {loop.resolve("identity"), file.resolve("identity")}) {
                assertThatThrownBy(() -> disk.exists(unknown))
                        .isInstanceOf(FileSystemException.class)
                        .hasMessageStartingWith(unknown.toString());
            }
        }
    }

    /** Of the memory of this process the first page cannot be read. */
    @Test
    void aFileThatCannotBeReadIsNamed() throws Exception {
        Path memory = Path.of("/proc/self/mem");
        try (Disk.File file = Disk.readOnly().open(memory)) {
            assertThatThrownBy(() -> file.read(ByteBuffer.allocate(1), 0))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessage(memory + ": Input/output error");
        }
    }
}
