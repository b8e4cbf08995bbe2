package org.apache.zookeeper.server;

import static org.apache.zookeeper.server.RecordingServer.connectRequest;
import static org.apache.zookeeper.server.RecordingServer.content;
import static org.apache.zookeeper.server.RecordingServer.join;
import static org.apache.zookeeper.server.RecordingServer.request;
import static org.apache.zookeeper.server.RecordingServer.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.zookeeper.proto.ConnectRequest;
import org.apache.zookeeper.server.command.FourLetterCommands;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients send reaches the server once, in order, and as the connection they sent it on. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SaucrClientPortTest {
    private static final String WORKERS = "zookeeper.nio.numWorkerThreads";
    private static final String WORDS = "zookeeper.4lw.commands.whitelist";

    private static final class Recorder extends RecordingServer {
        volatile boolean confirmsSessions = true;

        @Override
        public void processConnectRequest(ServerCnxn from, ConnectRequest request) {
            boolean confirms = confirmsSessions;
            from.disableRecv();
            super.processConnectRequest(from, request);
            if (confirms) {
                from.enableRecv();
            }
        }
    }

    private final List<Socket> clients = new ArrayList<>();
    private Recorder server;
    private SaucrClientPort port;

    @BeforeEach
    void start() throws IOException {
        System.setProperty(WORDS, "*");
        FourLetterCommands.resetWhiteList();
        server = new Recorder();
        open();
    }

    private void open() throws IOException {
        port = new SaucrClientPort();
        port.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 500, -1, false);
        port.setZooKeeperServer(server);
        port.start();
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        port.shutdown();
        System.clearProperty(WORDS);
        FourLetterCommands.resetWhiteList();
    }

    private Socket connect() throws IOException {
        Socket client = new Socket();
        client.setReceiveBufferSize(32 * 1024);
        client.connect(port.getLocalAddress());
        client.setTcpNoDelay(true);
        clients.add(client);
        return client;
    }

    private static void send(Socket client, byte[] bytes) throws IOException {
        client.getOutputStream().write(bytes);
    }

    @Test
    void severalRequestsOfOneReadAreHandledInOrder() throws IOException {
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 0), request(2, 700)));
        server.expect(5, 0, 700);
        assertThat(server.received.get(0).thread()).contains("SelectorThread");
    }

    @Test
    void requestsMayBeSplitAtEveryByte() throws IOException {
        byte[] all = join(connectRequest(), request(0, 5), request(1, 0), request(2, 9));
        for (int split = 1; split < all.length; split++) {
            server.received.clear();
            Socket client = connect();
            send(client, Arrays.copyOf(all, split));
            send(client, Arrays.copyOfRange(all, split, all.length));
            server.expect(5, 0, 9);
            client.close();
        }
        server.received.clear();
        Socket client = connect();
        for (byte each : all) {
            send(client, new byte[] {each});
        }
        server.expect(5, 0, 9);
    }

    @Test
    void requestsLargerThanTheBufferAreWholeAndThoseAround() throws IOException {
        int[] lengths = {10, 65_524, 65_536 - 12, 65_536, 200_000, 3, 900_000, 65_535, 0, 131_072};
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(connectRequest());
        for (int i = 0; i < lengths.length; i++) {
            all.writeBytes(request(i, lengths[i]));
        }
        send(connect(), all.toByteArray());
        server.expect(lengths);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void connectionsNeverGetEachOthersBytes(long seed) throws IOException {
        int connections = 8;
        int each = 300;
        Random random = new Random(seed);
        List<Socket> all = new ArrayList<>();
        List<ByteBuffer> rest = new ArrayList<>();
        for (int c = 0; c < connections; c++) {
            all.add(connect());
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes(connectRequest());
            for (int i = 0; i < each; i++) {
                int length = random.nextInt(1 << random.nextInt(13));
                bytes.writeBytes(request(c * 1_000_000 + i, length));
            }
            rest.add(ByteBuffer.wrap(bytes.toByteArray()));
        }
        // Every tenth ends receiving for a moment.
        server.handler =
                (from, xid) -> {
                    if (xid % 10 == 7) {
                        from.disableRecv();
                        SelectorBatch.putOff(from::enableRecv);
                    }
                };
        while (rest.stream().anyMatch(ByteBuffer::hasRemaining)) {
            int c = random.nextInt(connections);
            byte[] piece = new byte[Math.min(rest.get(c).remaining(), random.nextInt(20_000))];
            rest.get(c).get(piece);
            send(all.get(c), piece);
        }
        soon().until(() -> server.received.size() >= connections * each);
        assertThat(server.received).hasSize(connections * each);
        int[] next = new int[connections];
        ServerCnxn[] from = new ServerCnxn[connections];
        for (RecordingServer.Received received : server.received) {
            int c = received.xid() / 1_000_000;
            assertThat(received.xid() % 1_000_000).isEqualTo(next[c]++);
            byte[] expected = content(received.xid(), received.content().remaining());
            assertThat(received.content()).isEqualTo(ByteBuffer.wrap(expected));
            if (from[c] == null) {
                from[c] = received.from();
            }
            assertThat(received.from()).isSameAs(from[c]);
        }
    }

    @Test
    void nothingIsHandledBeforeTheSessionIsConfirmed() throws IOException {
        server.confirmsSessions = false;
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 5)));
        soon().until(() -> port.getConnections().iterator().hasNext());
        ServerCnxn connection = port.getConnections().iterator().next();
        soon().until(() -> connection.getSessionTimeout() == 600_000);
        // Another client's request comes after the round in which these two were read.
        server.confirmsSessions = true;
        send(connect(), join(connectRequest(), request(7, 0)));
        soon().until(() -> !server.received.isEmpty());
        assertThat(server.xids()).containsExactly(7);
        connection.enableRecv();
        soon().until(() -> server.received.size() == 3);
        assertThat(server.xids()).containsExactly(7, 0, 1);
    }

    @Test
    void aConnectionThatDoesNotReceiveHandlesTheRestLaterWithoutAnotherByte() throws IOException {
        server.handler =
                (from, xid) -> {
                    if (xid == 1) {
                        from.disableRecv();
                    }
                };
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 5), request(2, 5)));
        soon().until(() -> server.received.size() == 2);
        send(connect(), join(connectRequest(), request(7, 0)));
        soon().until(() -> server.received.size() == 3);
        assertThat(server.xids()).containsExactly(0, 1, 7);
        // Answers are sent nevertheless, in this case by ZooKeeper's way, for it is too much.
        ServerCnxn connection = server.received.get(0).from();
        byte[] answer = content(3, 3_000_000);
        connection.sendBuffer(ByteBuffer.wrap(answer));
        byte[] got = client.getInputStream().readNBytes(answer.length);
        assertThat(Arrays.equals(got, answer)).isTrue();
        assertThat(server.received).hasSize(3);
        send(client, request(3, 5));
        connection.enableRecv();
        soon().until(() -> server.received.size() == 5);
        assertThat(server.xids()).containsExactly(0, 1, 7, 2, 3);
    }

    @Test
    void requestsBeforeTheEndOfTheStreamAreHandledThenTheConnectionIsClosed() throws IOException {
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 100_000), request(2, 5)));
        client.shutdownOutput();
        server.expect(5, 100_000, 5);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        soon().until(() -> !port.getConnections().iterator().hasNext());
    }

    @Test
    void whatIsBehindTheRequestThatClosesTheConnectionIsNotHandled() throws IOException {
        server.handler =
                (from, xid) -> {
                    if (xid == 1) {
                        from.close(ServerCnxn.DisconnectReason.UNKNOWN);
                    }
                };
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 5), request(2, 5)));
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        // In the same thread, after whatever would have been handled.
        send(connect(), join(connectRequest(), request(7, 3)));
        soon().until(() -> server.xids().contains(7));
        assertThat(server.xids()).containsExactly(0, 1, 7);
        assertThat(server.received.get(2).content()).isEqualTo(ByteBuffer.wrap(content(7, 3)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "\u0000\u0000\u0000\u0001xyz", "~~~~~~~~"})
    void garbageClosesItsConnectionAndNoOther(String garbage) throws IOException {
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5)));
        Socket other = connect();
        send(other, garbage.getBytes(StandardCharsets.ISO_8859_1));
        assertThatEnds(other);
        Socket third = connect();
        send(third, connectRequest());
        send(third, ByteBuffer.allocate(40).putInt(-5).array());
        assertThatEnds(third);
        send(client, request(1, 5));
        server.expect(5, 5);
    }

    /** With bytes that nobody has read the end is a reset. */
    private static void assertThatEnds(Socket client) {
        try {
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("reset");
        }
    }

    @Test
    void workOfTheEndOfARoundThatTheSocketDoesNotTakeAtOnceIsSentWithoutAnotherEvent()
            throws IOException {
        byte[] answer = content(9, 9_000_000);
        server.handler =
                (from, xid) -> SelectorBatch.putOff(() -> from.sendBuffer(ByteBuffer.wrap(answer)));
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5)));
        assertThat(Arrays.equals(client.getInputStream().readNBytes(answer.length), answer))
                .isTrue();
    }

    @Test
    void fourLetterWordsAreAnsweredAndTheirConnectionIsClosed() throws IOException {
        Socket client = connect();
        send(client, "ruok".getBytes(StandardCharsets.US_ASCII));
        assertThat(client.getInputStream().readAllBytes()).asString().isEqualTo("imok");
        Socket mask = connect();
        send(mask, ByteBuffer.allocate(12).put("stmk".getBytes(StandardCharsets.US_ASCII)).array());
        assertThat(mask.getInputStream().readAllBytes()).asString().isEqualTo("0");
        soon().until(() -> !port.getConnections().iterator().hasNext());
    }

    @Test
    void whoDoesNotReadTheAnswerToAFourLetterWordHoldsUpNobody() throws IOException {
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5)));
        soon().until(() -> server.received.size() == 1);
        ServerCnxn watcher = server.received.get(0).from();
        String path = "/" + "x".repeat(4000) + "/";
        int watches = 3000;
        for (int i = 0; i < watches; i++) {
            server.getZKDatabase().getDataTree().addWatch(path + i, watcher, 0);
        }
        Socket idle = connect();
        send(idle, "wchp".getBytes(StandardCharsets.US_ASCII));
        DataInputStream answer = new DataInputStream(idle.getInputStream());
        assertThat(answer.readByte()).isEqualTo((byte) '/');
        send(client, request(1, 5));
        server.expect(5, 5);
        String rest = new String(answer.readAllBytes(), StandardCharsets.US_ASCII);
        List<String> lines = ("/" + rest).lines().filter(line -> line.startsWith("/")).toList();
        assertThat(lines).hasSize(watches).doesNotHaveDuplicates();
        assertThat(lines).allMatch(line -> line.startsWith(path));
    }

    @Test
    void workersHandleRequestsIfAskedForAndNoPropertyIsLeftBehind() throws IOException {
        assertThat(System.getProperty(WORKERS)).isNull();
        port.shutdown();
        System.setProperty(WORKERS, "4");
        try {
            open();
            assertThat(System.getProperty(WORKERS)).isEqualTo("4");
        } finally {
            System.clearProperty(WORKERS);
        }
        Socket client = connect();
        send(client, join(connectRequest(), request(0, 5), request(1, 70_000), request(2, 5)));
        server.expect(5, 70_000, 5);
        assertThat(server.received).allMatch(each -> each.thread().startsWith("NIOWorker"));
    }

    @Test
    void noPropertyIsLeftBehindByAFailure() {
        SaucrClientPort secure = new SaucrClientPort();
        assertThatThrownBy(() -> secure.configure(port.getLocalAddress(), 1, -1, true))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(System.getProperty(WORKERS)).isNull();
    }

    @Test
    void aPortThatIsTakenIsNamed() throws IOException {
        SaucrClientPort second = new SaucrClientPort();
        InetSocketAddress taken = port.getLocalAddress();
        assertThatThrownBy(() -> second.configure(taken, 1, -1, false))
                .isInstanceOf(BindException.class)
                .hasMessage(
                        "Cannot listen for clients on "
                                + taken.getHostString()
                                + ":"
                                + taken.getPort()
                                + ": Address already in use");
    }

    @Test
    void manyConnectionsLeaveNoFilesOpen() throws IOException {
        int before = openFiles();
        for (int i = 0; i < 200; i++) {
            Socket client = connect();
            send(client, join(connectRequest(), request(i, i)));
            int received = i + 1;
            soon().until(() -> server.received.size() == received);
            if (i % 2 == 0) {
                client.close();
            } else {
                server.received.get(i).from().close(ServerCnxn.DisconnectReason.UNKNOWN);
                client.close();
            }
        }
        soon().until(() -> openFiles() <= before + 10);
    }

    private static int openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }
}
