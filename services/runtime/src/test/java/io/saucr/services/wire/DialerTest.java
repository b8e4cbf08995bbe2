package io.saucr.services.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.saucr.services.Address;
import io.saucr.services.net.Awaited;
import io.saucr.services.net.Loops;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Attempts to connect that neither succeed nor fail, as with a host that lost its power. */
class DialerTest {

    private final Transport transport = new Transport(1);
    private final EventLoop loop = transport.loop();
    private final List<Attempt> attempts = new CopyOnWriteArrayList<>();
    private final Queue<ChannelPromise> failures = new ConcurrentLinkedQueue<>();
    private final Dialer dialer =
            new Dialer(
                    "shop",
                    "bank",
                    loop,
                    transport.resolving(),
                    this::connect,
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    new Random(1));

    private record Attempt(int port, Channel channel) {}

    private ChannelFuture connect(Dialer of, int round, InetSocketAddress address) {
        Channel channel = new NioSocketChannel();
        ChannelFuture unused = loop.register(channel);
        attempts.add(new Attempt(address.getPort(), channel));
        ChannelPromise promise = channel.newPromise();
        failures.add(promise);
        return promise;
    }

    @AfterEach
    void close() {
        transport.close();
    }

    private Channel attempt(int port) {
        return Awaited.until(
                        () -> attempts.stream().filter(a -> a.port() == port).findFirst(),
                        () -> attempts.toString())
                .channel();
    }

    @Test
    void anAttemptAtAnOldAddressEndsWhenThereIsANewOne() throws Exception {
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        Channel first = attempt(1);
        dialer.follow(Optional.empty());
        dialer.follow(Optional.of(new Address("127.0.0.1", 2)));
        Channel second = attempt(2);
        Awaited.until("the end", () -> !first.isOpen());
        dialer.follow(Optional.of(new Address("127.0.0.1", 2)));
        assertThat(Loops.scheduled(loop)).isZero();
        assertThat(second.isOpen()).isTrue();
        assertThat(attempts).hasSize(2);
    }

    @Test
    void theSameAddressToldAgainEndsAPause() throws Exception {
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        Channel first = attempt(1);
        failures.remove().setFailure(new IOException("refused"));
        Awaited.until(dialer::trouble);
        assertThat(Loops.scheduled(loop)).isEqualTo(1);
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        assertThat(Loops.scheduled(loop)).isZero();
        assertThat(attempts).hasSize(2);
        // The second attempt is under way: it is let go on.
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        assertThat(Loops.scheduled(loop)).isZero();
        assertThat(attempts).hasSize(2);
        assertThat(first).isNotSameAs(attempts.get(1).channel());
    }

    @Test
    void aNewAddressDoesNotWaitForThePauseOfTheOldOne() throws Exception {
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        Channel unused = attempt(1);
        failures.remove().setFailure(new IOException("refused"));
        Awaited.until(dialer::trouble);
        dialer.follow(Optional.of(new Address("127.0.0.1", 2)));
        assertThat(attempt(2).isOpen()).isTrue();
        assertThat(Loops.scheduled(loop)).isZero();
    }

    @Test
    void whoIsNeededNoLongerIsNotTriedOn() {
        dialer.follow(Optional.of(new Address("127.0.0.1", 1)));
        Channel only = attempt(1);
        dialer.stop("shop needs this connection no longer");
        Awaited.until("the end", () -> !only.isOpen());
        dialer.follow(Optional.of(new Address("127.0.0.1", 2)));
        assertThat(attempts).hasSize(1);
    }

    @Test
    void aPauseEndsWithTheNeed() throws Exception {
        dialer.follow(Optional.of(new Address("no host has spaces", 1)));
        Awaited.until(dialer::trouble);
        assertThat(dialer.trouble()).contains("no host is called no host has spaces");
        assertThat(Loops.scheduled(loop)).isEqualTo(1);
        dialer.stop("shop needs this connection no longer");
        assertThat(Loops.scheduled(loop)).isZero();
        assertThat(attempts).isEmpty();
    }
}
