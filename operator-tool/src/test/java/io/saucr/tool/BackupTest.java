package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.SnapStream.StreamMode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Backups, what may become of them, and the folders that they are restored into. */
class BackupTest {
    private static final int NODES = 5;
    private static final long SNAPSHOT = Snapshots.FIRST + NODES - 1;
    private static final long BEGUN = SNAPSHOT - 2;

    @TempDir Path folder;
    private Path backup;
    private Path data;

    /** A fuzzy snapshot, with the log behind what it shows whole. */
    @BeforeEach
    void make() throws Exception {
        backup = Files.createDirectory(folder.resolve("backup"));
        data = Files.createDirectory(folder.resolve("data"));
        DataTree tree = Snapshots.tree(NODES);
        tree.getNode("/n1").stat.setMzxid(SNAPSHOT + 1);
        Path snapshot = Snapshots.write(tree, backup.resolve("snapshot"), StreamMode.GZIP);
        Path log =
                Files.move(
                        Snapshots.log(
                                folder.resolve("logs"), BEGUN + 1, BEGUN + 2, BEGUN + 3, BEGUN + 4),
                        backup.resolve("log"));
        new Backup(
                        snapshot,
                        Snapshot.read(snapshot),
                        BEGUN,
                        true,
                        log,
                        LogFile.read(log, BEGUN, SNAPSHOT))
                .describe(backup, JsonNodeFactory.instance.objectNode());
    }

    private Path snapshotFile() {
        return backup.resolve("snapshot." + Long.toHexString(BEGUN) + ".gz");
    }

    private Path logFile() {
        return backup.resolve("log." + Long.toHexString(BEGUN + 1));
    }

    private List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private Run restore(String... options) {
        List<String> arguments =
                Stream.concat(
                                Stream.of("snapshot", "restore", backup.toString()),
                                Arrays.stream(options))
                        .toList();
        return Run.of(arguments.toArray(String[]::new));
    }

    @Test
    void aBackupIsReadFromEndToEnd() throws Exception {
        Backup read = Backup.read(backup);
        assertThat(read.through()).isEqualTo(BEGUN + 4);
        assertThat(read.log())
                .isEqualTo(new LogFile(BEGUN + 1, BEGUN + 4, 4, Files.size(logFile())));
        Run status = Run.of("snapshot", "status", backup.toString());
        assertThat(status.exitCode()).isZero();
        assertThat(status.out()).containsPattern("through +0x100000007").contains("fuzzy");
    }

    @Test
    void everyChangedByteOfItsFilesIsNoticed() throws Exception {
        byte[] whole = Files.readAllBytes(logFile());
        for (int at = 0; at < whole.length; at++) {
            if (at >= 8 && at < 16) {
                // A number of the database, which nobody reads.
                continue;
            }
            byte[] changed = whole.clone();
            changed[at] ^= 1;
            Files.write(logFile(), changed);
            assertThatThrownBy(() -> Backup.read(backup))
                    .as("byte %d of the log", at)
                    .isInstanceOf(UnusableFileException.class);
        }
        for (int length = 0; length < whole.length; length++) {
            Files.write(logFile(), Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> Backup.read(backup))
                    .as("%d bytes of the log", length)
                    .isInstanceOf(UnusableFileException.class);
        }
        Files.delete(logFile());
        assertThatThrownBy(() -> Backup.read(backup)).hasMessageContaining("log.100000004");
    }

    @Test
    void anotherSnapshotInItsPlaceIsNoticed() throws Exception {
        Files.delete(snapshotFile());
        Snapshots.write(Snapshots.tree(NODES), snapshotFile(), StreamMode.GZIP);
        assertThatThrownBy(() -> Backup.read(backup))
                .hasMessageContaining("it is not the snapshot that backup.json describes");
    }

    /** A server gives the snapshot the zxid of its name, and its next epoch follows from that. */
    @ParameterizedTest
    @ValueSource(strings = {"0x100000004", "0x900000005"})
    void anExactSnapshotBeginsAtItsOwnZxid(String other) throws Exception {
        Path exact = Files.createDirectory(folder.resolve("exact"));
        Path file =
                Snapshots.write(Snapshots.tree(NODES), exact.resolve("snapshot"), StreamMode.GZIP);
        Backup.ofSnapshot(file).describe(exact, JsonNodeFactory.instance.objectNode());
        assertThat(Backup.read(exact).complete()).isTrue();
        Path description = exact.resolve("backup.json");
        String text = Files.readString(description);
        String begun = "\"begun\" : \"0x100000005";
        assertThat(text).contains(begun);
        Files.writeString(description, text.replace(begun, "\"begun\" : \"" + other));
        assertThatThrownBy(() -> Backup.read(exact))
                .isInstanceOf(UnusableFileException.class)
                .hasMessageContaining("does not begin at " + other);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[1",
                "{\"snapshot\": {\"file\": \"../snapshot.1\"}}",
                "{\"snapshot\": {\"file\": \"snapshot.1\"}}"
            })
    void anotherDescriptionIsRefused(String text) throws Exception {
        Files.writeString(backup.resolve("backup.json"), text);
        Run run = restore("--data-dir", data.toString());
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err()).startsWith("saucr: ");
        assertThat(names(data)).isEmpty();
    }

    @Test
    void aLogWithAGapIsRefused() throws Exception {
        Path gap = Snapshots.log(folder.resolve("gap"), BEGUN + 1, BEGUN + 3);
        assertThatThrownBy(() -> LogFile.read(gap, BEGUN, SNAPSHOT))
                .hasMessageContaining(
                        "there are entries missing between 0x100000004 and 0x100000006");
        assertThatThrownBy(() -> LogFile.read(gap, BEGUN - 1, SNAPSHOT))
                .hasMessageContaining("there are entries missing");
        Path shorter = Snapshots.log(folder.resolve("short"), BEGUN + 1);
        assertThatThrownBy(() -> LogFile.read(shorter, BEGUN, SNAPSHOT))
                .hasMessageContaining("it ends at 0x100000004, and should reach 0x100000005");
        Path epochs = Snapshots.log(folder.resolve("epochs"), BEGUN + 1, SNAPSHOT, 0x300000001L);
        assertThat(LogFile.read(epochs, BEGUN, SNAPSHOT).last()).isEqualTo(0x300000001L);
    }

    @Test
    void itIsRestoredWithItsLog() throws Exception {
        Path logs = Files.createDirectory(folder.resolve("logDir"));
        assertThat(restore("--data-dir", data.toString(), "--log-dir", logs.toString()).out())
                .contains("Restored 0x100000007", "on every server of the ensemble");
        assertThat(names(data)).containsExactly("version-2");
        assertThat(data.resolve("version-2").resolve(snapshotFile().getFileName()))
                .hasSameBinaryContentAs(snapshotFile());
        assertThat(logs.resolve("version-2").resolve(logFile().getFileName()))
                .hasSameBinaryContentAs(logFile());

        Path one = Files.createDirectories(folder.resolve("one/version-2")).getParent();
        assertThat(restore("--data-dir", one.toString()).exitCode()).isZero();
        assertThat(names(one.resolve("version-2"))).hasSize(2);
    }

    /** Else 'saucr-recovery inspect' misses a folder that nobody has been told of. */
    @Test
    void bothFoldersAreThereWithoutALogToo() throws Exception {
        Path logs = Files.createDirectories(folder.resolve("logDir/version-2")).getParent();
        Backup.ofSnapshot(snapshotFile()).restore(data, logs);
        assertThat(names(data.resolve("version-2"))).hasSize(1);
        assertThat(logs.resolve("version-2")).isEmptyDirectory();
    }

    @Test
    void aRestoreTellsProgramsToo() throws Exception {
        Run run = restore("--data-dir", data.toString(), "-o", "json");
        assertThat(run.exitCode()).isZero();
        JsonNode said = new ObjectMapper().readTree(run.out());
        assertThat(said.path("through").asText()).isEqualTo("0x100000007");
        assertThat(said.path("dataDir").asText()).isEqualTo(data.toString());
    }

    /** As if the disk of dataDir were full. */
    @Test
    void ifTheSnapshotCannotBeWrittenNoLogIsLeft() throws Exception {
        Path logs = Files.createDirectory(folder.resolve("logDir"));
        Backup read = Backup.read(backup);
        Files.delete(snapshotFile());
        assertThatThrownBy(() -> read.restore(data, logs)).isInstanceOf(NoSuchFileException.class);
        assertThat(names(data)).isEmpty();
        assertThat(names(logs)).isEmpty();
    }

    @Test
    void ifTheSnapshotGetsNoNameTheLogLosesItsOwn() throws Exception {
        Path logs = Files.createDirectory(folder.resolve("logDir"));
        Backup read = Backup.read(backup);
        byte[] snapshot = Files.readAllBytes(snapshotFile());
        Files.delete(snapshotFile());
        Process mkfifo = new ProcessBuilder("mkfifo", snapshotFile().toString()).start();
        assertThat(mkfifo.waitFor()).isZero();
        // While the snapshot is read, something else comes to the name.
        CompletableFuture<Void> other =
                CompletableFuture.runAsync(
                        () -> {
                            try (OutputStream out = Files.newOutputStream(snapshotFile())) {
                                Files.createDirectory(data.resolve("version-2"));
                                out.write(snapshot);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        assertThatThrownBy(() -> read.restore(data, logs))
                .isInstanceOf(FileAlreadyExistsException.class);
        other.get(1, TimeUnit.MINUTES);
        assertThat(names(data)).containsExactly("version-2");
        assertThat(names(data.resolve("version-2"))).isEmpty();
        assertThat(names(logs)).isEmpty();

        // The next try is not held up.
        Files.delete(snapshotFile());
        Files.write(snapshotFile(), snapshot);
        assertThat(restore("--data-dir", data.toString(), "--log-dir", logs.toString()).exitCode())
                .isZero();
        assertThat(names(logs.resolve("version-2"))).hasSize(1);
    }

    /** To an empty folder on another disk, for example, or to none. */
    @ParameterizedTest
    @ValueSource(strings = {"elsewhere", "missing"})
    void aSymbolicLinkIsNotReplaced(String target) throws Exception {
        Files.createDirectory(folder.resolve("elsewhere"));
        Path logs = Files.createDirectory(folder.resolve("logDir"));
        for (Path each : List.of(data, logs)) {
            Path link = each.resolve("version-2");
            Files.createSymbolicLink(link, folder.resolve(target));
            Run run = restore("--data-dir", data.toString(), "--log-dir", logs.toString());
            assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
            assertThat(run.err())
                    .contains(
                            "saucr: %s is a symbolic link to %s, and would be replaced. Move the link"
                                    .formatted(link, folder.resolve(target)));
            assertThat(Files.readSymbolicLink(link)).isEqualTo(folder.resolve(target));
            Files.delete(link);
            assertThat(names(data)).isEmpty();
            assertThat(names(logs)).isEmpty();
        }
        assertThat(names(folder.resolve("elsewhere"))).isEmpty();
    }

    @Test
    void aFileIsNoFolder() throws Exception {
        Path file = Files.writeString(data.resolve("version-2"), "kept");
        assertThat(restore("--data-dir", data.toString()).err())
                .contains("saucr: " + file + " is a file, and should be a folder, or not be");
        assertThat(file).hasContent("kept");
    }

    @Test
    void aServersDataIsNotTouched() throws Exception {
        Path logs = Files.createDirectories(folder.resolve("logDir/version-2"));
        Files.writeString(logs.resolve("log.1"), "of a server");
        Run run = restore("--data-dir", data.toString(), "--log-dir", logs.getParent().toString());
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err())
                .contains("data of a server in " + logs + " is there already; it is not replaced");
        assertThat(names(data)).isEmpty();
        assertThat(restore("--data-dir", folder.resolve("none").toString()).err())
                .contains("there is no such folder");
        assertThat(restore().exitCode()).isEqualTo(OperatorTool.USAGE);
        assertThat(restore("--data-dir", data.toString(), "--running").exitCode())
                .isEqualTo(OperatorTool.USAGE);
    }

    @Test
    void aFuzzySnapshotAloneWantsAWordOfConsent() throws Exception {
        Run run =
                Run.of(
                        "snapshot",
                        "restore",
                        snapshotFile().toString(),
                        "--data-dir",
                        data.toString());
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err()).contains("--accept-fuzzy");
        assertThat(names(data)).isEmpty();
        assertThat(
                        Run.of(
                                        "snapshot",
                                        "restore",
                                        "--accept-fuzzy",
                                        snapshotFile().toString(),
                                        "--data-dir",
                                        data.toString())
                                .exitCode())
                .isZero();
    }

    /** As when the process is told to end in the moment in which the folder would get its name. */
    @Test
    void whatIsBeingRemovedGetsNoName() throws Exception {
        Path target = folder.resolve("target");
        NewFile made = NewFile.folder(target);
        Path last = made.partial().resolve("9999");
        for (int i = 1000; i <= 9999; i++) {
            Files.createFile(made.partial().resolve(Integer.toString(i)));
        }
        CompletableFuture<Void> end = CompletableFuture.runAsync(made::close);
        while (Files.exists(last)) {
            Thread.onSpinWait();
        }
        assertThatThrownBy(made::commit).isInstanceOf(IOException.class);
        end.get(1, TimeUnit.MINUTES);
        assertThat(names(folder)).containsExactly("backup", "data", "logs");
    }

    @Test
    void aNewFileReplacesNothingAndLeavesNothing() throws Exception {
        Path there = Files.writeString(folder.resolve("there"), "kept");
        assertThatThrownBy(() -> NewFile.file(there))
                .isInstanceOf(FileAlreadyExistsException.class);
        Path late = folder.resolve("late");
        try (NewFile file = NewFile.file(late);
                InputStream text =
                        new ByteArrayInputStream("new".getBytes(StandardCharsets.UTF_8))) {
            NewFile.write(text, file.partial());
            Files.writeString(late, "came first");
            assertThatThrownBy(file::commit).isInstanceOf(FileAlreadyExistsException.class);
        }
        assertThat(late).hasContent("came first");
        try (NewFile made = NewFile.folder(folder.resolve("made"))) {
            Files.writeString(made.partial().resolve("file"), "text");
            made.commit();
        }
        assertThat(names(folder))
                .containsExactly("backup", "data", "late", "logs", "made", "there");
    }
}
