package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where its entries begin. */
class TxnLogFileTest {
    private static final long FIRST = 0x1_0000_0001L;
    private static final int REACH_BYTES = 256 * 1024;
    private static final int MOST_BYTES = 3000;

    @TempDir Path folder;

    private final TxnLogFile log = new TxnLogFile(LogFile::create);
    private final List<Long> offsets = new ArrayList<>();
    private Path path;

    @BeforeEach
    void write() throws IOException {
        path = folder.resolve(TxnLogFormat.fileName(FIRST));
        begin(path, FIRST);
        Random random = new Random(4);
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[TxnLogFormat.LEAST_ENTRY_BYTES + random.nextInt(MOST_BYTES)];
            long zxid = FIRST + i;
            ByteBuffer.wrap(bytes).putLong(TxnLogFormat.ZXID_OFFSET, zxid);
            int last = offsets.size() - 1;
            log.append(zxid, bytes);
            offsets.add(offsets.get(last) + TxnLogFormat.ENTRY_OVERHEAD_BYTES + bytes.length);
        }
        log.drain();
    }

    private void begin(Path file, long first) throws IOException {
        log.create(file);
        log.writeHeader(first - 1, first);
        offsets.clear();
        offsets.add((long) TxnLogFormat.FILE_HEADER_BYTES);
    }

    @AfterEach
    void close() throws IOException {
        log.closeAll();
    }

    @Test
    void aPlaceBeforeEveryEntryIsKnownAndNotFar() throws IOException {
        byte[] file = Files.readAllBytes(path);
        for (int i = 0; i < 2000; i++) {
            long place = log.placeBefore(path, FIRST + i);
            long entry = offsets.get(i);
            assertThat(place).isLessThanOrEqualTo(entry);
            assertThat(entry - place).isLessThan(REACH_BYTES + MOST_BYTES + 100);
            if (place > 0) {
                assertThat(offsets).contains(place);
                long zxid =
                        ByteBuffer.wrap(file)
                                .getLong(
                                        (int) place
                                                + TxnLogFormat.ENTRY_PREFIX_BYTES
                                                + TxnLogFormat.ZXID_OFFSET);
                assertThat(zxid).isLessThanOrEqualTo(FIRST + i);
            }
        }
        assertThat(log.placeBefore(path, Long.MAX_VALUE)).isGreaterThan(0);
    }

    @Test
    void ofOtherFilesNothingIsKnown() throws IOException {
        assertThat(log.placeBefore(folder.resolve("log.1"), Long.MAX_VALUE)).isZero();
        assertThat(log.placeBefore(path, FIRST - 1)).isZero();
        log.roll();
        assertThat(log.placeBefore(path, Long.MAX_VALUE)).isZero();
        Path next = folder.resolve(TxnLogFormat.fileName(FIRST + 5000));
        begin(next, FIRST + 5000);
        assertThat(log.placeBefore(next, Long.MAX_VALUE)).isZero();
        assertThat(log.placeBefore(path, Long.MAX_VALUE)).isZero();
    }
}
