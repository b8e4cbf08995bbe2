package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Zxid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a backup gets of a log that runs is a log that ZooKeeper's own class reads. */
class LogStreamTest {
    @TempDir Path folder;
    private SaucrTxnSnapLog snapLog;

    @BeforeEach
    void write() throws Exception {
        FileTxnLog.setPreallocSize(4096);
        snapLog = Logs.open(folder);
        for (long zxid : zxids(1, 1, 20)) {
            snapLog.log().append(Transactions.create(zxid));
        }
        snapLog.log().commit();
    }

    @AfterEach
    void close() throws Exception {
        snapLog.close();
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    private List<Long> read(byte[] bytes, long first) throws IOException {
        Path copy = Files.createDirectories(folder.resolve("copy"));
        Files.write(copy.resolve(TxnLogFormat.fileName(first)), bytes);
        List<Long> read = new ArrayList<>();
        try (FileTxnLog stock = new FileTxnLog(copy.toFile());
                TxnLog.TxnIterator entries = stock.read(first)) {
            do {
                read.add(entries.getHeader().getZxid());
            } while (entries.next());
        }
        return read;
    }

    @Test
    void whatFollowsAZxidIsALogOfItsOwn() throws Exception {
        try (LogStream stream = new LogStream(snapLog, Zxid.of(1, 12), Zxid.of(1, 20))) {
            assertThat(read(stream.readAllBytes(), Zxid.of(1, 13))).isEqualTo(zxids(1, 13, 20));
        }
        try (LogStream none = new LogStream(snapLog, Zxid.of(1, 20), Zxid.of(1, 20))) {
            assertThat(none.readAllBytes()).hasSize(TxnLogFormat.FILE_HEADER_BYTES);
        }
    }

    /** A new leader may have never heard of it. */
    @Test
    void whatIsNotCommittedIsNotInIt() throws Exception {
        try (LogStream stream = new LogStream(snapLog, Zxid.of(1, 12), Zxid.of(1, 17))) {
            assertThat(read(stream.readAllBytes(), Zxid.of(1, 13))).isEqualTo(zxids(1, 13, 17));
        }
        try (LogStream none = new LogStream(snapLog, Zxid.of(1, 17), Zxid.of(1, 17))) {
            assertThat(none.readAllBytes()).hasSize(TxnLogFormat.FILE_HEADER_BYTES);
        }
    }

    /** So that who keeps an archive knows that it cannot be continued. */
    @Test
    void whatIsNotThereIsRefusedBeforeTheFirstByte() throws Exception {
        for (long zxid : zxids(3, 5, 8)) {
            snapLog.log().append(Transactions.create(zxid));
        }
        snapLog.log().commit();
        assertThatThrownBy(() -> new LogStream(snapLog, Zxid.of(3, 2), Zxid.of(3, 8)))
                .isInstanceOf(RunningHistory.MissingException.class)
                .hasMessage("the log files end at 0x300000002, not at 0x300000008");
        try (LogStream stream = new LogStream(snapLog, Zxid.of(3, 4), Zxid.of(3, 8))) {
            assertThat(read(stream.readAllBytes(), Zxid.of(3, 5))).isEqualTo(zxids(3, 5, 8));
        }
    }

    @Test
    void aLogThatIsCutMeanwhileIsNoHistory() throws Exception {
        try (LogStream stream = new LogStream(snapLog, Zxid.of(1, 2), Zxid.of(1, 20))) {
            assertThat(stream.readNBytes(TxnLogFormat.FILE_HEADER_BYTES + 1)).isNotEmpty();
            snapLog.truncateLog(Zxid.of(1, 15));
            assertThatThrownBy(stream::readAllBytes)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("truncated");
        }
    }
}
