package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.server.metrics.LogMetrics;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a leader's TRUNC and SNAP leave of a log and its snapshots, and who may read across. */
class HistoryReplacementTest {
    private static final ProposalTag FAST =
            ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty());

    @TempDir Path folder;

    private final LogMetrics metrics = new LogMetrics();
    private SaucrTxnSnapLog snapLog;
    private SaucrTxnLog log;

    @BeforeEach
    void open() throws Exception {
        if (snapLog != null) {
            snapLog.close();
        }
        snapLog = Logs.unopened(folder, "1h", "1h", metrics);
        snapLog.open(snapLog.markerStore().read());
        log = snapLog.log();
    }

    @AfterEach
    void close() throws IOException {
        snapLog.close();
    }

    private Path version() {
        return folder.resolve("version-2");
    }

    private static long zxid(long counter) {
        return 0x1_0000_0000L + counter;
    }

    private void write(long from, long to) throws IOException {
        log.announce(zxid(from), FAST);
        for (long counter = from; counter <= to; counter++) {
            log.append(Transactions.create(zxid(counter)));
        }
        log.commit();
    }

    private static DataTree tree(long counter) {
        DataTree tree = new DataTree();
        tree.lastProcessedZxid = zxid(counter);
        return tree;
    }

    private File snapshot(long counter) throws IOException {
        return snapLog.save(tree(counter), new ConcurrentHashMap<>(), false);
    }

    /** As the thread does that synchronises with a leader. */
    private void synchronise(long counter, boolean bySnapshot) throws IOException {
        snapLog.save(tree(counter), new ConcurrentHashMap<>(), bySnapshot, true);
    }

    private List<String> names(String kind) throws IOException {
        try (Stream<Path> files = Files.list(version())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(kind))
                    .sorted()
                    .toList();
        }
    }

    private List<Long> entries() throws IOException {
        return entriesAfter(0);
    }

    private List<Long> entriesAfter(long zxid) throws IOException {
        return Transactions.read(version(), version(), zxid);
    }

    // ---- TRUNC ----

    @Test
    void truncToAZxidThatOnlyASnapshotHoldsKeepsNothingOfWhatFollows() throws Exception {
        write(1, 20);
        snapshot(20);
        log.rollLog();
        write(21, 30);
        Files.delete(version().resolve(Util.makeLogName(zxid(1))));
        assertThat(log.truncate(zxid(20))).isTrue();
        assertThat(entries()).isEmpty();
        assertThat(log.lastAppended()).isEqualTo(zxid(20));
        write(21, 22);
        open();
        assertThat(log.lastAppended()).isEqualTo(zxid(22));
    }

    @Test
    void noSnapshotSurvivesATruncThatIsNewerThanItsTarget() throws Exception {
        snapshot(0);
        write(1, 20);
        snapshot(10);
        snapshot(20);
        write(21, 30);
        snapshot(25);
        assertThat(log.truncate(zxid(15))).isTrue();
        assertThat(names("snapshot")).containsExactly("snapshot.100000000", "snapshot.10000000a");
        assertThat(entries()).isEqualTo(Transactions.zxids(1, 1, 15));
        assertThat(snapLog.restore(new DataTree(), new ConcurrentHashMap<>(), (h, t, d) -> {}))
                .isEqualTo(zxid(15));
    }

    @Test
    void truncToWhatThisServerCannotGoBackToChangesNothing() throws Exception {
        write(1, 20);
        synchronise(40, true);
        write(41, 45);
        assertThat(snapLog.truncateLog(zxid(35))).isFalse();
        assertThat(names("snapshot")).containsExactly("snapshot.100000028");
        assertThat(log.lastAppended()).isEqualTo(zxid(45));
        assertThat(entriesAfter(zxid(40))).isEqualTo(Transactions.zxids(1, 41, 45));
        assertThat(log.truncate(zxid(40))).isTrue();
        assertThat(entriesAfter(zxid(40))).isEmpty();
    }

    @Test
    void truncToTheBeginningOfAnEpochKeepsAllOfTheOneBefore() throws Exception {
        snapshot(0);
        write(1, 20);
        long second = 0x2_0000_0001L;
        log.append(Transactions.create(second));
        log.commit();
        assertThat(log.truncate(second - 1)).isTrue();
        assertThat(entries()).isEqualTo(Transactions.zxids(1, 1, 20));
        log.append(Transactions.create(second));
        log.commit();
        assertThat(log.epochEnds().ends()).containsExactly(zxid(20), second);
    }

    // ---- SNAP ----

    @Test
    void aSnapshotFromTheLeaderLeavesNothingBesideIt() throws Exception {
        snapshot(0);
        write(1, 20);
        log.rollLog();
        write(21, 22);
        synchronise(50, true);
        assertThat(names("snapshot")).containsExactly("snapshot.100000032");
        assertThat(names("log")).isEmpty();
        assertThat(log.lastAppended()).isEqualTo(zxid(50));
        write(51, 60);
        open();
        assertThat(log.epochEnds().base()).isEqualTo(zxid(50));
        assertThat(log.lastAppended()).isEqualTo(zxid(60));
    }

    @Test
    void aSnapshotFromTheLeaderReplacesWhatThisServerHasOfALostBranch() throws Exception {
        snapshot(0);
        write(1, 20);
        snapshot(20);
        synchronise(15, true);
        assertThat(names("snapshot")).containsExactly("snapshot.10000000f");
        assertThat(entries()).isEmpty();
        assertThat(log.lastAppended()).isEqualTo(zxid(15));
    }

    @Test
    void whatWasAppliedAfterATruncWithoutTheLogReplacesTheLogToo() throws Exception {
        snapshot(0);
        write(1, 20);
        log.truncate(zxid(10));
        synchronise(30, false);
        assertThat(names("snapshot")).containsExactly("snapshot.10000001e");
        assertThat(log.epochEnds().base()).isEqualTo(zxid(30));
        write(31, 31);
        assertThat(entriesAfter(zxid(30))).containsExactly(zxid(31));
    }

    @Test
    void aReplacementThatAPowerCutInterruptedIsCompletedAtTheNextStart() throws Exception {
        write(1, 20);
        snapLog.close();
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
        new FileSnap(elsewhere.toFile())
                .serialize(
                        tree(50),
                        new ConcurrentHashMap<>(),
                        version().resolve("snapshot.100000032").toFile(),
                        true);
        open();
        assertThat(names("log")).isEmpty();
        assertThat(log.lastAppended()).isEqualTo(zxid(50));
    }

    @Test
    void h3ASnapshotIsNotAheadOfTheLogAndTheLogBeforeItIsForced() throws Exception {
        write(1, 20);
        long forces = metrics.forces();
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            Future<File> saved = other.submit(() -> snapshot(25));
            while (names("saucr.snapshot").isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(names("snapshot")).isEmpty();
            write(21, 25);
            assertThat(saved.get()).exists();
        } finally {
            other.shutdownNow();
        }
        assertThat(metrics.forces()).isGreaterThan(forces);
        assertThat(log.epochEnds().base()).isZero();
        assertThat(entries()).hasSize(25);
    }

    // ---- Readers and a hole that an earlier version left ----

    private void hole() throws Exception {
        write(1, 20);
        snapshot(10);
        snapLog.close();
        new FileSnap(version().toFile())
                .serialize(
                        tree(50),
                        new ConcurrentHashMap<>(),
                        version().resolve("snapshot.100000032").toFile(),
                        true);
        Transactions.writeFile(version(), Transactions.zxids(1, 51, 60));
        snapLog = null;
        open();
    }

    private boolean streamsFrom(long counter) throws IOException {
        try (TxnLog.TxnIterator entries = snapLog.readTxnLog(zxid(counter), false)) {
            return entries.getHeader() != null && entries.getHeader().getZxid() <= zxid(counter);
        }
    }

    @Test
    void aLeaderStreamsNothingFromBeforeOrWithinAHole() throws Exception {
        hole();
        assertThat(streamsFrom(5)).isFalse();
        assertThat(streamsFrom(20)).isFalse();
        assertThat(streamsFrom(45)).isFalse();
        assertThat(streamsFrom(50)).as("not in the log itself").isFalse();
        assertThat(streamsFrom(51)).isTrue();
        assertThat(streamsFrom(60)).isTrue();
    }

    @Test
    void aLeaderStreamsFromItsSnapshotOnIfTheLogHoldsThatEntry() throws Exception {
        write(1, 20);
        snapshot(10);
        open();
        assertThat(streamsFrom(10)).isTrue();
        assertThat(streamsFrom(15)).isTrue();
        assertThat(streamsFrom(9)).isFalse();
    }

    @Test
    void noStartReplaysAcrossAHole() throws Exception {
        hole();
        Path newest = version().resolve("snapshot.100000032");
        byte[] content = Files.readAllBytes(newest);
        content[content.length / 2]++;
        Files.write(newest, content);
        assertThatThrownBy(
                        () ->
                                snapLog.restore(
                                        new DataTree(),
                                        new ConcurrentHashMap<>(),
                                        (header, txn, digest) -> {}))
                .isInstanceOf(DamagedLogException.class);
    }

    @Test
    void anOlderSnapshotIsEnoughWhereTheLogLeadsOn() throws Exception {
        write(1, 20);
        snapshot(10);
        File newest = snapshot(20);
        write(21, 22);
        open();
        byte[] content = Files.readAllBytes(newest.toPath());
        content[content.length / 2]++;
        Files.write(newest.toPath(), content);
        assertThat(snapLog.restore(new DataTree(), new ConcurrentHashMap<>(), (h, t, d) -> {}))
                .isEqualTo(zxid(22));
    }

    // ---- The first snapshot ----

    @Test
    void h16AnUnusableFirstSnapshotBesideACompleteLogIsReplaced() throws Exception {
        File first = snapLog.save(new DataTree(), new ConcurrentHashMap<>(), true);
        write(1, 5);
        open();
        Files.write(first.toPath(), new byte[0]); // Whatever a power cut leaves of one.
        DataTree restored = new DataTree();
        assertThat(snapLog.restore(restored, new ConcurrentHashMap<>(), (h, t, d) -> {}))
                .isEqualTo(zxid(5));
        assertThat(restored.lastProcessedZxid).isEqualTo(zxid(5));
        assertThat(SnapStream.isValidSnapshot(first)).isTrue();
    }

    @Test
    void h16ALogThatBeginsLaterDoesNotReplaceASnapshot() throws Exception {
        File first = snapLog.save(new DataTree(), new ConcurrentHashMap<>(), true);
        write(2, 5);
        Files.write(first.toPath(), new byte[0]);
        assertThatThrownBy(
                        () ->
                                snapLog.restore(
                                        new DataTree(),
                                        new ConcurrentHashMap<>(),
                                        (header, txn, digest) -> {}))
                .hasMessageContaining("No snapshot found");
        assertThat(first).isEmpty();
    }
}
