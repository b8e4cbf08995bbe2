package org.apache.zookeeper.server.persistence;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.Flushable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.server.InlineSyncProcessor;
import org.apache.zookeeper.server.LogWindow;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Entries are acked in order, by the thread that brings them only if that need not wait (R12). */
@Timeout(60)
class InlineSyncProcessorTest {
    private static final long FIRST = 0x1_0000_0001L;
    private static final ProposalTag FAST =
            ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty());
    private static final ProposalTag SLOW =
            ProposalTag.of(Mode.SLOW, new long[] {1, 2, 3}, LleMap.empty());

    @TempDir Path folder;

    private final Acked acked = new Acked();
    private final AtomicReference<CountDownLatch> markerWaits = new AtomicReference<>();
    private SaucrTxnSnapLog snapLog;
    private SaucrTxnLog log;
    private ZooKeeperServer server;
    private InlineSyncProcessor stage;
    private long next = FIRST;

    private static final class Acked implements RequestProcessor, Flushable {
        private final List<Long> zxids = new CopyOnWriteArrayList<>();
        private final List<Thread> by = new CopyOnWriteArrayList<>();
        private final List<Integer> flushedAt = new CopyOnWriteArrayList<>();

        @Override
        public void processRequest(Request request) {
            by.add(Thread.currentThread());
            zxids.add(request.zxid);
        }

        @Override
        public void flush() {
            flushedAt.add(zxids.size());
        }

        @Override
        public void shutdown() {}
    }

    /** Called while the fast-switch marker is about to be written, under the marker's lock. */
    private final class SlowMarker implements RestartProof {
        @Override
        public void logFile(Path newest) throws IOException {
            CountDownLatch latch = markerWaits.get();
            if (latch != null) {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        }

        @Override
        public void reached(long zxid) {}

        @Override
        public void withdraw() {}

        @Override
        public void close() {}
    }

    @BeforeEach
    void open() throws Exception {
        FileTxnLog.setPreallocSize(64 * 1024);
        snapLog = Logs.unopened(folder, "1h", "1h", new LogMetrics());
        snapLog.open(snapLog.markerStore().read(), new SlowMarker());
        log = snapLog.log();
        server = new ZooKeeperServer();
        server.setTxnLogFactory(snapLog);
        server.setZKDatabase(new ZKDatabase(snapLog));
        stage = new InlineSyncProcessor(server, log, acked);
        stage.start();
    }

    @AfterEach
    void close() throws IOException {
        CountDownLatch latch = markerWaits.get();
        if (latch != null) {
            latch.countDown();
        }
        stage.shutdown();
        snapLog.close();
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    private long bring(ProposalTag tag) {
        return bring(tag, 10);
    }

    private long bring(ProposalTag tag, int bytes) {
        long zxid = next++;
        Request request = Transactions.create(zxid, bytes);
        request.zxid = zxid;
        log.announce(zxid, tag);
        stage.processRequest(request);
        return zxid;
    }

    /** What is fast from now on needs neither a file nor a marker. */
    private void warmUp() {
        bring(FAST);
        stage.flush();
        await().until(() -> acked.flushedAt.contains(1));
    }

    @Test
    void fastEntriesAreAckedByTheThreadThatBringsThemAtTheEndOfItsBatch() {
        warmUp();
        long second = bring(FAST);
        long third = bring(FAST);
        assertThat(acked.zxids).hasSize(1);
        assertThat(log.lastAppended()).isEqualTo(third);
        stage.flush();
        assertThat(acked.zxids).containsExactly(FIRST, second, third);
        assertThat(acked.by.subList(1, 3)).containsOnly(Thread.currentThread());
        assertThat(acked.flushedAt).containsExactly(1, 3);
        stage.flush();
        assertThat(acked.flushedAt).as("nothing new").containsExactly(1, 3);
    }

    @Test
    void r12TheFirstFastEntryIsNotForTheThreadThatBringsIt() throws Exception {
        warmUp();
        assertThat(acked.by).doesNotContain(Thread.currentThread());
        assertThat(snapLog.markerStore().read().crashedInFastMode()).isTrue();
    }

    @Test
    void r3SlowEntriesAndAllBehindThemAreForTheThread() {
        warmUp();
        List<Long> brought = new ArrayList<>(acked.zxids);
        brought.add(bring(FAST));
        brought.add(bring(SLOW));
        brought.add(bring(FAST));
        stage.flush();
        await().until(() -> acked.zxids.size() == 4);
        assertThat(acked.zxids).isEqualTo(brought);
        assertThat(acked.by.subList(1, 3)).doesNotContain(Thread.currentThread());
        Markers markers = log.markers();
        assertThat(markers.latestOnDisk()).isGreaterThanOrEqualTo(brought.get(2));
    }

    @Test
    void whoBringsEntriesDoesNotWaitForADiskThatHangsUnderAMarker() throws Exception {
        warmUp();
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        markerWaits.set(new CountDownLatch(1));
        long second = bring(FAST);
        long third = bring(FAST);
        stage.flush();
        assertThat(acked.zxids).as("no ack before the marker").hasSize(1);
        markerWaits.get().countDown();
        await().until(() -> acked.zxids.size() == 3);
        assertThat(acked.zxids).containsExactly(FIRST, second, third);
    }

    @Test
    void r24WhatTheThreadAcksInOnePieceIsBoundedInBytes() throws Exception {
        warmUp();
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        markerWaits.set(new CountDownLatch(1));
        for (int i = 0; i < 10; i++) {
            Request request = Transactions.create(next, LogWindow.MOST_BYTES * 2 / 5);
            request.zxid = next++;
            log.announce(request.zxid, FAST);
            log.proposed(request.zxid, request.getSerializeData());
            stage.processRequest(request);
        }
        stage.flush();
        markerWaits.get().countDown();
        await().until(() -> acked.flushedAt.contains(11));
        assertThat(acked.zxids).isSorted().hasSize(11);
        for (int i = 1; i < acked.flushedAt.size(); i++) {
            assertThat(acked.flushedAt.get(i) - acked.flushedAt.get(i - 1)).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void r12AFlushBetweenAppendAndAckIsNoticed() throws Exception {
        warmUp();
        assertThat(log.isAckedFromMemory(next)).isTrue();
        // Marks "on disk" what was appended before.
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        long zxid = next++;
        log.announce(zxid, FAST);
        log.append(Transactions.create(zxid));
        assertThat(log.commitInMemory()).as("its marker is missing").isFalse();
        assertThat(snapLog.markerStore().read().crashedInFastMode()).isFalse();
        log.commit();
        assertThat(snapLog.markerStore().read().crashedInFastMode()).isTrue();
    }

    @Test
    void aFlushThatCoversTheBatchLetsItBeAcked() {
        warmUp();
        long second = bring(FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        stage.flush();
        assertThat(acked.zxids).containsExactly(FIRST, second);
        assertThat(log.claimsOnDisk()).isTrue();
    }

    @Test
    void nothingIsFromMemoryThatIsForcedOrPinnedOrHasNoTagOrNoFile() throws Exception {
        warmUp();
        assertThat(log.isAckedFromMemory(next)).isTrue();
        log.pinSlow(true);
        assertThat(log.isAckedFromMemory(next)).isFalse();
        log.pinSlow(false);
        log.rollLog();
        assertThat(log.isAckedFromMemory(next)).as("a new file is due").isFalse();
        bring(FAST);
        await().until(() -> acked.flushedAt.contains(2));
        assertThat(log.isAckedFromMemory(next)).isTrue();
        log.announceForced(next, FAST);
        assertThat(log.isAckedFromMemory(next)).isFalse();
        log.announce(next + 1, null);
        assertThat(log.isAckedFromMemory(next + 1)).isFalse();
        log.announce(next + 2, SLOW);
        assertThat(log.isAckedFromMemory(next + 2)).isFalse();
    }

    @Test
    void anyMixtureIsLoggedAndAckedInOrder() throws Exception {
        Random random = new Random(7);
        List<Long> brought = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            brought.add(bring(random.nextInt(20) == 0 ? SLOW : FAST, random.nextInt(3000)));
            if (random.nextInt(4) == 0) {
                stage.flush();
            }
            if (random.nextInt(200) == 0) {
                log.flushAndMark(FlushCause.OPERATOR, "test");
            }
            if (random.nextInt(100) == 0) {
                // As a reader that finds nothing to read: the thread catches up.
                brought.add(bring(FAST));
                stage.flush();
                await().until(() -> acked.flushedAt.contains(brought.size()));
                for (int j = random.nextInt(20); j > 0; j--) {
                    brought.add(bring(FAST));
                }
                stage.flush();
            }
        }
        stage.flush();
        await().until(() -> acked.zxids.size() == brought.size());
        assertThat(acked.zxids).isEqualTo(brought);
        assertThat(acked.by).as("both kinds").contains(Thread.currentThread());
        List<Long> logged = new ArrayList<>();
        try (TxnLog.TxnIterator entries = log.read(0)) {
            do {
                logged.add(entries.getHeader().getZxid());
            } while (entries.next());
        }
        assertThat(logged).isEqualTo(brought);
    }

    @Test
    void nothingIsAppendedOrAckedAfterTheEnd() {
        warmUp();
        long appended = bring(FAST);
        stage.shutdown();
        bring(FAST);
        stage.flush();
        assertThat(log.lastAppended()).isEqualTo(appended);
        assertThat(acked.zxids).hasSize(1);
    }
}
