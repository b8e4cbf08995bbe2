package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An archive of a history that AdminServers give: what is restored, what is continued, what is
 * kept.
 */
class ArchiveTest {
    private static final long NOON = Instant.parse("2026-03-29T12:00:00Z").toEpochMilli();

    @TempDir static Path server;
    private static ClientServer clients;

    @TempDir Path folder;
    private AdminAnswers first;
    private AdminAnswers second;
    private LoggedHistory history;
    private Path archive;
    private int restored;

    @BeforeAll
    static void serve() throws Exception {
        clients = new ClientServer(server);
    }

    @AfterAll
    static void stop() {
        clients.close();
    }

    @BeforeEach
    void listen() throws Exception {
        first = new AdminAnswers();
        second = new AdminAnswers();
        archive = folder.resolve("archive");
        history = new LoggedHistory(folder, 5);
        history.serve(first);
        history.serve(second);
    }

    @AfterEach
    void close() throws Exception {
        first.close();
        second.close();
    }

    /** One round; with a period it takes a full backup only if the newest is older. */
    private Run round(String... options) {
        return clients.run(
                first,
                second,
                Stream.concat(
                        Stream.of("backup", "--to=" + archive, "--timeout=2m"),
                        Stream.of(options)));
    }

    /** One round of a running process, which makes no full backup. */
    private String log() throws Exception {
        Run run = round("--every=1h", "--once");
        assertThat(run.exitCode()).as(run.err()).isZero();
        return run.err();
    }

    private Run restore(String... options) throws IOException {
        Path data = Files.createDirectory(folder.resolve("restored" + ++restored));
        return Run.of(
                Stream.concat(
                                Stream.of(
                                        "backup",
                                        "restore",
                                        archive.toString(),
                                        "--data-dir=" + data),
                                Stream.of(options))
                        .toArray(String[]::new));
    }

    /** The digest of what the last restore made, as a server loads it. */
    private long loaded(long expected) throws IOException {
        Path data = folder.resolve("restored" + restored);
        DataTree tree = new DataTree();
        FileTxnSnapLog files = new FileTxnSnapLog(data.toFile(), data.toFile());
        assertThat(files.restore(tree, new ConcurrentHashMap<>(), (header, txn, digest) -> {}))
                .isEqualTo(expected);
        files.close();
        return tree.getTreeDigest();
    }

    private List<String> names(String pattern) throws IOException {
        try (Stream<Path> files = Files.walk(archive)) {
            return files.map(file -> archive.relativize(file).toString())
                    .filter(name -> name.matches(pattern))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void everyPointBehindTheFirstFullBackupIsRestored() throws Exception {
        history.write("/a", "0", NOON);
        history.write("/a", "1", NOON + 1);
        Run full = round();
        assertThat(full.exitCode()).as(full.err()).isZero();
        assertThat(full.out()).startsWith("Backed up 0x500000002 of ");
        List<Long> points = new ArrayList<>(List.of(history.zxid()));
        for (int i = 0; i < 12; i++) {
            if (i % 5 == 4) {
                history.elect();
            }
            points.add(history.write(i % 2 == 0 ? "/a" : "/n" + i, "x" + i, NOON + 10 + i));
            if (i % 4 == 0) {
                points.add(history.refuse(NOON + 10 + i));
            }
            if (i == 6) {
                round();
            } else if (i % 3 == 0) {
                log();
            }
        }
        log();
        assertThat(names(".*backup.json")).hasSize(2);
        for (long point : points) {
            Run run = restore("--to-zxid=" + Snapshot.hex(point), "-o", "json");
            assertThat(run.exitCode()).as(run.err()).isZero();
            JsonNode said = new ObjectMapper().readTree(run.out());
            assertThat(said.path("zxid").asText()).isEqualTo(Snapshot.hex(point));
            assertThat(said.path("digest").asText())
                    .isEqualTo(Long.toHexString(history.digest(point)));
            assertThat(loaded(point)).isEqualTo(history.digest(point));
        }
        assertThat(restore().out()).startsWith("Restored " + Snapshot.hex(history.zxid()));
    }

    @Test
    void aPointThatIsNotThereIsRefused() throws Exception {
        history.write("/a", "0", NOON);
        history.write("/a", "1", NOON + 1000);
        round();
        history.write("/a", "2", NOON + 2000);
        log();
        String range = "can be restored from 0x500000002 to 0x500000003, and not to ";
        assertThat(restore("--to-zxid=0x500000001").err()).contains(range + "0x500000001");
        assertThat(restore("--to-zxid=0x500000004").err()).contains(range + "0x500000004");
        assertThat(restore("--to-time=2026-03-29T11:59:59Z").err()).contains("begins after");
        assertThat(restore("--to-time=2999-01-01T00:00:00Z").err())
                .contains("it has what was written until 20");
        assertThat(restore("--to-time=noon").exitCode()).isEqualTo(OperatorTool.USAGE);
        assertThat(restore("--to-zxid=1", "--to-time=noon").exitCode())
                .isEqualTo(OperatorTool.USAGE);
        assertThat(restore("--history=20200101T000000.000Z").err()).contains("it has no history");
        try (Stream<Path> files = Files.list(folder.resolve("restored" + restored))) {
            assertThat(files).isEmpty();
        }
    }

    /** The clock of a new leader may be behind that of the one before. */
    @Test
    void aTimeEndsBeforeTheFirstWriteThatIsLater() throws Exception {
        history.write("/a", "0", NOON);
        round();
        history.write("/a", "1", NOON + 1000);
        log();
        history.write("/a", "2", NOON + 5000);
        history.elect();
        history.write("/a", "3", NOON + 3000);
        log();
        assertThat(restore("--to-time=2026-03-29T12:00:00Z").out())
                .startsWith("Restored 0x500000001");
        assertThat(restore("--to-time=2026-03-29T13:00:01.500+01:00").out())
                .startsWith("Restored 0x500000002, written at 2026-03-29T12:00:01Z, into ");
        assertThat(restore("--to-time=2026-03-29T12:00:04Z").out())
                .startsWith("Restored 0x500000002");
        assertThat(restore("--to-time=2026-03-29T12:00:05Z").out())
                .startsWith("Restored 0x600000001");
    }

    /** Entries that are in neither history must never be between the two. */
    @Test
    void anEnsembleThatWasRestoredToAnEarlierPointBeginsANewHistory() throws Exception {
        history.write("/a", "0", NOON);
        round();
        LoggedHistory before = history;
        before.write("/a", "1", NOON + 1000);
        long lost = before.write("/a", "2", NOON + 2000);
        log();

        history = new LoggedHistory(folder, 5);
        history.write("/a", "0", NOON);
        history.write("/a", "1", NOON + 1000);
        history.elect();
        history.write("/b", "after the restore", NOON + 3000);
        history.serve(first);
        history.serve(second);
        String said = log();
        assertThat(said)
                .contains(
                        "cannot be continued after 0x500000003: ",
                        "does not have the entry 0x500000003 in its log; the next one is 0x600000001",
                        "A new history begins with a full backup");
        assertThat(names("history-[^/]*")).hasSize(2);
        history.write("/b", "2", NOON + 4000);
        assertThat(log()).isEmpty();

        assertThat(restore().out()).startsWith("Restored 0x600000002");
        assertThat(loaded(0x600000002L)).isEqualTo(history.digest(0x600000002L));
        Run gone = restore("--to-zxid=" + Snapshot.hex(lost));
        assertThat(gone.exitCode()).isEqualTo(OperatorTool.FAILED);
        String older = names("history-[^/]*").get(0).substring("history-".length());
        assertThat(gone.err())
                .contains("and not to 0x500000003; the archive also has other histories", older);
        assertThat(restore("--to-zxid=" + Snapshot.hex(lost), "--history=" + older).exitCode())
                .isZero();
        assertThat(loaded(lost)).isEqualTo(before.digest(lost));
    }

    @Test
    void anEnsembleThatHasLessOrAnotherEntryBeginsANewHistory() throws Exception {
        history.write("/a", "0", NOON);
        history.write("/a", "1", NOON + 1000);
        round();
        LoggedHistory less = new LoggedHistory(folder, 5);
        less.write("/a", "0", NOON);
        less.serve(first);
        less.serve(second);
        assertThat(log()).contains("has no entry from 0x500000002 on: it was restored");
        less.write("/a", "another", NOON + 1000);
        less.write("/a", "2", NOON + 2000);
        assertThat(log()).isEmpty();

        history.write("/a", "3", NOON + 2000);
        history.serve(first);
        history.serve(second);
        assertThat(log()).contains("has another entry 0x500000003: it was restored");
        assertThat(names("history-[^/]*")).hasSize(3);
    }

    @Test
    void whatAServerPurgedAnotherOneGives() throws Exception {
        history.write("/a", "0", NOON);
        round();
        LoggedHistory purged = new LoggedHistory(folder, 5);
        purged.write("/a", "0", NOON);
        for (LoggedHistory each : List.of(history, purged)) {
            each.write("/a", "1", NOON + 1);
            each.write("/a", "2", NOON + 2);
        }
        purged.purge(history.zxid() - 1);
        purged.serve(first);
        assertThat(log()).isEmpty();
        assertThat(first.asked()).last().asString().startsWith("saucr/log?after=0x500000000");
        assertThat(restore().out()).startsWith("Restored 0x500000003");

        // Where no server has it, the archive says so.
        history.write("/a", "3", NOON + 3);
        history.write("/a", "4", NOON + 4);
        history.purge(history.zxid() - 1);
        history.serve(first);
        assertThat(log())
                .contains(
                        "does not have the entry 0x500000003 in its log: the log after 0x500000002");
        assertThat(restore("--to-zxid=0x500000004").err())
                .contains("can be restored from 0x500000005 to 0x500000005");
    }

    /** It came back with a snapshot, and the others are down just then. */
    @Test
    void aServerThatLacksTheEndBeginsNoHistoryWhileAnotherMayHaveIt() throws Exception {
        history.write("/a", "0", NOON);
        round();
        history.write("/a", "1", NOON + 1);
        log();
        List<String> before = names(".*");
        LoggedHistory snapshot = new LoggedHistory(folder, 5);
        LoggedHistory less = new LoggedHistory(folder, 5);
        less.write("/a", "0", NOON);
        for (LoggedHistory each : List.of(history, snapshot)) {
            each.write("/a", "2", NOON + 2);
            each.write("/a", "3", NOON + 3);
        }
        snapshot.purge(history.zxid() - 1);
        second.answer("saucr/log", new byte[100], "", AdminAnswers.End.CLOSES);
        for (LoggedHistory answers : List.of(snapshot, less)) {
            answers.serve(first);
            for (String[] options : new String[][] {{"--every=1h", "--once"}, {}}) {
                Run run = round(options);
                assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
                assertThat(run.err())
                        .contains("which ends at 0x500000002: ")
                        .contains("no new history is begun. Start it; if its data is lost, leave")
                        .doesNotContain("begins with a full backup");
                assertThat(names(".*")).isEqualTo(before);
            }
        }
        history.serve(second);
        assertThat(log()).isEmpty();
        assertThat(names("history-[^/]*")).hasSize(1);
        assertThat(restore().out()).startsWith("Restored " + Snapshot.hex(history.zxid()));
    }

    /** A server that can never give a log is none to wait for. */
    @Test
    void aServerWithoutSaucrKeepsNoHistoryFromItsBeginning() throws Exception {
        history.write("/a", "0", NOON);
        round();
        LoggedHistory less = new LoggedHistory(folder, 6);
        less.write("/a", "0", NOON);
        less.serve(first);
        try (AdminAnswers stock = new AdminAnswers()) {
            Run run =
                    clients.run(
                            first,
                            stock,
                            Stream.of("backup", "--to=" + archive, "--every=1h", "--once"));
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.err()).contains("gives no log", "begins with a full backup");
        }
        assertThat(names("history-[^/]*")).hasSize(2);
    }

    @Test
    void aFullBackupIsTakenOfAServerThatContinuesTheArchive() throws Exception {
        history.write("/a", "0", NOON);
        round();
        history.write("/a", "1", NOON + 1);
        log();
        LoggedHistory snapshot = new LoggedHistory(folder, 5);
        snapshot.write("/a", "0", NOON);
        snapshot.write("/a", "1", NOON + 1);
        for (LoggedHistory each : List.of(history, snapshot)) {
            each.write("/a", "2", NOON + 2);
        }
        snapshot.purge(history.zxid());
        snapshot.serve(first);
        Run run = round();
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("Backed up 0x500000003 of ");
        assertThat(names("history-[^/]*")).hasSize(1);
        assertThat(names(".*backup.json")).hasSize(2);
        assertThat(first.asked())
                .as("a snapshot of it would be for nothing")
                .last()
                .asString()
                .startsWith("saucr/log");

        // The other one gives its log, and does not know how to give a snapshot.
        second.forget("snapshot");
        run = round();
        assertThat(run.exitCode()).as(run.err()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err())
                .contains("knows no such command: it came with ZooKeeper 3.9")
                .contains("no endpoint gave a full backup that continues")
                .contains("These servers gave their log, and no full backup: ")
                .contains("No new history is begun");
        assertThat(names("history-[^/]*")).hasSize(1);

        // It gives its log, and then half a snapshot.
        for (LoggedHistory each : List.of(history, snapshot)) {
            each.write("/a", "3", NOON + 3);
        }
        snapshot.purge(history.zxid());
        second.answer("snapshot", new byte[100], "", AdminAnswers.End.CLOSES);
        run = round();
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err())
                .contains("no endpoint gave a full backup that continues")
                .contains("which ends at 0x500000004. These servers gave their log");
        assertThat(names("history-[^/]*")).hasSize(1);
        assertThat(restore().out()).startsWith("Restored 0x500000004");
        history.serve(second);
        assertThat(round().exitCode()).isZero();
        assertThat(names("history-[^/]*")).hasSize(1);
        assertThat(names(".*backup.json")).hasSize(3);
    }

    @Test
    void anIdleEnsembleAddsNothing() throws Exception {
        history.write("/a", "0", NOON);
        round();
        List<String> before = names(".*");
        assertThat(log()).isEmpty();
        assertThat(names(".*")).isEqualTo(before);
        assertThat(restore("--to-time=" + Instant.now().minusMillis(1)).exitCode())
                .as("what was committed by then is known")
                .isEqualTo(OperatorTool.FAILED);
        Instant between = Instant.now();
        log();
        assertThat(restore("--to-time=" + between).out()).startsWith("Restored 0x500000001");
    }

    /** As two processes that know nothing of each other. */
    @Test
    void piecesThatOverlapFitTogether() throws Exception {
        history.write("/a", "0", NOON);
        round();
        Path other = folder.resolve("other");
        copy(archive, other);
        history.write("/a", "1", NOON + 1);
        log();
        history.write("/a", "2", NOON + 2);
        Path own = archive;
        archive = other;
        log();
        archive = own;
        history.write("/a", "3", NOON + 3);
        log();
        copy(other, own);
        assertThat(names(".*/log-.*")).hasSize(4);
        history.write("/a", "4", NOON + 4);
        log();
        for (long point = 0x500000001L; point <= history.zxid(); point++) {
            assertThat(restore("--to-zxid=" + Snapshot.hex(point)).exitCode()).isZero();
            assertThat(loaded(point)).isEqualTo(history.digest(point));
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (!Files.exists(target)) {
                    Files.copy(file, target);
                }
            }
        }
    }

    @Test
    void aPieceThatIsDamagedOrMissingIsNoticed() throws Exception {
        history.write("/a", "0", NOON);
        round();
        for (int i = 1; i < 4; i++) {
            history.write("/a", "" + i, NOON + i);
            log();
        }
        List<String> pieces = names(".*/log-.*");
        Path middle = archive.resolve(pieces.get(2));
        byte[] whole = Files.readAllBytes(middle);
        byte[] changed = whole.clone();
        changed[changed.length / 2] ^= 1;
        Files.write(middle, changed);
        assertThat(restore().err()).contains(middle.getFileName() + ": it is damaged");
        // The name of one, and the entries of another.
        Files.copy(archive.resolve(pieces.get(1)), middle, StandardCopyOption.REPLACE_EXISTING);
        assertThat(restore().exitCode()).isEqualTo(OperatorTool.FAILED);
        Files.delete(middle);
        assertThat(restore().err()).contains("the log after 0x500000002 is missing in history");
        assertThat(restore("--to-zxid=0x500000002").exitCode()).isZero();
        // The end is what the next piece must continue.
        Files.write(middle, whole);
        Files.write(archive.resolve(pieces.get(3)), new byte[] {1});
        assertThat(log()).contains("it is damaged", "A new history begins");
    }

    @Test
    void anotherFolderIsNoArchive() throws Exception {
        Files.createDirectory(archive);
        Files.writeString(archive.resolve("mine"), "kept");
        assertThat(round().err())
                .contains(
                        "there are other files in it, such as mine; an archive begins in an empty");
        assertThat(restore().err()).contains("it is no archive of backups");
        Files.delete(archive.resolve("mine"));
        assertThat(restore().err()).contains("it is no archive of backups");
        Files.writeString(archive.resolve(Archive.MARK), "{\"format\" : 2}");
        assertThat(restore().err()).contains("has format 2, and this version knows 1");
        archive = folder.resolve("none/archive");
        assertThat(round().exitCode()).isEqualTo(OperatorTool.FAILED);
    }

    @Test
    void serversWithoutALogToGiveAreRefused() throws Exception {
        AdminAnswers apache = new AdminAnswers();
        history.write("/a", "0", NOON);
        apache.answer("snapshot", question -> history.snapshot(), () -> Snapshot.hex(1));
        first.close();
        second.close();
        first = apache;
        second = apache;
        assertThat(round().err())
                .contains("An archive needs servers with SAUCR on; 'saucr backup FOLDER' makes");
    }

    @Test
    void aNewServerLoadsTheDigestThatTheEnsembleHad() throws Exception {
        history.write("/a", "0", NOON);
        round();
        long point = history.write("/a", "1", NOON + 1);
        history.write("/a", "2", NOON + 2);
        log();
        Run run = verify("--to-zxid=" + Snapshot.hex(point));
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .isEqualTo(
                        "Verified 0x500000002: a new server has 5 nodes, digest %s, as the ensemble had.\n"
                                .formatted(Long.toHexString(history.digest(point))));
        assertThat(verify("-o", "json").out()).contains("\"zxid\" : \"0x500000003\"");

        // A write that changed another tree than this one.
        history.forget("/a");
        history.write("/a", "3", NOON + 3);
        log();
        run = verify();
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err()).contains("has another tree than the ensemble had");
    }

    private Run verify(String... options) {
        return Run.of(
                Stream.concat(Stream.of("backup", "verify", archive.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    private Run status(String... options) {
        return Run.of(
                Stream.concat(Stream.of("backup", "status", archive.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    @Test
    void theStatusSaysWhatThereIsAndWhatIsMissing() throws Exception {
        assertThat(status().exitCode()).isEqualTo(OperatorTool.FAILED);
        history.write("/a", "0", NOON);
        round();
        history.write("/a", "1", NOON + 1);
        log();
        history.write("/a", "2", NOON + 2);
        log();
        history.write("/a", "3", NOON + 3);
        log();
        Run run = status("--max-age=1h", "--max-log-age=1h");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).containsPattern("0x500000001 +0x500000004 +1 +4 ");
        JsonNode json = new ObjectMapper().readTree(status("-o", "json").out());
        assertThat(json.path("histories").get(0).path("to").asText()).isEqualTo("0x500000004");

        Files.delete(archive.resolve(names(".*/log-.*").get(2)));
        run = status();
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err()).contains("the log after 0x500000002 is missing in history");
        Files.delete(archive.resolve(names(".*/backup.json").get(0)));
        assertThat(status().err()).contains("there is no full backup in the newest history");
        assertThat(status("--max-age=soon").exitCode()).isEqualTo(OperatorTool.USAGE);
    }

    @Test
    void anOldArchiveIsNoticed() {
        Instant now = Instant.parse("2026-03-29T12:00:00Z");
        Archive of =
                Archive.of(
                        List.of(
                                "history-20260329T090000.000Z/full-0000000500000001-0000000500000001-20260329T090000.000Z/backup.json"));
        Optional<Instant> checked = Optional.of(now.minusSeconds(100));
        assertThat(
                        ArchiveStatus.of(
                                        of,
                                        checked,
                                        now,
                                        Duration.ofHours(3),
                                        Duration.ofSeconds(100))
                                .problems())
                .isEmpty();
        assertThat(
                        ArchiveStatus.of(
                                        of,
                                        checked,
                                        now,
                                        Duration.ofHours(2),
                                        Duration.ofSeconds(99))
                                .problems())
                .containsExactly(
                        "the newest full backup is of 2026-03-29T09:00:00Z, longer ago than 7200 s",
                        "the last round that succeeded is of 2026-03-29T11:58:20Z, longer ago than 99 s");
        assertThat(ArchiveStatus.of(of, Optional.empty(), now, null, Duration.ofDays(1)).problems())
                .containsExactly("no round has succeeded yet");
    }

    @Test
    void whatIsKeptRestoresEachPointOfThePeriod() {
        String old = "history-20260301T000000.000Z/";
        String own = "history-20260310T000000.000Z/";
        List<String> names =
                List.of(
                        old
                                + "full-0000000500000001-0000000500000001-20260301T000000.000Z/backup.json",
                        old + "log-0000000500000001-0000000500000009-20260309T000000.000Z.gz",
                        own
                                + "full-0000000600000001-0000000600000002-20260310T000000.000Z/backup.json",
                        own
                                + "full-0000000600000001-0000000600000002-20260310T000000.000Z/snapshot.1",
                        own
                                + "full-0000000600000005-0000000600000006-20260311T000000.000Z/backup.json",
                        own
                                + "full-0000000600000009-000000060000000a-20260312T000000.000Z/backup.json",
                        own
                                + "full-000000060000000b-000000060000000b-20260312T010000.000Z/snapshot.1",
                        own + "log-0000000600000001-0000000600000005-20260310T000000.000Z.gz",
                        own + "log-0000000600000005-0000000600000009-20260311T000000.000Z.gz",
                        own + "log-0000000600000009-000000060000000a-20260312T000000.000Z.gz",
                        own
                                + "log-000000060000000a-000000060000000b-20260312T000000.000Z.gz.partial-7",
                        own + "notes.txt",
                        "saucr-archive.json");
        Archive of = Archive.of(names);
        Instant now = Instant.parse("2026-03-12T12:00:00Z");
        assertThat(dispensable(of, "2026-03-08T00:00:00Z", now)).isEmpty();
        // The older history was the ensemble's state until the 10th.
        assertThat(dispensable(of, "2026-03-09T23:59:59Z", now)).isEmpty();
        assertThat(dispensable(of, "2026-03-10T00:00:00Z", now))
                .containsExactlyElementsOf(names.subList(0, 2));
        // The 11th at noon needs the full backup of that morning, and the log from its begin on.
        assertThat(dispensable(of, "2026-03-11T12:00:00Z", now))
                .containsExactly(
                        names.get(0), names.get(1), names.get(2), names.get(3), names.get(7));
        // The newest full backup stays, however old it is; what is not whole goes after a day.
        assertThat(dispensable(of, "2026-03-30T00:00:00Z", Instant.parse("2026-03-31T00:00:00Z")))
                .containsExactly(
                        names.get(0),
                        names.get(1),
                        names.get(2),
                        names.get(3),
                        names.get(4),
                        names.get(7),
                        names.get(8),
                        names.get(6),
                        names.get(10));
    }

    private static List<String> dispensable(Archive of, String since, Instant now) {
        return ArchiveRetention.dispensable(of, Instant.parse(since), now);
    }

    @Test
    void afterAFullBackupWhatIsNotNeededIsRemoved() throws Exception {
        history.write("/a", "0", NOON);
        round();
        history.write("/a", "1", NOON + 1);
        round();
        history.write("/a", "2", NOON + 2);
        round("--keep=1h");
        assertThat(names(".*/backup.json")).hasSize(3);
        // Then the clock must be behind the second one.
        String second = names(".*/full-[^/]*").get(2);
        awaitSecond(second);
        round("--keep=1s");
        assertThat(names(".*/backup.json")).hasSize(2);
        assertThat(names(".*/full-[^/]*").get(0)).isEqualTo(second);
        assertThat(restore("--to-zxid=0x500000003").exitCode()).isZero();
        assertThat(status().exitCode()).isZero();
    }

    /** Until a full backup is a second old. */
    private static void awaitSecond(String full) throws InterruptedException {
        Instant made =
                Archive.of(List.of(full + "/backup.json"))
                        .newest()
                        .orElseThrow()
                        .newest()
                        .orElseThrow()
                        .made();
        while (!made.isBefore(Instant.now().minusSeconds(1))) {
            Thread.sleep(20);
        }
    }

    /** As of a machine whose clock was wrong. */
    @Test
    void aHistoryOfTheFutureIsNoLongerTheNewest() throws Exception {
        history.write("/a", "0", NOON);
        round();
        Path own = archive.resolve(names("history-[^/]*").get(0));
        Path future = Files.move(own, own.resolveSibling("history-29990101T000000.000Z"));
        Path full = future.resolve(names(".*/full-[^/]*").get(0).replaceFirst(".*/", ""));
        Files.move(
                full,
                full.resolveSibling(
                        full.getFileName().toString().replaceFirst("-2\\d{7}T", "-29990101T")));
        // Neither keeps a full backup from being made, nor a new history from being the newest.
        history.write("/a", "1", NOON + 1);
        log();
        assertThat(names(".*/backup.json")).hasSize(2);
        history.write("/a", "2", NOON + 2);
        history.write("/a", "3", NOON + 3);
        history.purge(history.zxid() - 1);
        log();
        assertThat(names("history-[^/]*"))
                .containsExactly("history-29990101T000000.000Z", "history-29990101T000000.001Z");
        history.write("/a", "4", NOON + 4);
        assertThat(log()).isEmpty();
    }

    /** It says the zxid before the write that it shows in part. */
    @Test
    void aSnapshotThatIsNotExactRestoresNoPointBeforeItsLogEnds() throws Exception {
        history.write("/a", "0", NOON);
        long begun = history.write("/a", "1", NOON + 1);
        first.answer(
                "snapshot",
                question -> history.fuzzySnapshot("/a", NOON + 2),
                () -> Snapshot.hex(begun));
        assertThat(round().exitCode()).isZero();
        history.write("/a", "3", NOON + 3);
        log();
        assertThat(restore("--to-zxid=" + Snapshot.hex(begun)).err())
                .contains("can be restored from 0x500000003 to 0x500000004");
        for (long point = begun + 1; point <= history.zxid(); point++) {
            assertThat(restore("--to-zxid=" + Snapshot.hex(point)).out())
                    .startsWith("Restored " + Snapshot.hex(point));
            assertThat(loaded(point)).isEqualTo(history.digest(point));
        }
    }
}
