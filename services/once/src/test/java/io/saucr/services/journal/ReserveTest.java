package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K13: a full disk ends neither starts nor folding. */
class ReserveTest {

    private static final Path FOLDER = Path.of("/simulated/bank");
    private static final int RESERVE_BYTES = 64 << 10;
    private static final int CAPACITY_BYTES = 2 << 20;
    private static final JournalOptions OPTIONS = new JournalOptions(ForceMode.always(), 4096);
    private final AtomicBoolean failed = new AtomicBoolean();
    private final JournalListener listener =
            new JournalListener() {
                @Override
                public void forced(long turn) {}

                @Override
                public void failed(IOException cause) {
                    failed.set(true);
                }
            };

    private final SimulatedDisk disk = new SimulatedDisk(1);

    private ServiceFolder open() throws IOException {
        return ServiceFolder.open(disk, FOLDER, "bank", new SecureRandom());
    }

    @Test
    void aServiceThatFilledItsDiskStartsFoldsAndHoldsItsReserveAgain() throws Exception {
        disk.limit(CAPACITY_BYTES);
        try (ServiceFolder folder = open()) {
            Reserve reserve = folder.reserve(RESERVE_BYTES);
            assertThat(reserve.isHeld()).isFalse();
            assertThat(reserve.hold()).isTrue();
            assertThat(reserve.isHeld()).isTrue();
            assertThat(reserve.isLow()).isFalse();
            try (Journal journal = folder.recover(OPTIONS).journal(listener)) {
                assertThatThrownBy(
                                () -> {
                                    for (long turn = 1; turn < 10_000; turn++) {
                                        journal.append(turn, ByteBuffer.allocate(1000));
                                        while (journal.forced() < turn && !failed.get()) {
                                            Thread.onSpinWait();
                                        }
                                    }
                                })
                        .isInstanceOf(DeadJournalException.class)
                        .hasMessageContaining("no space is left");
            }
            assertThat(reserve.isLow()).isTrue();
        }
        disk.restarted();
        try (ServiceFolder folder = open()) {
            Recovered recovered = folder.recover(OPTIONS);
            Reserve reserve = folder.reserve(RESERVE_BYTES);
            assertThat(reserve.isHeld()).isFalse();
            try (Journal journal = recovered.journal(listener)) {
                long last = recovered.lastTurn();
                assertThat(last).isGreaterThan(100);
                recovered.base().write(last, writer -> writer.section("all").write(1));
                journal.folded(last);
            }
        }
        try (ServiceFolder folder = open()) {
            Recovered recovered = folder.recover(OPTIONS);
            assertThat(recovered.lastTurn()).isEqualTo(recovered.baseTurn());
            Reserve reserve = folder.reserve(RESERVE_BYTES);
            assertThat(reserve.hold()).isTrue();
            assertThat(disk.usableBytes(FOLDER)).isGreaterThan(CAPACITY_BYTES / 2);
        }
    }

    @Test
    void aReserveIsGivenBack() throws Exception {
        disk.limit(CAPACITY_BYTES);
        try (ServiceFolder folder = open()) {
            Reserve reserve = folder.reserve(RESERVE_BYTES);
            reserve.hold();
            long before = folder.usableBytes();
            reserve.release();
            assertThat(folder.usableBytes()).isEqualTo(before + RESERVE_BYTES);
            assertThat(reserve.isHeld()).isFalse();
            assertThat(folder.reserve(CAPACITY_BYTES).hold()).isFalse();
            assertThatThrownBy(() -> folder.reserve(0)).hasMessageContaining("at least 1 byte");
        }
    }

    @Test
    void aFolderThatIsMissingIsNotAFullDisk(@TempDir Path folder) throws Exception {
        assertThat(LocalDisk.INSTANCE.usableBytes(folder)).isPositive();
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> LocalDisk.INSTANCE.usableBytes(missing))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(missing.toString());
    }

    @Test
    void aFullDiskIsNamedByTheFile() throws Exception {
        Path full = Path.of("/dev/full");
        try (Disk.File file = LocalDisk.INSTANCE.open(full)) {
            assertThatThrownBy(() -> file.write(ByteBuffer.wrap(new byte[1]), 0))
                    .isInstanceOf(IOException.class)
                    .hasMessage("/dev/full: No space left on device");
        }
    }
}
