package io.saucr.services.wire;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection, from the first byte on, whatever is said on it: it begins, hands over what
 * arrives, bounds what it holds, and ends once. The listener hears of a peer only once that has
 * shown that it speaks this protocol, and who it is.
 *
 * <p>What it holds is bounded in both directions (K13): it stops reading while the listener has
 * much untaken, and ends when the network takes too little. A peer that is silent for too long has
 * gone; while this side does not read, silence says nothing.
 *
 * <p>The event loop owns all fields but the atomic and volatile ones.
 *
 * @param <A> what arrives
 */
public abstract class Wire<A> implements Dialer.Reached {

    private static final AtomicLong IDS = new AtomicLong();

    private static final Logger LOG = LoggerFactory.getLogger(Wire.class);

    private static final int TOLD_TOGETHER = 64;

    /** So long a peer has to take the reason for the end. */
    private static final long GOODBYE_MILLIS = 1000;

    /** Hears of one connection. Event loop. */
    public interface Owner {

        /** TCP is there. */
        void begun();

        /**
         * The peer has said who it is.
         *
         * @return why it may not stay, or null
         */
        String known();

        /** It is over, for this reason; once. */
        void ended(String reason);
    }

    private final long id = IDS.incrementAndGet();
    protected final NetOptions options;
    protected final Channel channel;
    private final Executor executor;
    private final Owner owner;
    private final boolean dialled;
    private final String remote;

    /** The listener hears when no more than this waits again. */
    private final long drainedBytes;

    protected final AtomicLong unsent = new AtomicLong();
    private final AtomicBoolean blocked = new AtomicBoolean();
    private final AtomicLong untaken = new AtomicLong();
    private volatile boolean paused;
    private volatile boolean over;
    private boolean up;

    /** Of the read that is under way. */
    private List<A> arrived = new ArrayList<>();

    /** Counted, as a clock would take a pause of this process for the peer's silence. */
    protected long silentTicks;

    private ScheduledFuture<?> helloDue;

    /**
     * Takes over a channel, whose pipeline ends with {@link #handler}.
     *
     * @param remote host and port, for people
     */
    protected Wire(
            NetOptions options,
            Executor executor,
            Owner owner,
            Channel channel,
            boolean dialled,
            String remote,
            long drainedBytes) {
        this.options = options;
        this.executor = executor;
        this.owner = owner;
        this.channel = channel;
        this.dialled = dialled;
        this.remote = remote;
        this.drainedBytes = drainedBytes;
    }

    // ---- what a protocol says

    /** TCP is there, and with TLS the handshake succeeded. */
    protected abstract void begin();

    /** Something else happened in the pipeline. */
    protected void event(Object happened) {}

    /** The channel takes more again, or less. */
    protected void writabilityChanged() {}

    /** A message of the decoder. */
    protected abstract void read(Object message);

    /** Hands over what arrived; calls {@link #taken}. The listener's thread. */
    protected abstract void take(List<A> arrivals);

    /** Tells the listener of the peer; its thread, as for the next two. */
    protected abstract void tellUp();

    protected abstract void tellWritable();

    protected abstract void tellDown(String reason);

    /** Drops what waits, as the connection ends. */
    protected void drop() {}

    /** What tells the peer the reason for the end; null where it cannot be told. */
    protected abstract ByteBuf goodbye(String reason);

    /** The peer, for people. */
    protected abstract String who();

    /** What may be wrong with the address, or empty. */
    protected abstract String doubt();

    /** What the peer has not yet done, for people: " before it did"; or empty. */
    protected abstract String early();

    // ---- what is the same in all

    /** A number that no other connection of this process has or had. */
    public final long id() {
        return id;
    }

    /** Whether this side dialled. */
    public final boolean dialled() {
        return dialled;
    }

    /** The peer's host and port, for people. */
    public final String remote() {
        return remote;
    }

    /** Whether the listener has heard of it. Event loop. */
    @Override
    public final boolean isUp() {
        return up;
    }

    protected final boolean isOver() {
        return over;
    }

    /** Whether nothing is read, as the listener has much untaken. */
    protected final boolean isPaused() {
        return paused;
    }

    protected final SslHandler ssl() {
        return channel.pipeline().get(SslHandler.class);
    }

    /** Done once nothing of it is left. */
    public final ChannelFuture closed() {
        return channel.closeFuture();
    }

    /** The last handler of the channel's pipeline. */
    public final ChannelInboundHandlerAdapter handler() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext context) {
                active();
            }

            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                if (!over) {
                    read(message);
                }
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
                tellArrived();
            }

            @Override
            public void channelWritabilityChanged(ChannelHandlerContext context) {
                writabilityChanged();
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object happened) {
                if (over) {
                    return;
                }
                if (!(happened instanceof SslHandshakeCompletionEvent handshake)) {
                    event(happened);
                } else if (handshake.isSuccess()) {
                    begin();
                } else {
                    broke(handshake.cause());
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                end(who() + " closed the connection" + early() + doubt(), false);
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                broke(cause);
            }
        };
    }

    private void active() {
        owner.begun();
        if (over) {
            return;
        }
        helloDue =
                channel.eventLoop()
                        .schedule(
                                () -> {
                                    if (!over && !up) {
                                        nothingSaid();
                                    }
                                },
                                options.helloTimeout().toMillis(),
                                TimeUnit.MILLISECONDS);
        if (ssl() == null) {
            begin();
        }
    }

    /** The peer has not said who it is in the time that it has for that. */
    protected void nothingSaid() {
        end(
                who()
                        + " did not say who it is within "
                        + options.helloTimeout().toMillis()
                        + " ms"
                        + doubt(),
                true);
    }

    /** The peer has said who it is: now the listener hears of it, unless it may not stay. */
    protected final void come() {
        if (over) {
            return;
        }
        String wrong = owner.known();
        if (wrong != null) {
            end(wrong, true);
            return;
        }
        up = true;
        helloDue.cancel(false);
        tell(this::tellUp);
    }

    /** Hears the peer. */
    protected void heard() {
        silentTicks = 0;
    }

    /** Ends it, as nothing was heard for so long. */
    protected final void silent(long millis) {
        end("nothing was heard from " + who() + " for " + millis + " ms", true);
    }

    // ---- sending

    /**
     * Ends the connection where a write fails: not every failure ends the channel, as want of
     * memory does not, and a peer that misses a frame would hold all later ones back (K7).
     *
     * @param done runs once the bytes are with the network, or lost
     */
    protected final void written(ChannelFuture write, Runnable done) {
        ChannelFuture unused =
                write.addListener(
                        written -> {
                            done.run();
                            // Of a channel that has ended its end tells more.
                            if (!written.isSuccess() && channel.isActive()) {
                                broke(written.cause());
                            }
                        });
    }

    /**
     * So many bytes more are to be sent. Ends the connection where too many wait already: then they
     * are not to be sent.
     *
     * @return how many waited before; -1 where it ends
     */
    protected final long waits(long bytes) {
        long before = unsent.getAndAdd(bytes);
        if (before <= options.unsentBytes()) {
            return before;
        }
        unsent.addAndGet(-bytes);
        close(
                who()
                        + " takes too little: "
                        + before
                        + " bytes wait for the network, and unsentBytes is "
                        + options.unsentBytes());
        return -1;
    }

    /** Bytes that waited for the network wait no more. */
    protected final void sent(long bytes) {
        if (unsent.addAndGet(-bytes) <= drainedBytes
                && blocked.compareAndSet(true, false)
                && !over) {
            tell(this::tellWritable);
        }
    }

    /**
     * Much waits: the listener hears when it does not any more.
     *
     * @return whether it does not meanwhile, and nobody hears so
     */
    protected final boolean blocked() {
        blocked.set(true);
        // What was sent meanwhile may have been the last: then nobody would tell.
        return unsent.get() <= drainedBytes && blocked.compareAndSet(true, false);
    }

    // ---- what arrives

    /** Hands over what arrived with the rest of the read; reads no more where that is too much. */
    protected final void arrived(A item, long bytes) {
        if (untaken.addAndGet(bytes) > options.untakenBytes()) {
            paused = true;
            channel.config().setAutoRead(false);
            // What was taken meanwhile may have been the last: then nobody would continue reading.
            resume();
        }
        arrived.add(item);
        if (arrived.size() >= TOLD_TOGETHER) {
            tellArrived();
        }
    }

    /** The listener holds so many bytes. Any thread. */
    protected final void holds(long bytes) {
        long unused = untaken.addAndGet(bytes);
    }

    private void tellArrived() {
        if (!arrived.isEmpty()) {
            List<A> arrivals = arrived;
            arrived = new ArrayList<>();
            tell(() -> take(arrivals));
        }
    }

    /** The listener holds so many bytes less. Any thread. */
    protected final void taken(long bytes) {
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

    // ---- the end

    /**
     * Ends the connection, behind what was sent before; the peer gets the reason. The listener
     * hears of the end.
     */
    @Override
    public final void close(String reason) {
        if (channel.eventLoop().inEventLoop()) {
            end(reason, true);
        } else {
            channel.eventLoop().execute(() -> end(reason, true));
        }
    }

    protected final void broke(Throwable cause) {
        end(LinkFailure.reason(cause, who(), doubt(), options), true);
    }

    /** Ends it, once: tells the listener and the owner at once, the peer if that still listens. */
    protected final void end(String reason, boolean goodbye) {
        if (over) {
            return;
        }
        over = true;
        if (helloDue != null) {
            helloDue.cancel(false);
        }
        drop();
        tellArrived();
        if (up) {
            tell(() -> tellDown(reason));
        }
        owner.ended(reason);
        ByteBuf last = goodbye && channel.isActive() ? goodbye(reason) : null;
        if (last == null) {
            ChannelFuture unused = channel.close();
            return;
        }
        // What still arrives is dropped; reading on lets the peer see the reason.
        channel.config().setAutoRead(true);
        // Whether it arrives matters to nobody here.
        ChannelFuture unused = channel.writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
        ScheduledFuture<?> late =
                channel.eventLoop()
                        .schedule(
                                () -> channel.unsafe().close(channel.voidPromise()),
                                GOODBYE_MILLIS,
                                TimeUnit.MILLISECONDS);
        ChannelFuture unusedEnd = channel.closeFuture().addListener(gone -> late.cancel(false));
    }

    protected final void tell(Runnable call) {
        try {
            executor.execute(call);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: nobody listens any more", remote);
            if (!over) {
                close("this side has ended");
            }
        }
    }
}
