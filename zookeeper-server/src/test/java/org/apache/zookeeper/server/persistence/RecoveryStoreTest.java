package org.apache.zookeeper.server.persistence;

import static org.apache.zookeeper.server.persistence.Transactions.join;
import static org.apache.zookeeper.server.persistence.Transactions.zxids;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.EntryPart;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryMessage.SnapshotPart;
import io.saucr.core.recovery.RecoveryMessage.SnapshotRequest;
import io.saucr.core.recovery.RecoveryProcedure;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.DiscardStaged;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Patience;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import io.saucr.core.recovery.RecoveryProcedure.State;
import io.saucr.core.recovery.RecoveryProcedure.Truncate;
import io.saucr.core.recovery.RecoverySource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.PowerCutDisk.PowerCut;
import org.apache.zookeeper.server.persistence.PowerCutDisk.Unforced;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The procedure and the disks it works on, without a network: sources are real logs and snapshots,
 * the asker is a directory whose power is cut before any of its operations (R15 to R17). From
 * whatever that leaves, the next start recovers: its log is then a prefix of a source's, without a
 * hole, and reaches as far as this server may have helped to commit; and nothing that is less than
 * that looks recovered.
 */
class RecoveryStoreTest {
    private static final long ASKER = 3;
    private static final int LARGEST = 4 * 1024 * 1024;
    private static final Configuration CONFIGURATION = new Configuration(0, List.of(1L, 2L, ASKER));
    private static final Patience PATIENCE = new Patience(10, 100);
    private static final View VIEW = new View(Zxid.of(1, 1), 3, List.of(1L, 2L, ASKER));

    @TempDir Path folder;

    private final Random random = new Random(3);
    private final List<Source> sources = new ArrayList<>();
    private int directories;

    @BeforeEach
    void smallFiles() {
        FileTxnLog.setPreallocSize(4096);
    }

    @AfterEach
    void close() throws IOException {
        for (Source source : sources) {
            source.history.close();
            source.snapLog.close();
        }
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    // ---- Sources ----

    /** A recovered voter: real files, and what the real class answers. */
    private final class Source {
        private final long sid;
        private final long currentEpoch;
        private final LleMap map;
        private final List<Long> entries;
        private final SaucrTxnSnapLog snapLog;
        private final RunningHistory history;
        private final RecoverySource recoverySource;
        private final DataTree tree = new DataTree();
        private int answersBeforeDeath = Integer.MAX_VALUE;
        private int parts;

        /** A log file begins with every epoch and after every seventh entry. */
        Source(long sid, long currentEpoch, long lleOfAsker, int payload, List<Long> entries)
                throws Exception {
            this(sid, currentEpoch, lleOfAsker, payload, entries, 10);
        }

        Source(
                long sid,
                long currentEpoch,
                long lleOfAsker,
                int payload,
                List<Long> entries,
                int dataBytes)
                throws Exception {
            this.sid = sid;
            this.currentEpoch = currentEpoch;
            this.map = LleMap.empty().with(ASKER, lleOfAsker).with(sid, last(entries));
            this.entries = entries;
            Path data = directory("source");
            snapLog = Logs.open(data);
            history = new RunningHistory(snapLog);
            recoverySource = new RecoverySource(sid, payload);
            for (long zxid : entries) {
                Request request = Transactions.create(zxid, dataBytes);
                snapLog.log().append(request);
                snapLog.log().commit();
                if (Zxid.counter(zxid) % 7 == 0) {
                    snapLog.log().rollLog();
                }
                tree.processTxn(request.getHdr(), request.getTxn());
            }
            sources.add(this);
        }

        /** A snapshot of everything; the logs before it, but for `kept` entries, are purged. */
        Source purged(long firstKept) throws IOException {
            snapLog.save(tree, new ConcurrentHashMap<>(), true);
            for (Path file : DataFolder.logs(snapLog.getDataLogDir().toPath())) {
                if (DataFolder.zxidOf(file) < firstKept) {
                    Files.delete(file);
                }
            }
            return this;
        }

        void append(List<Long> more) throws IOException {
            for (long zxid : more) {
                Request request = Transactions.create(zxid);
                snapLog.log().append(request);
                snapLog.log().commit();
                tree.processTxn(request.getHdr(), request.getTxn());
            }
            List<Long> all = join(entries, more);
            entries.clear();
            entries.addAll(all);
        }

        Source diesAfter(int answers) {
            answersBeforeDeath = answers;
            return this;
        }

        Optional<RecoveryMessage> answer(RecoveryMessage message) {
            if (answersBeforeDeath-- <= 0) {
                return Optional.empty();
            }
            RecoveryMessage answer;
            if (message instanceof LleQuery query) {
                answer =
                        new LleAnswer(
                                query.nonce(),
                                sid,
                                currentEpoch,
                                history.epochEnds().last(),
                                map,
                                CONFIGURATION,
                                Optional.empty(),
                                query.withView() ? Zxid.NONE : LleAnswer.NOT_ASKED);
            } else if (message instanceof EpochEndsRequest request) {
                answer = recoverySource.answer(request, history);
            } else if (message instanceof EntriesRequest request) {
                answer = recoverySource.answer(request, history);
            } else {
                answer = recoverySource.answer((SnapshotRequest) message, history);
            }
            if (answer instanceof EntryPart || answer instanceof SnapshotPart) {
                parts++;
            }
            return Optional.of(answer);
        }
    }

    private static long last(List<Long> zxids) {
        return zxids.isEmpty() ? 0 : zxids.get(zxids.size() - 1);
    }

    private Path directory(String name) throws IOException {
        return Files.createDirectories(folder.resolve(name + directories++));
    }

    // ---- The asker ----

    /** A directory after a fast-mode crash, with an empty snapshot and a log in these files. */
    @SafeVarargs
    private Path asker(long currentEpoch, List<Long>... files) throws IOException {
        Path directory = directory("asker").resolve("version-2");
        Files.createDirectories(directory);
        new FileSnap(directory.toFile())
                .serialize(
                        new DataTree(),
                        new ConcurrentHashMap<>(),
                        directory.resolve("snapshot.0").toFile(),
                        false);
        for (List<Long> file : files) {
            Transactions.writeFile(directory, file);
        }
        Files.writeString(directory.resolve("currentEpoch"), Long.toString(currentEpoch));
        Files.writeString(directory.resolve("acceptedEpoch"), Long.toString(currentEpoch));
        MarkerStore markers = new MarkerStore(directory);
        markers.writeLatestOnDisk(Zxid.of(1, 2), LleMap.empty(), VIEW);
        markers.writeFastSwitch(Zxid.of(1, 3));
        return directory;
    }

    /** What a server does before its first election, with that much time that nothing hangs. */
    private static void start(Path directory, long nonce, List<Source> others) throws IOException {
        RecoveryStore.completeReplacement(directory, directory);
        MarkerStore markerStore = new MarkerStore(directory);
        Markers markers = markerStore.read();
        if (!markers.crashedInFastMode()) {
            return;
        }
        long currentEpoch = RecoveryStore.epochIn(directory, RecoveryStore.CURRENT_EPOCH);
        try (RecoveryStore store = new RecoveryStore(directory, directory, markerStore)) {
            EpochEnds epochEnds = store.prepare(currentEpoch);
            // Else ZooKeeper refuses to load what is there, and that comes first (H10).
            assertThat(Zxid.epoch(epochEnds.last())).isLessThanOrEqualTo(currentEpoch);
            RecoveryProcedure procedure =
                    new RecoveryProcedure(
                            ASKER,
                            nonce,
                            new OnDisk(
                                    currentEpoch,
                                    epochEnds,
                                    markers,
                                    CONFIGURATION,
                                    Optional.empty()),
                            PATIENCE,
                            LARGEST);
            long now = 0;
            Deque<Decision> decisions = new ArrayDeque<>(procedure.start(now));
            while (procedure.state() != State.RECOVERED || !decisions.isEmpty()) {
                assertThat(now).as("time until recovered").isLessThan(10_000);
                while (!decisions.isEmpty()) {
                    Decision decision = decisions.poll();
                    if (decision instanceof Send send) {
                        for (Source source : others) {
                            if (source.sid == send.to()) {
                                Optional<RecoveryMessage> answer = source.answer(send.message());
                                if (answer.isPresent()) {
                                    decisions.addAll(
                                            procedure.received(source.sid, answer.get(), now));
                                }
                            }
                        }
                    } else {
                        carryOut(store, directory, decision);
                    }
                }
                now += 5;
                decisions.addAll(procedure.tick(now));
            }
        }
    }

    private static void carryOut(RecoveryStore store, Path directory, Decision decision)
            throws IOException {
        if (decision instanceof Truncate truncate) {
            store.truncate(truncate.zxid());
        } else if (decision instanceof Append append) {
            store.append(append);
        } else if (decision instanceof StageSnapshot part) {
            store.stage(part);
        } else if (decision instanceof DiscardStaged) {
            store.discardStaged();
        } else if (decision instanceof Finish finish) {
            store.install(finish);
            raise(directory, RecoveryStore.ACCEPTED_EPOCH, finish.currentEpoch());
            raise(directory, RecoveryStore.CURRENT_EPOCH, finish.currentEpoch());
            store.mark(finish);
        }
    }

    /** As ZooKeeper writes its epochs, with the directory forced. */
    private static void raise(Path directory, String name, long epoch) throws IOException {
        if (RecoveryStore.epochIn(directory, name) >= epoch) {
            return;
        }
        Path temporary = directory.resolve(name + ".tmp");
        Files.writeString(temporary, Long.toString(epoch));
        try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        MarkerStore.forceDirectory(directory);
    }

    /** Recovered, with a prefix of a source's history that reaches at least to an entry. */
    private static void assertRecovered(
            String what, Path directory, long atLeast, List<Source> others) throws Exception {
        Markers markers = new MarkerStore(directory).read();
        assertThat(markers.crashedInFastMode()).as(what).isFalse();
        // R23: what is copied is synchronised, which acks no seal.
        assertThat(markers.view()).as(what).isEqualTo(VIEW);
        RawLog history = new RawLog(directory, directory);
        RawLog.Scan scan = history.scan(0);
        assertThat(scan.damage()).as(what).isNull();
        long last = scan.epochEnds().last();
        assertThat(last).as(what).isGreaterThanOrEqualTo(atLeast);
        assertThat(markers.latestOnDisk()).as(what).isGreaterThanOrEqualTo(last);
        assertThat(RecoveryStore.epochIn(directory, RecoveryStore.CURRENT_EPOCH))
                .as(what)
                .isGreaterThanOrEqualTo(Zxid.epoch(last))
                .isLessThanOrEqualTo(
                        RecoveryStore.epochIn(directory, RecoveryStore.ACCEPTED_EPOCH));
        assertThat(directory.resolve("saucr.replacement")).as(what).doesNotExist();

        List<List<Long>> prefixes = new ArrayList<>();
        for (Source source : others) {
            int at = source.entries.indexOf(last);
            if (at >= 0) {
                prefixes.add(source.entries.subList(0, at + 1));
            }
        }
        assertThat(prefixes).as(what).contains(loaded(directory));
    }

    /** The transactions that a database shows which ZooKeeper loads from there. */
    private static List<Long> loaded(Path directory) throws Exception {
        DataTree tree = new DataTree();
        SaucrTxnSnapLog snapLog = Logs.open(directory.getParent());
        try {
            snapLog.restore(tree, new ConcurrentHashMap<>(), (header, txn, digest) -> {});
        } finally {
            snapLog.close();
        }
        TreeSet<Long> zxids = new TreeSet<>();
        for (String child : tree.getChildren("/", null, null)) {
            if (child.startsWith("n")) {
                zxids.add(Long.parseLong(child.substring(1), 16));
            }
        }
        return List.copyOf(zxids);
    }

    private void recoversFrom(Path asker, long last, Source... others) throws Exception {
        List<Source> all = List.of(others);
        start(asker, 1, all);
        assertRecovered("without a crash", asker, last, all);
        assertThat(new RawLog(asker, asker).scan(0).epochEnds().last()).isEqualTo(last);
    }

    // ---- Whole recoveries ----

    @Test
    void whatIsMissingIsCopied() throws Exception {
        Source source = new Source(1, 1, Zxid.of(1, 15), 400, new ArrayList<>(zxids(1, 1, 20)));
        recoversFrom(asker(1, zxids(1, 1, 4)), Zxid.of(1, 15), source);
    }

    @Test
    void anEmptyServerCopiesEverything() throws Exception {
        Source source = new Source(1, 1, Zxid.of(1, 9), 400, new ArrayList<>(zxids(1, 1, 9)));
        recoversFrom(asker(1), Zxid.of(1, 9), source);
    }

    @Test
    void theTailOfALostBranchIsNotKept() throws Exception {
        List<Long> history = join(zxids(1, 1, 5), zxids(2, 1, 3), zxids(3, 1, 4));
        Source source = new Source(1, 3, Zxid.of(2, 2), 400, history);
        Path asker = asker(1, zxids(1, 1, 6), zxids(1, 7, 9));
        recoversFrom(asker, Zxid.of(2, 2), source);
    }

    /**
     * The database was loaded when the server started (H10), the lost tail included. ZooKeeper that
     * loads into such a database goes on counting the tail's ephemeral nodes as their session's; a
     * recovered server clears it first.
     */
    @Test
    void h15NoEphemeralNodeOfACutTailStaysInMemory() throws Exception {
        long session = 7;
        List<Long> history = join(zxids(1, 1, 6), zxids(2, 1, 3));
        Source source = new Source(1, 2, Zxid.of(1, 6), 400, history);
        Path asker = asker(1, zxids(1, 1, 6));
        long lost = Zxid.of(1, 7);
        try (RawLog.Writer writer = new RawLog.Writer(asker, Zxid.of(1, 6))) {
            Request ephemeral = Transactions.createEphemeral(lost, session);
            writer.write(lost, ByteBuffer.wrap(ephemeral.getSerializeData()));
        }
        SaucrTxnSnapLog snapLog = Logs.unopened(asker.getParent());
        try {
            ZKDatabase database = new ZKDatabase(snapLog);
            assertThat(database.loadDataBase()).isEqualTo(lost);
            assertThat(database.getEphemerals(session)).containsExactly(Transactions.node(lost));

            start(asker, 1, List.of(source));
            snapLog.open(snapLog.markerStore().read());
            database.loadDataBase();
            assertThat(database.getEphemerals(session)).containsExactly(Transactions.node(lost));

            database.clear();
            assertThat(database.loadDataBase()).isEqualTo(Zxid.of(1, 6));
            assertThat(database.getEphemerals(session)).isEmpty();
            assertThat(database.getNode(Transactions.node(lost))).isNull();
        } finally {
            snapLog.close();
        }
    }

    @Test
    void anotherSourceGoesOnWhereOneDied() throws Exception {
        for (int answers = 1; answers < 12; answers++) {
            Source dying =
                    new Source(1, 1, Zxid.of(1, 15), 200, new ArrayList<>(zxids(1, 1, 20)))
                            .diesAfter(answers);
            Source other = new Source(2, 1, Zxid.of(1, 15), 200, new ArrayList<>(zxids(1, 1, 18)));
            Path asker = asker(1, zxids(1, 1, 4));
            start(asker, answers, List.of(dying, other));
            assertRecovered("dies after " + answers, asker, Zxid.of(1, 15), List.of(dying, other));
        }
    }

    @Test
    void aPurgedSourceGivesItsSnapshotAndWhatFollowsIt() throws Exception {
        Source source = new Source(1, 2, Zxid.of(1, 9), 400, new ArrayList<>(zxids(1, 1, 21)));
        source.purged(Zxid.of(1, 15));
        source.append(zxids(2, 1, 4));
        recoversFrom(asker(1, zxids(1, 1, 4)), Zxid.of(2, 4), source);
        assertThat(source.parts).isGreaterThan(1);
    }

    @Test
    void aPurgedSourceStillGivesTheEntriesThatItHas() throws Exception {
        Source source = new Source(1, 2, Zxid.of(1, 19), 400, new ArrayList<>(zxids(1, 1, 21)));
        source.purged(Zxid.of(1, 8));
        recoversFrom(asker(1, zxids(1, 1, 9)), Zxid.of(1, 19), source);
        assertThat(source.parts).isZero();
    }

    @Test
    void aTransactionMayBeLargerThanAPacket() throws Exception {
        Source source =
                new Source(
                        1, 1, Zxid.of(1, 6), 256 * 1024, new ArrayList<>(zxids(1, 1, 6)), 900_000);
        recoversFrom(asker(1), Zxid.of(1, 6), source);
        assertThat(source.parts).isGreaterThanOrEqualTo(24);
    }

    // ---- The second crash ----

    @Test
    void aPowerCutBeforeAnyOperationOfAPlainCopyIsRecoveredFrom() throws Exception {
        Source source = new Source(1, 1, Zxid.of(1, 8), 200, new ArrayList<>(zxids(1, 1, 9)));
        Source other = new Source(2, 1, Zxid.of(1, 8), 200, new ArrayList<>(zxids(1, 1, 8)));
        everyPowerCut(asker(1, zxids(1, 1, 4)), Zxid.of(1, 8), List.of(source), List.of(other));
    }

    /** The other source is of the older branch: what was cut must not leave a hole in it. */
    @Test
    void aPowerCutBeforeAnyOperationOfATruncationIsRecoveredFrom() throws Exception {
        Source source = new Source(1, 3, Zxid.of(1, 5), 200, join(zxids(1, 1, 5), zxids(3, 1, 3)));
        Source other = new Source(2, 2, Zxid.of(1, 5), 200, join(zxids(1, 1, 9), zxids(2, 1, 4)));
        everyPowerCut(
                asker(2, zxids(1, 1, 7), zxids(1, 8, 9), zxids(2, 1, 2), zxids(2, 3, 4)),
                Zxid.of(1, 5),
                List.of(source),
                List.of(other));
    }

    @Test
    void aPowerCutBeforeAnyOperationOfACopyIntoANewEpochIsRecoveredFrom() throws Exception {
        List<Long> history = join(zxids(1, 1, 5), zxids(2, 1, 5));
        Source source = new Source(1, 2, Zxid.of(2, 4), 200, history);
        Source other = new Source(2, 2, Zxid.of(2, 4), 200, history);
        everyPowerCut(asker(1, zxids(1, 1, 7)), Zxid.of(2, 4), List.of(source), List.of(other));
    }

    @Test
    void aPowerCutBeforeAnyOperationOfAReplacementIsRecoveredFrom() throws Exception {
        Source source = new Source(1, 2, Zxid.of(1, 9), 600, join(zxids(1, 1, 12), zxids(2, 1, 2)));
        source.purged(Zxid.of(1, 8));
        source.append(zxids(2, 3, 5));
        // As short as it may be: it has whatever this server helped to commit.
        Source other = new Source(2, 1, Zxid.of(1, 9), 200, new ArrayList<>(zxids(1, 1, 9)));
        everyPowerCut(
                asker(1, zxids(1, 1, 3), zxids(1, 4, 6)),
                Zxid.of(1, 9),
                List.of(source),
                List.of(other));
    }

    /**
     * Cuts the power before each operation in turn, with what was not forced kept, lost and torn;
     * starts again from each result, beside the same server and beside another one.
     */
    private void everyPowerCut(Path asker, long committed, List<Source> first, List<Source> second)
            throws Exception {
        List<Source> all = new ArrayList<>(first);
        all.addAll(second);
        boolean cut = true;
        for (int operation = 0; cut; operation++) {
            Path data = directory("cut");
            copy(asker, Files.createDirectories(data.resolve("version-2")));
            PowerCutDisk disk = new PowerCutDisk(data);
            disk.cutBefore(operation);
            String where = "not cut";
            cut = false;
            try {
                start(disk.root().resolve("version-2"), operation, first);
            } catch (PowerCut e) {
                cut = true;
                where = operation + ": " + e.getMessage();
            }
            for (Unforced files : Unforced.values()) {
                for (Unforced names : Unforced.values()) {
                    List<Source> others = random.nextBoolean() ? first : second;
                    String what =
                            where
                                    + ", files "
                                    + files
                                    + ", names "
                                    + names
                                    + ", then server "
                                    + others.get(0).sid;
                    Path after = directory("after");
                    disk.afterPowerCut(after, files, names, random);
                    Path version = after.resolve("version-2");
                    boolean looksRecovered = !new MarkerStore(version).read().crashedInFastMode();
                    assertThat(looksRecovered || cut).as(what).isTrue();
                    // Another such disk, for its forces cost nothing.
                    start(
                            new PowerCutDisk(after).root().resolve("version-2"),
                            operation + 1_000_000L,
                            others);
                    assertRecovered(what, version, committed, all);
                    delete(after);
                }
            }
            delete(data);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
