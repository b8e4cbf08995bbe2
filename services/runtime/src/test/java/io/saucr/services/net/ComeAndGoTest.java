package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.saucr.services.Address;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A service runs for years: of connections that went nothing stays. */
class ComeAndGoTest {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);
    private static final FrameCodec CODEC = new FrameCodec(NetOptions.plain().frameBytes());

    private final Transport transport = new Transport(1);
    private final EventLoop loop = transport.loop();
    private final ExecutorService turns = Executors.newSingleThreadExecutor();
    private final List<Peers> open = new ArrayList<>();
    private final AtomicInteger ups = new AtomicInteger();
    private final AtomicInteger downs = new AtomicInteger();

    /** Ends links with whom it does not want. */
    private final class Counts implements LinkListener {
        @Override
        public void up(Connection link) {
            ups.incrementAndGet();
            if (link.peer().startsWith("unwanted")) {
                link.close("enough");
            }
        }

        @Override
        public void frame(Connection link, Frame frame) {}

        @Override
        public void down(Connection link, String reason) {
            downs.incrementAndGet();
        }
    }

    private Peers peers(String name) throws IOException {
        Peers peers =
                Peers.open(transport, name, NetOptions.plain(), new Counts(), turns, new Random(1));
        open.add(peers);
        return peers;
    }

    @AfterEach
    void close() {
        open.forEach(Peers::close);
        transport.close();
        turns.shutdownNow();
    }

    private static byte[] greeting(String name) {
        var bytes = CODEC.preface(false, Duration.ofSeconds(3), "bank", ALLOC);
        bytes.writeBytes(CODEC.write(Side.hello(name), ALLOC));
        byte[] all = new byte[bytes.readableBytes()];
        bytes.readBytes(all);
        return all;
    }

    /** One of five kinds of peers, from the first byte to the last. */
    private static void come(Address bank, int kind) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByName(bank.host()), bank.port())) {
            OutputStream out = socket.getOutputStream();
            switch (kind) {
                case 0 -> {
                    // It goes without a word.
                }
                case 1 -> out.write(greeting("shop"));
                case 2 -> {
                    byte[] whole = greeting("cut");
                    out.write(Arrays.copyOf(whole, whole.length - 3));
                    // The end is a reset.
                    socket.setSoLinger(true, 0);
                }
                case 3 -> out.write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                default -> {
                    out.write(greeting("unwanted"));
                    // Reads until the other side ends it.
                    assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
                }
            }
        } catch (SocketException e) {
            // The other side may end it first, as it should with noise.
            assertThat(e).hasMessageMatching("(?s).*(reset|pipe).*");
        }
    }

    @Test
    void aThousandConnectionsLeaveNothing() throws Exception {
        Peers bank = peers("bank");
        Address address = bank.listen(new Address("127.0.0.1", 0));
        for (int n = 0; n < 1000; n++) {
            come(address, n % 5);
        }
        Awaited.until("all who greeted were heard", () -> ups.get() == 400);
        nothingIsLeft(1, bank);
    }

    @Test
    void aHundredDialledConnectionsLeaveNothing() throws Exception {
        Peers bank = peers("bank");
        Address address = bank.listen(new Address("127.0.0.1", 0));
        Peers shop = peers("shop");
        int closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        for (int n = 1; n <= 100; n++) {
            int times = n;
            shop.dial("bank", Optional.of(address));
            shop.dial("nobody", Optional.of(new Address("127.0.0.1", closed)));
            Awaited.until("reached", () -> ups.get() == times);
            Awaited.until("not reached", () -> shop.unreachable().containsKey("nobody"));
            shop.leave("bank");
            shop.leave("nobody");
        }
        nothingIsLeft(1, bank, shop);
        bank.close();
        nothingIsLeft(0, bank, shop);
    }

    private void nothingIsLeft(int channels, Peers... all) throws Exception {
        for (Peers peers : all) {
            Awaited.until("forgotten", () -> peers.held() == 0);
        }
        Awaited.until("closed", () -> Loops.channels(loop) == channels);
        Awaited.until("told", () -> ups.get() == downs.get());
        assertThat(Loops.scheduled(loop)).isZero();
    }
}
