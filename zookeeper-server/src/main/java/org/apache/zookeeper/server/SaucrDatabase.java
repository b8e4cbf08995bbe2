package org.apache.zookeeper.server;

import java.util.Iterator;
import java.util.concurrent.locks.Lock;
import org.apache.jute.Record;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.quorum.Leader.Proposal;
import org.apache.zookeeper.server.quorum.QuorumPacket;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.CreateContainerTxn;
import org.apache.zookeeper.txn.CreateTTLTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetACLTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A database whose committed log is bounded by bytes. ZooKeeper bounds it by {@code commitLogCount}
 * alone, and keeps each request as it came next to its transaction: 500 writes of 900 KB hold more
 * than the default heap.
 *
 * <p>The committed log holds the transactions, the newest one in any case. A learner that lacks
 * more is synchronized from the transaction log, as far as that is within the bound, too, or by a
 * snapshot.
 */
public final class SaucrDatabase extends ZKDatabase {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrDatabase.class);

    /** Request, header, digest and proposal of an entry, in bytes of heap; about. */
    private static final long ENTRY_BYTES = 400;

    /** An object with an array or a string in it, such as a path in a list; about. */
    private static final long OBJECT_BYTES = 64;

    private final long mostBytes;

    /** What the entries hold; guarded by the write lock of {@link #logLock}. */
    private long heldBytes;

    /**
     * @param mostBytes what the committed log may hold
     */
    public SaucrDatabase(FileTxnSnapLog snapLog, long mostBytes) {
        super(snapLog);
        this.mostBytes = mostBytes;
    }

    @Override
    public void addCommittedProposal(Request request) {
        Request entry = transactionOf(request);
        Lock lock = logLock.writeLock();
        lock.lock();
        try {
            boolean empty = committedLog.isEmpty();
            if (empty) {
                heldBytes = 0;
            }
            Proposal oldest = committedLog.peek();
            long newest = maxCommittedLog;
            super.addCommittedProposal(entry);
            if (!empty && maxCommittedLog == newest) {
                // It was there before.
                return;
            }
            heldBytes += bytesOf(entry);
            if (!empty && committedLog.peek() != oldest) {
                heldBytes -= bytesOf(oldest.getRequest());
            }
            while (heldBytes > mostBytes && committedLog.size() > 1) {
                heldBytes -= bytesOf(committedLog.remove().getRequest());
                minCommittedLog = committedLog.peek().getZxid();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * A leader queues all of it for the learner at once. Where that is more than the committed log
     * may hold it ends before the committed log begins; then ZooKeeper sends a snapshot.
     */
    @Override
    public Iterator<Proposal> getProposalsFromTxnLog(long startZxid, long sizeLimit) {
        Iterator<Proposal> proposals = super.getProposalsFromTxnLog(startZxid, sizeLimit);
        return proposals instanceof TxnLogProposalIterator all && all.hasNext()
                ? new Bounded(all, startZxid, mostBytes)
                : proposals;
    }

    /** Used by one thread. */
    private static final class Bounded extends TxnLogProposalIterator {
        private final TxnLogProposalIterator all;
        private final long after;
        private final long mostBytes;
        private long bytes;

        /**
         * @param after what comes up to this zxid is not sent
         */
        Bounded(TxnLogProposalIterator all, long after, long mostBytes) {
            super(null);
            this.all = all;
            this.after = after;
            this.mostBytes = mostBytes;
        }

        @Override
        public boolean hasNext() {
            return bytes <= mostBytes && all.hasNext();
        }

        @Override
        public Proposal next() {
            Proposal proposal = all.next();
            QuorumPacket packet = proposal.getQuorumPacket();
            if (packet != null && packet.getZxid() > after) {
                bytes += ENTRY_BYTES + packet.getData().length;
                if (bytes > mostBytes) {
                    LOG.info(
                            "The log after 0x{} has more than {} bytes",
                            Long.toHexString(after),
                            mostBytes);
                }
            }
            return proposal;
        }

        @Override
        public void close() {
            all.close();
        }
    }

    /**
     * Without what the client has sent, its decoded form and the connection: all that a learner is
     * sent is made of the transaction.
     */
    private static Request transactionOf(Request request) {
        Request entry =
                new Request(
                        request.sessionId,
                        request.cxid,
                        request.type,
                        request.getHdr(),
                        request.getTxn(),
                        request.zxid);
        entry.setTxnDigest(request.getTxnDigest());
        return entry;
    }

    private static long bytesOf(Request entry) {
        return ENTRY_BYTES + bytesOf(entry.getTxn());
    }

    private static long bytesOf(Record txn) {
        if (txn instanceof SetDataTxn setData) {
            return bytesOf(setData.getPath()) + bytesOf(setData.getData());
        }
        if (txn instanceof CreateTxn create) {
            return bytesOf(create.getPath()) + bytesOf(create.getData());
        }
        if (txn instanceof CreateContainerTxn create) {
            return bytesOf(create.getPath()) + bytesOf(create.getData());
        }
        if (txn instanceof CreateTTLTxn create) {
            return bytesOf(create.getPath()) + bytesOf(create.getData());
        }
        if (txn instanceof DeleteTxn delete) {
            return bytesOf(delete.getPath());
        }
        long bytes = 0;
        if (txn instanceof MultiTxn multi) {
            for (Txn each : multi.getTxns()) {
                bytes += OBJECT_BYTES + bytesOf(each.getData());
            }
        } else if (txn instanceof CloseSessionTxn closing) {
            for (String each : closing.getPaths2Delete()) {
                bytes += bytesOf(each);
            }
        } else if (txn instanceof SetACLTxn setAcl) {
            bytes += bytesOf(setAcl.getPath());
            for (ACL each : setAcl.getAcl()) {
                bytes += OBJECT_BYTES + bytesOf(each.getId().getId());
            }
        }
        return bytes;
    }

    private static long bytesOf(String text) {
        return OBJECT_BYTES + (text == null ? 0 : text.length());
    }

    private static long bytesOf(byte[] data) {
        return data == null ? 0 : data.length;
    }
}
