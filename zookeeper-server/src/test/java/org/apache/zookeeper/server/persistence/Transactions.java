package org.apache.zookeeper.server.persistence;

import io.saucr.core.Zxid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;

/** Transactions for tests: each creates the node that is named after its zxid. */
final class Transactions {
    private Transactions() {}

    static Request create(long zxid) {
        return create(zxid, 10);
    }

    static Request create(long zxid, int dataBytes) {
        CreateTxn txn =
                new CreateTxn(node(zxid), new byte[dataBytes], Ids.OPEN_ACL_UNSAFE, false, -1);
        TxnHeader header = new TxnHeader(99, (int) zxid, zxid, 1_000_000 + zxid, OpCode.create);
        return new Request(header, txn, null);
    }

    static Request createEphemeral(long zxid, long session) {
        CreateTxn txn = new CreateTxn(node(zxid), new byte[10], Ids.OPEN_ACL_UNSAFE, true, -1);
        return new Request(
                new TxnHeader(session, (int) zxid, zxid, 1_000_000 + zxid, OpCode.create),
                txn,
                null);
    }

    static String node(long zxid) {
        return "/n" + Long.toHexString(zxid);
    }

    /** The zxids of an epoch from one counter to another, both included. */
    static List<Long> zxids(long epoch, long from, long to) {
        List<Long> zxids = new ArrayList<>();
        for (long counter = from; counter <= to; counter++) {
            zxids.add(Zxid.of(epoch, counter));
        }
        return zxids;
    }

    @SafeVarargs
    static List<Long> join(List<Long>... parts) {
        List<Long> all = new ArrayList<>();
        for (List<Long> part : parts) {
            all.addAll(part);
        }
        return all;
    }

    /** One log file with these entries, not forced, as Apache's server makes it. */
    static void writeFile(Path directory, List<Long> zxids) throws IOException {
        writeFile(directory, 0, zxids);
    }

    /**
     * One log file with these entries, not forced.
     *
     * @param last the last entry before them, 0 if it is not known
     */
    static void writeFile(Path directory, long last, List<Long> zxids) throws IOException {
        try (RawLog.Writer writer = new RawLog.Writer(directory, last)) {
            for (long zxid : zxids) {
                writer.write(zxid, ByteBuffer.wrap(create(zxid).getSerializeData()));
            }
        }
    }

    /** The entries of a log after a zxid, up to its end or its first damage. */
    static List<Long> read(Path logs, Path snapshots, long after) throws IOException {
        List<Long> zxids = new ArrayList<>();
        try (RawLog.Reader reader = new RawLog(logs, snapshots).read(after)) {
            for (RawLog.Entry entry = reader.next(); entry != null; entry = reader.next()) {
                zxids.add(entry.zxid());
            }
        }
        return zxids;
    }
}
