package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.jute.OutputArchive;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.SnapStream.StreamMode;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Snapshots that ZooKeeper's own class has written, and what may have become of them. */
class SnapshotTest {
    private static final int NODES = 3;
    private static final int OF_EVERY_TREE = 4;

    @TempDir Path folder;
    private DataTree tree;
    private Path file;

    @BeforeEach
    void write() throws Exception {
        tree = Snapshots.tree(NODES);
        file = Snapshots.write(tree, folder.resolve("any.name"), StreamMode.CHECKED);
    }

    private Path with(byte[] content) throws Exception {
        return Files.write(folder.resolve("changed"), content);
    }

    @ParameterizedTest
    @EnumSource(
            value = StreamMode.class,
            names = {"CHECKED", "GZIP", "SNAPPY"})
    void aSnapshotIsReadHoweverItIsCompressed(StreamMode mode) throws Exception {
        Path compressed = Snapshots.write(tree, folder.resolve("other"), mode);
        Snapshot snapshot = Snapshot.read(compressed);
        assertThat(snapshot.kind()).isEqualTo(Snapshot.Kind.EXACT);
        assertThat(snapshot.zxid()).isEqualTo(Snapshots.FIRST + NODES - 1);
        assertThat(snapshot.digest()).isEqualTo(tree.getTreeDigest());
        assertThat(snapshot.nodes()).isEqualTo(NODES + OF_EVERY_TREE);
        assertThat(snapshot.ephemerals()).isEqualTo(1);
        assertThat(snapshot.sessions()).isEqualTo(1);
        assertThat(snapshot.dataBytes()).isEqualTo(NODES * 6L);
        assertThat(snapshot.bytes()).isEqualTo(Files.size(compressed));
        assertThat(snapshot.suffix()).isEqualTo(mode.getFileExtension());
    }

    @Test
    void whatIsNoStateOfAnyMomentIsFuzzy() throws Exception {
        // As if a write had come into the part of the tree that was written before.
        tree.getNode("/n1").stat.setMzxid(Snapshots.FIRST + NODES + 5);
        Path fuzzy = Snapshots.write(tree, folder.resolve("fuzzy"), StreamMode.CHECKED);
        assertThat(Snapshot.read(fuzzy).kind()).isEqualTo(Snapshot.Kind.FUZZY);
    }

    @ParameterizedTest
    @CsvSource({
        "0x0000000000000000, 0",
        "0x0100000000000007, 1",
        // Of the servers 128 and 200.
        "0x8000000000000007, 1",
        "0xc800000000000007, 1",
        // A container, and one that expires.
        "0x8000000000000000, 0",
        "0xff00000000001388, 0",
    })
    void anEphemeralBelongsToASession(String owner, long ephemerals) throws Exception {
        tree.getNode("/n" + NODES)
                .stat
                .setEphemeralOwner(Long.parseUnsignedLong(owner.substring(2), 16));
        Path other = Snapshots.write(tree, folder.resolve("other"), StreamMode.CHECKED);
        assertThat(Snapshot.read(other).ephemerals()).isEqualTo(ephemerals);
    }

    /**
     * As if a node with a new ACL had come after the ACLs were written, and before the tree was.
     */
    @Test
    void aNodeWithoutItsAclIsNoStateOfAnyMoment() throws Exception {
        DataTree late =
                new DataTree() {
                    @Override
                    public void serializeAcls(OutputArchive out) throws IOException {
                        super.serializeAcls(out);
                        processTxn(
                                new TxnHeader(
                                        Snapshots.SESSION,
                                        1,
                                        Snapshots.FIRST,
                                        1,
                                        ZooDefs.OpCode.create),
                                new CreateTxn(
                                        "/late",
                                        new byte[0],
                                        ZooDefs.Ids.CREATOR_ALL_ACL,
                                        false,
                                        1),
                                null);
                    }
                };
        Path fuzzy = Snapshots.write(late, folder.resolve("late"), StreamMode.CHECKED);
        Snapshot read = Snapshot.read(fuzzy);
        assertThat(read.digest()).isEqualTo(late.getTreeDigest());
        assertThat(read.kind()).isEqualTo(Snapshot.Kind.FUZZY);
        // With its ACL it is one.
        DataTree whole = new DataTree();
        whole.processTxn(
                new TxnHeader(Snapshots.SESSION, 1, Snapshots.FIRST, 1, ZooDefs.OpCode.create),
                new CreateTxn("/late", new byte[0], ZooDefs.Ids.CREATOR_ALL_ACL, false, 1),
                null);
        Path exact = Snapshots.write(whole, folder.resolve("whole"), StreamMode.CHECKED);
        assertThat(Snapshot.read(exact).kind()).isEqualTo(Snapshot.Kind.EXACT);
    }

    @Test
    void everyCutIsNoticed() throws Exception {
        byte[] whole = Files.readAllBytes(file);
        int tree = whole.length - 54;
        for (int length = 0; length < whole.length; length++) {
            Path cut = with(Arrays.copyOf(whole, length));
            if (length == tree || length == tree + 33) {
                // Older servers end here; what such a file lacks is only what tells more of it.
                continue;
            }
            assertThatThrownBy(() -> Snapshot.read(cut))
                    .as("%d of %d bytes", length, whole.length)
                    .isInstanceOf(UnusableFileException.class)
                    .hasMessageContaining(cut.toString());
        }
    }

    @Test
    void everyChangedByteIsNoticed() throws Exception {
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 0x40;
            Path path = with(changed);
            assertThatThrownBy(() -> Snapshot.read(path))
                    .as("byte %d of %d", at, whole.length)
                    .isInstanceOf(UnusableFileException.class);
        }
    }

    @Test
    void whatFollowsItsEndIsNoticed() throws Exception {
        byte[] whole = Files.readAllBytes(file);
        Path longer = with(Arrays.copyOf(whole, whole.length + 1));
        assertThatThrownBy(() -> Snapshot.read(longer))
                .isInstanceOf(UnusableFileException.class)
                .hasMessageContaining("there is something behind its end");
    }

    @Test
    void aForeignFileIsNamed() throws Exception {
        Path text = with("a text".repeat(100).getBytes(StandardCharsets.UTF_8));
        assertThat(Run.of("snapshot", "status", text.toString()).err())
                .contains(text + ": it is no snapshot of a ZooKeeper server");
        assertThat(Run.of("snapshot", "status", folder.resolve("none").toString()).err())
                .contains("none: there is no such file");
        assertThat(Run.of("snapshot", "status", folder.toString()).err())
                .contains(folder + ": it is no backup: backup.json is missing");
    }

    @Test
    void statusTellsForPeopleAndForPrograms() {
        Run table = Run.of("snapshot", "status", file.toString());
        assertThat(table.exitCode()).isZero();
        assertThat(table.out())
                .containsPattern("zxid +0x100000003")
                .containsPattern("kind +exact")
                .containsPattern("nodes +7");
        assertThat(Run.of("snapshot", "status", "-o", "json", file.toString()).out())
                .contains("\"zxid\" : \"0x100000003\"", "\"nodes\" : 7");
    }
}
