package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.Logs;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which trees a new leader writes to its disk before it serves. */
class SaucrLeaderServerTest {
    private static final long UNKNOWN_SESSION = 7;

    @TempDir Path folder;

    private SaucrTxnSnapLog snapLog;
    private ZKDatabase database;
    private SaucrLeaderServer server;

    @BeforeEach
    void open() throws Exception {
        snapLog = Logs.open(folder);
        database = new ZKDatabase(snapLog);
        server =
                new SaucrLeaderServer(
                        snapLog,
                        new QuorumPeer(),
                        database,
                        new RequestWatch(new SlowRequests(Duration.ZERO)));
    }

    @AfterEach
    void close() throws IOException {
        snapLog.close();
    }

    private void reopen() throws Exception {
        snapLog.close();
        open();
    }

    private static String node(long counter) {
        return "/n" + counter;
    }

    private void write(long epoch, long entries) throws IOException {
        for (long counter = 1; counter <= entries; counter++) {
            long zxid = Zxid.of(epoch, counter);
            TxnHeader header = new TxnHeader(99, (int) counter, zxid, counter, OpCode.create);
            CreateTxn txn =
                    new CreateTxn(node(counter), new byte[10], Ids.OPEN_ACL_UNSAFE, false, -1);
            snapLog.append(new Request(header, txn, null));
        }
        snapLog.commit();
    }

    private List<String> snapshots() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("version-2"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("snapshot"))
                    .sorted()
                    .toList();
        }
    }

    private DataTree restored() throws IOException {
        DataTree tree = new DataTree();
        snapLog.restore(tree, new ConcurrentHashMap<>(), (header, txn, digest) -> {});
        return tree;
    }

    @Test
    void whatSnapshotAndLogHaveIsNotWrittenOnceMore() throws Exception {
        server.loadData();
        assertThat(snapshots()).as("of the first start").containsExactly("snapshot.0");
        write(1, 20);
        reopen();
        server.loadData();
        assertThat(snapshots()).containsExactly("snapshot.0");
        assertThat(server.getZxid()).isEqualTo(Zxid.of(1, 20));
        assertThat(database.getNode(node(20))).isNotNull();
        assertThat(restored().getTreeDigest()).isEqualTo(database.getDataTree().getTreeDigest());
    }

    @Test
    void laterSnapshotsAreTaken() throws Exception {
        write(1, 20);
        server.loadData();
        assertThat(server.takeSnapshot()).hasName("snapshot.100000014");
        assertThat(snapshots()).containsExactly("snapshot.0", "snapshot.100000014");
    }

    /** As after a snapshot of a leader that died before it was acknowledged. */
    @Test
    void aTreeThatIsInMemoryAloneIsWritten() throws Exception {
        write(1, 20);
        database.loadDataBase();
        database.setlastProcessedZxid(Zxid.of(2, 0));
        server.loadData();
        assertThat(snapshots()).containsExactly("snapshot.0", "snapshot.200000000");
    }

    @Test
    void aTreeWithoutTheNodesOfDeadSessionsIsWritten() throws Exception {
        write(1, 20);
        database.loadDataBase();
        database.getDataTree()
                .createNode("/left", new byte[0], Ids.OPEN_ACL_UNSAFE, UNKNOWN_SESSION, -1, 1, 1);
        server.loadData();
        assertThat(snapshots()).containsExactly("snapshot.0", "snapshot.100000014");
        assertThat(restored().getNode("/left")).isNull();
    }

    /** The property is for upgrades from versions that wrote no snapshot at first. */
    @Test
    void aTreeOfALogWithoutSnapshotIsWritten() throws Exception {
        write(2, 20);
        System.setProperty(FileTxnSnapLog.ZOOKEEPER_SNAPSHOT_TRUST_EMPTY, "true");
        try {
            reopen();
            server.loadData();
        } finally {
            System.clearProperty(FileTxnSnapLog.ZOOKEEPER_SNAPSHOT_TRUST_EMPTY);
        }
        assertThat(snapshots()).containsExactly("snapshot.200000014");
    }
}
