package org.apache.zookeeper.server;

import java.io.IOException;
import org.apache.jute.InputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.txn.CreateContainerTxn;
import org.apache.zookeeper.txn.CreateSessionTxn;
import org.apache.zookeeper.txn.CreateTTLTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetACLTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;

/**
 * Transactions as packets and the log have them, for what every server does with each: ZooKeeper's
 * own methods lock for each byte that they read. Same bytes, same records.
 *
 * <p>Any thread.
 */
public final class TxnCodec {
    @SuppressWarnings("ThreadLocalUsage") // a buffer for each thread
    private static final ThreadLocal<Encoder> ENCODERS = ThreadLocal.withInitial(Encoder::new);

    private TxnCodec() {}

    /**
     * @return null for what is rare or damaged: ZooKeeper's method decodes it, or says what is
     *     wrong
     */
    public static TxnLogEntry decode(byte[] bytes) {
        try {
            InputArchive archive = new ServerArchive(new BufferInput(bytes));
            TxnHeader header = new TxnHeader();
            header.deserialize(archive, "header");
            Record txn = recordOf(header.getType());
            if (txn == null) {
                return null;
            }
            txn.deserialize(archive, "txn");
            TxnDigest digest = null;
            if (ZooKeeperServer.isDigestEnabled()) {
                digest = new TxnDigest();
                digest.deserialize(archive, "digest");
            }
            return new TxnLogEntry(txn, header, digest);
        } catch (IOException e) {
            return null;
        }
    }

    /** Empty; null for the types of which there are several forms. */
    private static Record recordOf(int type) {
        return switch (type) {
            case OpCode.setData, OpCode.reconfig -> new SetDataTxn();
            case OpCode.create, OpCode.create2 -> new CreateTxn();
            case OpCode.createContainer -> new CreateContainerTxn();
            case OpCode.createTTL -> new CreateTTLTxn();
            case OpCode.delete, OpCode.deleteContainer -> new DeleteTxn();
            case OpCode.multi -> new MultiTxn();
            case OpCode.setACL -> new SetACLTxn();
            case OpCode.createSession -> new CreateSessionTxn();
            case OpCode.error -> new ErrorTxn();
            default -> null;
        };
    }

    /**
     * @param txn null if the transaction is its header
     * @param digest null if there is none
     */
    public static byte[] encode(TxnHeader header, Record txn, TxnDigest digest) {
        Encoder encoder = ENCODERS.get();
        encoder.clear();
        encoder.add(header, "hdr");
        if (txn != null) {
            encoder.add(txn, "txn");
        }
        if (digest != null) {
            encoder.add(digest, "digest");
        }
        byte[] bytes = encoder.copyBehind(0);
        // It must not hold the value.
        encoder.clear();
        return bytes;
    }
}
