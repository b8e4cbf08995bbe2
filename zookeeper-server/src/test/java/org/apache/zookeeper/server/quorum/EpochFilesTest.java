package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.server.persistence.Logs;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files acceptedEpoch and currentEpoch. */
class EpochFilesTest {
    @TempDir Path folder;

    @Test
    void aFileThatAFullDiskRefusesIsNamed() throws Exception {
        SaucrTxnSnapLog snapLog = Logs.open(folder);
        try {
            Path file = snapLog.getSnapDir().toPath().resolve("acceptedEpoch");
            Files.createSymbolicLink(
                    file.resolveSibling("acceptedEpoch.tmp"), Path.of("/dev/full"));
            EpochFiles epochs = new EpochFiles(snapLog, "", () -> 1);
            assertThatThrownBy(() -> epochs.write("acceptedEpoch", 5))
                    .hasMessage(file + ": No space left on device");
        } finally {
            snapLog.close();
        }
    }
}
