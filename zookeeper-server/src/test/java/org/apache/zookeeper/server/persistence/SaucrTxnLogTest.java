package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.Markers;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.server.PatientWaits;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.FlushCause;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.apache.zookeeper.util.ServiceUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The log's files beside Apache's, and its markers beside what it acked (R3, R10 to R14). */
class SaucrTxnLogTest {
    private static final long FIRST = 0x1_0000_0001L;
    private static final int FLUSHED_WRITES = 150;
    private static final String NEVER = "1h";
    private static final ProposalTag FAST =
            ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty());
    private static final ProposalTag SLOW =
            ProposalTag.of(Mode.SLOW, new long[] {1, 2, 3}, LleMap.empty());

    @TempDir Path folder;

    private final List<Integer> exits = new CopyOnWriteArrayList<>();
    private final LogMetrics metrics = new LogMetrics();
    private final List<String> proofs = new CopyOnWriteArrayList<>();
    private final RestartProof proof = new RecordedProof();
    private final MomentaryDisk disk = new MomentaryDisk();
    private long reached;
    private final Random random = new Random(42);
    private SaucrTxnSnapLog snapLog;
    private SaucrTxnLog log;

    private final class RecordedProof implements RestartProof {
        @Override
        public void logFile(Path newest) throws IOException {
            proofs.add(newest.getFileName() + (onDisk().crashedInFastMode() ? " fast" : " disk"));
        }

        @Override
        public void reached(long zxid) {
            reached = zxid;
        }

        @Override
        public void withdraw() {
            proofs.add("withdrawn");
        }

        @Override
        public void close() {
            proofs.add("closed");
        }
    }

    @BeforeEach
    void catchExits() {
        ServiceUtils.setSystemExitProcedure(exits::add);
        FileTxnLog.setPreallocSize(64 * 1024);
    }

    @AfterEach
    void end() throws IOException {
        if (snapLog != null) {
            snapLog.close();
        }
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
        FileTxnLog.setTxnLogSizeLimit(-1);
    }

    private void open(String background, String idle) throws Exception {
        snapLog = Logs.unopened(folder.resolve("saucr"), background, idle, metrics);
        snapLog.open(snapLog.markerStore().read(), proof, disk);
        log = snapLog.log();
    }

    private Path version() {
        return folder.resolve("saucr/version-2");
    }

    private Markers onDisk() throws IOException {
        return new MarkerStore(version()).read();
    }

    private static Request request(long zxid, byte[] data) {
        CreateTxn txn = new CreateTxn("/n" + zxid, data, Ids.OPEN_ACL_UNSAFE, false, 7);
        TxnHeader header = new TxnHeader(99, (int) zxid, zxid, 1_000_000 + zxid, OpCode.create);
        return new Request(header, txn, new TxnDigest(2, zxid * 31));
    }

    private Request request(long zxid) {
        byte[] data = new byte[random.nextInt(300)];
        random.nextBytes(data);
        return request(zxid, data);
    }

    private void write(long zxid, ProposalTag tag) throws IOException {
        log.announce(zxid, tag);
        log.append(request(zxid));
        log.commit();
    }

    // ---- The format ----

    @Test
    void theFilesAreApachesWhateverTheModeAndTheBatches() throws Exception {
        open(NEVER, NEVER);
        Path stockFolder = Files.createDirectories(folder.resolve("stock"));
        try (FileTxnLog stock = new FileTxnLog(stockFolder.toFile())) {
            long zxid = FIRST;
            for (int batch = 0; batch < 120; batch++) {
                log.announce(zxid, random.nextBoolean() ? FAST : SLOW);
                for (int i = random.nextInt(8); i >= 0; i--) {
                    int size =
                            random.nextInt(20) == 0 ? random.nextInt(700_000) : random.nextInt(500);
                    byte[] data = new byte[size];
                    random.nextBytes(data);
                    log.append(request(zxid, data));
                    stock.append(request(zxid, data));
                    zxid++;
                }
                log.commit();
                stock.commit();
                if (batch % 25 == 24) {
                    log.rollLog();
                    stock.rollLog();
                }
            }
            snapLog.close();
            snapLog = null;
        }
        File[] ours = FileTxnLog.getLogFiles(version().toFile().listFiles(), 0);
        File[] theirs = FileTxnLog.getLogFiles(stockFolder.toFile().listFiles(), 0);
        assertThat(ours).hasSizeGreaterThan(4);
        assertThat(Arrays.stream(ours).map(File::getName))
                .containsExactlyElementsOf(Arrays.stream(theirs).map(File::getName).toList());
        for (int i = 0; i < ours.length; i++) {
            byte[] mine = Files.readAllBytes(ours[i].toPath());
            // R26: what came before the file stands where Apache's server leaves zeros.
            long first = DataFolder.zxidOf(ours[i].toPath());
            assertThat(ByteBuffer.wrap(mine).getLong(8)).isEqualTo(i == 0 ? 0 : first - 1);
            Arrays.fill(mine, 8, 16, (byte) 0);
            byte[] other = Files.readAllBytes(theirs[i].toPath());
            int common = Math.min(mine.length, other.length);
            assertThat(Arrays.mismatch(Arrays.copyOf(mine, common), Arrays.copyOf(other, common)))
                    .as(ours[i].getName())
                    .isEqualTo(-1);
            // Padding alone may differ in length.
            byte[] longer = mine.length > other.length ? mine : other;
            for (int at = common; at < longer.length; at++) {
                assertThat(longer[at]).isZero();
            }
        }
    }

    @Test
    void apachesReaderSeesEveryEntryAlsoBeforeItIsForced() throws Exception {
        open(NEVER, NEVER);
        List<Request> written = new ArrayList<>();
        log.announce(FIRST, FAST);
        for (long zxid = FIRST; zxid < FIRST + 50; zxid++) {
            Request request = request(zxid);
            written.add(request);
            log.append(request);
        }
        try (TxnLog.TxnIterator entries = log.read(FIRST)) {
            for (Request request : written) {
                assertThat(entries.getHeader()).isEqualTo(request.getHdr());
                assertThat(entries.getTxn()).isEqualTo(request.getTxn());
                assertThat(entries.getDigest()).isEqualTo(request.getTxnDigest());
                entries.next();
            }
            assertThat(entries.getHeader()).isNull();
        }
        assertThat(log.getLastLoggedZxid()).isEqualTo(FIRST + 49);
        assertThat(log.lastAppended()).isEqualTo(FIRST + 49);
        assertThat(metrics.forces()).isZero();
    }

    @Test
    void readingBeginsAtTheEntryThatIsAskedForWhereverItIs() throws Exception {
        open(NEVER, NEVER);
        long last = FIRST + 3999;
        for (long zxid = FIRST; zxid <= last; zxid++) {
            write(zxid, FAST);
            if (zxid == FIRST + 1500) {
                log.rollLog();
            }
        }
        for (int i = 0; i < 60; i++) {
            long from = i == 0 ? FIRST : i == 1 ? last : FIRST + random.nextInt(4000);
            assertReads(from, last);
        }
        try (TxnLog.TxnIterator entries = log.read(last + 1)) {
            assertThat(entries.getHeader()).isNull();
        }
        assertThat(log.truncate(FIRST + 3000)).isTrue();
        write(FIRST + 3001, FAST);
        assertReads(FIRST + 2900, FIRST + 3001);
    }

    private void assertReads(long from, long last) throws IOException {
        try (TxnLog.TxnIterator entries = log.read(from)) {
            for (long zxid = from; zxid <= last; zxid++) {
                assertThat(entries.getHeader().getZxid()).isEqualTo(zxid);
                assertThat(entries.next()).isEqualTo(zxid < last);
            }
        }
    }

    @Test
    void s4AFastEntryThatIsForcedWithASlowOneIsInTheMapOnDiskBeforeItsAck() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        log.announce(FIRST + 1, FAST);
        log.append(request(FIRST + 1));
        log.announce(FIRST + 2, SLOW);
        log.append(request(FIRST + 2));
        log.commit();
        assertThat(onDisk().crashedInFastMode()).isFalse();
        assertThat(onDisk().lleMap().get(2)).isEqualTo(FIRST + 2);
    }

    @Test
    void s4AFastEntryBeforeUpToDateIsForcedAndInTheMapOnDiskBeforeItsAck() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        log.announceForced(FIRST + 1, FAST);
        log.append(request(FIRST + 1));
        log.commit();
        assertThat(onDisk().crashedInFastMode()).isFalse();
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
        assertThat(onDisk().lleMap().get(2)).isEqualTo(FIRST + 1);
        assertThat(metrics.forces()).isEqualTo(2);
    }

    @Test
    void filesArePaddedAheadAndRolledAtTheSizeLimit() throws Exception {
        FileTxnLog.setTxnLogSizeLimit(128 * 1024);
        open(NEVER, NEVER);
        for (long zxid = FIRST; zxid < FIRST + 20; zxid++) {
            log.announce(zxid, FAST);
            log.append(request(zxid, new byte[30_000]));
            log.commit();
        }
        File[] files = FileTxnLog.getLogFiles(version().toFile().listFiles(), 0);
        assertThat(files.length).isBetween(4, 10);
        for (File file : files) {
            assertThat(file.length()).isBetween(64 * 1024L, (128 + 64) * 1024L);
        }
        assertThat(log.getTotalLogSize())
                .isEqualTo(Arrays.stream(files).mapToLong(File::length).sum());
        assertThat(log.getLastLoggedZxid()).isEqualTo(FIRST + 19);
    }

    @Test
    void aTruncatedLogEndsThereOnDiskAndGoesOn() throws Exception {
        open(NEVER, NEVER);
        for (long zxid = FIRST; zxid < FIRST + 30; zxid++) {
            write(zxid, FAST);
            if (zxid == FIRST + 20) {
                log.rollLog();
            }
        }
        assertThat(log.truncate(FIRST + 10)).isTrue();
        assertThat(log.lastAppended()).isEqualTo(FIRST + 10);
        assertThat(log.getLastLoggedZxid()).isEqualTo(FIRST + 10);
        write(FIRST + 11, SLOW);
        assertThat(log.getLastLoggedZxid()).isEqualTo(FIRST + 11);
        snapLog.close();
        try (FileTxnLog stock = new FileTxnLog(version().toFile())) {
            assertThat(stock.getLastLoggedZxid()).isEqualTo(FIRST + 11);
        }
        RawLog.Scan scan = new RawLog(version(), version()).scan(0);
        assertThat(scan.damage()).isNull();
        assertThat(scan.epochEnds().last()).isEqualTo(FIRST + 11);
        assertThat(onDisk().crashedInFastMode()).isFalse();
    }

    // ---- Forces and markers ----

    @Test
    void r3SlowEntriesAreForcedOncePerBatchAndFastOnesNotAtAll() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        long first = metrics.forces();
        assertThat(first).isEqualTo(1);
        write(FIRST + 1, SLOW);
        log.append(request(FIRST + 2));
        log.append(request(FIRST + 3));
        log.commit();
        assertThat(metrics.forces()).isEqualTo(first + 2);
        for (long zxid = FIRST + 4; zxid < FIRST + 100; zxid++) {
            write(zxid, FAST);
        }
        assertThat(metrics.forces()).isEqualTo(first + 2);
    }

    @Test
    void r25AFastEntryIsInThePageCacheBeforeItsAck() throws Exception {
        open(NEVER, NEVER);
        for (long zxid = FIRST; zxid < FIRST + 5; zxid++) {
            write(zxid, FAST);
            assertThat(Transactions.read(version(), version(), 0)).endsWith(zxid);
            assertThat(reached).as("what the proof demands of the log").isEqualTo(zxid);
        }
        assertThat(metrics.forces()).isZero();
        write(FIRST + 5, SLOW);
        assertThat(reached).as("of what is forced the marker speaks").isEqualTo(FIRST + 4);
    }

    @Test
    void r25TheProofNamesEachNewFileAndComesBeforeTheFirstFastAck() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        assertThat(proofs).containsExactly("log.100000001 disk");
        write(FIRST + 1, FAST);
        write(FIRST + 2, FAST);
        assertThat(proofs).containsExactly("log.100000001 disk", "log.100000001 disk");
        log.rollLog();
        write(FIRST + 3, FAST);
        assertThat(proofs).hasSize(3).endsWith("log.100000004 fast");
        log.flushAndMark(FlushCause.OPERATOR, "test");
        log.rollLog();
        write(FIRST + 4, FAST);
        assertThat(proofs).hasSize(5).endsWith("log.100000005 disk", "log.100000005 disk");
    }

    @Test
    void h5EntriesWithoutATagAreSlow() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        assertThat(metrics.forces()).isZero();
        log.forgetTags();
        log.append(request(FIRST + 1));
        log.commit();
        assertThat(metrics.forces()).isEqualTo(1);
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
    }

    @Test
    void r12TheFirstFastEntryIsMarkedBeforeItsAckAndR13TheFirstSlowOneToo() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        assertThat(onDisk().crashedInFastMode()).isFalse();
        write(FIRST + 1, FAST);
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST + 1);
        assertThat(onDisk().crashedInFastMode()).isTrue();
        write(FIRST + 2, FAST);
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST + 1);
        write(FIRST + 3, SLOW);
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 3);
        assertThat(onDisk().crashedInFastMode()).isFalse();
        assertThat(onDisk().lleMap().get(2)).isEqualTo(FIRST + 3);
        write(FIRST + 4, SLOW);
        assertThat(onDisk().latestOnDisk()).as("one marker per slow period").isEqualTo(FIRST + 3);
        write(FIRST + 5, FAST);
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST + 5);
        assertThat(onDisk().crashedInFastMode()).isTrue();
    }

    @Test
    void r11TheBackgroundForcesAndMarksNothing() throws Exception {
        open("10ms", NEVER);
        write(FIRST, FAST);
        PatientWaits.await().until(() -> metrics.forces() > 0);
        write(FIRST + 1, FAST);
        long forces = metrics.forces();
        PatientWaits.await().until(() -> metrics.forces() > forces);
        assertThat(metrics.flushes()).isZero();
        assertThat(onDisk().crashedInFastMode()).isTrue();
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST);
    }

    @Test
    void r13AnIdleLogIsMarkedAndTheNextFastEntryIsTheFirstOne() throws Exception {
        open(NEVER, "20ms");
        write(FIRST, FAST);
        PatientWaits.await().until(() -> log.claimsOnDisk());
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST);
        write(FIRST + 1, FAST);
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST + 1);
    }

    @Test
    void aLogThatSomebodyRemovesIsNoticedWhileItIsIdleAndWhileItIsWritten() throws Exception {
        open(NEVER, "20ms");
        write(FIRST, FAST);
        PatientWaits.await().until(() -> log.claimsOnDisk());
        assertThat(log.isRemoved()).isFalse();
        Files.delete(version().resolve(TxnLogFormat.fileName(FIRST)));
        PatientWaits.await().until(() -> log.isRemoved());

        snapLog.close();
        open(NEVER, NEVER);
        write(FIRST + 1, FAST);
        Files.delete(version().resolve(TxnLogFormat.fileName(FIRST + 1)));
        PatientWaits.await().until(() -> log.isRemoved());
        assertThat(exits).isEmpty();
    }

    @Test
    void aServerThatEndsForItsFolderIsGoneSaysThatSomebodyRemovedIt() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        Path aside = version().resolveSibling("aside");
        Files.move(version(), aside);
        try {
            log.rollLog();
            assertThatThrownBy(() -> write(FIRST + 1, SLOW)).isInstanceOf(IOException.class);
            assertThat(exits).hasSize(1);
            assertThat(log.isRemoved()).isTrue();
        } finally {
            Files.move(aside, version());
        }
    }

    @Test
    void aLogThatIsTakenBackIsNotRemoved() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        log.rollLog();
        write(FIRST + 1, FAST);
        assertThat(log.truncate(FIRST)).isTrue();
        assertThat(version().resolve(TxnLogFormat.fileName(FIRST + 1))).doesNotExist();
        log.removal().lookNow();
        assertThat(log.isRemoved()).isFalse();
    }

    @Test
    void anIdleFlushIsCountedAndAnotherOneIsTold() throws Exception {
        open(NEVER, "20ms");
        write(FIRST, FAST);
        PatientWaits.await().until(() -> metrics.flushes() == 1);
        assertThat(metrics.flushesByCause()).containsEntry("idle", 1L);
        assertThat(metrics.recentFlushes().all()).isEmpty();

        snapLog.close();
        open(NEVER, NEVER);
        write(FIRST + 1, FAST);
        log.flushAndMark(FlushCause.ELECTION, "looking for a leader");
        assertThat(metrics.recentFlushes().all())
                .singleElement()
                .satisfies(
                        flush -> {
                            assertThat(flush.what()).isEqualTo("election");
                            assertThat(flush.reason()).isEqualTo("looking for a leader");
                            assertThat(flush.zxid()).isEqualTo(FIRST + 1);
                        });
    }

    @Test
    void r11AnUnparkedBackgroundThreadForcesNothingBeforeItsTime() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        Thread background = background();
        for (int i = 0; i < 100; i++) {
            LockSupport.unpark(background);
            assertThat(background()).isSameAs(background);
        }
        assertThat(metrics.forces()).isZero();
    }

    /** The thread of this log, when it is parked. */
    private Thread background() {
        return PatientWaits.await()
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(
                        () ->
                                Thread.getAllStackTraces().keySet().stream()
                                        .filter(thread -> LockSupport.getBlocker(thread) == log)
                                        .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    void r10AFlushMarksWhatItCoveredAndASecondOneCostsNothing() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        write(FIRST + 1, FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
        long forces = metrics.forces();
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        assertThat(metrics.forces()).isEqualTo(forces);
    }

    @Test
    void r10WhilePinnedAFastEntryIsForcedBeforeItMayBeAcked() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        assertThat(onDisk().crashedInFastMode()).isTrue();
        log.pinSlow(true);
        long forces = metrics.forces();
        write(FIRST + 1, FAST);
        assertThat(metrics.forces()).isEqualTo(forces + 1);
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
        assertThat(log.mode()).isEqualTo(Mode.SLOW);
        write(FIRST + 2, FAST);
        assertThat(metrics.forces()).isEqualTo(forces + 2);
        assertThat(onDisk().crashedInFastMode()).isFalse();
        log.pinSlow(false);
        write(FIRST + 3, FAST);
        assertThat(metrics.forces()).isEqualTo(forces + 2);
        assertThat(onDisk().fastSwitch()).isEqualTo(FIRST + 3);
    }

    // ---- Views (R23) ----

    private static View view(long seal) {
        return new View(seal, 5, List.of(1L, 2L, 3L, 4L));
    }

    private void seal(long zxid) throws IOException {
        log.announceSeal(view(zxid));
        log.announce(zxid, SLOW);
        log.append(request(zxid));
    }

    @Test
    void r23AViewIsOnDiskBeforeItsSealIsAckedEvenIfTheMarkersSayOnDisk() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        assertThat(onDisk().latestOnDisk()).isZero();
        seal(FIRST + 1);
        assertThat(log.ownView()).isEqualTo(View.FIRST);
        log.commit();
        assertThat(onDisk().view()).isEqualTo(view(FIRST + 1));
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
        assertThat(log.ownView()).isEqualTo(view(FIRST + 1));
    }

    @Test
    void r23TheNewestOfSeveralSealsIsTheOwnViewAndLaterMarkersKeepIt() throws Exception {
        open(NEVER, NEVER);
        seal(FIRST);
        seal(FIRST + 1);
        log.commit();
        assertThat(onDisk().view()).isEqualTo(view(FIRST + 1));
        write(FIRST + 2, FAST);
        write(FIRST + 3, SLOW);
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 3);
        assertThat(onDisk().view()).isEqualTo(view(FIRST + 1));
        snapLog.close();
        open(NEVER, NEVER);
        assertThat(log.ownView()).isEqualTo(view(FIRST + 1));
        write(FIRST + 4, FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        assertThat(onDisk().view()).isEqualTo(view(FIRST + 1));
    }

    @Test
    void r23ASealThatIsCutOffBeforeItsAckMakesNoView() throws Exception {
        open(NEVER, NEVER);
        seal(FIRST);
        log.commit();
        write(FIRST + 1, FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        seal(FIRST + 2);
        assertThat(log.truncate(FIRST + 1)).isTrue();
        assertThat(log.ownView()).isEqualTo(view(FIRST));
        write(0x2_0000_0001L, SLOW);
        write(0x2_0000_0002L, FAST);
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isTrue();
        assertThat(onDisk().view()).isEqualTo(view(FIRST));
    }

    @Test
    void r23AViewThatWasAnnouncedForAnotherConnectionIsForgotten() throws Exception {
        open(NEVER, NEVER);
        log.announceSeal(view(FIRST));
        log.forgetTags();
        write(FIRST, SLOW);
        assertThat(log.ownView()).isEqualTo(View.FIRST);
        assertThat(onDisk().view()).isEqualTo(View.FIRST);
    }

    // ---- How far the log must reach (R26) ----

    private void openWithIdentity() throws Exception {
        MarkerStore store = new MarkerStore(Files.createDirectories(version()));
        store.writeLatestOnDisk(0, LleMap.empty(), View.FIRST);
        store.writeIdentity(new LogIdentity("", 1, 77, 1, 0, 0));
        open(NEVER, NEVER);
    }

    private long extent() throws IOException {
        return new MarkerStore(version()).identity().orElseThrow().extent();
    }

    @Test
    void r26WhatIsForcedIsNotedWhileTheMarkersStayAsTheyAre() throws Exception {
        openWithIdentity();
        write(FIRST, SLOW);
        write(FIRST + 1, SLOW);
        PatientWaits.await().until(() -> extent() == FIRST + 1);
        write(FIRST + 2, SLOW);
        PatientWaits.await().until(() -> extent() == FIRST + 2);
        assertThat(onDisk().latestOnDisk()).isZero();
        assertThat(log.truncate(FIRST)).isTrue();
        assertThat(extent()).isEqualTo(FIRST);
        write(FIRST + 0x1_0000_0000L, SLOW);
        PatientWaits.await().until(() -> extent() == FIRST + 0x1_0000_0000L);
    }

    /** Else a file that is gone within a second would not be missed. */
    @Test
    void r26TheFirstForcedEntryOfAFileIsNotedBeforeItsAck() throws Exception {
        openWithIdentity();
        write(FIRST, SLOW);
        assertThat(extent()).isEqualTo(FIRST);
        write(FIRST + 1, SLOW);
        log.rollLog();
        write(FIRST + 2, SLOW);
        assertThat(extent()).isEqualTo(FIRST + 2);
    }

    @Test
    void r26AnOrderlyEndNotesIt() throws Exception {
        openWithIdentity();
        write(FIRST, SLOW);
        snapLog.close();
        assertThat(extent()).isEqualTo(FIRST);
        open(NEVER, NEVER);
        write(FIRST + 1, SLOW);
        Thread hook = new Thread(() -> log.flushForEver("test"));
        hook.start();
        hook.join();
        snapLog = null;
        assertThat(extent()).isEqualTo(FIRST + 1);
    }

    @Test
    void r10TheLastFlushOfAProcessMarksEverythingAppended() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        log.append(request(FIRST + 1));
        // The thread keeps the locks, as a process that ends does.
        Thread hook = new Thread(() -> log.flushForEver("test"));
        hook.start();
        hook.join();
        snapLog = null;
        assertThat(onDisk().latestOnDisk()).isEqualTo(FIRST + 1);
        assertThat(onDisk().crashedInFastMode()).isFalse();
        try (FileTxnLog stock = new FileTxnLog(version().toFile())) {
            assertThat(stock.getLastLoggedZxid()).isEqualTo(FIRST + 1);
        }
    }

    @Test
    void r13AFlushBetweenTwoEntriesNeverHidesThatAnAckedOneIsInMemoryAlone() throws Exception {
        open("1ms", "1ms");
        AtomicBoolean done = new AtomicBoolean();
        Thread flusher =
                new Thread(
                        () -> {
                            while (!done.get()) {
                                log.flushAndMark(FlushCause.OPERATOR, "test");
                            }
                        });
        flusher.start();
        MarkerStore reader = new MarkerStore(version());
        int marked = 0;
        for (long zxid = FIRST; zxid < FIRST + FLUSHED_WRITES; zxid++) {
            write(zxid, FAST);
            if (zxid % 10 == 0) {
                // However busy the machine is, so often the flush has the time that it needs.
                PatientWaits.await()
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(log::claimsOnDisk);
            }
            Markers markers = reader.read();
            if (!markers.crashedInFastMode()) {
                assertThat(markers.latestOnDisk()).isGreaterThanOrEqualTo(zxid);
                marked++;
            }
        }
        done.set(true);
        flusher.join();
        assertThat(marked).isGreaterThanOrEqualTo(FLUSHED_WRITES / 10);
        assertThat(exits).isEmpty();
    }

    @Test
    void r8TheMapGrowsWithWhatProposalsTellAndIsKeptAcrossARestart() throws Exception {
        open(NEVER, NEVER);
        ProposalTag told =
                ProposalTag.of(Mode.FAST, new long[] {1, 2}, LleMap.empty().with(3, FIRST + 7));
        write(FIRST, FAST);
        write(FIRST + 1, told);
        assertThat(log.lleMap().get(1)).isEqualTo(FIRST + 1);
        assertThat(log.lleMap().get(3)).isEqualTo(FIRST + 7);
        snapLog.close();
        open(NEVER, NEVER);
        assertThat(log.lleMap().get(2)).isEqualTo(FIRST + 1);
        assertThat(log.lleMap().get(3)).isEqualTo(FIRST + 7);
        assertThat(log.lastAppended()).isEqualTo(FIRST + 1);
    }

    // ---- Failures ----

    @Test
    void aForceThatFailsInSlowModeEndsTheProcessAndNothingIsClaimedAfterwards() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        log.rollLog();
        disk.refuseNext(MomentaryDisk.Operation.FORCE);
        log.announce(FIRST + 1, SLOW);
        log.append(request(FIRST + 1));
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
        claimsNothingAndEnds(FIRST);
        assertThat(disk.hasRefused()).isTrue();
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
    }

    @Test
    void aForceThatFailsInTheBackgroundEndsTheProcessAndNothingIsClaimedAfterwards()
            throws Exception {
        open("5ms", NEVER);
        write(FIRST, FAST);
        log.rollLog();
        disk.refuseNext(MomentaryDisk.Operation.FORCE);
        write(FIRST + 1, FAST);
        PatientWaits.await().until(() -> !exits.isEmpty());
        claimsNothingAndEnds(FIRST);
    }

    private void claimsNothingAndEnds(long fastSince) throws IOException {
        assertThat(exits).isNotEmpty();
        assertThat(proofs).as("the proof (R25)").contains("withdrawn");
        assertThat(log.flushAndMark(FlushCause.OPERATOR, "test")).isFalse();
        log.flushForEver("test");
        log.close();
        assertThat(log.claimsOnDisk()).isFalse();
        Markers markers = onDisk();
        assertThat(markers.crashedInFastMode()).isTrue();
        assertThat(markers.fastSwitch()).isEqualTo(fastSince);
    }

    @Test
    void r14AFastSwitchMarkerThatCannotBeWrittenEndsTheProcessBeforeTheAck() throws Exception {
        open(NEVER, NEVER);
        write(FIRST, SLOW);
        Files.createDirectory(version().resolve("saucr.fastSwitch.tmp"));
        log.announce(FIRST + 1, FAST);
        log.append(request(FIRST + 1));
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
        assertThat(exits).isNotEmpty();
        Files.delete(version().resolve("saucr.fastSwitch.tmp"));
        assertThatThrownBy(() -> log.commit()).isInstanceOf(IOException.class);
        assertThat(onDisk().fastSwitch()).isZero();
    }

    @Test
    void r14AnOnDiskMarkerThatCannotBeWrittenEndsTheProcessAndIsNeverWrittenLater()
            throws Exception {
        open(NEVER, NEVER);
        write(FIRST, FAST);
        Path temporary = version().resolve("saucr.latestOnDisk.tmp");
        Files.createDirectory(temporary);
        assertThatThrownBy(() -> log.flushAndMark(FlushCause.OPERATOR, "test"))
                .isInstanceOf(IllegalStateException.class);
        Files.delete(temporary);
        claimsNothingAndEnds(FIRST);
    }
}
