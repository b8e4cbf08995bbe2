package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that commands write. */
class NewFileTest {
    /** Else a full --scratch would be taken for a full archive. */
    @Test
    void aFileThatAFullDiskRefusesIsNamed() {
        Path full = Path.of("/dev/full");
        assertThatThrownBy(() -> NewFile.write(new ByteArrayInputStream(new byte[1]), full))
                .isInstanceOf(IOException.class)
                .hasMessage("/dev/full: No space left on device");
    }

    @Test
    void theErrorOfADownloadIsNotTheFiles(@TempDir Path folder) throws IOException {
        InputStream broken = InputStream.nullInputStream();
        broken.close();
        assertThatThrownBy(() -> NewFile.write(broken, folder.resolve("file")))
                .hasMessage("Stream closed");
    }
}
