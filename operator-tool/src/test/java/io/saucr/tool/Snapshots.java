package io.saucr.tool;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileSnap;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.SnapStream;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.TxnHeader;

/** Snapshots and logs as ZooKeeper's own classes write them. */
final class Snapshots {
    static final long SESSION = 7;
    static final long FIRST = 0x100000001L;

    private Snapshots() {}

    /** A tree after that many writes: nodes /n1, /n2 and so on; the last one is ephemeral. */
    static DataTree tree(int nodes) {
        DataTree tree = new DataTree();
        for (int i = 1; i <= nodes; i++) {
            tree.processTxn(
                    new TxnHeader(SESSION, i, FIRST + i - 1, 1000 + i, ZooDefs.OpCode.create),
                    new CreateTxn(
                            "/n" + i,
                            ("data " + i).getBytes(StandardCharsets.UTF_8),
                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                            i == nodes,
                            i),
                    null);
        }
        return tree;
    }

    /** Writes a snapshot under any name. */
    static Path write(DataTree tree, Path file, SnapStream.StreamMode mode) throws IOException {
        SnapStream.setStreamMode(mode);
        FileSnap snap = new FileSnap(file.getParent().toFile());
        try {
            Path named =
                    file.resolveSibling(
                            "snapshot."
                                    + Long.toHexString(tree.lastProcessedZxid)
                                    + mode.getFileExtension());
            snap.serialize(tree, Map.of(SESSION, 4000), named.toFile(), true);
            if (!named.equals(file)) {
                Files.move(named, file);
            }
            return file;
        } finally {
            snap.close();
            SnapStream.setStreamMode(SnapStream.StreamMode.DEFAULT_MODE);
        }
    }

    /** A snapshot as servers write it that keep no digests. */
    static Path writeWithoutDigest(DataTree tree, Path file, SnapStream.StreamMode mode)
            throws IOException {
        boolean digests = ZooKeeperServer.isDigestEnabled();
        ZooKeeperServer.setDigestEnabled(false);
        try {
            return write(tree, file, mode);
        } finally {
            ZooKeeperServer.setDigestEnabled(digests);
        }
    }

    /** A log with entries of these zxids, as one file; without the zeros that servers pad with. */
    static Path log(Path folder, long... zxids) throws IOException {
        Files.createDirectories(folder);
        FileTxnLog.setPreallocSize(0);
        try (FileTxnLog log = new FileTxnLog(folder.toFile())) {
            for (long zxid : zxids) {
                log.append(
                        new Request(
                                new TxnHeader(SESSION, 1, zxid, 1, ZooDefs.OpCode.setData),
                                new SetDataTxn("/n1", new byte[] {1}, 1),
                                null));
            }
            log.commit();
        }
        return folder.resolve("log." + Long.toHexString(zxids[0]));
    }
}
