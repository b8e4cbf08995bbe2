package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.TxnDigest;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.Test;

/** What it writes is what {@link DataOutputStream} writes, however often it has to grow. */
class EncoderTest {

    private static void write(DataOutput out, Random random) throws IOException {
        byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? 50_000 : 5_000)];
        random.nextBytes(bytes);
        switch (random.nextInt(14)) {
            case 0 -> out.writeBoolean(random.nextBoolean());
            case 1 -> out.writeByte(random.nextInt());
            case 2 -> out.writeShort(random.nextInt());
            case 3 -> out.writeChar(random.nextInt());
            case 4 -> out.writeInt(random.nextInt());
            case 5 -> out.writeLong(random.nextLong());
            case 6 -> out.writeFloat(random.nextFloat());
            case 7 -> out.writeDouble(random.nextDouble());
            case 8 -> out.writeBytes("bytes" + random.nextInt());
            case 9 -> out.writeChars("\u4e16" + random.nextInt());
            case 10 -> out.writeUTF("\u00e4\ud83d\ude00" + random.nextInt());
            case 11 -> out.write(random.nextInt());
            case 12 -> out.write(bytes);
            default -> out.write(bytes, bytes.length / 3, bytes.length / 2);
        }
    }

    @Test
    void writesWhatADataOutputStreamWrites() throws IOException {
        Encoder.Buffer buffer = new Encoder.Buffer();
        for (int round = 0; round < 200; round++) {
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(expected);
            buffer.clear();
            for (int i = 0; i < 50; i++) {
                long seed = 1000L * round + i;
                write(out, new Random(seed));
                write(buffer, new Random(seed));
            }
            assertThat(buffer.copyBehind(0)).isEqualTo(expected.toByteArray());
        }
    }

    @Test
    void aLargeValueIsSharedAndEverythingElseIsCopied() {
        byte[] value = new byte[900_000];
        Encoder encoder = new Encoder();
        encoder.add(new SetDataTxn("/large", value, 7), "txn");
        encoder.add(new SetDataTxn("/small", new byte[100], 8), "txn");
        assertThat(encoder.size()).isEqualTo(encoder.copyBehind(0).length).isGreaterThan(900_000);
        List<byte[]> shared = new ArrayList<>();
        AtomicInteger copied = new AtomicInteger();
        encoder.giveTo(
                new Encoder.Sink() {
                    @Override
                    public void copy(byte[] from, int offset, int length) {
                        copied.addAndGet(length);
                    }

                    @Override
                    public void share(byte[] whole) {
                        shared.add(whole);
                    }
                });
        assertThat(shared).hasSize(1);
        assertThat(shared.get(0)).isSameAs(value);
        assertThat(copied.get()).isEqualTo(encoder.size() - value.length);
        encoder.clear();
        assertThat(encoder.size()).isZero();
        assertThat(encoder.copyBehind(4)).containsExactly(0, 0, 0, 0);
    }

    /** A copy for the log is the only one: the packets of all learners share it. */
    @Test
    void aLargeTransactionIsCopiedOnce() {
        byte[] value = new byte[900_000];
        TxnHeader header = new TxnHeader(1, 2, 3, 4, OpCode.setData);
        SetDataTxn txn = new SetDataTxn("/large", value, 7);
        TxnDigest digest = new TxnDigest(1, 2);
        TxnCodec.encode(header, txn, digest);
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        byte[] encoded = TxnCodec.encode(header, txn, digest);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(encoded).hasSizeBetween(900_000, 900_100);
        assertThat(allocated).isBetween(900_000L, 1_000_000L);
        assertThat(TxnCodec.decode(encoded).getTxn()).isEqualTo(txn);
    }
}
