package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.tool.AdminAnswers.End;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.SnapStream.StreamMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code snapshot save} and {@code backup} of two endpoints: a real server for clients, and
 * AdminServers that break off.
 */
class BackupCommandTest {
    private static final int NODES = 5;
    private static final long SNAPSHOT = Snapshots.FIRST + NODES - 1;
    private static final long BEGUN = SNAPSHOT - 2;

    @TempDir static Path server;
    private static ClientServer clients;

    @TempDir Path folder;
    private AdminAnswers first;
    private AdminAnswers second;

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
    }

    @AfterEach
    void close() throws Exception {
        first.close();
        second.close();
    }

    private Run run(String... command) {
        return clients.run(
                first, second, Stream.concat(Stream.of(command), Stream.of("--timeout=5s")));
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private byte[] exact() throws IOException {
        return bytes(Snapshots.write(Snapshots.tree(NODES), made(), StreamMode.CHECKED));
    }

    private byte[] fuzzy() throws IOException {
        DataTree tree = Snapshots.tree(NODES);
        tree.getNode("/n1").stat.setMzxid(SNAPSHOT + 1);
        return bytes(Snapshots.write(tree, made(), StreamMode.CHECKED));
    }

    private byte[] withoutDigest() throws IOException {
        return bytes(
                Snapshots.writeWithoutDigest(Snapshots.tree(NODES), made(), StreamMode.CHECKED));
    }

    /** The beginning of a log, and no entry. */
    private byte[] emptyLog() throws IOException {
        return Arrays.copyOf(log(), 16);
    }

    private byte[] log() throws IOException {
        return bytes(Snapshots.log(server.resolve("made"), BEGUN + 1, SNAPSHOT, SNAPSHOT + 1));
    }

    private Path made() throws IOException {
        return Files.createDirectories(server.resolve("made")).resolve("snapshot");
    }

    private static byte[] bytes(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        Files.delete(file);
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({"CLOSES, false", "CLOSES, true", "SILENT, true"})
    void theNextEndpointGivesWhatTheFirstBreaksOffAt(End end, boolean backup) throws Exception {
        String zxid = Snapshot.hex(SNAPSHOT);
        first.answer("snapshot", exact(), zxid, end);
        second.answer("snapshot", exact(), zxid, End.WHOLE);
        String target = folder.resolve("target").toString();
        Run run = backup ? run("backup", target) : run("snapshot", "save", target);
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err())
                .contains(
                        first.address()
                                + "/commands broke off in the middle of what it sent"
                                + (end == End.SILENT ? ": nothing more came within 5 s" : "\n"))
                .doesNotContain("cannot write");
        assertThat(Run.of("snapshot", "status", target).exitCode()).isZero();
        assertThat(names()).containsExactly("target");
    }

    @Test
    void theNextEndpointGivesTheLogToo() throws Exception {
        String zxid = Snapshot.hex(BEGUN);
        first.answer("snapshot", fuzzy(), zxid, End.WHOLE)
                .answer("saucr/log", log(), "", End.CLOSES);
        second.answer("snapshot", fuzzy(), zxid, End.WHOLE)
                .answer("saucr/log", log(), "", End.WHOLE);
        Path target = folder.resolve("target");
        Run run = run("backup", target.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).contains("broke off in the middle of what it sent");
        assertThat(second.asked()).contains("saucr/log?after=" + zxid);
        assertThat(Backup.read(target).through()).isEqualTo(SNAPSHOT + 1);
        // With the four that every tree has; the nodes are those of the snapshot, not of a restore.
        assertThat(run.out())
                .isEqualTo(
                        ("Backed up 0x100000006 in %s: a snapshot of 9 nodes, and the log of 3 writes"
                                        + " that came meanwhile; the snapshot may show some of them"
                                        + " already.\n")
                                .formatted(target));
        assertThat(names()).containsExactly("target");
    }

    /** A write below /zookeeper, for example, is in no digest. */
    @Test
    void theLogIsTakenWhereverWritesCameAndTheServerGivesIt() throws Exception {
        String zxid = Snapshot.hex(BEGUN);
        first.answer("snapshot", exact(), zxid, End.WHOLE)
                .answer("saucr/log", log(), "", End.WHOLE);
        Path target = folder.resolve("target");
        Run run = run("backup", target.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(Backup.read(target).log().entries()).isEqualTo(3);

        // One of Apache's does not; its snapshot is exact.
        second.answer("snapshot", exact(), zxid, End.WHOLE);
        first.answer("snapshot", exact(), zxid, End.CLOSES);
        Path other = folder.resolve("other");
        assertThat(run("backup", other.toString()).exitCode()).isZero();
        Backup backup = Backup.read(other);
        assertThat(backup.log()).isNull();
        assertThat(backup.complete()).isTrue();
        assertThat(backup.begun()).isEqualTo(SNAPSHOT);
    }

    /** As of an idle ensemble with zookeeper.digest.enabled=false. */
    @Test
    void withoutDigestsAnEmptyLogSaysThatTheSnapshotIsComplete() throws Exception {
        String zxid = Snapshot.hex(SNAPSHOT);
        first.answer("snapshot", withoutDigest(), zxid, End.WHOLE)
                .answer("saucr/log", emptyLog(), "", End.WHOLE);
        Path target = folder.resolve("target");
        Run run = run("backup", target.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(first.asked()).contains("saucr/log?after=" + zxid);
        Backup backup = Backup.read(target);
        assertThat(backup.snapshot().kind()).isEqualTo(Snapshot.Kind.UNKNOWN);
        assertThat(backup.log()).isNull();
        assertThat(Run.of("snapshot", "status", target.toString()).out())
                .containsPattern("complete +true");

        Path data = Files.createDirectory(folder.resolve("data"));
        String[] restore = {
            "snapshot", "restore", target.toString(), "--data-dir", data.toString()
        };
        // What the folder says counts: of another zxid, or without the word, nobody knows.
        Path description = target.resolve("backup.json");
        String text = Files.readString(description);
        for (String other :
                List.of(
                        text.replace("\"complete\" : true", "\"complete\" : false"),
                        text.replace("\"begun\" : \"" + zxid, "\"begun\" : \"0x1"))) {
            Files.writeString(description, other);
            assertThat(Run.of(restore).err()).contains("--accept-fuzzy");
        }
        Files.writeString(description, text);
        assertThat(Run.of(restore).exitCode()).isZero();
        assertThat(data.resolve("version-2/snapshot." + Long.toHexString(SNAPSHOT)))
                .hasBinaryContent(withoutDigest());
    }

    @Test
    void withoutDigestsTheLogIsKept() throws Exception {
        first.answer("snapshot", withoutDigest(), Snapshot.hex(BEGUN), End.WHOLE)
                .answer("saucr/log", emptyLog(), "", End.WHOLE);
        second.answer("snapshot", withoutDigest(), Snapshot.hex(BEGUN), End.WHOLE)
                .answer("saucr/log", log(), "", End.WHOLE);
        Path target = folder.resolve("target");
        Run run = run("backup", target.toString());
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).contains("it ends at 0x100000003, and should reach 0x100000005");
        assertThat(Backup.read(target).log().entries()).isEqualTo(3);
    }

    @Test
    void withoutDigestsApachesServersCannotTell() throws Exception {
        for (AdminAnswers each : List.of(first, second)) {
            each.answer("snapshot", withoutDigest(), Snapshot.hex(SNAPSHOT), End.WHOLE);
        }
        Path target = folder.resolve("target");
        assertThat(run("backup", target.toString()).err())
                .contains("no digest that tells whether clients wrote meanwhile");
        assertThat(run("backup", "--accept-fuzzy", target.toString()).exitCode()).isZero();
        assertThat(Backup.read(target).complete()).isFalse();
    }

    @Test
    void aTreeThatDoesNotFitItsDigestIsDamagedIfNothingWasWritten() throws Exception {
        for (AdminAnswers each : List.of(first, second)) {
            each.answer("snapshot", fuzzy(), Snapshot.hex(SNAPSHOT), End.WHOLE)
                    .answer("saucr/log", emptyLog(), "", End.WHOLE);
        }
        Run run = run("backup", folder.resolve("target").toString());
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err()).contains("its snapshot does not fit its digest");
        assertThat(names()).isEmpty();
    }

    @Test
    void ifAllBreakOffNothingIsLeft() throws Exception {
        first.answer("snapshot", exact(), Snapshot.hex(SNAPSHOT), End.CLOSES);
        second.answer("snapshot", exact(), Snapshot.hex(SNAPSHOT), End.CLOSES);
        Run run = run("backup", folder.resolve("target").toString());
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.err())
                .contains(
                        first.address(),
                        second.address(),
                        "saucr: no endpoint gave a backup; nothing was written");
        assertThat(names()).isEmpty();
    }
}
