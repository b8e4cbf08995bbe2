package io.saucr.tool;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.Adler32;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.SnapStream.StreamMode;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;

/** What a server that is not there has logged: its tree, its snapshots, its log with digests. */
final class LoggedHistory {
    private final Path folder;
    private final DataTree tree = new DataTree();
    private final NavigableMap<Long, byte[]> entries = new TreeMap<>();
    private final Map<Long, Long> digests = new HashMap<>();
    private long zxid;
    private long purged;

    /**
     * @param folder for its files
     */
    LoggedHistory(Path folder, int epoch) {
        this.folder = folder;
        zxid = (long) epoch << 32;
    }

    long zxid() {
        return zxid;
    }

    /** Of the tree after an entry. */
    long digest(long after) {
        return digests.get(after);
    }

    /** Begins a later epoch. */
    void elect() {
        zxid = ((zxid >>> 32) + 1) << 32;
    }

    /** The entries up to one are no longer given. */
    void purge(long through) {
        purged = through;
    }

    /** Its tree lacks a node that the log has. */
    void forget(String path) throws KeeperException.NoNodeException {
        tree.deleteNode(path, 1);
    }

    /** Writes the value to a node that is made if it is not there. */
    long write(String path, String value, long time) {
        zxid++;
        byte[] data = value.getBytes(StandardCharsets.UTF_8);
        boolean is = tree.getNode(path) != null;
        TxnHeader header =
                new TxnHeader(
                        Snapshots.SESSION,
                        1,
                        zxid,
                        time,
                        is ? ZooDefs.OpCode.setData : ZooDefs.OpCode.create);
        Record txn =
                is
                        ? new SetDataTxn(path, data, 1)
                        : new CreateTxn(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, false, 1);
        return log(header, txn, true);
    }

    /** A write that was refused: an entry without a digest. */
    long refuse(long time) {
        zxid++;
        return log(
                new TxnHeader(Snapshots.SESSION, 1, zxid, time, ZooDefs.OpCode.error),
                new ErrorTxn(KeeperException.Code.NONODE.intValue()),
                false);
    }

    private long log(TxnHeader header, Record txn, boolean digest) {
        tree.processTxn(header, txn, null);
        digests.put(zxid, tree.getTreeDigest());
        Request request = new Request(header.getClientId(), 1, header.getType(), header, txn, zxid);
        request.setTxnDigest(digest ? new TxnDigest(2, tree.getTreeDigest()) : null);
        entries.put(zxid, request.getSerializeData());
        return zxid;
    }

    byte[] snapshot() {
        try {
            Path file = Snapshots.write(tree, folder.resolve("given"), StreamMode.GZIP);
            byte[] bytes = Files.readAllBytes(file);
            Files.delete(file);
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One that shows the next write already, in part; then that is written. */
    byte[] fuzzySnapshot(String path, long time) {
        long before = tree.getNode(path).stat.getMzxid();
        tree.getNode(path).stat.setMzxid(zxid + 1);
        byte[] bytes = snapshot();
        tree.getNode(path).stat.setMzxid(before);
        write(path, "in part", time);
        return bytes;
    }

    /** Null if what comes next is purged, as a server does. */
    byte[] log(String question) {
        long after = Long.decode(question.substring(question.indexOf('=') + 1));
        if (after < purged) {
            return null;
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(all)) {
            out.writeInt(FileTxnLog.TXNLOG_MAGIC);
            out.writeInt(FileTxnLog.VERSION);
            out.writeLong(0);
            for (byte[] bytes : entries.tailMap(after, false).values()) {
                Adler32 checksum = new Adler32();
                checksum.update(bytes);
                out.writeLong(checksum.getValue());
                out.writeInt(bytes.length);
                out.write(bytes);
                out.writeByte('B');
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.toByteArray();
    }

    /** Gives it from this AdminServer. */
    void serve(AdminAnswers server) {
        server.answer("snapshot", question -> snapshot(), () -> Snapshot.hex(zxid))
                .answer("saucr/log", this::log, () -> "");
    }
}
