package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.saucr.services.Address;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Peers that speak badly, slowly, too much or not at all, by plain sockets. */
class StrangersTest {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);
    private static final FrameCodec CODEC = new FrameCodec(NetOptions.plain().frameBytes());

    private final Transport transport = new Transport(1);
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closing : open) {
            closing.close();
        }
        transport.close();
    }

    private Side bank(NetOptions options) throws IOException {
        Side side = new Side(transport, "bank", options);
        open.add(side);
        return side;
    }

    private Socket connect(Address address) throws IOException {
        Socket socket = new Socket(InetAddress.getByName(address.host()), address.port());
        open.add(socket);
        return socket;
    }

    private static NetOptions options(
            long unsentBytes,
            long untakenBytes,
            int connections,
            int strangers,
            Duration helloTimeout,
            Duration silence) {
        NetOptions o = NetOptions.plain();
        return new NetOptions(
                64 << 10,
                unsentBytes,
                untakenBytes,
                connections,
                strangers,
                o.connectTimeout(),
                helloTimeout,
                silence,
                o.backoffMin(),
                o.backoffMax(),
                Optional.empty());
    }

    private static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    private static byte[] preface(String accepting) {
        return preface(false, accepting);
    }

    private static byte[] preface(boolean client, String accepting) {
        return bytes(CODEC.preface(client, Duration.ofSeconds(3), accepting, ALLOC));
    }

    private static byte[] frame(Frame frame) {
        return bytes(CODEC.write(frame, ALLOC));
    }

    private static Socket greet(Socket socket, String name) throws IOException {
        socket.getOutputStream().write(preface("bank"));
        socket.getOutputStream().write(frame(Side.hello(name)));
        return socket;
    }

    /** What arrives until the end, as text. */
    private static String rest(Socket socket) throws IOException {
        try {
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (SocketException e) {
            // A reset may overtake the reason.
            return "";
        }
    }

    @Test
    void framesInSinglePiecesAreFrames() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = connect(bank.listen());
        socket.setTcpNoDelay(true);
        OutputStream out = socket.getOutputStream();
        for (byte[] part : List.of(preface("bank"), frame(Side.hello("shop")))) {
            for (byte one : part) {
                out.write(one);
                out.flush();
            }
        }
        assertThat(bank.await(Side.Got.class).frame()).isEqualTo(Side.hello("shop"));
    }

    @Test
    void badBytesEndTheConnectionAndThePeerIsToldWhy() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = greet(connect(bank.listen()), "shop");
        bank.await(Side.Up.class);
        socket.getOutputStream().write(new byte[] {127, 0, 0, 0, 2});
        assertThat(bank.await(Side.Down.class).reason())
                .startsWith("shop at 127.0.0.1:")
                .endsWith(
                        "sent what is no frame: a frame has 1 to 1048576 bytes (frameBytes), not"
                                + " 2130706432");
        assertThat(rest(socket)).contains("(frameBytes), not 2130706432");
    }

    @Test
    void aFrameBeforeHelloEndsTheConnectionUnheard() throws IOException {
        Side bank = bank(NetOptions.plain());
        Address address = bank.listen();
        Socket client = connect(address);
        client.getOutputStream().write(preface(true, "bank"));
        client.getOutputStream().write(frame(new Frame.Ack(1, 1)));
        assertThat(rest(client)).contains("sent neither HELLO nor request first");
        // A request is for clients alone: a service is to prove its name.
        for (Frame first : List.of(new Frame.Ack(1, 1), ask())) {
            Socket service = connect(address);
            service.getOutputStream().write(preface("bank"));
            service.getOutputStream().write(frame(first));
            assertThat(rest(service)).contains("is a service, and did not say which one first");
        }
        assertThat(bank.told).isEmpty();
    }

    private static Frame.Ask ask() {
        return new Frame.Ask(1, Side.message(1, 1).body());
    }

    @Test
    void aClientThatAnswersForAServiceIsRefused() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Side bank = bank(NetOptions.plain());
            bank.peers.dial("mint", Optional.of(new Address("127.0.0.1", server.getLocalPort())));
            try (Socket client = server.accept()) {
                client.getOutputStream().write(preface(true, "mint"));
                assertThat(bank.trouble("mint")).endsWith("and says that it is no service");
            }
            assertThat(bank.told).isEmpty();
        }
    }

    @Test
    void aHugeNameIsRefusedBeforeItArrives() throws IOException {
        Side bank = bank(NetOptions.plain());
        Address address = bank.listen();
        byte[] preface = preface("bank");
        byte[] huge = Arrays.copyOf(preface, preface.length - "bank".length());
        huge[huge.length - 2] = -1;
        huge[huge.length - 1] = -1;
        Socket first = connect(address);
        first.getOutputStream().write(huge);
        assertThat(rest(first)).contains("a name has 1 to 800 bytes, not 65535");
        Socket second = connect(address);
        second.getOutputStream().write(preface);
        second.getOutputStream().write(new byte[] {0, 0, 0, 3, 1, -1, -1});
        assertThat(rest(second)).contains("a name has 1 to 800 bytes, not 65535");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void aFloodOfKeepAlivesEndsTheConnection() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = greet(connect(bank.listen()), "shop");
        bank.await(Side.Up.class);
        byte[] keepAlive = bytes(CODEC.keepAlive(ALLOC));
        ByteBuffer flood = ByteBuffer.allocate(2000 * keepAlive.length);
        while (flood.hasRemaining()) {
            flood.put(keepAlive);
        }
        socket.getOutputStream().write(flood.array());
        assertThat(bank.await(Side.Down.class).reason())
                .startsWith("shop at 127.0.0.1:")
                .endsWith("ms, and announced one each 3000 ms");
    }

    @Test
    void keepAlivesDoNotStandForHello() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMillis(50),
                                Duration.ofSeconds(10)));
        Socket socket = connect(bank.listen());
        socket.getOutputStream().write(preface("bank"));
        socket.getOutputStream().write(bytes(CODEC.keepAlive(ALLOC)));
        assertThat(rest(socket)).contains("did not say who it is within 50 ms");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void halfAFrameIsNeverHeard() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMillis(150)));
        Address address = bank.listen();
        byte[] whole = frame(Side.message(1, 1000));
        for (String peer : List.of("silent", "gone")) {
            Socket socket = connect(address);
            socket.getOutputStream()
                    .write(bytes(CODEC.preface(false, Duration.ofMillis(50), "bank", ALLOC)));
            socket.getOutputStream().write(frame(Side.hello(peer)));
            socket.getOutputStream().write(whole, 0, whole.length / 2);
            if (peer.equals("gone")) {
                socket.shutdownOutput();
            }
        }
        assertThat(down(bank, "silent").reason()).startsWith("nothing was heard from silent at");
        assertThat(down(bank, "gone").reason()).endsWith("closed the connection");
        assertThat(bank.told.stream().filter(told -> told instanceof Side.Got)).hasSize(2);
    }

    private static Side.Down down(Side side, String peer) {
        return side.await(Side.Down.class, down -> down.link().peer().equals(peer));
    }

    @Test
    void twoHundredStrangersKeepNoServiceOut() throws IOException {
        Side bank = bank(NetOptions.plain());
        Address address = bank.listen();
        List<Socket> strangers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Socket stranger = connect(address);
            strangers.add(stranger);
            assertThat(stranger.getInputStream().read()).isEqualTo('S');
        }
        greet(connect(address), "shop");
        assertThat(bank.await(Side.Up.class).link().peer()).isEqualTo("shop");
        for (Socket early : strangers.subList(0, 100)) {
            assertThat(rest(early)).contains("more than 100 connections have not identified");
        }
        assertThat(bank.told).allMatch(told -> told.link().peer().equals("shop"));
        bank.peers.close();
        assertThat(rest(strangers.get(199))).contains("bank ends");
    }

    @Test
    void aSlowReaderHoldsUpNobodyElseAndNoClosing() throws IOException {
        Side bank =
                bank(
                        options(
                                32 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)));
        Address address = bank.listen();
        greet(connect(address), "slow");
        Connection slow = bank.await(Side.Up.class).link();
        for (int n = 1; slow.writable(); n++) {
            slow.send(Side.message(n, 32 << 10));
        }
        Socket quick = greet(connect(address), "quick");
        Connection link = bank.await(Side.Up.class, up -> up.link() != slow).link();
        byte[] message = frame(Side.message(1, 32 << 10));
        link.send(Side.message(1, 32 << 10));
        InputStream in = quick.getInputStream();
        in.skipNBytes(preface("bank").length);
        assertThat(in.readNBytes(message.length)).containsExactly(message);
        bank.peers.close();
        assertThat(rest(quick)).contains("bank ends");
        // It has a second to take the rest, and takes nothing.
        Awaited.until("the end", () -> slow.closed().isDone());
    }

    @Test
    void aPeerStaysWhoItIs() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = greet(connect(bank.listen()), "shop");
        socket.getOutputStream().write(frame(Side.hello("mint")));
        assertThat(bank.await(Side.Down.class).reason())
                .endsWith("now says it is mint; a connection has one peer");
        assertThat(rest(socket)).contains("now says it is mint");
    }

    @Test
    void aNamelessClientStaysNameless() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = connect(bank.listen());
        socket.getOutputStream().write(preface(true, "bank"));
        socket.getOutputStream().write(frame(ask()));
        socket.getOutputStream().write(frame(Side.hello("mint")));
        assertThat(bank.await(Side.Down.class).reason()).contains("now says it is mint");
    }

    @Test
    void whoWantsAnotherServiceIsTold() throws IOException {
        Side bank = bank(NetOptions.plain());
        Socket socket = connect(bank.listen());
        socket.getOutputStream().write(preface("mint"));
        assertThat(rest(socket))
                .contains("mint was wanted by somebody at 127.0.0.1")
                .contains("and bank answers there");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void whoSaysNothingIsNotWaitedForForEver() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMillis(50),
                                Duration.ofSeconds(10)));
        Socket socket = connect(bank.listen());
        assertThat(rest(socket)).contains("did not say who it is within 50 ms");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void aFloodOfStrangersEndsTheOldestOfThem() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                2,
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)));
        Address address = bank.listen();
        Socket known = greet(connect(address), "shop");
        bank.await(Side.Up.class);
        Socket oldest = connect(address);
        assertThat(oldest.getInputStream().read()).isEqualTo('S');
        for (int i = 0; i < 20; i++) {
            assertThat(connect(address).getInputStream().read()).isEqualTo('S');
        }
        assertThat(rest(oldest)).contains("more than 2 connections have not identified themselves");
        known.getOutputStream().write(frame(new Frame.Ack(1, 1)));
        bank.await(Side.Got.class, got -> got.frame() instanceof Frame.Ack);
        assertThat(bank.told).noneMatch(told -> told instanceof Side.Down);
    }

    @Test
    void onePeerMoreThanAllowedIsRefused() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                1,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)));
        Address address = bank.listen();
        greet(connect(address), "shop");
        bank.await(Side.Up.class);
        Socket second = greet(connect(address), "mint");
        assertThat(rest(second)).contains("bank has its 1 connections already (connections)");
        assertThat(bank.peers.accepted()).isEqualTo(1);
        assertThat(bank.told).hasSize(2);
    }

    @Test
    void aSilentPeerIsGivenUpWhichAnIdleOneIsNot() throws IOException {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMillis(150)));
        Address address = bank.listen();
        // Two sides of this library keep each other alive.
        Side shop =
                new Side(
                        transport,
                        "shop",
                        options(
                                1 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMillis(600)));
        open.add(shop);
        shop.peers.dial("bank", Optional.of(address));
        shop.await(Side.Up.class).link().send(shop.hello());
        bank.await(Side.Up.class);
        // A connection of which nothing is heard any more looks like a cable that was cut. Its
        // preface promised one word in 100 ms.
        Socket cut = connect(address);
        cut.getOutputStream()
                .write(bytes(CODEC.preface(false, Duration.ofMillis(100), "bank", ALLOC)));
        cut.getOutputStream().write(frame(Side.hello("mint")));
        Side.Down down = bank.await(Side.Down.class);
        assertThat(down.reason())
                .startsWith("nothing was heard from mint at 127.0.0.1:")
                .endsWith("for 300 ms");
        assertThat(bank.told.stream().filter(told -> told instanceof Side.Down)).hasSize(1);
        assertThat(shop.told).noneMatch(told -> told instanceof Side.Down);
    }

    @Test
    void aSilentPeerThatWasDialledIsGivenUpAndDialledAgain() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Side bank =
                    bank(
                            options(
                                    1 << 20,
                                    1 << 20,
                                    10,
                                    10,
                                    Duration.ofMinutes(1),
                                    Duration.ofMillis(150)));
            bank.peers.dial("mint", Optional.of(new Address("127.0.0.1", server.getLocalPort())));
            Socket first = server.accept();
            open.add(first);
            first.getOutputStream()
                    .write(bytes(CODEC.preface(false, Duration.ofMillis(10), "mint", ALLOC)));
            assertThat(bank.await(Side.Down.class).reason())
                    .startsWith("nothing was heard from mint");
            open.add(server.accept());
        }
    }

    /** Its host lost its power; the ensemble knows where it is now, and TCP knows nothing yet. */
    @Test
    void aPeerThatMovedIsReachedWhileItsOldAddressIsSilent() throws Exception {
        NetOptions options =
                options(32 << 20, 1 << 20, 10, 10, Duration.ofMinutes(1), Duration.ofMinutes(1));
        Side shop = new Side(transport, "shop", options);
        open.add(shop);
        try (ServerSocket old = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Address before = new Address("127.0.0.1", old.getLocalPort());
            shop.peers.dial("bank", Optional.of(before));
            Socket silent = old.accept();
            open.add(silent);
            silent.getOutputStream().write(preface("bank"));
            Connection first = shop.await(Side.Up.class).link();
            // Nor would it take the reason for the end: much waits for it already.
            for (int n = 1; first.writable(); n++) {
                first.send(Side.message(n, 32 << 10));
            }
            Side bank = bank(options);
            Address now = bank.listen();
            shop.peers.dial("bank", Optional.of(now));
            Side.Up second = shop.await(Side.Up.class, up -> up.link() != first);
            assertThat(second.link().remote()).isEqualTo(now.toString());
            assertThat(shop.told)
                    .startsWith(
                            new Side.Up(first),
                            new Side.Down(first, "bank has moved to " + now),
                            second);
            second.link().send(shop.hello());
            assertThat(bank.await(Side.Up.class).link().peer()).isEqualTo("shop");
            Awaited.until("the end of the old one", () -> first.closed().isDone());
            first.send(Side.message(1, 1));
            // And back, to where somebody accepts and says nothing: that holds nothing up, either.
            shop.peers.dial("bank", Optional.of(before));
            open.add(old.accept());
            shop.peers.dial("bank", Optional.of(now));
            Side.Up third =
                    shop.await(
                            Side.Up.class, up -> up.link() != first && up.link() != second.link());
            assertThat(third.link().remote()).isEqualTo(now.toString());
        }
    }

    /** The turn thread hangs: what a peer sends piles up at the peer, not here (K13). */
    @Test
    void nothingIsReadWhileNothingIsTaken() throws Exception {
        Side bank =
                bank(
                        options(
                                1 << 20,
                                64 << 10,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMillis(300)));
        Address address = bank.listen();
        CountDownLatch hung = new CountDownLatch(1);
        bank.turns.execute(
                () -> {
                    try {
                        hung.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        Socket socket = greet(connect(address), "shop");
        int frames = 4000;
        Thread flood =
                new Thread(
                        () -> {
                            try {
                                for (int n = 1; n <= frames; n++) {
                                    socket.getOutputStream().write(frame(Side.message(n, 4096)));
                                }
                            } catch (IOException e) {
                                // The test sees it by what is missing.
                            }
                        });
        flood.start();
        // Its keep-alives go on, although it does not read: else the peer would give it up.
        InputStream in = socket.getInputStream();
        byte[] ours = preface("bank");
        in.skipNBytes(ours.length);
        for (int i = 0; i < 3; i++) {
            assertThat(in.readNBytes(5)).containsExactly(0, 0, 0, 1, 8);
        }
        // Sixteen megabytes do not fit the sockets' buffers: the flood waits.
        assertThat(flood.isAlive()).isTrue();
        assertThat(bank.told).isEmpty();
        hung.countDown();
        Awaited.until("all frames", () -> bank.told.size() == 2 + frames);
        flood.join();
        assertThat(bank.told).noneMatch(told -> told instanceof Side.Down);
    }

    @Test
    void aPeerThatTakesNothingEndsItsConnectionAtTheLimit() throws IOException {
        Side bank =
                bank(
                        options(
                                4 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)));
        greet(connect(bank.listen()), "shop");
        Connection link = bank.await(Side.Up.class).link();
        for (int n = 1; n <= 2000; n++) {
            link.send(Side.message(n, 32 << 10));
        }
        assertThat(bank.await(Side.Down.class).reason())
                .contains("takes too little")
                .contains("unsentBytes is 4194304");
    }

    @Test
    void whoHasMuchToSendIsToldWhenToGoOn() throws IOException {
        Side bank =
                bank(
                        options(
                                32 << 20,
                                1 << 20,
                                10,
                                10,
                                Duration.ofMinutes(1),
                                Duration.ofMinutes(1)));
        Socket slow = greet(connect(bank.listen()), "shop");
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.writable()).isTrue();
        int sent = 0;
        while (link.writable()) {
            sent++;
            link.send(Side.message(sent, 32 << 10));
        }
        InputStream in = slow.getInputStream();
        in.skipNBytes(preface("bank").length);
        in.skipNBytes((long) sent * frame(Side.message(1, 32 << 10)).length);
        bank.await(Side.Writable.class);
        assertThat(link.writable()).isTrue();
        assertThat(bank.told).noneMatch(told -> told instanceof Side.Down);
    }
}
