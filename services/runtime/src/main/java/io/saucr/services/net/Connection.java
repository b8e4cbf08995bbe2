package io.saucr.services.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.concurrent.ScheduledFuture;
import io.saucr.services.core.Frame;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection with one peer, from the first byte on. Its public methods may be called by any
 * thread; what they say of the peer is there once the listener heard of it.
 *
 * <p>A pair of services may have two, as each side dials those it sends to: a service that
 * restarted must be able to reach a peer which has not noticed, and two sides that dial at the same
 * time need not agree on one of the two. Both carry everything; the numbers of K7 put right what
 * overtakes.
 *
 * <p>It tells the listener of a peer only once that has shown that it speaks this protocol, and who
 * it is: a dialled one by its preface and, with TLS, its certificate; an accepted one by its HELLO.
 *
 * <p>Who dials says in its preface whether it is a service or an outside client. With TLS a
 * service's name must be its certificate's; a client may show any that the trust store vouches for,
 * and its name is what it says. A client without a birth may begin with a request; it is called as
 * its certificate, or by its address.
 *
 * <p>What it holds is bounded in both directions (K13): it stops reading while the listener has
 * much untaken, and ends when the network takes too little. A peer that is silent for too long has
 * gone; while this side does not read, silence says nothing.
 *
 * <p>The event loop owns all fields but the atomic and volatile ones.
 */
public final class Connection implements Dialer.Reached {

    private static final AtomicLong IDS = new AtomicLong();

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /** Behind so many bytes no frame is queued: large ones are not copied. */
    private static final int QUEUED_BYTES = 16 << 10;

    /** What an ack and a small message take. */
    private static final int FIRST_BYTES = 256;

    private static final int TOLD_TOGETHER = 64;

    /** What a frame costs in memory beside its bytes, roughly: a flood of tiny ones counts, too. */
    private static final int OBJECT_BYTES = 64;

    /** So long a peer has to take the reason for the end. */
    private static final long GOODBYE_MILLIS = 1000;

    /** So many keep-alives beyond those that its preface announced are no flood. */
    private static final long KEEP_ALIVES_ALLOWED = 1000;

    /** So many connections' {@link NetOptions#unsentBytes} may wait over all of them. */
    private static final long CONNECTIONS_FULL = 4;

    /** A connection that takes what it is sent does not end for others': this part is its own. */
    private static final long ALWAYS_ALLOWED = 16;

    /** Hears of connections. Event loop. */
    interface Owner {

        /** TCP is there. */
        void begun(Connection connection);

        /**
         * The peer has said who it is.
         *
         * @return why it may not stay, or null
         */
        String known(Connection connection);

        /** Bytes that wait for the network, over all connections of the service or client. */
        AtomicLong unsent();

        /** It is over, for this reason; once. */
        void ended(Connection connection, String reason);
    }

    private final long id = IDS.incrementAndGet();
    private final String self;
    private final boolean client;
    private final NetOptions options;
    private final FrameCodec codec;
    private final LinkListener listener;
    private final Executor executor;
    private final Owner owner;
    private final Channel channel;
    private final boolean dialled;
    private final String remote;

    private final AtomicLong unsent = new AtomicLong();
    private final AtomicBoolean blocked = new AtomicBoolean();
    private final AtomicLong untaken = new AtomicLong();
    private volatile boolean paused;
    private volatile boolean over;
    private volatile String peer;
    private volatile boolean outside;
    private volatile boolean nameless;

    /** Of who queues, one thread at a time: frames that wait for {@link #flush}, or null. */
    private ByteBuf queued;

    /** Frames of the read that is under way. */
    private List<Signal.Arrived> arrived = new ArrayList<>();

    private boolean begun;
    private boolean prefaceSent;
    private boolean prefaced;
    private boolean up;
    private boolean keepAliveUnsent;
    private int silentTicks;
    private int silentTicksAllowed;
    private long prefacedNanos;
    private long theirKeepAliveMillis;
    private long keepAlives;
    private ScheduledFuture<?> helloDue;

    /**
     * Takes over a channel, whose pipeline ends with {@link #handler}.
     *
     * @param self the service or client at this end
     * @param client whether that is an outside client; it only dials
     * @param peer who was dialled; null where it was accepted
     * @param remote host and port, for people
     */
    Connection(
            String self,
            boolean client,
            NetOptions options,
            FrameCodec codec,
            LinkListener listener,
            Executor executor,
            Owner owner,
            Channel channel,
            String peer,
            String remote) {
        this.self = self;
        this.client = client;
        this.options = options;
        this.codec = codec;
        this.listener = listener;
        this.executor = executor;
        this.owner = owner;
        this.channel = channel;
        this.dialled = peer != null;
        this.peer = peer;
        this.remote = remote;
        this.silentTicksAllowed = ticks(options.silence());
    }

    /** A number that no other connection of this process has or had. */
    public long id() {
        return id;
    }

    /** The peer's name. */
    public String peer() {
        return peer;
    }

    /** Whether this side dialled. */
    public boolean dialled() {
        return dialled;
    }

    /**
     * Whether the peer is an outside client; else it is a service. Decided by what it said in its
     * preface; who was dialled is a service.
     */
    public boolean outside() {
        return outside;
    }

    /** Whether the peer is a client that began with a request, without HELLO and birth. */
    public boolean nameless() {
        return nameless;
    }

    /** The peer's host and port, for people. */
    public String remote() {
        return remote;
    }

    /** Whether the listener has heard of it. Event loop. */
    @Override
    public boolean isUp() {
        return up;
    }

    /** Done once nothing of it is left. */
    ChannelFuture closed() {
        return channel.closeFuture();
    }

    /**
     * Sends a frame, or loses it with the connection. Does not wait. When more than {@link
     * NetOptions#unsentBytes} wait for the network the connection ends; when four times as many
     * wait over all connections, each with more than a sixteenth and one frame (K13). Once it has
     * ended nothing is sent.
     *
     * @throws IllegalArgumentException where the frame exceeds {@link NetOptions#frameBytes}, or a
     *     name in it is no name; the connection goes on
     */
    public void send(Frame frame) {
        if (over) {
            return;
        }
        ByteBuf bytes = codec.write(frame, channel.alloc());
        if (counted(bytes.readableBytes())) {
            writeSent(bytes);
        } else {
            bytes.release();
        }
    }

    /** Counts what is to be sent; where that is too much the connection ends. */
    private boolean counted(int length) {
        long waiting = unsent.addAndGet(length);
        long all = owner.unsent().addAndGet(length);
        boolean tooMany =
                all > CONNECTIONS_FULL * options.unsentBytes()
                        && waiting > Math.max(length, options.unsentBytes() / ALWAYS_ALLOWED);
        if (waiting <= options.unsentBytes() && !tooMany) {
            return true;
        }
        unsent.addAndGet(-length);
        owner.unsent().addAndGet(-length);
        close(
                who()
                        + " takes too little: "
                        + (waiting - length)
                        + " bytes wait for the network, "
                        + (tooMany ? (all - length) + " over all connections, " : "")
                        + "and unsentBytes is "
                        + options.unsentBytes());
        return false;
    }

    private void writeSent(ByteBuf bytes) {
        int length = bytes.readableBytes();
        write(bytes, () -> sent(length));
    }

    /**
     * As {@link #send}, but with all that is queued before the next {@link #flush}, which has to
     * follow: one write for many frames, and one hand-over to the event loop. Only where all of
     * this side is sent so, by one thread at a time.
     *
     * @return whether nothing was queued before
     * @throws IllegalArgumentException as {@link #send}
     */
    public boolean queue(Frame frame) {
        if (over) {
            return false;
        }
        if (queued != null && queued.readableBytes() >= QUEUED_BYTES) {
            flush();
        }
        boolean first = queued == null;
        ByteBuf bytes = first ? channel.alloc().buffer(FIRST_BYTES) : queued;
        // Until it is counted it is nobody's: what throws leaves the others as they were.
        int before = bytes.writerIndex();
        boolean taken = false;
        try {
            codec.append(frame, bytes);
            taken = counted(bytes.writerIndex() - before);
        } finally {
            if (taken) {
                queued = bytes;
            } else if (first) {
                bytes.release();
            } else {
                bytes.writerIndex(before);
            }
        }
        return first && taken;
    }

    /** Sends what was queued. */
    public void flush() {
        ByteBuf bytes = queued;
        if (bytes != null) {
            queued = null;
            writeSent(bytes);
        }
    }

    /**
     * Writes, and ends the connection where that fails: not every failure ends the channel, as want
     * of memory does not, and a peer that misses a frame would hold all later ones back (K7).
     *
     * @param done runs once the bytes are with the network, or lost
     */
    private void write(ByteBuf bytes, Runnable done) {
        ChannelFuture unused =
                channel.writeAndFlush(bytes)
                        .addListener(
                                written -> {
                                    done.run();
                                    // Of a channel that has ended its end tells more.
                                    if (!written.isSuccess() && channel.isActive()) {
                                        broke(written.cause());
                                    }
                                });
    }

    private void sent(int length) {
        owner.unsent().addAndGet(-length);
        if (unsent.addAndGet(-length) <= options.unsentBytes() / 8
                && blocked.compareAndSet(true, false)
                && !over) {
            tell(() -> listener.writable(this));
        }
    }

    /**
     * Whether little waits to be sent: who has much to send goes on only then. {@link
     * LinkListener#writable} tells when it turns true again.
     */
    public boolean writable() {
        if (unsent.get() <= options.unsentBytes() / 4) {
            return true;
        }
        blocked.set(true);
        // What was sent meanwhile may have been the last: then nobody would tell.
        return unsent.get() <= options.unsentBytes() / 8 && blocked.compareAndSet(true, false);
    }

    /**
     * Ends the connection, behind what was sent before; the peer is told the reason. {@link
     * LinkListener#down} follows.
     */
    @Override
    public void close(String reason) {
        if (channel.eventLoop().inEventLoop()) {
            end(reason, true);
        } else {
            channel.eventLoop().execute(() -> end(reason, true));
        }
    }

    /** The last handler of the channel's pipeline. */
    ChannelInboundHandlerAdapter handler() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                active();
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                read(message);
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
                tellArrived();
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object happened) {
                event(happened);
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                inactive();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                broke(cause);
            }
        };
    }

    private void active() {
        owner.begun(this);
        if (over) {
            return;
        }
        helloDue =
                channel.eventLoop()
                        .schedule(
                                this::nothingSaid,
                                options.helloTimeout().toMillis(),
                                TimeUnit.MILLISECONDS);
        if (ssl() == null) {
            begin();
        }
    }

    private SslHandler ssl() {
        return channel.pipeline().get(SslHandler.class);
    }

    private void nothingSaid() {
        if (over || up) {
            return;
        }
        if (outside) {
            // A client without a birth that has nothing to ask yet; its keep-alives show it lives.
            beginNameless();
        } else {
            end(
                    who()
                            + " did not say who it is within "
                            + options.helloTimeout().toMillis()
                            + " ms"
                            + doubt(),
                    true);
        }
    }

    private void begin() {
        begun = true;
        if (dialled && ssl() != null) {
            String wrong = wrongCertificate(peer);
            if (wrong != null) {
                end(wrong, false);
            }
            // The other side still looks at this side's certificate. What is sent before it has
            // made up its mind could make it end the connection in a way that loses its reason.
            return;
        }
        preface();
    }

    private void preface() {
        prefaceSent = true;
        write(
                codec.preface(client, options.keepAlive(), dialled ? peer : self, channel.alloc()),
                () -> {});
    }

    /** Why the peer's certificate does not bear that name, or null. Without TLS there is none. */
    private String wrongCertificate(String name) {
        if (ssl() == null) {
            return null;
        }
        X509Certificate certificate = TlsIdentity.certificate(ssl());
        Set<String> names = TlsIdentity.names(certificate);
        return names.contains(name)
                ? null
                : (dialled ? name + " was wanted at " : "it says it is " + name + " at ")
                        + remote
                        + ", and its certificate ("
                        + FrameFields.printable(certificate.getSubjectX500Principal().toString())
                        + ") names "
                        + names
                        + ": a service's certificate bears its name, as common name or DNS name";
    }

    private Optional<String> certificateName() {
        return ssl() == null
                ? Optional.empty()
                : TlsIdentity.names(TlsIdentity.certificate(ssl())).stream().findFirst();
    }

    private void read(Object message) {
        if (over) {
            return;
        }
        silentTicks = 0;
        if (message instanceof Signal.Preface preface) {
            prefaced(preface);
        } else if (message instanceof Signal.Arrived arrived) {
            arrived(arrived);
        } else if (message instanceof Signal.KeepAlive) {
            keptAlive();
        } else if (message instanceof Signal.Goodbye goodbye) {
            end(who() + " ended the connection: " + goodbye.reason(), false);
        }
    }

    private void prefaced(Signal.Preface preface) {
        prefaced = true;
        if (!prefaceSent) {
            preface();
        }
        String accepting = dialled ? peer : self;
        if (!preface.accepting().equals(accepting)) {
            end(
                    (dialled
                                    ? peer
                                            + " was wanted at "
                                            + remote
                                            + ", and "
                                            + preface.accepting()
                                    : preface.accepting()
                                            + " was wanted by "
                                            + who()
                                            + ", and "
                                            + self)
                            + " answers there: correct the address",
                    true);
            return;
        }
        if (dialled && preface.client()) {
            end(peer + " was wanted at " + remote + ", and says that it is no service", true);
            return;
        }
        outside = preface.client();
        prefacedNanos = System.nanoTime();
        theirKeepAliveMillis = preface.keepAlive().toMillis();
        Duration theirs = preface.keepAlive().multipliedBy(3);
        Duration ours = options.silence();
        silentTicksAllowed = ticks(theirs.compareTo(ours) > 0 ? theirs : ours);
        if (dialled) {
            come();
        }
    }

    /**
     * Each costs little, and nothing else bounds them. They are counted from the preface on, as
     * those of a long time may arrive at once, after a pause.
     */
    private void keptAlive() {
        keepAlives++;
        long sinceMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - prefacedNanos);
        if (keepAlives > KEEP_ALIVES_ALLOWED + 2 * (sinceMillis / theirKeepAliveMillis)) {
            end(
                    who()
                            + " sent "
                            + keepAlives
                            + " keep-alives in "
                            + sinceMillis
                            + " ms, and announced one each "
                            + theirKeepAliveMillis
                            + " ms",
                    true);
        }
    }

    private void come() {
        String wrong = owner.known(this);
        if (wrong != null) {
            end(wrong, true);
            return;
        }
        up = true;
        helloDue.cancel(false);
        tell(() -> listener.up(this));
    }

    private void arrived(Signal.Arrived frame) {
        if (frame.frame() instanceof Frame.Hello hello) {
            said(hello.name());
        } else if (!up) {
            if (outside
                    && (frame.frame() instanceof Frame.Ask
                            || frame.frame() instanceof Frame.Seen)) {
                beginNameless();
            } else {
                end(
                        who()
                                + (outside
                                        ? " sent neither HELLO nor request first"
                                        : " is a service, and did not say which one first"),
                        true);
            }
        }
        if (over) {
            return;
        }
        int bytes = frame.bytes() + OBJECT_BYTES;
        if (untaken.addAndGet(bytes) > options.untakenBytes()) {
            paused = true;
            channel.config().setAutoRead(false);
            // What was taken meanwhile may have been the last: then nobody would go on reading.
            resume();
        }
        arrived.add(frame);
        if (arrived.size() >= TOLD_TOGETHER) {
            tellArrived();
        }
    }

    /** Hands over what one read brought, at once. */
    private void tellArrived() {
        if (!arrived.isEmpty()) {
            List<Signal.Arrived> frames = arrived;
            arrived = new ArrayList<>();
            tell(() -> take(frames));
        }
    }

    private void take(List<Signal.Arrived> frames) {
        int bytes = 0;
        try {
            for (Signal.Arrived frame : frames) {
                bytes += frame.bytes() + OBJECT_BYTES;
                listener.frame(this, frame.frame());
            }
        } finally {
            taken(bytes);
        }
    }

    /** The peer said who it is. */
    private void said(String name) {
        if (up) {
            if (nameless || !name.equals(peer)) {
                end(who() + " now says it is " + name + "; a connection has one peer", true);
            }
            return;
        }
        String wrong = outside ? null : wrongCertificate(name);
        if (wrong != null) {
            end(wrong, true);
            return;
        }
        peer = name;
        come();
    }

    /** The peer asks, or waits to ask, without having said who it is. */
    private void beginNameless() {
        nameless = true;
        peer = certificateName().orElse("client at " + remote);
        come();
    }

    private void taken(int bytes) {
        untaken.addAndGet(-bytes);
        if (paused && untaken.get() <= options.untakenBytes() / 2 && !over) {
            channel.eventLoop().execute(this::resume);
        }
    }

    private void resume() {
        if (paused && untaken.get() <= options.untakenBytes() / 2) {
            paused = false;
            silentTicks = 0;
            channel.config().setAutoRead(true);
        }
    }

    private void event(Object event) {
        if (over) {
            return;
        }
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                begin();
            } else {
                broke(handshake.cause());
            }
        } else if (event instanceof IdleStateEvent idle && begun) {
            if (idle.state() == IdleState.WRITER_IDLE) {
                keepAlive();
            } else if (idle.state() == IdleState.READER_IDLE && !paused) {
                silent();
            }
        }
    }

    private void keepAlive() {
        // While bytes wait for the network the peer hears enough, or does not listen.
        if (unsent.get() == 0 && !keepAliveUnsent) {
            keepAliveUnsent = true;
            write(codec.keepAlive(channel.alloc()), () -> keepAliveUnsent = false);
        }
    }

    /** Counts, as a clock would take a pause of this process for the peer's silence. */
    private void silent() {
        silentTicks++;
        if (silentTicks >= silentTicksAllowed) {
            end(
                    "nothing was heard from "
                            + who()
                            + " for "
                            + options.keepAlive().multipliedBy(silentTicks).toMillis()
                            + " ms",
                    true);
        }
    }

    private int ticks(Duration silence) {
        long tick = options.keepAlive().toMillis();
        return Math.toIntExact((silence.toMillis() + tick - 1) / tick);
    }

    private void inactive() {
        end(
                who()
                        + " closed the connection"
                        + (prefaced ? "" : " before it said anything")
                        + doubt(),
                false);
    }

    private void broke(Throwable cause) {
        end(LinkFailure.reason(cause, who(), doubt(), options), true);
    }

    private String doubt() {
        return prefaced || !dialled
                ? ""
                : "; is that a service's port, and does it use TLS as this side does?";
    }

    private String who() {
        return peer == null ? "somebody at " + remote : peer + " at " + remote;
    }

    /** Ends it, once: tells the listener and the owner at once, the peer if that still listens. */
    private void end(String reason, boolean goodbye) {
        if (over) {
            return;
        }
        over = true;
        if (helloDue != null) {
            helloDue.cancel(false);
        }
        tellArrived();
        if (up) {
            tell(() -> listener.down(this, reason));
        }
        owner.ended(this, reason);
        if (goodbye && prefaceSent && channel.isActive()) {
            // What still arrives is dropped; reading on lets the peer see the reason.
            channel.config().setAutoRead(true);
            // Whether it arrives matters to nobody here.
            ChannelFuture unused =
                    channel.writeAndFlush(codec.goodbye(reason, channel.alloc()))
                            .addListener(ChannelFutureListener.CLOSE);
            ScheduledFuture<?> late =
                    channel.eventLoop()
                            .schedule(
                                    () -> channel.unsafe().close(channel.voidPromise()),
                                    GOODBYE_MILLIS,
                                    TimeUnit.MILLISECONDS);
            ChannelFuture unusedEnd = channel.closeFuture().addListener(gone -> late.cancel(false));
        } else {
            ChannelFuture unused = channel.close();
        }
    }

    private void tell(Runnable call) {
        try {
            executor.execute(call);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: nobody listens any more", remote);
            if (!over) {
                over = true;
                owner.ended(this, "this service has ended");
                ChannelFuture unused = channel.close();
            }
        }
    }

    /** Host and port of an accepted connection, for people. */
    static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }
}
