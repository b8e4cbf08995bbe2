package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Limits;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Services that talk over loopback. */
class PeersTest {

    private final Transport transport = new Transport(1);
    private final List<Side> sides = new ArrayList<>();

    @AfterEach
    void close() {
        sides.forEach(Side::close);
        transport.close();
    }

    private Side side(String name) throws IOException {
        return side(name, NetOptions.plain());
    }

    private Side client(String name) throws IOException {
        Side side = Side.client(transport, name, NetOptions.plain());
        sides.add(side);
        return side;
    }

    private Side side(String name, NetOptions options) throws IOException {
        Side side = new Side(transport, name, options);
        sides.add(side);
        return side;
    }

    @Test
    void framesArriveInOrderInBothDirections() throws IOException {
        Side bank = side("bank");
        Side shop = side("shop");
        shop.peers.dial("bank", Optional.of(bank.listen()));
        Connection toBank = shop.await(Side.Up.class).link();
        assertThat(toBank.peer()).isEqualTo("bank");
        assertThat(toBank.dialled()).isTrue();
        assertThat(toBank.outside()).isFalse();
        toBank.send(shop.hello());
        Connection toShop = bank.await(Side.Up.class).link();
        assertThat(toShop.peer()).isEqualTo("shop");
        assertThat(toShop.dialled()).isFalse();
        assertThat(toShop.outside()).isFalse();
        toShop.send(bank.hello());
        List<Frame> sent = new ArrayList<>();
        sent.add(shop.hello());
        for (int n = 1; n <= 1000; n++) {
            Frame.Ack ack = new Frame.Ack(n, 1000 - n);
            sent.add(ack);
            toBank.send(ack);
        }
        Awaited.until("all frames", () -> bank.frames(toShop).size() == 1001);
        assertThat(bank.frames(toShop)).isEqualTo(sent);
        shop.await(Side.Got.class);
        assertThat(shop.frames(toBank)).containsExactly(bank.hello());
    }

    @Test
    void aClientWithoutBirthBeginsWithARequest() throws IOException {
        Side bank = side("bank");
        Side client = client("somebody");
        client.peers.dial("bank", Optional.of(bank.listen()));
        Connection toBank = client.await(Side.Up.class).link();
        assertThat(toBank.outside()).isFalse();
        toBank.send(new Frame.Ask(1, new Body("Balance", new byte[1])));
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.outside()).isTrue();
        assertThat(link.nameless()).isTrue();
        assertThat(link.peer()).startsWith("client at 127.0.0.1:");
        link.send(new Frame.Answer(1, Optional.empty()));
        assertThat(client.await(Side.Got.class).frame())
                .isEqualTo(new Frame.Answer(1, Optional.empty()));
    }

    @Test
    void aClientWithABirthIsOutsideUnderItsName() throws IOException {
        Side bank = side("bank");
        Side client = client("somebody");
        client.peers.dial("bank", Optional.of(bank.listen()));
        client.await(Side.Up.class).link().send(client.hello());
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.outside()).isTrue();
        assertThat(link.nameless()).isFalse();
        assertThat(link.peer()).isEqualTo("somebody");
    }

    @Test
    void aClientDoesNotListen() throws IOException {
        Side client = client("somebody");
        assertThatThrownBy(client::listen)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("somebody is a client and cannot listen");
    }

    @Test
    void aPortThatIsTakenIsSaid() throws IOException {
        Address taken = side("bank").listen();
        assertThatThrownBy(() -> side("shop").peers.listen(taken))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("shop cannot listen at " + taken + ": ")
                .hasMessageContaining("port 0 lets the system choose");
    }

    @Test
    void whoAnswersForAnotherIsRefused() throws IOException {
        Side bank = side("bank");
        Side shop = side("shop");
        Address address = bank.listen();
        shop.peers.dial("mint", Optional.of(address));
        assertThat(shop.trouble("mint"))
                .isEqualTo(
                        "mint was wanted at "
                                + address
                                + ", and bank answers there: correct the address");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void aLostPeerIsDialledAgainAndTheReasonIsTold() throws IOException {
        Side bank = side("bank");
        Side shop = side("shop");
        Address address = bank.listen();
        shop.peers.dial("bank", Optional.of(address));
        Connection first = shop.await(Side.Up.class).link();
        first.send(shop.hello());
        bank.await(Side.Up.class).link().close("enough");
        assertThat(shop.await(Side.Down.class).reason())
                .isEqualTo("bank at " + address + " ended the connection: enough");
        shop.await(Side.Up.class, up -> up.link() != first);
        Awaited.until("reached again", () -> shop.peers.unreachable().isEmpty());
    }

    @Test
    void aPeerIsFollowedToAnotherAddress() throws IOException {
        Side old = side("bank");
        Side young = side("bank");
        Side shop = side("shop");
        shop.peers.dial("bank", Optional.empty());
        shop.peers.dial("bank", Optional.of(old.listen()));
        Connection first = shop.await(Side.Up.class).link();
        shop.peers.dial("bank", Optional.empty());
        Address address = young.listen();
        shop.peers.dial("bank", Optional.of(address));
        assertThat(shop.await(Side.Down.class).reason()).isEqualTo("bank has moved to " + address);
        assertThat(shop.await(Side.Up.class, up -> up.link() != first).link().remote())
                .isEqualTo(address.toString());
        shop.peers.leave("bank");
        assertThat(shop.await(Side.Down.class, down -> down.link() != first).reason())
                .isEqualTo("shop needs this connection no longer");
    }

    @Test
    void nobodyThereIsSaidAndTriedAgain() throws IOException {
        Side gone = side("bank");
        Address address = gone.listen();
        gone.close();
        Side shop = side("shop");
        shop.peers.dial("bank", Optional.of(address));
        // The system may end the socket a moment later: then the first attempt is cut, not refused.
        shop.trouble("bank", why -> why.contains("refused"));
        Side back = side("bank");
        back.peers.listen(address);
        shop.await(Side.Up.class);
    }

    @Test
    void closingTellsEveryPeer() throws IOException {
        Side bank = side("bank");
        Side shop = side("shop");
        shop.peers.dial("bank", Optional.of(bank.listen()));
        shop.await(Side.Up.class).link().send(shop.hello());
        bank.await(Side.Up.class);
        bank.peers.close();
        assertThat(bank.await(Side.Down.class).reason()).isEqualTo("bank ends");
        assertThat(shop.await(Side.Down.class).reason())
                .endsWith("ended the connection: bank ends");
    }

    @Test
    void closingSendsWhatWasSentBefore() throws IOException {
        Side bank = side("bank");
        Side shop = side("shop");
        shop.peers.dial("bank", Optional.of(bank.listen()));
        Connection toBank = shop.await(Side.Up.class).link();
        toBank.send(shop.hello());
        int frames = 200;
        for (int n = 1; n <= frames; n++) {
            toBank.send(Side.message(n, 4096));
        }
        shop.peers.close();
        Side.Down down = bank.await(Side.Down.class);
        assertThat(down.reason()).endsWith("ended the connection: shop ends");
        assertThat(bank.frames(down.link())).hasSize(1 + frames);
        toBank.send(Side.message(frames + 1, 1));
        shop.peers.dial("bank", Optional.of(bank.listen()));
        assertThat(shop.peers.unreachable()).isEmpty();
        assertThat(shop.peers.accepted()).isZero();
    }

    /** A service sends what it has in memory, whether its peer takes it or not. */
    @Test
    void whatAServiceHasInMemoryWaitsForASlowPeer() throws Exception {
        NetOptions options = NetOptions.plain();
        assertThat(options.unsentBytes()).isGreaterThan(2 * Limits.standard().outboxBytes());
        int window = (int) (options.unsentBytes() / options.frameBytes()) - 1;
        CountDownLatch hung = new CountDownLatch(1);
        AtomicInteger frames = new AtomicInteger();
        Side shop = side("shop");
        ExecutorService turns = Executors.newSingleThreadExecutor();
        // It keeps none of them, or the test would need as much memory again.
        LinkListener counts =
                new LinkListener() {
                    @Override
                    public void up(Connection link) {
                        try {
                            hung.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    }

                    @Override
                    public void frame(Connection link, Frame frame) {
                        frames.incrementAndGet();
                    }

                    @Override
                    public void down(Connection link, String reason) {}
                };
        try (Peers bank = Peers.open(transport, "bank", options, counts, turns, new Random(1))) {
            shop.peers.dial("bank", Optional.of(bank.listen(new Address("127.0.0.1", 0))));
            Connection toBank = shop.await(Side.Up.class).link();
            toBank.send(shop.hello());
            Frame.Msg largest = Side.message(1, options.bodyBytes());
            for (int n = 1; n <= window; n++) {
                toBank.send(largest);
            }
            assertThat(toBank.writable()).isFalse();
            hung.countDown();
            Awaited.until("all frames", () -> frames.get() == 1 + window);
            shop.await(Side.Writable.class);
            assertThat(shop.told).noneMatch(told -> told instanceof Side.Down);
        } finally {
            hung.countDown();
            turns.shutdownNow();
        }
    }

    @Test
    void framesTooLargeAreRefusedBeforeTheyLeave() throws IOException {
        NetOptions options = NetOptions.plain();
        Side bank = side("bank", options);
        Side shop = side("shop", options);
        shop.peers.dial("bank", Optional.of(bank.listen()));
        Connection link = shop.await(Side.Up.class).link();
        link.send(shop.hello());
        assertThatThrownBy(() -> link.send(Side.message(1, options.frameBytes())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a message of type Note has 1048576 bytes")
                .hasMessageContaining("frameBytes");
        link.send(Side.message(1, options.bodyBytes()));
        Side.Got got = bank.await(Side.Got.class, g -> g.frame() instanceof Frame.Msg);
        assertThat(((Frame.Msg) got.frame()).body().bytes()).hasSize(options.bodyBytes());
    }

    @Test
    void optionsOutOfRangeAreRefused() {
        NetOptions o = NetOptions.plain();
        assertThatThrownBy(
                        () ->
                                new NetOptions(
                                        1,
                                        o.unsentBytes(),
                                        o.untakenBytes(),
                                        1,
                                        1,
                                        o.connectTimeout(),
                                        o.helloTimeout(),
                                        Duration.ofSeconds(1),
                                        o.backoffMin(),
                                        o.backoffMax(),
                                        Optional.empty()))
                .hasMessage("frameBytes is from 4096 to 268435456, not 1");
    }
}
