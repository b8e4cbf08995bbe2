package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.Bytes;
import io.saucr.core.recovery.RecoveryMessage.Compression;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jute.OutputArchive;
import org.apache.zookeeper.server.DataTree;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each error of a disk that is full names the file. The error of the system has a reason alone. */
class FullDiskTest {
    private static final Path FULL = Path.of("/dev/full");

    @TempDir Path folder;

    /** A file of this name in which no byte has room. */
    private Path full(String name) throws IOException {
        return Files.createSymbolicLink(folder.resolve(name), FULL);
    }

    private static void isNamed(Path file, ThrowingCallable write) {
        assertThatThrownBy(write)
                .isInstanceOf(IOException.class)
                .hasMessage(file + ": No space left on device");
    }

    @Test
    void theLogIsNamed() throws Exception {
        try (LogFile log = LogFile.create(FULL)) {
            isNamed(FULL, () -> log.write(ByteBuffer.wrap(new byte[1]), 0));
        }
    }

    @Test
    void aMarkerIsNamed() throws Exception {
        MarkerStore markers = new MarkerStore(folder);
        Path file = full("saucr.latestOnDisk.tmp");
        isNamed(file, () -> markers.writeLatestOnDisk(1, LleMap.empty(), View.FIRST));
    }

    @Test
    void theProofOfARestartIsNamed() throws Exception {
        Path log = Files.write(folder.resolve("log.1"), new byte[1]);
        PageCacheProof proof = new PageCacheProof(folder, "boot");
        Path file = full("saucr.proof.tmp");
        isNamed(file, () -> proof.logFile(log));
    }

    @Test
    void aSnapshotIsNamed() throws Exception {
        DataTree tree =
                new DataTree() {
                    @Override
                    public void serialize(OutputArchive archive, String tag) throws IOException {
                        throw new IOException("No space left on device");
                    }
                };
        SaucrTxnSnapLog snapLog = Logs.open(folder, Markers.none());
        try {
            isNamed(
                    folder.resolve("version-2/snapshot.0"),
                    () -> snapLog.save(tree, new ConcurrentHashMap<>(), true));
        } finally {
            snapLog.close();
        }
    }

    @Test
    void aSnapshotThatIsCopiedIsNamed() throws Exception {
        try (RecoveryStore store = new RecoveryStore(folder, folder, new MarkerStore(folder))) {
            store.stage(part(0));
            Files.delete(folder.resolve("saucr.staging/snapshot.5"));
            Path file = full("saucr.staging/snapshot.5");
            isNamed(file, () -> store.stage(part(1)));
        }
    }

    private static StageSnapshot part(long offset) {
        return new StageSnapshot(5, Compression.NONE, 2, offset, Bytes.wrap(new byte[1]));
    }

    @Test
    void anEpochThatIsCopiedIsNamed() throws Exception {
        Path file = full("saucr.placing.tmp");
        isNamed(file, () -> CopiedHistory.writeEpoch(folder, "currentEpoch", 5));
        assertThat(folder.resolve("currentEpoch")).doesNotExist();
    }
}
