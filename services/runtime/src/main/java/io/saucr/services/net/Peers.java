package io.saucr.services.net;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.saucr.services.Address;
import java.io.IOException;
import java.net.InetSocketAddress;
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
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * All connections of one service or client: it accepts those of others, and keeps one to each peer
 * that it was told to dial. Any thread.
 *
 * <p>Its lock is held for moments only, never while something is waited for or the listener is
 * called.
 */
public final class Peers implements AutoCloseable {

    /** What is flushed together, at most, while a read or a burst of sends is under way. */
    private static final int FLUSHED_TOGETHER = 256;

    private static final long CLOSING_MILLIS = 2000;

    private final Transport transport;
    private final String self;
    private final boolean client;
    private final NetOptions options;
    private final Optional<TlsIdentity> tls;
    private final LinkListener listener;
    private final Executor executor;
    private final Random random;
    private final FrameCodec codec;
    private final AtomicLong unsent = new AtomicLong();
    private final Complaints complaints = new Complaints();

    /** Under the lock, as all below. Accepted, and their peers not known, oldest first. */
    private final Set<Connection> strangers = new LinkedHashSet<>();

    private final Set<Connection> accepted = new HashSet<>();
    private final Set<Connection> dialled = new HashSet<>();
    private final Map<String, Dialer> dialers = new HashMap<>();
    private final List<Channel> listening = new ArrayList<>();
    private boolean closed;

    private Peers(
            Transport transport,
            String self,
            boolean client,
            NetOptions options,
            Optional<TlsIdentity> tls,
            LinkListener listener,
            Executor executor,
            Random random) {
        this.transport = transport;
        this.self = self;
        this.client = client;
        this.options = options;
        this.tls = tls;
        this.listener = listener;
        this.executor = executor;
        this.random = random;
        this.codec = new FrameCodec(options.frameBytes());
    }

    /**
     * Makes those of a service, which neither listens nor dials yet. Reads the keys.
     *
     * @param transport whose threads are used; closed after this
     * @param self the name of this service; with TLS, also of its certificate
     * @param listener hears of connections
     * @param executor runs the listener, one call at a time in the order given, as a turn thread
     *     does; where it throws {@link java.util.concurrent.RejectedExecutionException} the
     *     connection ends
     * @param random for the pauses between attempts to connect; used from here alone
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where the name is too long or not printable
     */
    public static Peers open(
            Transport transport,
            String self,
            NetOptions options,
            LinkListener listener,
            Executor executor,
            Random random)
            throws IOException {
        return open(transport, self, false, options, listener, executor, random);
    }

    /**
     * Makes those of an outside client, which dials and never listens. As {@link #open}, but the
     * certificate may bear any name.
     *
     * @param self the client's name
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where the name is too long or not printable
     */
    public static Peers openClient(
            Transport transport,
            String self,
            NetOptions options,
            LinkListener listener,
            Executor executor,
            Random random)
            throws IOException {
        return open(transport, self, true, options, listener, executor, random);
    }

    private static Peers open(
            Transport transport,
            String self,
            boolean client,
            NetOptions options,
            LinkListener listener,
            Executor executor,
            Random random)
            throws IOException {
        FrameFields.nameBytes(client ? "client" : "service", self);
        Optional<TlsIdentity> tls = Optional.empty();
        if (options.tls().isPresent()) {
            tls =
                    Optional.of(
                            client
                                    ? TlsIdentity.ofClient(self, options.tls().get())
                                    : TlsIdentity.ofService(self, options.tls().get()));
        }
        return new Peers(transport, self, client, options, tls, listener, executor, random);
    }

    /**
     * Accepts connections from now on. Waits for the socket.
     *
     * @return where it listens: with the port that the system chose, where that was 0
     * @throws IOException where that is not possible, as the port is taken; says what to do
     * @throws IllegalStateException for an outside client
     */
    public Address listen(Address at) throws IOException {
        if (client) {
            throw new IllegalStateException(
                    self + " is a client and cannot listen at " + at + ": only services do");
        }
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
        Channel bound = Listening.bind(server, self, at);
        synchronized (this) {
            if (!closed) {
                listening.add(bound);
                int port = ((InetSocketAddress) bound.localAddress()).getPort();
                return new Address(at.host(), port);
            }
        }
        ChannelFuture unused = bound.close();
        throw new IOException(self + " has ended and listens no more");
    }

    /**
     * Keeps a connection with a peer from now on, dialling again whenever it is lost. Told again,
     * it follows the peer to another address at once, and ends a pause at the same one; an empty
     * one changes nothing, as who is not found may still answer where it did.
     *
     * @throws IllegalArgumentException where the name is too long or not printable, or the port 0
     */
    public void dial(String peer, Optional<Address> address) {
        FrameFields.nameBytes("service", peer);
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
                self,
                peer,
                transport.loop(),
                transport.resolving(),
                this::connect,
                options.backoffMin(),
                options.backoffMax(),
                new Random(random.nextLong()));
    }

    /** Ends the connection that was dialled with a peer, and dials it no more. */
    public void leave(String peer) {
        Dialer dialer;
        synchronized (this) {
            dialer = dialers.remove(peer);
        }
        if (dialer != null) {
            dialer.stop(self + " needs this connection no longer");
        }
    }

    /** Peers that are dialled and cannot be reached, each with the reason, for people. */
    public Map<String, String> unreachable() {
        Map<String, String> reasons = new TreeMap<>();
        synchronized (this) {
            dialers.forEach(
                    (peer, dialer) -> dialer.trouble().ifPresent(why -> reasons.put(peer, why)));
        }
        return reasons;
    }

    /** How many connections there are that were accepted and whose peers are known. */
    public synchronized int accepted() {
        return accepted.size();
    }

    /** Connections of all kinds and peers that are dialled: what there is to be forgotten. */
    synchronized int held() {
        return strangers.size() + accepted.size() + dialled.size() + dialers.size();
    }

    /**
     * Ends all connections, behind what was sent before, for which each peer has a second; waits
     * for at most 2 s. The listener hears of the end of each; nothing new comes. Not on a thread of
     * the transport.
     */
    @Override
    public void close() {
        List<ChannelFuture> ending = new ArrayList<>();
        List<Connection> connections;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            listening.forEach(channel -> ending.add(channel.close()));
            dialers.values().forEach(dialer -> dialer.stop(self + " ends"));
            dialers.clear();
            connections = new ArrayList<>(strangers);
            connections.addAll(accepted);
            connections.addAll(dialled);
        }
        for (Connection connection : connections) {
            connection.close(self + " ends");
            ending.add(connection.closed());
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSING_MILLIS);
        for (ChannelFuture closing : ending) {
            closing.awaitUninterruptibly(
                    Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }

    /** Event loop of the channel. */
    private void accept(SocketChannel channel) {
        Connection connection =
                new Connection(
                        self,
                        client,
                        options,
                        codec,
                        listener,
                        executor,
                        new Accepted(),
                        channel,
                        null,
                        Connection.text(channel.remoteAddress()));
        Connection oldest = null;
        boolean late;
        synchronized (this) {
            late = closed;
            strangers.add(connection);
            if (strangers.size() > options.strangers()) {
                oldest = strangers.iterator().next();
                strangers.remove(oldest);
            }
        }
        build(channel, tls.map(t -> t.accepting), connection);
        if (late) {
            connection.close(self + " ends");
        }
        if (oldest != null) {
            oldest.close(
                    "more than "
                            + options.strangers()
                            + " connections have not said who they are (strangers)");
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
                                dialled(dialer, round, channel);
                            }
                        })
                .connect(address);
    }

    private void dialled(Dialer dialer, int round, SocketChannel channel) {
        Connection connection =
                new Connection(
                        self,
                        client,
                        options,
                        codec,
                        listener,
                        executor,
                        new Dialled(dialer, round),
                        channel,
                        dialer.peer(),
                        dialer.remote());
        build(channel, tls.map(t -> t.dialling), connection);
    }

    private void build(
            SocketChannel channel, Optional<SslContext> encryption, Connection connection) {
        ChannelPipeline pipeline = channel.pipeline();
        if (encryption.isPresent()) {
            SslHandler ssl = encryption.get().newHandler(channel.alloc());
            ssl.setHandshakeTimeoutMillis(options.helloTimeout().toMillis());
            pipeline.addLast(ssl);
        }
        long tickMillis = options.keepAlive().toMillis();
        pipeline.addLast(new FlushConsolidationHandler(FLUSHED_TOGETHER, true));
        pipeline.addLast(new IdleStateHandler(tickMillis, tickMillis, 0, TimeUnit.MILLISECONDS));
        pipeline.addLast(new SignalDecoder(codec));
        pipeline.addLast(connection.handler());
    }

    /** Owns what was accepted. */
    private final class Accepted implements Connection.Owner {

        @Override
        public AtomicLong unsent() {
            return unsent;
        }

        @Override
        public void begun(Connection connection) {}

        @Override
        public String known(Connection connection) {
            synchronized (Peers.this) {
                strangers.remove(connection);
                if (accepted.size() >= options.connections()) {
                    return self
                            + " has its "
                            + options.connections()
                            + " connections already (connections)";
                }
                accepted.add(connection);
                return null;
            }
        }

        @Override
        public void ended(Connection connection, String reason) {
            boolean known;
            synchronized (Peers.this) {
                strangers.remove(connection);
                known = accepted.remove(connection);
            }
            if (!known) {
                complaints.add(self, "refused a connection: " + reason);
            }
        }
    }

    /** Owns what a dialer dialled. */
    private final class Dialled implements Connection.Owner {

        private final Dialer dialer;
        private final int round;

        Dialled(Dialer dialer, int round) {
            this.dialer = dialer;
            this.round = round;
        }

        @Override
        public AtomicLong unsent() {
            return unsent;
        }

        @Override
        public void begun(Connection connection) {
            synchronized (Peers.this) {
                dialled.add(connection);
            }
            dialer.connected(round, connection);
        }

        @Override
        public String known(Connection connection) {
            dialer.known();
            return null;
        }

        @Override
        public void ended(Connection connection, String reason) {
            synchronized (Peers.this) {
                dialled.remove(connection);
            }
            dialer.ended(connection, reason);
        }
    }
}
