package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.PatientWaits;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.proto.RequestHeader;
import org.awaitility.core.ConditionFactory;

/**
 * A server for tests of a port for clients: it remembers requests instead of handling them. With
 * it, the bytes that such clients send, and those that they get.
 */
class RecordingServer extends ZooKeeperServer implements BatchingServer {
    /** Of every session; longer than any test may take. */
    static final int SESSION_TIMEOUT_MILLIS = 600_000;

    final List<Received> received = new CopyOnWriteArrayList<>();

    /** Handled in the thread that has read it. */
    volatile Handler handler = (from, xid) -> {};

    record Received(ServerCnxn from, int xid, ByteBuffer content, String thread) {}

    interface Handler {
        void handle(ServerCnxn from, int xid) throws IOException;
    }

    RecordingServer() {
        setZKDatabase(new ZKDatabase(null));
    }

    @Override
    public boolean isRunning() {
        return true;
    }

    @Override
    void removeCnxn(ServerCnxn connection) {
        // There is nothing to remove it from.
    }

    @Override
    public void processConnectRequest(ServerCnxn from, ConnectRequest request) {
        from.setSessionTimeout(SESSION_TIMEOUT_MILLIS);
    }

    @Override
    public void processPacket(ServerCnxn from, RequestHeader header, RequestRecord request)
            throws IOException {
        received.add(
                new Received(
                        from,
                        header.getXid(),
                        ByteBuffer.wrap(request.readBytes()),
                        Thread.currentThread().getName()));
        handler.handle(from, header.getXid());
    }

    List<Integer> xids() {
        return received.stream().map(Received::xid).toList();
    }

    /** Requests 0, 1, ... with content of these lengths arrive, and nothing else. */
    void expect(int... lengths) {
        soon().until(() -> received.size() >= lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            Received each = received.get(i);
            assertThat(each.xid()).isEqualTo(i);
            assertThat(each.content()).isEqualTo(ByteBuffer.wrap(content(i, lengths[i])));
        }
        assertThat(received).hasSize(lengths.length);
    }

    static ConditionFactory soon() {
        return PatientWaits.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    static byte[] connectRequest() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(45); // what follows
        out.writeInt(0); // version
        out.writeLong(0); // last zxid
        out.writeInt(SESSION_TIMEOUT_MILLIS);
        out.writeLong(0); // session
        out.writeInt(16);
        out.write(new byte[16]);
        out.writeBoolean(false);
        return bytes.toByteArray();
    }

    static byte[] content(int xid, int length) {
        byte[] content = new byte[length];
        new Random(xid).nextBytes(content);
        return content;
    }

    static byte[] request(int xid, int length) {
        return ByteBuffer.allocate(12 + length)
                .putInt(8 + length)
                .putInt(xid)
                .putInt(OpCode.getData)
                .put(content(xid, length))
                .array();
    }

    /** An answer, of which a client can see who sent it, that it is whole, and in its order. */
    static ByteBuffer[] frame(int sender, int number, int bytes) {
        ByteBuffer head = ByteBuffer.allocate(12).putInt(bytes).putInt(sender).putInt(number);
        byte[] body = new byte[bytes];
        Arrays.fill(body, (byte) (sender * 31 + number));
        return new ByteBuffer[] {head.flip(), ByteBuffer.wrap(body)};
    }

    /**
     * @param next the number of the next frame of each sender
     */
    static void expectFrame(DataInputStream in, int[] next) throws IOException {
        byte[] body = new byte[in.readInt()];
        int sender = in.readInt();
        int number = in.readInt();
        assertThat(number).isEqualTo(next[sender]++);
        in.readFully(body);
        byte[] expected = new byte[body.length];
        Arrays.fill(expected, (byte) (sender * 31 + number));
        assertThat(Arrays.equals(body, expected)).isTrue();
    }

    /** The first frames of sender 0, as many as that. */
    static void expectFrames(DataInputStream in, int count) throws IOException {
        int[] next = new int[1];
        while (next[0] < count) {
            expectFrame(in, next);
        }
    }
}
