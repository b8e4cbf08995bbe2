package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A leader reads what a learner of ZooKeeper's writes. */
@Timeout(60)
class LeaderConnectionTest {
    private static final List<Id> NOBODY = List.of();
    private static final List<Id> SOMEBODY = List.of(new Id("ip", "127.0.0.1"), new Id("a", "b"));

    private ServerSocket port;
    private PeerSocket socket;
    private Socket leader;
    private LeaderConnection connection;
    private BinaryInputArchive in;

    private record Sent(int bytes, List<Id> authInfo) {}

    @BeforeEach
    void connect() throws Exception {
        port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        socket = new PeerSocket();
        socket.connect(port.getLocalSocketAddress(), 10_000);
        leader = port.accept();
        Learner learner = new Learner();
        learner.sock = socket;
        connection = new LeaderConnection(learner, () -> {});
        connection.connected();
        connection.synchronised();
        in = BinaryInputArchive.getArchive(new BufferedInputStream(leader.getInputStream()));
    }

    @AfterEach
    void disconnect() throws Exception {
        socket.close();
        leader.close();
        port.close();
    }

    private static Stream<Sent> sent() {
        return Stream.of(0, 1, 1_000, Encoder.LARGE_BYTES - 1, Encoder.LARGE_BYTES, 900_000)
                .flatMap(
                        bytes ->
                                Stream.of(
                                        new Sent(bytes, null),
                                        new Sent(bytes, NOBODY),
                                        new Sent(bytes, SOMEBODY)));
    }

    private static Request request(byte[] payload, List<Id> authInfo) {
        RequestRecord record =
                payload == null ? null : RequestRecord.fromBytes(ByteBuffer.wrap(payload));
        return new Request(null, 0x100, 7, OpCode.setData, record, authInfo);
    }

    @ParameterizedTest
    @MethodSource("sent")
    void aRequestIsReadAsItWasSent(Sent sent) throws Exception {
        byte[] payload = new byte[sent.bytes];
        new Random(sent.bytes).nextBytes(payload);
        QuorumPacket ping = new QuorumPacket(Leader.PING, 5, new byte[] {1}, NOBODY);
        connection.writeNow(ping, false);
        connection.request(request(payload, sent.authInfo));
        connection.writeNow(ping, true);
        assertThat(read()).isEqualTo(ping);
        QuorumPacket packet = read();
        assertThat(packet.getType()).isEqualTo(Leader.REQUEST);
        assertThat(packet.getZxid()).isEqualTo(-1);
        assertThat(packet.getAuthinfo()).isEqualTo(sent.authInfo);
        ByteBuffer data = ByteBuffer.wrap(packet.getData());
        assertThat(data.getLong()).isEqualTo(0x100);
        assertThat(data.getInt()).isEqualTo(7);
        assertThat(data.getInt()).isEqualTo(OpCode.setData);
        assertThat(data.slice()).isEqualTo(ByteBuffer.wrap(payload));
        assertThat(read()).isEqualTo(ping);
    }

    private QuorumPacket read() throws Exception {
        QuorumPacket packet = new QuorumPacket();
        in.readRecord(packet, "packet");
        return packet;
    }

    @Test
    void aRequestWithoutBytesHasNone() throws Exception {
        connection.request(request(null, NOBODY));
        assertThat(read().getData()).hasSize(16);
    }

    /** ZooKeeper makes the one copy of which the packet is written. */
    @Test
    void aLargeRequestIsCopiedOnce() throws Exception {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Request request = request(new byte[900_000], NOBODY);
        for (int i = 0; i < 3; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            connection.request(request);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            assertThat(allocated).isBetween(900_000L, 1_000_000L);
            read();
        }
    }
}
