package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * H2 for a server whose markers say "on disk": a torn tail is cut, anything else stops the start.
 */
class TornTailTest {
    private static final int ENTRIES = 20;
    private static final int ENTRY_BYTES = 300;
    private static final int OVERHEAD = 13;

    @TempDir Path folder;
    private SaucrTxnSnapLog txnSnapLog;
    private Path file;

    @BeforeEach
    void writeLog() throws Exception {
        txnSnapLog =
                new SaucrTxnSnapLog(
                        folder.toFile(),
                        folder.toFile(),
                        SaucrSettings.parse("test", new Properties()),
                        new LogMetrics());
        try (RawLog.Writer writer = new RawLog.Writer(txnSnapLog.getDataLogDir().toPath(), 0)) {
            for (int i = 1; i <= ENTRIES; i++) {
                byte[] bytes = new byte[ENTRY_BYTES];
                Arrays.fill(bytes, (byte) 7);
                writer.write(zxid(i), ByteBuffer.wrap(bytes).putLong(12, zxid(i)));
            }
            writer.force();
        }
        file = txnSnapLog.getDataLogDir().toPath().resolve(Util.makeLogName(zxid(1)));
    }

    private static long zxid(int counter) {
        return 0x1_0000_0000L + counter;
    }

    /** Where entry i begins in the file, i from 1. */
    private static long offset(int i) {
        return 16 + (long) (i - 1) * (ENTRY_BYTES + OVERHEAD);
    }

    private void zero(long from, long to) throws Exception {
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
            log.seek(from);
            log.write(new byte[(int) (to - from)]);
        }
    }

    private long open(int onDisk) throws Exception {
        txnSnapLog.open(new Markers(0, zxid(onDisk), LleMap.empty()));
        long last = txnSnapLog.log().lastAppended();
        txnSnapLog.close();
        return last;
    }

    @Test
    void anEntryWhoseRestWasNeverWrittenIsCut() throws Exception {
        zero(offset(ENTRIES) + 100, offset(ENTRIES + 1));
        assertThat(open(5)).isEqualTo(zxid(ENTRIES - 1));
    }

    @Test
    void anEntryThatBreaksOffIsCut() throws Exception {
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
            log.setLength(offset(ENTRIES) + 100);
        }
        assertThat(open(5)).isEqualTo(zxid(ENTRIES - 1));
    }

    @Test
    void damageBeforeASoundEntryIsCorruption() throws Exception {
        zero(offset(7) + 100, offset(7) + 120);
        assertThatThrownBy(() -> open(5))
                .hasMessageContaining("damaged after 0x100000006")
                .hasMessageContaining(file.toString());
    }

    @Test
    void aHoleBeforeASoundEntryIsCorruption() throws Exception {
        zero(offset(7), offset(9));
        assertThatThrownBy(() -> open(5)).hasMessageContaining("damaged after 0x100000006");
    }

    @Test
    void anEndBelowTheMarkerIsCorruption() throws Exception {
        zero(offset(ENTRIES) + 100, offset(ENTRIES + 1));
        assertThatThrownBy(() -> open(ENTRIES)).hasMessageContaining("damaged");
    }

    @Test
    void aTornTailFarFromTheEndOfAHugeFileIsCorruption() throws Exception {
        zero(offset(ENTRIES) + 100, offset(ENTRIES + 1));
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
            log.setLength(3L << 30);
        }
        assertThatThrownBy(() -> open(5)).hasMessageContaining("damaged");
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "rw")) {
            log.setLength(1L << 27);
        }
        assertThat(open(5)).isEqualTo(zxid(ENTRIES - 1));
    }
}
