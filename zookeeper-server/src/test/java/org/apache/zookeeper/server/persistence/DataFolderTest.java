package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.ProposalTag;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.runtime.ObstacleException;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.PurgeTxnLog;
import org.apache.zookeeper.util.ServiceUtils;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What beside a server's data is no data: it is neither read nor removed, and stops nothing. What
 * may be data under another name is not overlooked.
 */
class DataFolderTest {
    private static final ProposalTag FAST =
            ProposalTag.of(Mode.FAST, new long[] {1, 2, 3}, LleMap.empty());

    @TempDir Path folder;
    private SaucrTxnSnapLog snapLog;
    private SaucrTxnLog log;

    @BeforeEach
    void open() throws Exception {
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        // Each log is copied often, and read as often.
        FileTxnLog.setPreallocSize(64 * 1024);
        if (snapLog != null) {
            snapLog.close();
        }
        // An idle server writes a marker, at any moment on a slow machine.
        snapLog = Logs.unopened(folder, "1h", "1h", new LogMetrics());
        snapLog.open(snapLog.markerStore().read());
        log = snapLog.log();
    }

    @AfterEach
    void close() throws IOException {
        snapLog.close();
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    private Path version() {
        return folder.resolve("version-2");
    }

    private Path file(String name) {
        return version().resolve(name);
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

    private File snapshot(long counter) throws IOException {
        return snapLog.save(tree(counter), new ConcurrentHashMap<>(), false, false);
    }

    private static DataTree tree(long counter) {
        DataTree tree = new DataTree();
        tree.lastProcessedZxid = zxid(counter);
        return tree;
    }

    private long loaded() throws IOException {
        return snapLog.restore(new DataTree(), new ConcurrentHashMap<>(), (h, t, d) -> {});
    }

    /** The entries that a leader would send after this one, by ZooKeeper's own reader. */
    private List<Long> sent(long after) throws IOException {
        List<Long> zxids = new ArrayList<>();
        try (TxnLog.TxnIterator entries = snapLog.readTxnLog(after)) {
            if (entries.getHeader() != null) {
                do {
                    zxids.add(entries.getHeader().getZxid());
                } while (entries.next());
            }
        }
        return zxids;
    }

    /** Somebody else's, by the names that operators, editors and archivers give. */
    private Map<Path, String> strangers() throws Exception {
        Path log = DataFolder.logs(version()).get(0);
        byte[] entries = Files.readAllBytes(log);
        String logName = log.getFileName().toString();
        for (String suffix : List.of(".bak", ".old", "~", ".gz", ".1", "_", " ")) {
            Files.write(file(logName + suffix), entries);
        }
        Path snapshot = snapshot(1).toPath();
        byte[] nodes = Files.readAllBytes(snapshot);
        String snapshotName = snapshot.getFileName().toString();
        for (String suffix : List.of(".bak", ".gz.old", ".tar.gz", "~", ".1")) {
            Files.write(file(snapshotName + suffix), nodes);
            Files.write(file("snapshot.fffffffff" + suffix), nodes);
        }
        for (String name :
                List.of(
                        "log.",
                        "log",
                        "log.xyz",
                        "log.-1",
                        "log.+5",
                        "log.\uff15",
                        "log.8000000000000000",
                        "log.fffffffffffffffff",
                        "snapshot.",
                        "snapshot.-5",
                        "snapshot.2026-11-28",
                        "snapshot.8000000000000000.gz",
                        "snapshot.gz",
                        "notes.txt")) {
            Files.write(file(name), entries);
        }
        for (String name : List.of("log.20261128", "snapshot.20261128", "snapshot.ffffffffff.gz")) {
            Files.write(Files.createDirectory(file(name)).resolve("copy"), nodes);
        }
        Files.createDirectory(file("log.1"));
        Files.createSymbolicLink(file("log.2"), Files.createDirectory(folder.resolve("elsewhere")));
        new ProcessBuilder("mkfifo", file("log.3").toString(), file("snapshot.fffffff").toString())
                .start()
                .waitFor(10, TimeUnit.SECONDS);
        Path unfinished = Files.createDirectory(file("saucr.snapshot.mine"));
        Files.write(unfinished.resolve("snapshot.1"), nodes);
        Files.write(
                Files.createDirectory(file("saucr.snapshot.123")).resolve("notes"), new byte[1]);
        Files.write(file("saucr.snapshot.5"), nodes);
        Map<Path, String> all = contents();
        all.keySet()
                .removeIf(
                        each ->
                                each.equals(log)
                                        || each.equals(snapshot)
                                        || each.getFileName()
                                                .toString()
                                                .equals("saucr.fastSwitch"));
        assertThat(all).hasSizeGreaterThan(40);
        return all;
    }

    /** All but the marker that the open log writes when it has flushed, whenever that is. */
    private Map<Path, String> contents() throws IOException {
        Map<Path, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(version(), new FileVisitOption[0])) {
            for (Path each : files.toList()) {
                found.put(
                        each,
                        Files.isRegularFile(each, LinkOption.NOFOLLOW_LINKS)
                                ? Arrays.hashCode(Files.readAllBytes(each))
                                        + " "
                                        + Files.getLastModifiedTime(each)
                                : "no file");
            }
        }
        found.remove(file("saucr.latestOnDisk"));
        found.remove(version());
        return found;
    }

    /** A recovery has copied another server's history, and has decided that it replaces the own. */
    private Path copied() throws IOException {
        Path staging = Files.createDirectory(file("saucr.staging"));
        Transactions.writeFile(staging, Transactions.zxids(2, 1, 3));
        CopiedHistory.decide(version(), 2);
        return file("saucr.replacement");
    }

    // ---- Names ----

    @ParameterizedTest
    @CsvSource({
        "log.100000001, 100000001",
        "log.0, 0",
        "log.7fffffffffffffff, 7fffffffffffffff",
        "snapshot.0, 0",
        "snapshot.ab, ab",
        "snapshot.ab.gz, ab",
        "snapshot.ab.snappy, ab"
    })
    void aNameOfZooKeepersMapsBackToItself(String name, String zxid) throws IOException {
        Path file = Files.createFile(folder.resolve(name));
        assertThat(DataFolder.isData(file.toFile())).isTrue();
        assertThat(DataFolder.zxidOf(file)).isEqualTo(Long.parseLong(zxid, 16));
    }

    @ParameterizedTest
    @CsvSource({
        "log.00100000001, log.100000001",
        "log.10000000A, log.10000000a",
        "LOG.1, log.1",
        "Snapshot.5, snapshot.5",
        "snapshot.00, snapshot.0",
        "snapshot.0a.gz, snapshot.a.gz",
        "snapshot.a.GZ, snapshot.a.gz",
        "snapshot.00000000000000000000a.snappy, snapshot.a.snappy"
    })
    void whatMayBeDataUnderAnotherNameRefusesTheStart(String name, String meant)
            throws IOException {
        Path file = Files.createFile(file(name));
        assertThat(DataFolder.isData(file.toFile())).isFalse();
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .hasMessage(
                        file
                                + " may be a file of this server under another name: ZooKeeper would"
                                + " write "
                                + meant
                                + ". Rename it if it is, else move it out of this folder");
        Files.delete(file);
        Files.createDirectory(file);
        assertThatCode(() -> DataFolder.requireClear(version(), version()))
                .doesNotThrowAnyException();
    }

    @Test
    void aCopyUnderAnotherZxidRefusesTheStart() throws Exception {
        write(1, 5);
        Path copy = Files.copy(file("log.100000001"), file("log.100000003"));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .hasMessageStartingWith(copy + " begins with the entry ")
                .hasMessageContaining("a copy of log.100000001 or was renamed");
    }

    /**
     * A copy that was not finished, as on a full disk. Readers begin at the newest file whose name
     * is not after the snapshot, and would not see the entries in the file before it.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, TxnLogFormat.FILE_HEADER_BYTES, TxnLogFormat.FILE_HEADER_BYTES + 30})
    void aLogWithoutEntriesWithinAnotherRefusesTheStart(int bytes) throws Exception {
        write(1, 9);
        Path log = file("log.100000001");
        Path copy =
                Files.write(file("log.100000004"), Arrays.copyOf(Files.readAllBytes(log), bytes));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .hasMessageStartingWith(copy + " holds no entry that can be read, and ")
                .hasMessageContaining("log.100000001 has the entries through 0x100000009")
                .hasMessageEndingWith("Move it out of this folder");

        // Of a power cut: its first entry was to follow.
        Files.move(copy, file("log.10000000a"));
        assertThatCode(() -> DataFolder.requireClear(version(), version()))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @EnumSource(SnapStream.StreamMode.class)
    void aCopyOfASnapshotUnderALaterZxidRefusesTheStartAndIsNoData(SnapStream.StreamMode mode)
            throws Exception {
        write(1, 5);
        SnapStream.setStreamMode(mode);
        try {
            String suffix = mode.getFileExtension();
            Path own = snapshot(4).toPath();
            Path copy = Files.copy(own, file("snapshot.200000007" + suffix));
            final String before = contents().get(copy);
            assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                    .hasMessageStartingWith(copy + " shows the tree of 0x100000004 and nothing");
            assertThat(new RawLog(version(), version()).snapshotZxid()).isEqualTo(zxid(4));
            assertThat(RawLog.upTo(version(), version(), Long.MAX_VALUE).snapshotZxid())
                    .isEqualTo(zxid(4));
            assertThat(snapLog.findMostRecentSnapshot()).isEqualTo(own.toFile());
            RawLog.removeSnapshotsAfter(version(), zxid(4));
            assertThat(loaded()).isEqualTo(zxid(5));
            assertThat(contents()).containsEntry(copy, before).containsKey(own);
        } finally {
            SnapStream.setStreamMode(SnapStream.StreamMode.DEFAULT_MODE);
        }
    }

    /** While it was written, transactions were applied that its name does not know of. */
    @Test
    void aSnapshotMayShowMoreThanItsNameSays() throws Exception {
        write(1, 5);
        Files.move(snapshot(4).toPath(), file("snapshot.100000003"));
        DataFolder.requireClear(version(), version());
        assertThat(DataFolder.snapshots(version())).containsExactly(file("snapshot.100000003"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"log.20261128", "log.100000004", "snapshot.20261128", "snapshot.1.gz"})
    void aFileOfTextIsNoDataWhateverItsName(String name) throws Exception {
        write(1, 5);
        snapshot(2);
        Path text = file(name);
        Files.writeString(text, "28 Nov 2026 10:00 restarted\n");
        final Map<Path, String> before = contents();
        DataFolder.requireClear(version(), version());
        assertThat(DataFolder.isData(text.toFile())).isFalse();
        assertThat(new RawLog(version(), version()).scan(0).damage()).isNull();
        assertThat(sent(zxid(3))).isEqualTo(Transactions.zxids(1, 3, 5));
        assertThat(contents()).isEqualTo(before);
        open();
        assertThat(loaded()).isEqualTo(zxid(5));
        assertThat(text).hasContent("28 Nov 2026 10:00 restarted");
        PurgeTxnLog.purge(folder.toFile(), folder.toFile(), 3);
        assertThat(text).exists();
    }

    @Test
    void aFileOfTextIsNotWrittenOver() throws Exception {
        Path text = Files.writeString(file("log.100000001"), "28 Nov 2026 10:00 restarted\n");
        assertThatThrownBy(() -> write(1, 1))
                .isInstanceOf(ObstacleException.class)
                .hasMessageStartingWith(text + " is in the way: it is a file");
        assertThat(text).hasContent("28 Nov 2026 10:00 restarted");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"log.100000009", "snapshot.100000009", "saucr.identity", "currentEpoch"})
    void aLinkThatLeadsNowhereRefusesTheStart(String name) throws IOException {
        snapLog.close();
        Path link = Files.createSymbolicLink(file(name), Path.of("/mnt/unmounted", name));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessageStartingWith(
                        link + " is a symbolic link to /mnt/unmounted/" + name + ", which is not");
    }

    /** A file that the kernel gives to nobody to read, whatever the rights. */
    @ParameterizedTest
    @ValueSource(strings = {"log.100000009", "snapshot.100000009"})
    void whatCannotBeReadRefusesTheStart(String name) throws IOException {
        Path link = Files.createSymbolicLink(file(name), Path.of("/proc/self/mem"));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessage(
                        link
                                + " cannot be read: Input/output error. If its disk is lost, give"
                                + " this server an empty one: it gets everything from the others"
                                + " before it takes part");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "saucr.lock",
                "saucr.proof",
                "saucr.proof.tmp",
                "saucr.fastSwitch",
                "saucr.latestOnDisk.tmp",
                "saucr.identity",
                "saucr.placing.tmp",
                "currentEpoch",
                "currentEpoch.tmp",
                "acceptedEpoch.tmp",
                "../initialize"
            })
    void aFolderInTheWayOfAFileRefusesTheStart(String name) throws IOException {
        snapLog.close();
        Files.deleteIfExists(file(name));
        Path there = file(name).normalize();
        Files.createDirectory(there);
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessageContaining(there.getFileName() + " is in the way: it is a folder, ")
                .hasMessageEndingWith("Move it away");
    }

    @ParameterizedTest
    @ValueSource(strings = {"saucr.staging", "saucr.replacement"})
    void aFileInTheWayOfAFolderRefusesTheStart(String name) throws IOException {
        Path there = Files.createFile(file(name));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .hasMessageStartingWith(there + " is in the way: it is a file, ");
    }

    @Test
    void aDeletionThatIsNotFinishedRefusesTheStart() throws IOException {
        Path there = file("../initialize").normalize();
        Files.deleteIfExists(there);
        Files.createSymbolicLink(there, Path.of("run-zkServer-initialize.sh--force-again"));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessageStartingWith(
                        there + " is in the way: zkServer-initialize.sh --force was")
                .hasMessageEndingWith("Run it again");
    }

    // ---- What is somebody else's ----

    @Test
    void theStartAndEveryReaderLeavesStrangersAlone() throws Exception {
        write(1, 5);
        final Map<Path, String> strangers = strangers();
        log.rollLog();
        write(6, 9);
        DataFolder.requireClear(version(), version());
        assertThat(loaded()).isEqualTo(zxid(9));
        assertThat(sent(zxid(2))).isEqualTo(Transactions.zxids(1, 2, 9));
        assertThat(sent(zxid(7))).isEqualTo(Transactions.zxids(1, 7, 9));
        assertThat(log.getLastLoggedZxid()).isEqualTo(zxid(9));
        assertThat(snapLog.getLastLoggedZxid()).isEqualTo(zxid(9));
        assertThat(snapLog.findMostRecentSnapshot().getName()).isEqualTo("snapshot.100000001");
        assertThat(snapLog.findNRecentSnapshots(100))
                .extracting(File::getName)
                .containsExactly("snapshot.100000001");
        assertThat(snapLog.getSnapshotLogs(0))
                .extracting(File::getName)
                .containsExactly("log.100000001", "log.100000006");
        open();
        assertThat(loaded()).isEqualTo(zxid(9));
        assertThat(contents()).containsAllEntriesOf(strangers);
    }

    @Test
    void purgeRemovesNothingOfThem() throws Exception {
        write(1, 5);
        final Map<Path, String> strangers = strangers();
        for (int i = 0; i < 5; i++) {
            log.rollLog();
            write(6 + i, 6 + i);
            snapshot(6 + i);
        }
        PurgeTxnLog.purge(folder.toFile(), folder.toFile(), 3);
        assertThat(DataFolder.snapshots(version()))
                .extracting(each -> each.getFileName().toString())
                .containsExactly("snapshot.10000000a", "snapshot.100000009", "snapshot.100000008");
        assertThat(DataFolder.logs(version())).doesNotContain(file("log.100000001"));
        assertThat(contents()).containsAllEntriesOf(strangers);
    }

    @Test
    void truncationRemovesNothingOfThem() throws Exception {
        write(1, 5);
        Map<Path, String> strangers = strangers();
        write(6, 9);
        assertThat(snapLog.truncateLog(zxid(3))).isTrue();
        assertThat(Transactions.read(version(), version(), zxid(1)))
                .isEqualTo(Transactions.zxids(1, 2, 3));
        assertThat(contents()).containsAllEntriesOf(strangers);
    }

    @Test
    void aSnapshotFromTheLeaderReplacesNothingOfThem() throws Exception {
        write(1, 5);
        Map<Path, String> strangers = strangers();
        snapLog.save(tree(40), new ConcurrentHashMap<>(), true, true);
        assertThat(DataFolder.logs(version())).isEmpty();
        assertThat(DataFolder.snapshots(version())).containsExactly(file("snapshot.100000028"));
        assertThat(contents()).containsAllEntriesOf(strangers);
    }

    @Test
    void aReplacedHistoryReplacesNothingOfThem() throws Exception {
        write(1, 5);
        Map<Path, String> strangers = strangers();
        snapLog.close();
        copied();
        RecoveryStore.completeReplacement(version(), version());
        assertThat(DataFolder.logs(version())).containsExactly(file("log.200000001"));
        assertThat(DataFolder.snapshots(version())).isEmpty();
        assertThat(contents()).containsAllEntriesOf(strangers);
    }

    /** Believed, it would remove all that this server has. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "empty",
                "a copy of the log",
                "another epoch",
                "an older version's",
                "one file more",
                "one file less",
                "another size",
                "another server's",
                "a link"
            })
    void aReplacementThatNoRecoveryOfThisServerMadeRemovesNothing(String kind) throws Exception {
        write(1, 5);
        snapLog.close();
        snapLog.markerStore().writeIdentity(new LogIdentity("", 1, 7, 1, 0, 0));
        Path folder = file("saucr.replacement");
        if (List.of("empty", "a copy of the log", "an older version's").contains(kind)) {
            Files.createDirectory(folder);
        } else {
            copied();
        }
        Path list = folder.resolve("saucr.epoch");
        switch (kind) {
            case "a copy of the log" ->
                    Files.copy(file("log.100000001"), folder.resolve("log.100000001"));
            case "another epoch" ->
                    Files.writeString(list, Files.readString(list).replace("epoch=2", "epoch=3"));
            case "an older version's" -> Files.writeString(list, "2");
            case "one file more" -> Files.createFile(folder.resolve("log.5"));
            case "one file less" -> Files.delete(folder.resolve("log.200000001"));
            case "another size" -> Files.writeString(folder.resolve("log.200000001"), "another");
            case "another server's" ->
                    snapLog.markerStore().writeIdentity(new LogIdentity("", 1, 8, 1, 0, 0));
            case "a link" ->
                    Files.createSymbolicLink(
                            folder, Files.move(folder, this.folder.resolve("elsewhere")));
            default -> assertThat(kind).isEqualTo("empty");
        }
        Map<Path, String> before = contents();
        for (ThrowableAssert.ThrowingCallable start :
                List.<ThrowableAssert.ThrowingCallable>of(
                        () -> DataFolder.requireClear(version(), version()),
                        () -> RecoveryStore.completeReplacement(version(), version()))) {
            assertThatThrownBy(start)
                    .isInstanceOf(ObstacleException.class)
                    .hasMessageStartingWith(folder + " is in the way: ")
                    .hasMessageContaining("Move ");
        }
        assertThat(contents()).isEqualTo(before);
    }

    @Test
    void copiesInTheWrongFolderAreNoSignThatFoldersWereMixedUp() throws Exception {
        Path logs = folder.resolve("logs");
        Path snapshots = folder.resolve("snapshots");
        for (Path each : List.of(logs, snapshots)) {
            Files.createDirectories(each.resolve("version-2"));
        }
        Files.createFile(logs.resolve("version-2/snapshot.5.bak"));
        Files.createDirectory(logs.resolve("version-2/snapshot.5"));
        Files.createFile(snapshots.resolve("version-2/log.5.bak"));
        Files.createDirectory(snapshots.resolve("version-2/log.5"));
        new FileTxnSnapLog(logs.toFile(), snapshots.toFile()).close();
        Files.createFile(logs.resolve("version-2/snapshot.6"));
        assertThatThrownBy(() -> new FileTxnSnapLog(logs.toFile(), snapshots.toFile()))
                .isInstanceOf(FileTxnSnapLog.LogDirContentCheckException.class);
    }

    // ---- What is in the way ----

    @Test
    void aFolderWhereASnapshotIsToBeIsNamedBeforeAnythingChanges() throws Exception {
        write(1, 5);
        Path there = Files.createDirectory(file("snapshot.100000028"));
        Map<Path, String> before = contents();
        assertThatThrownBy(() -> snapLog.save(tree(40), new ConcurrentHashMap<>(), true, true))
                .isInstanceOf(ObstacleException.class)
                .hasMessage(
                        there
                                + " is in the way: it is a folder, and this server writes a file of"
                                + " that name. Move it away");
        assertThat(contents()).isEqualTo(before);
        Files.delete(there);
        snapLog.save(tree(40), new ConcurrentHashMap<>(), true, true);
        assertThat(log.lastAppended()).isEqualTo(zxid(40));
    }

    @Test
    void aLinkWhereALogIsToBeIsNotWrittenThrough() throws Exception {
        Path elsewhere = folder.resolve("precious");
        Files.writeString(elsewhere, "precious");
        Path link = Files.createSymbolicLink(file("log.100000001"), elsewhere);
        assertThatThrownBy(() -> write(1, 1))
                .isInstanceOf(ObstacleException.class)
                .hasMessage(
                        link
                                + " is in the way: it is a symbolic link to "
                                + elsewhere
                                + ", and this server writes a file of that name. Move it away");
        assertThat(elsewhere).hasContent("precious");
    }

    @Test
    void aReplacementWhoseNamesAreTakenRemovesNothing() throws Exception {
        write(1, 5);
        snapLog.close();
        copied();
        Path there = Files.createDirectory(file("log.200000001"));
        Map<Path, String> before = contents();
        assertThatThrownBy(() -> RecoveryStore.completeReplacement(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessageStartingWith(there + " is in the way: it is a folder");
        assertThat(contents()).isEqualTo(before);
    }

    @Test
    void whatIsPutIntoTheStagingAreaStaysAndIsNamed() throws Exception {
        Path mine = Files.createDirectory(file("saucr.staging")).resolve("mine");
        Files.writeString(mine, "mine");
        Path data = Files.createFile(file("saucr.staging/log.5"));
        assertThatThrownBy(() -> DataFolder.requireClear(version(), version()))
                .isInstanceOf(ObstacleException.class)
                .hasMessageStartingWith(mine + " is in the way: ");
        try (RecoveryStore store = new RecoveryStore(version(), version(), snapLog.markerStore())) {
            assertThatThrownBy(store::discardStaged)
                    .isInstanceOf(ObstacleException.class)
                    .hasMessageStartingWith(mine + " is in the way: ");
            assertThat(mine).hasContent("mine");
            assertThat(data).exists();
            Files.delete(mine);
            DataFolder.requireClear(version(), version());
            store.discardStaged();
            assertThat(file("saucr.staging")).doesNotExist();
        }
    }
}
