package org.apache.zookeeper.server.quorum;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.LogWindow;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.Logs;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How much the log's thread acks in one piece. */
@Timeout(60)
class LeaderLogTest {
    @TempDir Path folder;

    private final List<List<Integer>> acked = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch counted = new CountDownLatch(1);
    private SaucrTxnSnapLog snapLog;
    private LeaderLog log;

    @BeforeEach
    void open() throws Exception {
        snapLog = Logs.open(folder);
        SaucrLeaderServer server =
                new SaucrLeaderServer(
                        snapLog,
                        new QuorumPeer(),
                        new ZKDatabase(snapLog),
                        new RequestWatch(new SlowRequests(Duration.ZERO)));
        log =
                new LeaderLog(
                        server,
                        entries -> {
                            acked.add(entries.stream().map(each -> each.cxid).toList());
                            await().until(() -> counted.getCount() == 0);
                        });
        log.start();
    }

    @AfterEach
    void close() throws Exception {
        counted.countDown();
        log.shutdown();
        snapLog.close();
    }

    private void append(int number, long bytes) {
        TxnHeader header = new TxnHeader(1, number, Zxid.of(1, number), 1, OpCode.error);
        Request request = new Request(header, new ErrorTxn(1), null);
        request.zxid = header.getZxid();
        Request numbered =
                new Request(1, number, OpCode.error, header, request.getTxn(), header.getZxid());
        log.append(numbered, bytes);
    }

    private List<Integer> all() {
        return List.copyOf(acked).stream().flatMap(List::stream).toList();
    }

    @Test
    void r24WhatIsAckedInOnePieceIsBoundedInBytes() {
        int count = 10;
        append(1, LogWindow.MOST_BYTES / 3);
        await().until(() -> acked.size() == 1);
        // Its acks are being counted meanwhile.
        for (int i = 2; i <= count; i++) {
            append(i, LogWindow.MOST_BYTES / 3);
        }
        counted.countDown();
        await().until(() -> all().size() == count);
        assertThat(all()).isEqualTo(IntStream.rangeClosed(1, count).boxed().toList());
        assertThat(acked).allSatisfy(batch -> assertThat(batch).hasSizeLessThanOrEqualTo(3));
    }

    @Test
    void whatIsLargerThanThatIsWrittenAlone() {
        counted.countDown();
        append(1, 3L * LogWindow.MOST_BYTES);
        append(2, 3L * LogWindow.MOST_BYTES);
        await().until(() -> all().size() == 2);
        assertThat(acked).containsExactly(List.of(1), List.of(2));
    }

    @Test
    void smallEntriesThatComeMeanwhileAreAckedInOnePiece() {
        append(1, 100);
        await().until(() -> acked.size() == 1);
        for (int i = 2; i <= 10; i++) {
            append(i, 100);
        }
        counted.countDown();
        await().until(() -> all().size() == 10);
        assertThat(acked).hasSize(2);
    }

    /** Each had its own fsync, and slow mode with values of 900 KB less than half of the writes. */
    @Test
    void eightOfTheLargestValuesShareAnFsync() {
        append(1, 100);
        await().until(() -> acked.size() == 1);
        for (int i = 2; i <= 9; i++) {
            append(i, 1 << 20);
        }
        counted.countDown();
        await().until(() -> all().size() == 9);
        assertThat(acked).hasSize(2);
    }

    @Test
    void theEndWritesWhatWasHandedOver() {
        append(1, LogWindow.MOST_BYTES);
        await().until(() -> acked.size() == 1);
        append(2, LogWindow.MOST_BYTES);
        append(3, LogWindow.MOST_BYTES);
        counted.countDown();
        log.shutdown();
        assertThat(all()).containsExactly(1, 2, 3);
    }
}
