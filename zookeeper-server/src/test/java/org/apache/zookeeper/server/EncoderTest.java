package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Random;
import org.apache.zookeeper.txn.SetDataTxn;
import org.junit.jupiter.api.Test;

/** What it writes is what {@link DataOutputStream} writes, however often it has to grow. */
class EncoderTest {

    private static void write(DataOutput out, Random random) throws IOException {
        byte[] bytes = new byte[random.nextInt(5000)];
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
            assertThat(buffer.copy()).isEqualTo(expected.toByteArray());
        }
    }

    @Test
    void aLargeRecordDoesNotKeepItLarge() {
        Encoder encoder = new Encoder();
        encoder.add(new SetDataTxn("/large", new byte[900_000], 7), "txn");
        assertThat(encoder.size()).isGreaterThan(900_000);
        encoder.clear();
        assertThat(encoder.size()).isZero();
        assertThat(encoder.bytes()).hasSizeLessThan(10_000);
    }
}
