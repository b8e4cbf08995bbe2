package org.apache.zookeeper.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.util.SerializeUtils;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.Test;

/** Of the fork that runs these tests jute's limit is as preset, a little less than two MiB. */
class ServerArchiveTest {
    private static final int BEYOND_JUTE = 5_000_000;

    /** Counts what is allocated to be filled. */
    private static final class Source extends ByteArrayInputStream {
        int largest;

        Source(byte[] bytes) {
            super(bytes);
        }

        @Override
        public synchronized int read(byte[] to, int offset, int length) {
            largest = Math.max(largest, to.length);
            return super.read(to, offset, length);
        }
    }

    private static ServerArchive archive(byte[] bytes) {
        return new ServerArchive(new DataInputStream(new ByteArrayInputStream(bytes)));
    }

    private static byte[] buffer(int length, byte[] content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(out);
        data.writeInt(length);
        data.write(content);
        return out.toByteArray();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void whatIsThereIsReadWhateverItsLength() throws IOException {
        for (int length : new int[] {0, 1, 1 << 20, (1 << 20) + 1, BEYOND_JUTE}) {
            byte[] content = random(length);
            assertThat(archive(buffer(length, content)).readBuffer("b")).isEqualTo(content);
        }
        String text = "a".repeat(BEYOND_JUTE);
        byte[] encoded = buffer(text.length(), text.getBytes(UTF_8));
        assertThat(archive(encoded).readString("s")).isEqualTo(text);
        assertThat(archive(buffer(-1, new byte[0])).readBuffer("b")).isNull();
        assertThat(archive(buffer(-1, new byte[0])).readString("s")).isNull();
    }

    @Test
    void aLengthAloneAllocatesNothing() throws IOException {
        Source source = new Source(buffer(ServerArchive.LARGEST_BYTES, random(BEYOND_JUTE)));
        ServerArchive archive = new ServerArchive(new DataInputStream(source));
        assertThatThrownBy(() -> archive.readBuffer("b"))
                .isInstanceOf(IOException.class)
                // A reader of a log would go on with the next file.
                .isNotInstanceOf(EOFException.class)
                .hasMessage(BinaryInputArchive.UNREASONBLE_LENGTH + ServerArchive.LARGEST_BYTES);
        assertThat(source.largest).isLessThanOrEqualTo(2 * BEYOND_JUTE);
    }

    @Test
    void aShortOneThatIsCutOffIsTheEndAsInZooKeeper() throws IOException {
        byte[] bytes = buffer(100, new byte[99]);
        assertThatThrownBy(() -> archive(bytes).readBuffer("b")).isInstanceOf(EOFException.class);
    }

    @Test
    void lengthsThatNobodyWritesAreRefused() throws IOException {
        for (int length : new int[] {-2, Integer.MIN_VALUE, ServerArchive.LARGEST_BYTES + 1}) {
            byte[] bytes = buffer(length, new byte[8]);
            assertThatThrownBy(() -> archive(bytes).readBuffer("b"))
                    .hasMessage(BinaryInputArchive.UNREASONBLE_LENGTH + length);
            assertThatThrownBy(() -> archive(bytes).readString("s"))
                    .hasMessage(BinaryInputArchive.UNREASONBLE_LENGTH + length);
        }
        int most = 16 << 20;
        byte[] largest = buffer(most, new byte[most]);
        byte[] larger = buffer(most + 1, new byte[0]);
        assertThat(
                        ServerArchive.ofLearner(
                                        new DataInputStream(new ByteArrayInputStream(largest)))
                                .readBuffer("b"))
                .hasSize(most);
        assertThatThrownBy(
                        () ->
                                ServerArchive.ofLearner(
                                                new DataInputStream(
                                                        new ByteArrayInputStream(larger)))
                                        .readBuffer("b"))
                .hasMessage(BinaryInputArchive.UNREASONBLE_LENGTH + (most + 1));
    }

    private static byte[] asZooKeeperWrites(String text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryOutputArchive.getArchive(out).writeString(text, "s");
        return out.toByteArray();
    }

    @Test
    void everyTextIsReadAsItWasWritten() throws IOException {
        Random random = new Random(7);
        for (int round = 0; round < 2_000; round++) {
            StringBuilder built = new StringBuilder();
            for (int i = random.nextInt(20); i > 0; i--) {
                int[] from = {0, 0x80, 0x800, 0xe000, 0xfffd, 0x10000, 0x10fff0};
                built.appendCodePoint(from[random.nextInt(from.length)] + random.nextInt(2));
            }
            String text = built.toString();
            byte[] utf8 = text.getBytes(UTF_8);
            assertThat(archive(asZooKeeperWrites(text)).readString("s")).isEqualTo(text);
            assertThat(archive(buffer(utf8.length, utf8)).readString("s")).isEqualTo(text);
        }
    }

    /** Halves of characters, and bytes that are no text, read as ZooKeeper reads them. */
    @Test
    void whatIsNoTextIsReadAsZooKeeperReadsIt() throws IOException {
        Random random = new Random(8);
        for (String text : new String[] {"\ud83d", "\ude00", "\ude00\ud83d", "x\ud83dy\ud83d"}) {
            byte[] bytes = asZooKeeperWrites(text);
            String read =
                    BinaryInputArchive.getArchive(new ByteArrayInputStream(bytes)).readString("s");
            assertThat(archive(bytes).readString("s")).isEqualTo(read);
        }
        int[] pieces = {0xed, 0xa0, 0xbf, 0xb0, 0x80, 0xf0, 0x41, 0xc3};
        for (int round = 0; round < 2_000; round++) {
            byte[] noise = new byte[random.nextInt(12)];
            for (int i = 0; i < noise.length; i++) {
                noise[i] = (byte) pieces[random.nextInt(pieces.length)];
            }
            String asIs = new String(noise, UTF_8);
            String read = archive(buffer(noise.length, noise)).readString("s");
            boolean pair = read.codePoints().anyMatch(each -> each > 0xffff);
            assertThat(pair || read.equals(asIs)).as(asIs).isTrue();
        }
    }

    /** Through ZooKeeper's own methods, which the build makes call this class. */
    @Test
    void transactionsAndRequestsAreReadSo() throws IOException {
        CreateTxn txn = new CreateTxn("/n", random(BEYOND_JUTE), Ids.OPEN_ACL_UNSAFE, false, 1);
        TxnHeader header = new TxnHeader(1, 2, 3, 4, OpCode.create);
        byte[] bytes = TxnCodec.encode(header, txn, null);
        assertThat(SerializeUtils.deserializeTxn(bytes).getTxn()).isEqualTo(txn);
        Id id = new Id("digest", "\ud83d\ude00:x");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryOutputArchive.getArchive(out).writeRecord(id, "id");
        Id read = new Id();
        ByteBufferInputStream.byteBuffer2Record(ByteBuffer.wrap(out.toByteArray()), read);
        assertThat(read).isEqualTo(id);
    }
}
