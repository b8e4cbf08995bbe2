package io.saucr.services.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Wire;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One connection with one peer, from the first byte on. Its public methods may be called by any
 * thread; what they say of the peer is there once the listener heard of it.
 *
 * <p>A pair of services may have two, as each side dials those it sends to: a service that
 * restarted must be able to reach a peer which has not noticed, and two sides that dial at the same
 * time need not agree on one of the two. Both carry everything; the numbers of K7 put right what
 * overtakes.
 *
 * <p>A peer that was dialled shows who it is by its preface and, with TLS, its certificate; one
 * that was accepted by its HELLO.
 *
 * <p>Who dials says in its preface whether it is a service or an outside client. With TLS a
 * service's name must be its certificate's; a client may show any that the trust store vouches for,
 * and its name is what it says. A client without a birth may begin with a request; it is called as
 * its certificate, or by its address.
 */
public final class Connection extends Wire<Signal.Arrived> {

    /** Behind so many bytes no frame is queued: large ones are not copied. */
    private static final int QUEUED_BYTES = 16 << 10;

    /** What an ack and a small message take. */
    private static final int FIRST_BYTES = 256;

    /**
     * What a frame costs in memory in addition to its bytes, roughly: a flood of tiny ones counts,
     * too.
     */
    private static final int OBJECT_BYTES = 64;

    /** So many keep-alives beyond those that its preface announced are no flood. */
    private static final long KEEP_ALIVES_ALLOWED = 1000;

    /** So many connections' {@link NetOptions#unsentBytes} may wait over all of them. */
    private static final long CONNECTIONS_FULL = 4;

    /** A connection that takes what it is sent does not end for others': this part is its own. */
    private static final long ALWAYS_ALLOWED = 16;

    private final String self;
    private final boolean client;
    private final FrameCodec codec;
    private final LinkListener listener;

    /** Bytes that wait for the network, over all connections of the service or client. */
    private final AtomicLong unsentOfAll;

    private volatile String peer;
    private volatile boolean outside;
    private volatile boolean nameless;

    /** Of who queues, one thread at a time: frames that wait for {@link #flush}, or null. */
    private ByteBuf queued;

    private boolean begun;
    private boolean prefaceSent;
    private boolean prefaced;
    private boolean keepAliveUnsent;
    private int silentTicksAllowed;
    private long prefacedNanos;
    private long theirKeepAliveMillis;
    private long keepAlives;

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
            AtomicLong unsentOfAll,
            Owner owner,
            Channel channel,
            String peer,
            String remote) {
        super(options, executor, owner, channel, peer != null, remote, options.unsentBytes() / 8);
        this.self = self;
        this.client = client;
        this.codec = codec;
        this.listener = listener;
        this.unsentOfAll = unsentOfAll;
        this.peer = peer;
        this.silentTicksAllowed = ticks(options.silence());
    }

    /** The peer's name. */
    public String peer() {
        return peer;
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

    /**
     * Sends a frame, or loses it with the connection. Does not wait. When more than {@link
     * NetOptions#unsentBytes} wait for the network the connection ends; when four times as many
     * wait over all connections, each with more than a sixteenth and one frame (K13). Once it has
     * ended nothing is sent.
     *
     * @throws IllegalArgumentException where the frame exceeds {@link NetOptions#frameBytes}, or a
     *     name in it is no name; the connection continues
     */
    public void send(Frame frame) {
        if (isOver()) {
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
        long all = unsentOfAll.addAndGet(length);
        boolean tooMany =
                all > CONNECTIONS_FULL * options.unsentBytes()
                        && waiting > Math.max(length, options.unsentBytes() / ALWAYS_ALLOWED);
        if (waiting <= options.unsentBytes() && !tooMany) {
            return true;
        }
        unsent.addAndGet(-length);
        unsentOfAll.addAndGet(-length);
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
        write(
                bytes,
                () -> {
                    unsentOfAll.addAndGet(-length);
                    sent(length);
                });
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
        if (isOver()) {
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

    private void write(ByteBuf bytes, Runnable done) {
        written(channel.writeAndFlush(bytes), done);
    }

    /**
     * Whether little waits to be sent: who has much to send continues only then. {@link
     * LinkListener#writable} tells when it turns true again.
     */
    public boolean writable() {
        return unsent.get() <= options.unsentBytes() / 4 || blocked();
    }

    @Override
    protected void tellUp() {
        listener.up(this);
    }

    @Override
    protected void tellWritable() {
        listener.writable(this);
    }

    @Override
    protected void tellDown(String reason) {
        listener.down(this, reason);
    }

    @Override
    protected void nothingSaid() {
        if (outside) {
            // A client without a birth that has nothing to ask yet; its keep-alives show it lives.
            beginNameless();
        } else {
            super.nothingSaid();
        }
    }

    @Override
    protected void begin() {
        begun = true;
        if (dialled() && ssl() != null) {
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
                codec.preface(
                        client, options.keepAlive(), dialled() ? peer : self, channel.alloc()),
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
                : (dialled() ? name + " was wanted at " : "it says it is " + name + " at ")
                        + remote()
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

    @Override
    protected void read(Object message) {
        heard();
        if (message instanceof Signal.Preface preface) {
            prefaced(preface);
        } else if (message instanceof Signal.Arrived arrived) {
            frame(arrived);
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
        String accepting = dialled() ? peer : self;
        if (!preface.accepting().equals(accepting)) {
            end(
                    (dialled()
                                    ? peer
                                            + " was wanted at "
                                            + remote()
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
        if (dialled() && preface.client()) {
            end(peer + " was wanted at " + remote() + ", and says that it is no service", true);
            return;
        }
        outside = preface.client();
        prefacedNanos = System.nanoTime();
        theirKeepAliveMillis = preface.keepAlive().toMillis();
        Duration theirs = preface.keepAlive().multipliedBy(3);
        Duration ours = options.silence();
        silentTicksAllowed = ticks(theirs.compareTo(ours) > 0 ? theirs : ours);
        if (dialled()) {
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

    private void frame(Signal.Arrived frame) {
        if (frame.frame() instanceof Frame.Hello hello) {
            said(hello.name());
        } else if (!isUp()) {
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
        if (isOver()) {
            return;
        }
        arrived(frame, frame.bytes() + OBJECT_BYTES);
    }

    @Override
    protected void take(List<Signal.Arrived> frames) {
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
        if (isUp()) {
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
        peer = certificateName().orElse("client at " + remote());
        come();
    }

    @Override
    protected void event(Object event) {
        if (event instanceof IdleStateEvent idle && begun) {
            if (idle.state() == IdleState.WRITER_IDLE) {
                keepAlive();
            } else if (idle.state() == IdleState.READER_IDLE
                    && !isPaused()
                    && ++silentTicks >= silentTicksAllowed) {
                silent(options.keepAlive().multipliedBy(silentTicks).toMillis());
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

    private int ticks(Duration silence) {
        long tick = options.keepAlive().toMillis();
        return Math.toIntExact((silence.toMillis() + tick - 1) / tick);
    }

    @Override
    protected String early() {
        return prefaced ? "" : " before it said anything";
    }

    @Override
    protected String doubt() {
        return prefaced || !dialled()
                ? ""
                : "; is that a service's port, and does it use TLS as this side does?";
    }

    @Override
    protected String who() {
        return peer == null ? "somebody at " + remote() : peer + " at " + remote();
    }

    @Override
    protected ByteBuf goodbye(String reason) {
        return prefaceSent ? codec.goodbye(reason, channel.alloc()) : null;
    }
}
