package io.saucr.services.wire;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.saucr.services.Address;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * All connections of one service, client or member, whatever is said on them: it accepts those of
 * others, and keeps one to each peer that it was told to dial. Any thread.
 *
 * <p>Its lock is held for moments only, never while something is waited for or the listener is
 * called.
 *
 * @param <W> its connections
 */
public abstract class Endpoint<W extends Wire<?>> implements AutoCloseable {

    private static final long CLOSING_MILLIS = 2000;

    protected final NetOptions options;
    private final Transport transport;
    private final String name;
    private final Optional<TlsIdentity> tls;
    private final Random random;
    private final Duration backoffMin;
    private final Duration backoffMax;
    private final Complaints complaints = new Complaints();

    /** Under the lock, as all below. Accepted, and their peers not known, oldest first. */
    private final Set<W> strangers = new LinkedHashSet<>();

    private final Set<W> accepted = new HashSet<>();
    private final Set<W> dialled = new HashSet<>();
    private final Map<String, Dialer> dialers = new HashMap<>();
    private final List<Channel> listening = new ArrayList<>();
    private boolean closed;

    /**
     * Neither listens nor dials yet.
     *
     * @param transport whose threads are used; closed after this
     * @param name for people
     * @param random for the pauses between attempts to connect; used from here alone
     */
    protected Endpoint(
            Transport transport,
            String name,
            NetOptions options,
            Optional<TlsIdentity> tls,
            Random random,
            Duration backoffMin,
            Duration backoffMax) {
        this.transport = transport;
        this.name = name;
        this.options = options;
        this.tls = tls;
        this.random = random;
        this.backoffMin = backoffMin;
        this.backoffMax = backoffMax;
    }

    /**
     * Makes a connection of a channel.
     *
     * @param peer who was dialled; null where it was accepted
     * @param remote host and port, for people
     */
    protected abstract W wire(Wire.Owner owner, Channel channel, String peer, String remote);

    /**
     * Puts the protocol's handlers into the channel's pipeline, that of the connection excepted.
     */
    protected abstract void build(SocketChannel channel, W wire);

    /** Why a connection may not stay whose peer has said who it is, or null. Holds the lock. */
    protected String wrong(W wire) {
        return null;
    }

    /**
     * Accepts connections from now on. Waits for the socket.
     *
     * @return where it listens: with the port that the system chose, where that was 0
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public Address listen(Address at) throws IOException {
        ServerBootstrap server =
                new ServerBootstrap()
                        .group(transport.loops())
                        .channel(NioServerSocketChannel.class)
                        .childHandler(
                                new ChannelInitializer<SocketChannel>() {
                                    @Override
                                    protected void initChannel(SocketChannel channel) {
                                        accept(channel);
                                    }
                                });
        Channel bound = Listening.bind(server, name, at);
        synchronized (this) {
            if (!closed) {
                listening.add(bound);
                int port = ((InetSocketAddress) bound.localAddress()).getPort();
                return new Address(at.host(), port);
            }
        }
        ChannelFuture unused = bound.close();
        throw new IOException(name + " has ended and listens no more");
    }

    /**
     * Keeps a connection with a peer from now on, dialling again whenever it is lost. Told again,
     * it follows the peer to another address at once, and ends a pause at the same one; an empty
     * one changes nothing, as who is not found may still answer where it did.
     *
     * @throws IllegalArgumentException where the port is 0
     */
    protected final void follow(String peer, Optional<Address> address) {
        if (address.isPresent() && address.get().port() == 0) {
            throw new IllegalArgumentException(
                    peer + " cannot be reached at port 0 of " + address.get().host());
        }
        Dialer dialer;
        synchronized (this) {
            if (closed) {
                return;
            }
            dialer = dialers.computeIfAbsent(peer, this::dialer);
        }
        dialer.follow(address);
    }

    private Dialer dialer(String peer) {
        return new Dialer(
                name,
                peer,
                transport.loop(),
                transport.resolving(),
                this::connect,
                backoffMin,
                backoffMax,
                new Random(random.nextLong()));
    }

    /** Ends the connection that was dialled with a peer, and dials it no more. */
    public final void leave(String peer) {
        Dialer dialer;
        synchronized (this) {
            dialer = dialers.remove(peer);
        }
        if (dialer != null) {
            dialer.stop(name + " needs this connection no longer");
        }
    }

    /** Peers that are dialled and cannot be reached, each with the reason, for people. */
    public final Map<String, String> unreachable() {
        Map<String, String> reasons = new TreeMap<>();
        synchronized (this) {
            dialers.forEach(
                    (peer, dialer) -> dialer.trouble().ifPresent(why -> reasons.put(peer, why)));
        }
        return reasons;
    }

    /** How many connections there are that were accepted and whose peers are known. */
    public final synchronized int accepted() {
        return accepted.size();
    }

    /** Those whose peers may be known. Holds the lock. */
    protected final List<W> known() {
        List<W> known = new ArrayList<>(accepted);
        known.addAll(dialled);
        return known;
    }

    /** Connections of all kinds and peers that are dialled: what there is to be forgotten. */
    public final synchronized int held() {
        return strangers.size() + accepted.size() + dialled.size() + dialers.size();
    }

    /** Ends all connections, behind what was sent before, and dials nobody; continues listening. */
    public final void release(String reason) {
        leaveAll(reason).forEach(wire -> wire.close(reason));
    }

    /** Dials nobody any more; says which connections there are. */
    private synchronized List<W> leaveAll(String reason) {
        dialers.values().forEach(dialer -> dialer.stop(reason));
        dialers.clear();
        List<W> wires = known();
        wires.addAll(strangers);
        return wires;
    }

    /**
     * Ends all connections, behind what was sent before, for which each peer has a second; waits
     * for at most 2 s. The listener hears of the end of each; nothing new comes. Not on a thread of
     * the transport.
     */
    @Override
    public final void close() {
        List<ChannelFuture> ending = new ArrayList<>();
        List<W> wires;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            listening.forEach(channel -> ending.add(channel.close()));
            wires = leaveAll(name + " ends");
        }
        for (W wire : wires) {
            wire.close(name + " ends");
            ending.add(wire.closed());
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSING_MILLIS);
        for (ChannelFuture closing : ending) {
            closing.awaitUninterruptibly(
                    Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }

    /** Event loop of the channel. */
    private void accept(SocketChannel channel) {
        InetSocketAddress from = channel.remoteAddress();
        Accepted owner = new Accepted();
        String remote = new Address(from.getAddress().getHostAddress(), from.getPort()).toString();
        W wire = wire(owner, channel, null, remote);
        owner.wire = wire;
        W oldest = null;
        boolean late;
        synchronized (this) {
            late = closed;
            strangers.add(wire);
            if (strangers.size() > options.strangers()) {
                oldest = strangers.iterator().next();
                strangers.remove(oldest);
            }
        }
        build(channel, tls.map(t -> t.accepting), wire);
        if (late) {
            wire.close(name + " ends");
        }
        if (oldest != null) {
            oldest.close(
                    "more than "
                            + options.strangers()
                            + " connections have not identified themselves (the setting"
                            + " `strangers`)");
        }
    }

    private ChannelFuture connect(Dialer dialer, int round, InetSocketAddress address) {
        return new Bootstrap()
                .group(dialer.loop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(options.connectTimeout().toMillis()))
                .handler(
                        new ChannelInitializer<SocketChannel>() {
                            @Override
                            protected void initChannel(SocketChannel channel) {
                                Dialled owner = new Dialled(dialer, round);
                                owner.wire = wire(owner, channel, dialer.peer(), dialer.remote());
                                build(channel, tls.map(t -> t.dialling), owner.wire);
                            }
                        })
                .connect(address);
    }

    private void build(SocketChannel channel, Optional<SslContext> encryption, W wire) {
        if (encryption.isPresent()) {
            SslHandler ssl = encryption.get().newHandler(channel.alloc());
            ssl.setHandshakeTimeoutMillis(options.helloTimeout().toMillis());
            channel.pipeline().addLast(ssl);
        }
        build(channel, wire);
        channel.pipeline().addLast(wire.handler());
    }

    /** Owns what was accepted. */
    private final class Accepted implements Wire.Owner {

        private W wire;

        @Override
        public void begun() {}

        @Override
        public String known() {
            synchronized (Endpoint.this) {
                strangers.remove(wire);
                if (accepted.size() >= options.connections()) {
                    return name
                            + " has its "
                            + options.connections()
                            + " connections already (connections)";
                }
                String wrong = wrong(wire);
                if (wrong == null) {
                    accepted.add(wire);
                }
                return wrong;
            }
        }

        @Override
        public void ended(String reason) {
            boolean known;
            synchronized (Endpoint.this) {
                strangers.remove(wire);
                known = accepted.remove(wire);
            }
            if (!known) {
                complaints.add(name, "refused a connection: " + reason);
            }
        }
    }

    /** Owns what a dialer dialled. */
    private final class Dialled implements Wire.Owner {

        private final Dialer dialer;
        private final int round;
        private W wire;

        Dialled(Dialer dialer, int round) {
            this.dialer = dialer;
            this.round = round;
        }

        @Override
        public void begun() {
            synchronized (Endpoint.this) {
                dialled.add(wire);
            }
            dialer.connected(round, wire);
        }

        @Override
        public String known() {
            String wrong;
            synchronized (Endpoint.this) {
                wrong = wrong(wire);
            }
            if (wrong == null) {
                dialer.known();
            }
            return wrong;
        }

        @Override
        public void ended(String reason) {
            synchronized (Endpoint.this) {
                dialled.remove(wire);
            }
            dialer.ended(wire, reason);
        }
    }
}
