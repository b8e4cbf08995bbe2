package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.ScheduledFuture;
import io.saucr.services.core.Birth;
import io.saucr.services.net.Dialer;
import io.saucr.services.net.FrameFields;
import io.saucr.services.net.LinkFailure;
import io.saucr.services.net.NetOptions;
import io.saucr.services.net.TlsIdentity;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection with another member, from the first byte on. The listener hears of it once both
 * sides have said who they are and found each other right.
 *
 * <p>Frames wait in a queue of its own, not in the channel, and a segment leaves it in pieces while
 * the channel is writable: so a heartbeat, or the reason for the end, waits for no more than the
 * few pieces that the channel holds.
 *
 * <p>What it holds is bounded in both directions (K13): it stops reading while the listener has
 * much untaken, and ends when the network takes too little. A member that is silent for too long
 * has gone; while this side does not read, silence says nothing.
 *
 * <p>The event loop owns all fields but the atomic and volatile ones.
 */
final class MemberConnection implements MemberLink, Dialer.Reached {

    static final Duration HEARTBEAT = Duration.ofMillis(50);

    private static final AtomicLong IDS = new AtomicLong();

    private static final Logger LOG = LoggerFactory.getLogger(MemberConnection.class);

    /** So much is written at once before the loop's other tasks have their turn. */
    private static final int TURN_BYTES = 512 << 10;

    /** Written to the network together. */
    private static final int FLUSH_BYTES = 64 << 10;

    /** What a small frame takes in memory, roughly: a flood of them counts, too. */
    private static final long SMALL_BYTES = 128;

    private static final int TOLD_TOGETHER = 64;

    /** So long the other member has to take the reason for the end. */
    private static final long GOODBYE_MILLIS = 1000;

    /** A heartbeat that is early by no more goes at once: the next look may be too late. */
    private static final long EARLY_NANOS = HEARTBEAT.toNanos() / 2;

    /** Hears of connections. Event loop. */
    interface Owner {

        /** TCP is there. */
        void begun(MemberConnection connection);

        /** This member's birth, as far as it is known. */
        Optional<Birth> birth();

        /**
         * The other member has said who it is, and may stay but for its birth.
         *
         * @return why it may not stay, or null
         */
        String known(MemberConnection connection);

        /** It is over, for this reason; once. */
        void ended(MemberConnection connection, String reason);
    }

    /**
     * A frame that the listener has not yet taken.
     *
     * @param frame joins a segment: on the listener's thread
     */
    private record Arrived(long bytes, Supplier<MemberFrame> frame) {}

    private final long id = IDS.incrementAndGet();
    private final MemberFrame.Hello self;
    private final NetOptions options;
    private final MemberCodec codec;
    private final MemberDecoder decoder;
    private final MemberListener listener;
    private final Executor executor;
    private final HeartbeatSource heartbeats;
    private final Owner owner;
    private final Channel channel;
    private final String wanted;
    private final String remote;
    private final long silentTicksAllowed;

    private final Queue<MemberFrame> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean pumpDue = new AtomicBoolean();
    private final AtomicLong unsent = new AtomicLong();
    private final AtomicBoolean blocked = new AtomicBoolean();
    private final AtomicLong untaken = new AtomicLong();
    private volatile boolean paused;
    private volatile boolean over;
    private volatile long heardNanos = System.nanoTime();
    private volatile MemberFrame.Hello hello;
    private volatile MemberFrame.Heartbeat heartbeat;

    /** Of the listener's thread: it could not take a frame. */
    private volatile boolean failed;

    /** Frames of the read that is under way. */
    private List<Arrived> arrived = new ArrayList<>();

    /** What is left of the segment that is being sent; null where none is. */
    private ByteBuffer left;

    private int leftOf;
    private boolean pumping;
    private boolean prefaced;
    private boolean up;
    private boolean heartbeatUnsent;
    private long heartbeatNanos;
    private long silentTicks;
    private ScheduledFuture<?> due;

    /**
     * Takes over a channel, whose pipeline ends with {@link #decoder} and {@link #handler}.
     *
     * @param wanted the member that was dialled; null where it was accepted
     * @param remote host and port, for people
     */
    MemberConnection(
            MemberFrame.Hello self,
            NetOptions options,
            MemberCodec codec,
            MemberListener listener,
            Executor executor,
            HeartbeatSource heartbeats,
            Owner owner,
            Channel channel,
            String wanted,
            String remote) {
        this.self = self;
        this.options = options;
        this.codec = codec;
        this.decoder = new MemberDecoder(codec, this::heard);
        this.listener = listener;
        this.executor = executor;
        this.heartbeats = heartbeats;
        this.owner = owner;
        this.channel = channel;
        this.wanted = wanted;
        this.remote = remote;
        this.silentTicksAllowed =
                (options.silence().toNanos() + HEARTBEAT.toNanos() - 1) / HEARTBEAT.toNanos();
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public MemberFrame.Hello hello() {
        return hello;
    }

    @Override
    public boolean dialled() {
        return wanted != null;
    }

    @Override
    public String remote() {
        return remote;
    }

    @Override
    public boolean isUp() {
        return up;
    }

    @Override
    public long unsentBytes() {
        return unsent.get();
    }

    @Override
    public void hold(long bytes) {
        // The next frame that arrives finds them, and ends reading.
        long unused = untaken.addAndGet(bytes);
    }

    @Override
    public void release(long bytes) {
        taken(bytes);
    }

    @Override
    public long lastHeardNanos() {
        return paused ? System.nanoTime() : heardNanos;
    }

    @Override
    public Optional<MemberFrame.Heartbeat> lastHeartbeat() {
        return Optional.ofNullable(heartbeat);
    }

    /** Done once nothing of it is left. */
    ChannelFuture closed() {
        return channel.closeFuture();
    }

    MemberDecoder decoder() {
        return decoder;
    }

    @Override
    public void send(MemberFrame frame) {
        if (frame instanceof MemberFrame.Hello || frame instanceof MemberFrame.Heartbeat) {
            throw new IllegalArgumentException(
                    "the link itself sends " + frame.getClass().getSimpleName());
        }
        if (frame instanceof MemberFrame.Sorry sorry) {
            close(sorry.reason());
            return;
        }
        if (over) {
            return;
        }
        long bytes = bytes(frame);
        long before = unsent.getAndAdd(bytes);
        if (before > options.unsentBytes()) {
            unsent.addAndGet(-bytes);
            close(
                    who()
                            + " takes too little: "
                            + before
                            + " bytes wait for the network, and unsentBytes is "
                            + options.unsentBytes());
            return;
        }
        queue.add(frame);
        if (before + bytes > MemberLinks.WRITABLE_BYTES) {
            blocked.set(true);
            // What was sent meanwhile may have been the last: then nobody would tell.
            sent(0);
        }
        if (pumpDue.compareAndSet(false, true)) {
            channel.eventLoop().execute(this::pump);
        }
    }

    private static long bytes(MemberFrame frame) {
        if (frame instanceof MemberFrame.Segment segment) {
            return SMALL_BYTES + segment.bytes().remaining();
        } else if (frame instanceof MemberFrame.BasePart part) {
            return SMALL_BYTES + part.bytes().remaining();
        }
        return SMALL_BYTES;
    }

    /** Writes what waits, as far as the channel takes it. */
    private void pump() {
        pumpDue.set(false);
        if (pumping || !up) {
            return;
        }
        pumping = true;
        try {
            int written = 0;
            int unflushed = 0;
            while (!over && channel.isWritable() && written < TURN_BYTES) {
                heartbeatIfDue(HEARTBEAT.toNanos());
                int bytes = writeNext();
                if (bytes == 0) {
                    break;
                }
                written += bytes;
                unflushed += bytes;
                if (unflushed >= FLUSH_BYTES) {
                    channel.flush();
                    unflushed = 0;
                }
            }
            if (unflushed > 0) {
                channel.flush();
            }
            // Else channelWritabilityChanged goes on.
            if (!over
                    && written > 0
                    && channel.isWritable()
                    && pumpDue.compareAndSet(false, true)) {
                channel.eventLoop().execute(this::pump);
            }
        } finally {
            pumping = false;
        }
    }

    /** How many bytes it wrote; 0 where nothing waits. */
    private int writeNext() {
        if (left == null) {
            MemberFrame frame = queue.poll();
            if (frame == null) {
                return 0;
            }
            if (!(frame instanceof MemberFrame.Segment segment)) {
                long counted = bytes(frame);
                ByteBuf bytes = codec.write(frame, channel.alloc());
                int length = bytes.readableBytes();
                write(bytes, () -> sent(counted));
                return length;
            }
            left = segment.bytes();
            leftOf = left.remaining();
        }
        long before = left.remaining();
        ByteBuf bytes = codec.piece(left, leftOf, channel.alloc());
        int length = bytes.readableBytes();
        long counted = before - left.remaining();
        if (!left.hasRemaining()) {
            left = null;
            counted += SMALL_BYTES;
        }
        long taken = counted;
        write(bytes, () -> sent(taken));
        return length;
    }

    /**
     * Writes, and ends the link where that fails: not every failure ends the channel, as want of
     * memory does not.
     *
     * @param done runs once the bytes are with the network, or lost
     */
    private void write(ByteBuf bytes, Runnable done) {
        ChannelFuture unused =
                channel.write(bytes)
                        .addListener(
                                written -> {
                                    done.run();
                                    // Of a channel that has ended its end tells more.
                                    if (!written.isSuccess() && channel.isActive()) {
                                        broke(written.cause());
                                    }
                                });
    }

    private void sent(long bytes) {
        if (unsent.addAndGet(-bytes) <= MemberLinks.WRITABLE_BYTES / 2
                && blocked.compareAndSet(true, false)
                && !over) {
            tell(() -> listener.writable(this));
        }
    }

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
            public void channelWritabilityChanged(ChannelHandlerContext context) {
                pump();
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object happened) {
                if (happened instanceof SslHandshakeCompletionEvent handshake && !over) {
                    shaken(handshake);
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                end(
                        who()
                                + " closed the connection"
                                + (hello == null ? " before it said who it is" : "")
                                + doubt(),
                        false);
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
        due =
                channel.eventLoop()
                        .schedule(
                                this::nothingSaid,
                                options.helloTimeout().toMillis(),
                                TimeUnit.MILLISECONDS);
        if (ssl() == null) {
            if (dialled()) {
                // So who speaks TLS, or another protocol, sees at once that this side does not.
                prefaced();
                channel.flush();
            } else {
                greet();
            }
        }
    }

    private void nothingSaid() {
        if (!over && !up) {
            end(
                    who()
                            + " did not say who it is within "
                            + options.helloTimeout().toMillis()
                            + " ms"
                            + doubt(),
                    true);
        }
    }

    private void shaken(SslHandshakeCompletionEvent handshake) {
        if (!handshake.isSuccess()) {
            broke(handshake.cause());
            return;
        }
        X509Certificate certificate = TlsIdentity.certificate(ssl());
        Set<String> names = TlsIdentity.names(certificate);
        if (!names.contains(self.service())) {
            end(
                    "the certificate of "
                            + who()
                            + " ("
                            + FrameFields.printable(
                                    certificate.getSubjectX500Principal().toString())
                            + ") names "
                            + names
                            + ", and this is service "
                            + self.service()
                            + ": a member's certificate bears the service's name, as common name"
                            + " or DNS name",
                    // Who was dialled still looks at this side's certificate: what is sent before
                    // it has made up its mind could make it end in a way that loses its reason.
                    !dialled());
            return;
        }
        if (!dialled()) {
            greet();
        }
    }

    private SslHandler ssl() {
        return channel.pipeline().get(SslHandler.class);
    }

    /**
     * Says who this member is. Who accepts does so first: who dialled the wrong one says nothing.
     */
    private void greet() {
        prefaced();
        MemberFrame.Hello now =
                new MemberFrame.Hello(
                        self.service(), owner.birth(), self.member(), self.nonce(), self.format());
        write(codec.write(now, channel.alloc()), () -> {});
        channel.flush();
    }

    private void prefaced() {
        if (!prefaced) {
            prefaced = true;
            write(codec.preface(channel.alloc()), () -> {});
        }
    }

    private void heard() {
        silentTicks = 0;
        heardNanos = System.nanoTime();
    }

    private void read(Object message) {
        if (over) {
            return;
        }
        if (message instanceof MemberDecoder.Collected segment) {
            if (up) {
                arrived(new Arrived(SMALL_BYTES + segment.length(), segment::join));
            } else {
                early("a segment");
            }
        } else if (message instanceof MemberFrame frame) {
            read(frame);
        }
    }

    private void early(String what) {
        end(who() + " sent " + what + " before it said who it is", true);
    }

    private void read(MemberFrame frame) {
        if (frame instanceof MemberFrame.Sorry sorry) {
            end(who() + " ended the link: " + sorry.reason(), false);
        } else if (frame instanceof MemberFrame.Hello said) {
            said(said);
        } else if (!up) {
            early(frame.getClass().getSimpleName());
        } else {
            if (frame instanceof MemberFrame.Heartbeat beat) {
                heartbeat = beat;
            }
            arrived(new Arrived(bytes(frame), () -> frame));
        }
    }

    private void said(MemberFrame.Hello said) {
        if (up) {
            end(who() + " says again who it is", true);
            return;
        }
        String wrong = wrong(said);
        if (wrong == null) {
            hello = said;
            if (dialled()) {
                // Also where it then may not stay: the other side sees for itself why.
                greet();
            }
            wrong = owner.known(this);
        }
        if (wrong != null) {
            end(wrong, true);
            return;
        }
        up = true;
        due.cancel(false);
        tell(() -> listener.up(this));
        tick();
    }

    /** Why the other side is none to talk to, or null. */
    private String wrong(MemberFrame.Hello said) {
        if (!said.service().equals(self.service())) {
            return "at "
                    + remote
                    + " is a member of service "
                    + said.service()
                    + ", and this one is of "
                    + self.service()
                    + ": correct the address";
        }
        if (said.member().equals(self.member())) {
            return said.nonce() == self.nonce()
                    ? "at " + remote + " is this member itself: correct the address"
                    : "at "
                            + remote
                            + " another process says that it is member "
                            + self.member()
                            + ", as this one does: its folder is a copy; give it one of its own";
        }
        if (dialled() && !said.member().equals(wanted)) {
            return "member "
                    + wanted
                    + " was wanted at "
                    + remote
                    + ", and member "
                    + said.member()
                    + " answers there";
        }
        return null;
    }

    /** Why members of these births do not talk, or null. */
    String wrongBirth(Optional<Birth> own) {
        Optional<Birth> theirs = hello.birth();
        return own.isEmpty() || theirs.isEmpty() || own.equals(theirs)
                ? null
                : who()
                        + " belongs to generation "
                        + theirs.get()
                        + " of service "
                        + self.service()
                        + ", and this one to generation "
                        + own.get()
                        + ": their folders hold different lives of the service";
    }

    private void arrived(Arrived frame) {
        if (untaken.addAndGet(frame.bytes()) > options.untakenBytes()) {
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
            List<Arrived> frames = arrived;
            arrived = new ArrayList<>();
            tell(() -> take(frames));
        }
    }

    private void take(List<Arrived> frames) {
        for (Arrived frame : frames) {
            if (failed) {
                return;
            }
            try {
                listener.frame(this, frame.frame().get());
            } catch (RuntimeException | Error e) {
                // Without this frame the listener would take the next ones for what they are not.
                failed = true;
                close(LinkFailure.reason(e, who(), "", options));
                throw e;
            }
            taken(frame.bytes());
        }
    }

    private void taken(long bytes) {
        untaken.addAndGet(-bytes);
        if (paused && untaken.get() <= options.untakenBytes() / 2 && !over) {
            channel.eventLoop().execute(this::resume);
        }
    }

    private void resume() {
        if (paused && untaken.get() <= options.untakenBytes() / 2) {
            heard();
            paused = false;
            channel.config().setAutoRead(true);
        }
    }

    /** Each time that a heartbeat is due. */
    private void tick() {
        if (over) {
            return;
        }
        // Counted, as a clock would take a pause of this process for the other's silence.
        if (!paused && silentTicks++ >= silentTicksAllowed) {
            end(
                    "nothing was heard from "
                            + who()
                            + " for "
                            + HEARTBEAT.multipliedBy(silentTicksAllowed).toMillis()
                            + " ms",
                    true);
            return;
        }
        heartbeatIfDue(HEARTBEAT.toNanos() - EARLY_NANOS);
        if (!over) {
            due =
                    channel.eventLoop()
                            .schedule(this::tick, HEARTBEAT.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void heartbeatIfDue(long afterNanos) {
        long now = System.nanoTime();
        // While one waits for the network a second would say nothing new.
        if (heartbeatUnsent || (heartbeatNanos != 0 && now - heartbeatNanos < afterNanos)) {
            return;
        }
        MemberFrame.Heartbeat beat;
        try {
            beat = heartbeats.heartbeat();
        } catch (RuntimeException e) {
            broke(e);
            return;
        }
        heartbeatNanos = now;
        heartbeatUnsent = true;
        write(codec.write(beat, channel.alloc()), () -> heartbeatUnsent = false);
        channel.flush();
    }

    private void broke(Throwable cause) {
        end(LinkFailure.reason(cause, who(), doubt(), options), true);
    }

    private String doubt() {
        return hello != null || !dialled()
                ? ""
                : "; is that a member's port, and does it use TLS as this side does?";
    }

    private String who() {
        if (hello == null && wanted == null) {
            return "somebody at " + remote;
        }
        return "member " + (hello == null ? wanted : hello.member()) + " at " + remote;
    }

    /** Ends it, once: tells the listener and the owner at once, the peer if that still listens. */
    private void end(String reason, boolean goodbye) {
        if (over) {
            return;
        }
        over = true;
        if (due != null) {
            due.cancel(false);
        }
        decoder.stop();
        queue.clear();
        left = null;
        tellArrived();
        if (up) {
            tell(() -> listener.down(this, reason));
        }
        owner.ended(this, reason);
        boolean secure = ssl() == null || ssl().handshakeFuture().isSuccess();
        if (goodbye && secure && channel.isActive()) {
            // What still arrives is dropped; reading on lets the peer see the reason.
            channel.config().setAutoRead(true);
            prefaced();
            // Whether it arrives matters to nobody here.
            ChannelFuture unused =
                    channel.writeAndFlush(
                                    codec.write(new MemberFrame.Sorry(reason), channel.alloc()))
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
                close("this member has ended");
            }
        }
    }
}
