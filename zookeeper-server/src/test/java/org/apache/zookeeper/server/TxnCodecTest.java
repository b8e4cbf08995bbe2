package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.jute.BinaryOutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.persistence.Util;
import org.apache.zookeeper.server.util.SerializeUtils;
import org.apache.zookeeper.txn.CloseSessionTxn;
import org.apache.zookeeper.txn.CreateContainerTxn;
import org.apache.zookeeper.txn.CreateSessionTxn;
import org.apache.zookeeper.txn.CreateTTLTxn;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.CreateTxnV0;
import org.apache.zookeeper.txn.DeleteTxn;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetACLTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Through ZooKeeper's own methods, which the build makes call {@link TxnCodec}. */
class TxnCodecTest {
    private static final TxnDigest DIGEST = new TxnDigest(2, 0x1234_5678_9abc_def0L);

    private static byte[] data(int bytes) {
        byte[] data = new byte[bytes];
        new Random(bytes).nextBytes(data);
        return data;
    }

    static Stream<Arguments> transactions() {
        return Stream.of(
                Arguments.of(OpCode.setData, new SetDataTxn("/a/\u00e4\u4e16", data(1024), 7)),
                Arguments.of(OpCode.setData, new SetDataTxn("/large", data(300_000), 7)),
                Arguments.of(OpCode.setData, new SetDataTxn("/none", null, 7)),
                Arguments.of(OpCode.reconfig, new SetDataTxn("/zookeeper/config", data(99), -1)),
                Arguments.of(
                        OpCode.create, new CreateTxn("/c", data(9), Ids.OPEN_ACL_UNSAFE, true, 3)),
                Arguments.of(
                        OpCode.create2,
                        new CreateTxn("/c", data(0), Ids.OPEN_ACL_UNSAFE, false, 3)),
                Arguments.of(
                        OpCode.createContainer,
                        new CreateContainerTxn("/k", data(1), Ids.OPEN_ACL_UNSAFE, 3)),
                Arguments.of(
                        OpCode.createTTL,
                        new CreateTTLTxn("/t", data(1), Ids.OPEN_ACL_UNSAFE, 3, 10_000)),
                Arguments.of(OpCode.delete, new DeleteTxn("/d")),
                Arguments.of(OpCode.deleteContainer, new DeleteTxn("/d")),
                Arguments.of(OpCode.setACL, new SetACLTxn("/l", Ids.READ_ACL_UNSAFE, 1)),
                Arguments.of(OpCode.createSession, new CreateSessionTxn(30_000)),
                Arguments.of(OpCode.error, new ErrorTxn(-101)),
                Arguments.of(
                        OpCode.multi,
                        new MultiTxn(
                                List.of(
                                        new Txn(OpCode.delete, data(30)),
                                        new Txn(OpCode.error, data(4))))),
                Arguments.of(OpCode.closeSession, new CloseSessionTxn(List.of("/e", "/f"))));
    }

    private static TxnHeader header(int type) {
        return new TxnHeader(0x1122334455667788L, 9, 0x700000001L, 1_700_000_000_000L, type);
    }

    /** As ZooKeeper's classes write themselves. */
    private static byte[] written(Record... records) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Record each : records) {
            BinaryOutputArchive.getArchive(out).writeRecord(each, "record");
        }
        return out.toByteArray();
    }

    @ParameterizedTest
    @MethodSource("transactions")
    void bytesAndRecordsAreZooKeepersOwn(int type, Record txn) throws IOException {
        byte[] bytes = written(header(type), txn, DIGEST);
        assertThat(Util.marshallTxnEntry(header(type), txn, DIGEST)).isEqualTo(bytes);
        TxnLogEntry entry = SerializeUtils.deserializeTxn(bytes);
        assertThat(entry.getHeader()).isEqualTo(header(type));
        assertThat(entry.getTxn()).hasSameClassAs(txn).isEqualTo(txn);
        assertThat(entry.getDigest()).isEqualTo(DIGEST);
        assertThat(TxnCodec.decode(bytes) == null)
                .as("left to ZooKeeper")
                .isEqualTo(type == OpCode.closeSession);
    }

    @ParameterizedTest
    @MethodSource("transactions")
    void aDigestMayBeMissing(int type, Record txn) throws IOException {
        byte[] bytes = written(header(type), txn);
        assertThat(Util.marshallTxnEntry(header(type), txn, null)).isEqualTo(bytes);
        TxnLogEntry entry = SerializeUtils.deserializeTxn(bytes);
        assertThat(entry.getTxn()).isEqualTo(txn);
        assertThat(entry.getDigest()).isNull();
    }

    @ParameterizedTest
    @MethodSource("transactions")
    void whatIsCutOffIsAnError(int type, Record txn) throws IOException {
        int wholeBytes = written(header(type), txn).length;
        byte[] bytes = written(header(type), txn);
        // A session that was closed may be a header alone, and the oldest creations end earlier.
        if (type != OpCode.closeSession && type != OpCode.create) {
            for (int length = 0; length < wholeBytes; length += 1 + wholeBytes / 50) {
                byte[] cut = Arrays.copyOf(bytes, length);
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> SerializeUtils.deserializeTxn(cut));
            }
        }
    }

    @Test
    void theOldestFormOfACreationIsRead() throws IOException {
        CreateTxnV0 old = new CreateTxnV0("/old", data(5), Ids.OPEN_ACL_UNSAFE, false);
        Record read = SerializeUtils.deserializeTxn(written(header(OpCode.create), old)).getTxn();
        assertThat(read).isEqualTo(new CreateTxn("/old", data(5), Ids.OPEN_ACL_UNSAFE, false, -1));
    }

    @Test
    void anUnknownTypeIsZooKeepersError() throws IOException {
        byte[] bytes = written(header(77));
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> SerializeUtils.deserializeTxn(bytes))
                .withMessageContaining("type=77");
    }

    @Test
    void oneThatIsItsHeaderIsEncoded() throws IOException {
        byte[] bytes = written(header(OpCode.closeSession));
        assertThat(Util.marshallTxnEntry(header(OpCode.closeSession), null, null)).isEqualTo(bytes);
    }
}
