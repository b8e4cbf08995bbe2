package io.saucr.services.members;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.saucr.services.Address;
import io.saucr.services.core.Birth;
import io.saucr.services.net.Complaints;
import io.saucr.services.net.Dialer;
import io.saucr.services.net.FrameFields;
import io.saucr.services.net.Listening;
import io.saucr.services.net.NetOptions;
import io.saucr.services.net.TlsIdentity;
import io.saucr.services.net.Transport;
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
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * All links of one member with others of its service: it accepts theirs, and keeps one to each that
 * it was told to dial. Any thread.
 *
 * <p>Its lock is held for moments only, never while something is waited for or the listener is
 * called.
 */
public final class MemberLinks implements AutoCloseable {

    /** Of all that members send to each other: {@link MemberFrame.Hello#format}. */
    public static final int FORMAT = 1;

    /** Once more than this waits to be sent on a link, {@link MemberListener#writable} is told. */
    public static final long WRITABLE_BYTES = 1 << 20;

    private static final Duration BACKOFF_MIN = Duration.ofMillis(20);
    private static final Duration BACKOFF_MAX = Duration.ofMillis(500);
    private static final long CLOSING_MILLIS = 2000;

    /**
     * A heartbeat waits for no more than the second of them, and what the system's socket holds.
     */
    private static final WriteBufferWaterMark WATER_MARK =
            new WriteBufferWaterMark(64 << 10, 256 << 10);

    private static final Pattern MEMBER = Pattern.compile("[0-9a-f]{16}");

    private final Transport transport;
    private final NetOptions options;
    private final MemberFrame.Hello self;
    private final Optional<TlsIdentity> tls;
    private final MemberListener listener;
    private final Executor executor;
    private final HeartbeatSource heartbeats;
    private final MemberCodec codec;
    private final Complaints complaints = new Complaints();

    /** Under the lock, as all below. */
    private Optional<Birth> birth;

    /** Accepted, and not known who they are, oldest first. */
    private final Set<MemberConnection> strangers = new LinkedHashSet<>();

    /** Accepted, and known. */
    private final Set<MemberConnection> accepted = new HashSet<>();

    private final Set<MemberConnection> dialled = new HashSet<>();
    private final Map<String, Dialer> dialers = new HashMap<>();
    private final List<Channel> listening = new ArrayList<>();
    private boolean closed;

    private MemberLinks(
            Transport transport,
            NetOptions options,
            MemberFrame.Hello self,
            Optional<TlsIdentity> tls,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats) {
        this.transport = transport;
        this.options = options;
        this.self = self;
        this.tls = tls;
        this.listener = listener;
        this.executor = executor;
        this.heartbeats = heartbeats;
        this.codec = new MemberCodec(self.format());
        this.birth = self.birth();
    }

    /**
     * Makes those of a member, which neither listens nor dials yet. Reads the keys.
     *
     * @param transport whose threads are used; closed after this
     * @param options of these {@code frameBytes}, {@code backoffMin} and {@code backoffMax} do not
     *     count here
     * @param self who this member is; with TLS its certificate bears the service's name
     * @param listener hears of links
     * @param executor runs the listener, one call at a time in the order given; where it throws
     *     {@link java.util.concurrent.RejectedExecutionException} the link ends
     * @param heartbeats asked every 50 ms for each link
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where the service's name is too long or not printable
     */
    public static MemberLinks open(
            Transport transport,
            NetOptions options,
            MemberFrame.Hello self,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats)
            throws IOException {
        FrameFields.nameBytes("service", self.service());
        Optional<TlsIdentity> tls = Optional.empty();
        if (options.tls().isPresent()) {
            tls = Optional.of(TlsIdentity.ofService(self.service(), options.tls().get()));
        }
        return new MemberLinks(transport, options, self, tls, listener, executor, heartbeats);
    }

    /**
     * The service's birth has become known to this member: from now on its hello bears it, and
     * links with members of another birth end.
     *
     * @throws IllegalStateException where another one was known
     */
    public void birth(Birth birth) {
        synchronized (this) {
            if (this.birth.isPresent() && !this.birth.get().equals(birth)) {
                throw new IllegalStateException(
                        "this member belongs to generation "
                                + this.birth.get()
                                + ", not to "
                                + birth);
            }
        }
        bornAnew(birth);
    }

    /** The same where it replaced the one that was known (C17). */
    public void bornAnew(Birth birth) {
        Map<MemberConnection, String> wrong = new HashMap<>();
        synchronized (this) {
            this.birth = Optional.of(birth);
            for (Set<MemberConnection> all : List.of(accepted, dialled)) {
                for (MemberConnection link : all) {
                    String reason =
                            link.hello() == null ? null : link.wrongBirth(Optional.of(birth));
                    if (reason != null) {
                        wrong.put(link, reason);
                    }
                }
            }
        }
        wrong.forEach(MemberConnection::close);
    }

    /**
     * Accepts links from now on. Waits for the socket.
     *
     * @return where it listens: with the port that the system chose, where that was 0
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public Address listen(Address at) throws IOException {
        ServerBootstrap server =
                new ServerBootstrap()
                        .group(transport.loops())
                        .channel(NioServerSocketChannel.class)
                        .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                        .childHandler(
                                new ChannelInitializer<SocketChannel>() {
                                    @Override
                                    protected void initChannel(SocketChannel channel) {
                                        accept(channel);
                                    }
                                });
        Channel bound = Listening.bind(server, name(), at);
        synchronized (this) {
            if (!closed) {
                listening.add(bound);
                int port = ((InetSocketAddress) bound.localAddress()).getPort();
                return new Address(at.host(), port);
            }
        }
        ChannelFuture unused = bound.close();
        throw new IOException(name() + " has ended and listens no more");
    }

    /**
     * Keeps a link with a member from now on, dialling again whenever it is lost, after 20 ms at
     * first, 500 ms at most. Told again, it follows the member to another address.
     *
     * @param member 16 hexadecimal digits; who else answers there is refused
     * @throws IllegalArgumentException where the port is 0, or that is no member
     */
    public void dial(String member, Address address) {
        if (!MEMBER.matcher(member).matches()) {
            throw new IllegalArgumentException(
                    "a member is 16 hexadecimal digits in lower case, not \"" + member + "\"");
        }
        if (address.port() == 0) {
            throw new IllegalArgumentException(
                    "member " + member + " cannot be reached at port 0 of " + address.host());
        }
        Dialer dialer;
        synchronized (this) {
            if (closed) {
                return;
            }
            dialer = dialers.computeIfAbsent(member, this::dialer);
        }
        dialer.follow(Optional.of(address));
    }

    private Dialer dialer(String member) {
        return new Dialer(
                name(),
                member,
                transport.loop(),
                transport.resolving(),
                this::connect,
                BACKOFF_MIN,
                BACKOFF_MAX,
                new Random());
    }

    /** Ends the link that was dialled with a member, and dials it no more. */
    public void leave(String member) {
        Dialer dialer;
        synchronized (this) {
            dialer = dialers.remove(member);
        }
        if (dialer != null) {
            dialer.stop(name() + " needs this link no longer");
        }
    }

    /** Members that are dialled and cannot be reached, each with the reason, for people. */
    public Map<String, String> unreachable() {
        Map<String, String> reasons = new TreeMap<>();
        synchronized (this) {
            dialers.forEach(
                    (member, dialer) ->
                            dialer.trouble().ifPresent(why -> reasons.put(member, why)));
        }
        return reasons;
    }

    /** Connections of all kinds and members that are dialled: what there is to be forgotten. */
    synchronized int held() {
        return strangers.size() + accepted.size() + dialled.size() + dialers.size();
    }

    /**
     * Ends all links; waits for at most 2 s. The listener hears of the end of each; nothing new
     * comes. Not on a thread of the transport.
     */
    @Override
    public void close() {
        List<ChannelFuture> ending = new ArrayList<>();
        List<MemberConnection> connections;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            listening.forEach(channel -> ending.add(channel.close()));
            dialers.values().forEach(dialer -> dialer.stop(name() + " ends"));
            dialers.clear();
            connections = new ArrayList<>(strangers);
            connections.addAll(accepted);
            connections.addAll(dialled);
        }
        for (MemberConnection connection : connections) {
            connection.close(name() + " ends");
            ending.add(connection.closed());
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSING_MILLIS);
        for (ChannelFuture closing : ending) {
            closing.awaitUninterruptibly(
                    Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }

    private String name() {
        return "member " + self.member() + " of " + self.service();
    }

    /** Event loop of the channel. */
    private void accept(SocketChannel channel) {
        InetSocketAddress remote = channel.remoteAddress();
        MemberConnection connection =
                connection(
                        new Accepted(),
                        channel,
                        null,
                        new Address(remote.getAddress().getHostAddress(), remote.getPort())
                                .toString());
        MemberConnection oldest = null;
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
            connection.close(name() + " ends");
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
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(options.connectTimeout().toMillis()))
                .handler(
                        new ChannelInitializer<SocketChannel>() {
                            @Override
                            protected void initChannel(SocketChannel channel) {
                                MemberConnection connection =
                                        connection(
                                                new Dialled(dialer, round),
                                                channel,
                                                dialer.peer(),
                                                dialer.remote());
                                build(channel, tls.map(t -> t.dialling), connection);
                            }
                        })
                .connect(address);
    }

    private MemberConnection connection(
            MemberConnection.Owner owner, Channel channel, String wanted, String remote) {
        return new MemberConnection(
                self,
                options,
                codec,
                listener,
                executor,
                heartbeats,
                owner,
                channel,
                wanted,
                remote);
    }

    private void build(
            SocketChannel channel, Optional<SslContext> encryption, MemberConnection connection) {
        ChannelPipeline pipeline = channel.pipeline();
        if (encryption.isPresent()) {
            SslHandler ssl = encryption.get().newHandler(channel.alloc());
            ssl.setHandshakeTimeoutMillis(options.helloTimeout().toMillis());
            pipeline.addLast(ssl);
        }
        pipeline.addLast(connection.decoder());
        pipeline.addLast(connection.handler());
    }

    /** Owns what was accepted. */
    private final class Accepted implements MemberConnection.Owner {

        @Override
        public void begun(MemberConnection connection) {}

        @Override
        public Optional<Birth> birth() {
            synchronized (MemberLinks.this) {
                return birth;
            }
        }

        @Override
        public String known(MemberConnection connection) {
            synchronized (MemberLinks.this) {
                strangers.remove(connection);
                if (accepted.size() >= options.connections()) {
                    return name()
                            + " has its "
                            + options.connections()
                            + " connections already (connections)";
                }
                String wrong = connection.wrongBirth(birth);
                if (wrong == null) {
                    accepted.add(connection);
                }
                return wrong;
            }
        }

        @Override
        public void ended(MemberConnection connection, String reason) {
            boolean known;
            synchronized (MemberLinks.this) {
                strangers.remove(connection);
                known = accepted.remove(connection);
            }
            if (!known) {
                complaints.add(name(), "refused a connection: " + reason);
            }
        }
    }

    /** Owns what a dialer dialled. */
    private final class Dialled implements MemberConnection.Owner {

        private final Dialer dialer;
        private final int round;

        Dialled(Dialer dialer, int round) {
            this.dialer = dialer;
            this.round = round;
        }

        @Override
        public void begun(MemberConnection connection) {
            synchronized (MemberLinks.this) {
                dialled.add(connection);
            }
            dialer.connected(round, connection);
        }

        @Override
        public Optional<Birth> birth() {
            synchronized (MemberLinks.this) {
                return birth;
            }
        }

        @Override
        public String known(MemberConnection connection) {
            String wrong;
            synchronized (MemberLinks.this) {
                wrong = connection.wrongBirth(birth);
            }
            if (wrong == null) {
                dialer.known();
            }
            return wrong;
        }

        @Override
        public void ended(MemberConnection connection, String reason) {
            synchronized (MemberLinks.this) {
                dialled.remove(connection);
            }
            dialer.ended(connection, reason);
        }
    }
}
