package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.quorum.Leader.Proposal;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.CreateContainerTxn;
import org.apache.zookeeper.txn.CreateTTLTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committed log is bounded by bytes, and holds a write once. */
class SaucrDatabaseTest {
    private static final long EPOCH = 1L << 32;
    private static final int MEGABYTE = 1 << 20;
    private static final int MOST = 10 * MEGABYTE;
    private static final int LARGE = 900_000;

    @TempDir Path folder;

    private FileTxnSnapLog log;
    private SaucrDatabase database;
    private long last = EPOCH;

    @BeforeEach
    void open() throws Exception {
        log = new FileTxnSnapLog(folder.toFile(), folder.toFile());
        database = new SaucrDatabase(log, MOST);
    }

    @AfterEach
    void close() throws Exception {
        database.close();
    }

    private void add(int type, Record txn) {
        add(++last, type, txn);
    }

    /** As a server has it whose client made the request. */
    private void add(long zxid, int type, Record txn) {
        ByteBuffer sent = ByteBuffer.allocate(LARGE);
        Request request =
                new Request(null, 7, (int) zxid, type, RequestRecord.fromBytes(sent), List.of());
        request.setHdr(new TxnHeader(7, (int) zxid, zxid, 1_000, type));
        request.setTxn(txn);
        request.setTxnDigest(new TxnDigest(2, zxid));
        request.zxid = zxid;
        database.addCommittedProposal(request);
    }

    private static SetDataTxn setData(int bytes) {
        return new SetDataTxn("/value", new byte[bytes], 1);
    }

    private List<Long> zxids() {
        List<Long> zxids = new ArrayList<>();
        for (Proposal each : database.getCommittedLog()) {
            zxids.add(each.getZxid());
        }
        assertThat(zxids.get(0)).isEqualTo(database.getminCommittedLog());
        assertThat(zxids.get(zxids.size() - 1)).isEqualTo(database.getmaxCommittedLog());
        return zxids;
    }

    @Test
    void largeValuesAreBoundedByBytes() {
        for (int i = 0; i < 100; i++) {
            add(OpCode.setData, setData(LARGE));
        }
        assertThat(zxids()).hasSize(MOST / LARGE).endsWith(last - 1, last);
    }

    @Test
    void smallOnesByTheirNumber() {
        for (int i = 0; i < 700; i++) {
            add(OpCode.setData, setData(100));
        }
        assertThat(zxids()).hasSize(500);
        for (int i = 0; i < 5; i++) {
            add(OpCode.setData, setData(MEGABYTE));
        }
        assertThat(zxids()).hasSize(500);
        for (int i = 0; i < 5; i++) {
            add(OpCode.setData, setData(MEGABYTE));
        }
        assertThat(zxids().size()).isBetween(8, 9);
    }

    @Test
    void theNewestStaysHoweverLargeItIs() {
        add(OpCode.setData, setData(100));
        add(OpCode.setData, setData(2 * MOST));
        assertThat(zxids()).containsExactly(last);
        add(OpCode.setData, setData(100));
        assertThat(zxids()).containsExactly(last);
        add(OpCode.setData, setData(100));
        assertThat(zxids()).containsExactly(last - 1, last);
    }

    @Test
    void whatEachKindHoldsCounts() {
        List<Txn> parts = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            parts.add(new Txn(OpCode.setData, new byte[100_000]));
        }
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            paths.add("/an/ephemeral/node/whose/path/has/some/sixty/letters/" + i);
        }
        byte[] data = new byte[LARGE];
        assertBounded(OpCode.multi, new MultiTxn(parts));
        assertBounded(OpCode.closeSession, new CloseSessionTxn(paths));
        assertBounded(OpCode.create, new CreateTxn("/new", data, Ids.OPEN_ACL_UNSAFE, false, 1));
        assertBounded(
                OpCode.createContainer,
                new CreateContainerTxn("/new", data, Ids.OPEN_ACL_UNSAFE, 1));
        assertBounded(
                OpCode.createTTL, new CreateTTLTxn("/new", data, Ids.OPEN_ACL_UNSAFE, 1, 1_000));
    }

    private void assertBounded(int type, Record txn) {
        for (int i = 0; i < 30; i++) {
            add(type, txn);
        }
        assertThat(zxids()).as("of " + txn.getClass()).hasSizeBetween(7, 12);
    }

    @Test
    void anEntryHoldsTheTransactionAlone() throws Exception {
        add(OpCode.setData, setData(LARGE));
        Proposal held = database.getCommittedLog().iterator().next();
        assertThat(held.getRequest().readRequestBytes()).isNull();
        assertThat(held.getRequest().getConnection()).isNull();
        assertThat(held.getQuorumPacket().getZxid()).isEqualTo(last);
        TxnLogEntry sent = TxnCodec.decode(held.getQuorumPacket().getData());
        assertThat(sent.getHeader()).isEqualTo(held.getRequest().getHdr());
        assertThat(sent.getTxn()).isEqualTo(setData(LARGE));
        assertThat(sent.getDigest()).isEqualTo(new TxnDigest(2, last));
    }

    /** A leader puts into its queue what it reads. ZooKeeper does not count the newest file. */
    @Test
    void ofTheLogNoMoreIsSentThanOfTheCommittedLog() throws Exception {
        for (int i = 0; i < 30; i++) {
            long zxid = ++last;
            TxnHeader header = new TxnHeader(7, i, zxid, 1_000, OpCode.setData);
            log.append(new Request(header, setData(LARGE), null));
        }
        log.commit();
        assertThat(sentFromLog(EPOCH + 1)).hasSize(2 + MOST / LARGE).startsWith(EPOCH + 1);
        assertThat(sentFromLog(last - 5)).endsWith(last - 1, last);
    }

    private List<Long> sentFromLog(long after) {
        List<Long> zxids = new ArrayList<>();
        Iterator<Proposal> proposals = database.getProposalsFromTxnLog(after, 1);
        while (proposals.hasNext()) {
            zxids.add(proposals.next().getZxid());
        }
        ((TxnLogProposalIterator) proposals).close();
        return zxids;
    }

    /** A database that is cleared and loaded again, or that is fast-forwarded. */
    @Test
    void whatIsAddedAgainOrAnewCountsOnce() {
        for (int i = 0; i < 9; i++) {
            add(OpCode.setData, setData(MEGABYTE));
        }
        for (long zxid = EPOCH + 1; zxid <= last; zxid++) {
            add(zxid, OpCode.setData, setData(MEGABYTE));
        }
        assertThat(zxids()).hasSize(9);
        database.clear();
        assertThat(database.getCommittedLog()).isEmpty();
        for (long zxid = EPOCH + 1; zxid <= last; zxid++) {
            add(zxid, OpCode.setData, setData(MEGABYTE));
        }
        assertThat(zxids()).hasSize(9);
    }
}
