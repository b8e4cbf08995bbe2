package org.apache.zookeeper.server;

import static org.apache.zookeeper.server.RecordingServer.connectRequest;
import static org.apache.zookeeper.server.RecordingServer.expectFrame;
import static org.apache.zookeeper.server.RecordingServer.expectFrames;
import static org.apache.zookeeper.server.RecordingServer.frame;
import static org.apache.zookeeper.server.RecordingServer.join;
import static org.apache.zookeeper.server.RecordingServer.request;
import static org.apache.zookeeper.server.RecordingServer.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.apache.zookeeper.server.command.FourLetterCommands;
import org.apache.zookeeper.server.quorum.TlsKeys;
import org.apache.zookeeper.server.quorum.TlsKeys.Host;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Netty's port in batches: what clients send is handled in order, what they get is whole and in
 * order, in as few writes as there are rounds, and a client that misbehaves holds up no other. With
 * TLS as ZooKeeper's keys set it, and without.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SaucrNettyPortTest {
    private static final String WORDS = "zookeeper.4lw.commands.whitelist";
    private static final String UNIFICATION = NettyServerCnxnFactory.PORT_UNIFICATION_KEY;

    /** How clients reach the port. */
    enum Kind {
        PLAIN,
        TLS,
        /** TLS on a port that takes clients without it, too. */
        EITHER
    }

    @TempDir static Path folder;
    private static TlsKeys keys;
    private static Path loopback;
    private static Path expired;

    private final Map<String, String> propertiesBefore = new HashMap<>();
    private final List<Socket> clients = new ArrayList<>();
    private RecordingServer server;
    private NettyServerCnxnFactory port;
    private Kind kind;

    @BeforeAll
    static void makeKeys() throws Exception {
        keys = new TlsKeys(folder);
        loopback = keys.issued("loopback", Host.LOOPBACK);
        expired = keys.issued("expired", Host.EXPIRED);
    }

    @BeforeEach
    void prepare() {
        set(WORDS, "*");
        FourLetterCommands.resetWhiteList();
        server = new RecordingServer();
    }

    private void set(String key, String value) {
        String before = System.getProperty(key);
        propertiesBefore.putIfAbsent(key, before);
        System.setProperty(key, value);
    }

    private void stores(Path own, Path trusted) {
        // As of a configuration with a secureClientPort.
        set("zookeeper.authProvider.x509", X509AuthenticationProvider.class.getName());
        ProviderRegistry.reset();
        set("zookeeper.ssl.keyStore.location", own.toString());
        set("zookeeper.ssl.keyStore.password", TlsKeys.PASSWORD);
        set("zookeeper.ssl.trustStore.location", trusted.toString());
        set("zookeeper.ssl.trustStore.password", TlsKeys.PASSWORD);
    }

    private void open(Kind chosen) throws IOException {
        kind = chosen;
        if (kind != Kind.PLAIN) {
            stores(loopback, keys.trusted);
        }
        if (kind == Kind.EITHER) {
            set(UNIFICATION, "true");
        }
        port = new NettyServerCnxnFactory();
        port.configure(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                500,
                -1,
                kind == Kind.TLS);
        port.setZooKeeperServer(server);
        port.start();
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        if (port != null) {
            port.shutdown();
        }
        propertiesBefore.forEach(
                (key, value) -> {
                    if (value == null) {
                        System.clearProperty(key);
                    } else {
                        System.setProperty(key, value);
                    }
                });
        FourLetterCommands.resetWhiteList();
        ProviderRegistry.reset();
    }

    // ---- Clients ----

    private Socket connect() throws Exception {
        return kind == Kind.PLAIN ? plain() : tls(loopback, keys.trusted);
    }

    private Socket plain() throws IOException {
        Socket client = new Socket();
        client.setReceiveBufferSize(32 * 1024);
        client.connect(port.getLocalAddress());
        client.setTcpNoDelay(true);
        client.setSoTimeout((int) Duration.ofSeconds(50).toMillis());
        clients.add(client);
        return client;
    }

    /** A client of ZooKeeper's own kind, with these stores. */
    private SSLSocket tls(Path own, Path trusted) throws Exception {
        ZKConfig config = new ZKConfig();
        config.setProperty("zookeeper.ssl.keyStore.location", own == null ? "" : own.toString());
        config.setProperty("zookeeper.ssl.keyStore.password", TlsKeys.PASSWORD);
        config.setProperty("zookeeper.ssl.trustStore.location", trusted.toString());
        config.setProperty("zookeeper.ssl.trustStore.password", TlsKeys.PASSWORD);
        try (ClientX509Util util = new ClientX509Util()) {
            SSLSocket client =
                    util.createSSLContextAndOptions(config).createSSLSocket(plain(), new byte[0]);
            client.setUseClientMode(true);
            clients.add(client);
            return client;
        }
    }

    private static void send(Socket client, byte[]... parts) throws IOException {
        client.getOutputStream().write(join(parts));
        client.getOutputStream().flush();
    }

    /** A client whose first request has been handled, and its connection. */
    private ServerCnxn connectionOf(Socket client) throws IOException {
        int before = server.received.size();
        send(client, connectRequest(), request(before, 3));
        soon().until(() -> server.received.size() > before);
        ServerCnxn connection = server.received.get(before).from();
        assertThat(connection).isInstanceOf(SaucrNettyConnection.class);
        return connection;
    }

    // ---- Answers ----

    @ParameterizedTest
    @EnumSource
    void requestsOfAnyLengthAreHandledInOrderHoweverTheyAreSplit(Kind chosen) throws Exception {
        open(chosen);
        int[] lengths = {10, 0, 16_384, 65_536, 3, 200_000, 0, 700};
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(connectRequest());
        for (int i = 0; i < lengths.length; i++) {
            all.writeBytes(request(i, lengths[i]));
        }
        Socket client = connect();
        Random random = new Random(1);
        ByteBuffer rest = ByteBuffer.wrap(all.toByteArray());
        while (rest.hasRemaining()) {
            byte[] piece = new byte[Math.min(rest.remaining(), 1 + random.nextInt(30_000))];
            rest.get(piece);
            send(client, piece);
        }
        server.expect(lengths);
        assertThat(server.received.get(0).thread()).contains("EventLoopGroup");
    }

    @ParameterizedTest
    @EnumSource
    void answersOfARoundLeaveInOneWriteAndAreCounted(Kind chosen) throws Exception {
        open(chosen);
        int answers = 20;
        server.handler = (from, xid) -> from.sendBuffer(frame(0, xid, 40));
        Socket client = connect();
        byte[][] requests = new byte[answers + 1][];
        requests[0] = connectRequest();
        for (int i = 0; i < answers; i++) {
            requests[i + 1] = request(i, 1);
        }
        AtomicInteger writes = new AtomicInteger();
        send(client, requests[0]);
        soon().until(() -> port.getConnections().iterator().hasNext());
        SaucrNettyConnection connection =
                (SaucrNettyConnection) port.getConnections().iterator().next();
        connection.getChannel().pipeline().addFirst(new WriteCounter(writes));
        send(client, Arrays.copyOfRange(requests, 1, requests.length));
        expectFrames(new DataInputStream(client.getInputStream()), answers);
        soon().until(() -> connection.getPacketsSent() == answers);
        // One read may bring less than everything; but not one request at a time.
        assertThat(writes.get()).isBetween(1, answers / 2);
    }

    private static final class WriteCounter extends ChannelOutboundHandlerAdapter {
        private final AtomicInteger writes;

        WriteCounter(AtomicInteger writes) {
            this.writes = writes;
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise)
                throws Exception {
            writes.incrementAndGet();
            super.write(context, message, promise);
        }
    }

    @ParameterizedTest
    @EnumSource
    void answersOfSeveralThreadsAndOfTheEventLoopAreWholeAndInOrder(Kind chosen) throws Exception {
        open(chosen);
        Socket client = connect();
        ServerCnxn connection = connectionOf(client);
        int each = 2000;
        int threads = 3;
        AtomicInteger ownNext = new AtomicInteger();
        server.handler =
                (from, xid) -> {
                    for (int i = 0; i < each / 20; i++) {
                        from.sendBuffer(frame(threads, ownNext.getAndIncrement(), i % 100));
                    }
                };
        List<Thread> senders = new ArrayList<>();
        for (int s = 0; s < threads; s++) {
            int sender = s;
            Thread thread =
                    new Thread(
                            () -> {
                                Notifications applying = new Notifications();
                                for (int i = 0; i < each; i++) {
                                    // One of them applies commits, in stretches of five.
                                    if (sender == 0) {
                                        applying.begin();
                                    }
                                    connection.sendBuffer(frame(sender, i, (i * 7) % 3000));
                                    if (sender == 0) {
                                        applying.end();
                                    }
                                    if (i % 5 == 4) {
                                        applying.flush(0);
                                    }
                                }
                            });
            senders.add(thread);
            thread.start();
        }
        for (int i = 0; i < 20; i++) {
            send(client, request(i + 1, 10));
        }
        int[] next = new int[threads + 1];
        DataInputStream in = new DataInputStream(client.getInputStream());
        for (int i = 0; i < (threads + 1) * each; i++) {
            expectFrame(in, next);
        }
        assertThat(next).containsOnly(each);
        for (Thread sender : senders) {
            sender.join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatACommitAnswersLeavesWithTheStretchNotBefore(Kind chosen) throws Exception {
        open(chosen);
        Socket client = connect();
        ServerCnxn connection = connectionOf(client);
        Notifications applying = new Notifications();
        applying.begin();
        connection.sendBuffer(frame(0, 0, 5));
        connection.process(
                new WatchedEvent(EventType.NodeDataChanged, KeeperState.SyncConnected, "/a"), null);
        connection.sendBuffer(frame(0, 1, 5));
        applying.end();
        assertThat(connection.getPacketsSent()).isZero();
        applying.flush(0);
        soon().until(() -> connection.getPacketsSent() == 3);
        DataInputStream in = new DataInputStream(client.getInputStream());
        int[] next = new int[1];
        expectFrame(in, next);
        byte[] notification = in.readNBytes(in.readInt());
        assertThat(new String(notification, StandardCharsets.US_ASCII)).contains("/a");
        expectFrame(in, next);
    }

    /** What was collected for a stretch that goes on does not wait if there is more to send. */
    @Test
    void anAnswerOfTheEventLoopTakesWithItWhatACommitHasAnswered() throws Exception {
        open(Kind.PLAIN);
        Socket client = connect();
        ServerCnxn connection = connectionOf(client);
        Notifications applying = new Notifications();
        applying.begin();
        connection.sendBuffer(frame(0, 0, 5));
        server.handler = (from, xid) -> from.sendBuffer(frame(0, 1, 5));
        send(client, request(1, 1));
        DataInputStream in = new DataInputStream(client.getInputStream());
        int[] next = new int[1];
        expectFrame(in, next);
        expectFrame(in, next);
        applying.end();
        applying.flush(0);
        connection.sendBuffer(frame(0, 2, 5));
        expectFrame(in, next);
    }

    // ---- Ends ----

    @ParameterizedTest
    @EnumSource
    void theEndOfTheConnectionComesAfterTheLastAnswer(Kind chosen) throws Exception {
        open(chosen);
        Socket first = connect();
        ServerCnxn byOther = connectionOf(first);
        byOther.sendBuffer(frame(0, 0, 100_000));
        byOther.sendCloseSession();
        DataInputStream in = new DataInputStream(first.getInputStream());
        expectFrame(in, new int[1]);
        assertThat(in.read()).isEqualTo(-1);

        Socket second = connect();
        connectionOf(second);
        server.handler =
                (from, xid) -> {
                    from.sendBuffer(frame(0, 0, 100_000));
                    from.close(ServerCnxn.DisconnectReason.UNKNOWN);
                };
        send(second, request(9, 1));
        in = new DataInputStream(second.getInputStream());
        expectFrame(in, new int[1]);
        assertThat(in.read()).isEqualTo(-1);
        soon().until(() -> !port.getConnections().iterator().hasNext());

        server.handler = (from, xid) -> {};
        Socket third = connect();
        ServerCnxn applied = connectionOf(third);
        Notifications applying = new Notifications();
        applying.begin();
        applied.sendBuffer(frame(0, 0, 10));
        applied.sendCloseSession();
        in = new DataInputStream(third.getInputStream());
        expectFrame(in, new int[1]);
        assertThat(in.read()).isEqualTo(-1);
        applying.end();
        applying.flush(0);
    }

    @ParameterizedTest
    @EnumSource
    void requestsBeforeTheEndOfTheStreamAreHandledThenTheConnectionIsClosed(Kind chosen)
            throws Exception {
        open(chosen);
        Socket client = connect();
        send(client, connectRequest(), request(0, 5), request(1, 100_000), request(2, 5));
        client.shutdownOutput();
        server.expect(5, 100_000, 5);
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        soon().until(() -> !port.getConnections().iterator().hasNext());
    }

    @ParameterizedTest
    @EnumSource
    void answersToAClientThatDoesNotReadHoldUpNoOtherAndKeepTheirOrder(Kind chosen)
            throws Exception {
        open(chosen);
        Socket slow = connect();
        ServerCnxn slowConnection = connectionOf(slow);
        int many = 1000;
        for (int i = 0; i < many; i++) {
            slowConnection.sendBuffer(frame(0, i, i % 100 == 0 ? 200_000 : i * 50));
        }
        Socket other = connect();
        ServerCnxn otherConnection = connectionOf(other);
        otherConnection.sendBuffer(frame(0, 0, 10));
        expectFrame(new DataInputStream(other.getInputStream()), new int[1]);
        assertThat(slowConnection.getPacketsSent()).isLessThan(many);
        expectFrames(new DataInputStream(slow.getInputStream()), many);
        soon().until(() -> slowConnection.getPacketsSent() == many);
    }

    @ParameterizedTest
    @EnumSource
    void nettyGetsOneWriteForAClientThatDoesNotRead(Kind chosen) throws Exception {
        open(chosen);
        Socket slow = connect();
        SaucrNettyConnection connection = (SaucrNettyConnection) connectionOf(slow);
        for (int i = 0; i < 400; i++) {
            connection.sendBuffer(frame(0, i, 100_000));
        }
        soon().until(() -> unread(connection) > 0);
        assertThat(unread(connection)).isLessThan(1_000_000);
        // Its session expires: nobody waits for the rest.
        connection.close(ServerCnxn.DisconnectReason.CONNECTION_EXPIRED);
        assertThat(unread(connection)).isLessThan(1_000_000);
        InputStream in = slow.getInputStream();
        byte[] some = new byte[100_000];
        int read = 0;
        for (int count = in.read(some); count >= 0; count = in.read(some)) {
            read += count;
        }
        assertThat(read).isBetween(100_000, 20_000_000);
        soon().until(() -> !port.getConnections().iterator().hasNext());
    }

    /**
     * Bytes that Netty has for the socket, as the event loop sees it after all that came before.
     */
    private static long unread(SaucrNettyConnection connection) throws Exception {
        return connection
                .getChannel()
                .eventLoop()
                .submit(
                        () ->
                                connection
                                        .getChannel()
                                        .unsafe()
                                        .outboundBuffer()
                                        .totalPendingWriteBytes())
                .get();
    }

    @ParameterizedTest
    @EnumSource
    void aSlowClientThatEndsItsSessionGetsAllAnswers(Kind chosen) throws Exception {
        open(chosen);
        Socket slow = connect();
        ServerCnxn connection = connectionOf(slow);
        int many = 100;
        for (int i = 0; i < many; i++) {
            connection.sendBuffer(frame(0, i, 100_000));
        }
        connection.sendCloseSession();
        DataInputStream in = new DataInputStream(slow.getInputStream());
        expectFrames(in, many);
        assertThat(in.read()).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatIsGoneClosesItsConnection(Kind chosen) throws Exception {
        open(chosen);
        Socket client = connect();
        ServerCnxn connection = connectionOf(client);
        client.close();
        soon().until(
                        () -> {
                            connection.sendBuffer(frame(0, 0, 16));
                            return !port.getConnections().iterator().hasNext();
                        });
        // Late answers are for nobody.
        connection.sendBuffer(frame(0, 0, 16));
        connection.close(ServerCnxn.DisconnectReason.UNKNOWN);
    }

    @Test
    void lateAnswersAfterTheEndOfThePortAreForNobody() throws Exception {
        open(Kind.PLAIN);
        ServerCnxn connection = connectionOf(connect());
        port.shutdown();
        EventLoop loop = ((SaucrNettyConnection) connection).getChannel().eventLoop();
        soon().until(loop::isShutdown);
        connection.sendBuffer(frame(0, 0, 16));
        connection.close(ServerCnxn.DisconnectReason.UNKNOWN);
    }

    @ParameterizedTest
    @EnumSource
    void fourLetterWordsAreAnsweredAndTheirConnectionIsClosed(Kind chosen) throws Exception {
        open(chosen);
        Socket client = connect();
        send(client, "ruok".getBytes(StandardCharsets.US_ASCII));
        assertThat(client.getInputStream().readAllBytes()).asString().isEqualTo("imok");
        soon().until(() -> !port.getConnections().iterator().hasNext());
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "\u0000\u0000\u0000\u0001xyz", "~~~~~~~~"})
    void garbageClosesItsConnectionAndNoOther(String garbage) throws Exception {
        for (Kind each : Kind.values()) {
            open(each);
            server.received.clear();
            Socket client = connect();
            send(client, connectRequest(), request(0, 5));
            Socket other = connect();
            send(other, garbage.getBytes(StandardCharsets.ISO_8859_1));
            assertThatEnds(other);
            Socket negative = connect();
            send(negative, connectRequest(), ByteBuffer.allocate(40).putInt(-5).array());
            assertThatEnds(negative);
            if (each == Kind.TLS) {
                Socket raw = plain();
                send(raw, garbage.getBytes(StandardCharsets.ISO_8859_1));
                assertThatEnds(raw);
            }
            send(client, request(1, 5));
            server.expect(5, 5);
            port.shutdown();
            System.clearProperty(UNIFICATION);
        }
    }

    /** With bytes that nobody has read the end is a reset. */
    private static void assertThatEnds(Socket client) {
        byte[] rest = new byte[1000];
        try {
            InputStream in = client.getInputStream();
            for (int count = in.read(rest); count >= 0; count = in.read(rest)) {
                assertThat(count).as("an alert of TLS may come before").isPositive();
            }
        } catch (SocketException | SSLException e) {
            assertThat(e).isNotNull();
        } catch (IOException e) {
            throw new AssertionError("no end", e);
        }
    }

    // ---- TLS ----

    @Test
    void halfHandshakesHoldUpNobody() throws Exception {
        open(Kind.TLS);
        Socket before = connect();
        connectionOf(before);
        List<Socket> half = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Socket silent = plain();
            if (i % 2 == 0) {
                // The beginning of a hello that is never completed.
                send(silent, new byte[] {0x16, 3, 1, 0x10, 0, 1, 0, 0x0F});
            }
            half.add(silent);
        }
        server.received.clear();
        send(before, request(0, 5));
        Socket after = connect();
        send(after, connectRequest(), request(1, 7));
        server.expect(5, 7);
        for (Socket each : half) {
            each.close();
        }
        soon().until(() -> port.getNumAliveConnections() == 2);
    }

    @Test
    void aClientIsWhoItsCertificateSays() throws Exception {
        open(Kind.TLS);
        ServerCnxn connection = connectionOf(tls(loopback, keys.trusted));
        assertThat(connection.isSecure()).isTrue();
        assertThat(connection.getAuthInfo()).contains(new Id("x509", "CN=loopback"));
        X509Certificate own = (X509Certificate) connection.getClientCertificateChain()[0];
        assertThat(own.getSubjectX500Principal().getName()).isEqualTo("CN=loopback");
    }

    @Test
    void aClientWithoutACertificateThatIsTrustedIsRefused() throws Exception {
        open(Kind.TLS);
        for (Path own : Arrays.asList(keys.foreign, expired, null)) {
            Socket client = tls(own, keys.trusted);
            try {
                send(client, connectRequest(), request(0, 5));
            } catch (IOException e) {
                assertThat(e).isNotNull();
            }
            assertThatEnds(client);
        }
        assertThat(server.received).isEmpty();
        server.expect();
    }

    @Test
    void aClientNeedsNoCertificateWhereNoneIsAskedFor() throws Exception {
        set("zookeeper.ssl.clientAuth", "none");
        open(Kind.TLS);
        ServerCnxn connection = connectionOf(tls(null, keys.trusted));
        assertThat(connection.getAuthInfo()).extracting(Id::getScheme).containsExactly("ip");
    }

    @Test
    void aPortForBothTakesClientsWithTlsAndWithout() throws Exception {
        open(Kind.EITHER);
        server.handler = (from, xid) -> from.sendBuffer(frame(0, 0, 10));
        for (Socket client : List.of(plain(), tls(loopback, keys.trusted))) {
            connectionOf(client);
            expectFrame(new DataInputStream(client.getInputStream()), new int[1]);
        }
        assertThat(server.received.get(1).from().getAuthInfo())
                .contains(new Id("x509", "CN=loopback"));
        assertThat(server.received.get(0).from().getAuthInfo())
                .extracting(Id::getScheme)
                .containsExactly("ip");
    }

    @Test
    void storesOfEachTypeAreRead() throws Exception {
        for (String type : List.of("pem", "jks")) {
            kind = Kind.TLS;
            stores(keys.as(type, loopback), keys.as(type, keys.trusted));
            if (type.equals("pem")) {
                // Its key is not encrypted.
                set("zookeeper.ssl.keyStore.password", "");
                set("zookeeper.ssl.trustStore.password", "");
            }
            port = new NettyServerCnxnFactory();
            port.configure(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10, -1, true);
            port.setZooKeeperServer(server);
            port.start();
            connectionOf(connect());
            port.shutdown();
        }
    }

    /** While another client is served all the time. */
    @Test
    void aCertificateThatIsReplacedIsUsedByTheNextConnection() throws Exception {
        set(NettyServerCnxnFactory.CLIENT_CERT_RELOAD_KEY, "true");
        Path own = folder.resolve("replaced.p12");
        Files.copy(loopback, own, StandardCopyOption.REPLACE_EXISTING);
        kind = Kind.TLS;
        stores(own, keys.trusted);
        port = new NettyServerCnxnFactory();
        port.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10, -1, true);
        port.setZooKeeperServer(server);
        port.start();
        Socket busy = connect();
        ServerCnxn connection = connectionOf(busy);
        DataInputStream in = new DataInputStream(busy.getInputStream());
        int[] next = new int[1];
        server.handler = (from, xid) -> from.sendBuffer(frame(0, xid, 100));
        Path other = keys.issued("other", Host.LOOPBACK);
        Path written = own.resolveSibling("replaced.new");
        Files.copy(other, written, StandardCopyOption.REPLACE_EXISTING);
        Files.move(written, own, StandardCopyOption.ATOMIC_MOVE);
        soon().until(
                        () -> {
                            send(busy, request(next[0], 100));
                            expectFrame(in, next);
                            SSLSocket fresh = tls(loopback, keys.trusted);
                            fresh.startHandshake();
                            X509Certificate seen =
                                    (X509Certificate) fresh.getSession().getPeerCertificates()[0];
                            fresh.close();
                            return seen.getSubjectX500Principal().getName().equals("CN=other");
                        });
        send(busy, request(next[0], 100));
        expectFrame(in, next);
        assertThat(connection.isStale()).isFalse();
    }

    @Test
    void noMoreConnectionsOfOneAddressThanAllowed() throws Exception {
        open(Kind.TLS);
        port.setMaxClientCnxnsPerHost(1);
        connectionOf(connect());
        assertThatEnds(plain());
        assertThat(port.getNumAliveConnections()).isEqualTo(1);
    }
}
