package io.saucr.services.wire;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.saucr.services.Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one connection with one peer, as long as it is asked to: dials, and dials again after a
 * pause that grows while it fails ({@link Backoff}). A connection that was lost soon after it began
 * counts as a failure. Where the address is lost, the last one is dialled on; where it changes, the
 * new one is dialled at once, and whatever the old one has under way ends. One attempt at a time.
 *
 * <p>The event loop owns all fields; {@link #follow} and {@link #stop} may be called by any thread.
 */
public final class Dialer {

    private static final Logger LOG = LoggerFactory.getLogger(Endpoint.class);

    /** A connection that was dialled. */
    public interface Reached {

        /** Whether the peer has shown who it is. Event loop. */
        boolean isUp();

        /** Ends it. */
        void close(String reason);
    }

    /** Begins a TCP connection of this dialer. */
    public interface Line {
        ChannelFuture connect(Dialer dialer, int round, InetSocketAddress address);
    }

    private final String self;
    private final String peer;
    private final EventLoop loop;
    private final ExecutorService resolving;
    private final Line line;
    private final Backoff backoff;
    private final long steadyNanos;

    /** Why the peer cannot be reached; null while it is, or nothing was tried. */
    private volatile String trouble;

    private Address address;
    private int attempts;

    /** Counts what was begun: what an older one reports is void. */
    private int round;

    private Reached connection;
    private long sinceNanos;
    private boolean stopped;

    /** Its TCP connection is not there yet; null where none is begun. */
    private Channel connecting;

    /** Before the next attempt; null where none was needed. */
    private ScheduledFuture<?> pause;

    /**
     * Makes one that dials once it has an address.
     *
     * @param self who dials, for people
     * @param peer who is dialled, for people
     * @param backoffMin before the second attempt; doubles with each
     * @param backoffMax the longest between two attempts; a connection that lasted so long is none
     *     that failed
     */
    public Dialer(
            String self,
            String peer,
            EventLoop loop,
            ExecutorService resolving,
            Line line,
            Duration backoffMin,
            Duration backoffMax,
            Random random) {
        this.self = self;
        this.peer = peer;
        this.loop = loop;
        this.resolving = resolving;
        this.line = line;
        this.backoff = new Backoff(backoffMin, backoffMax, random);
        this.steadyNanos = backoffMax.toNanos();
    }

    /** Who is dialled. */
    public String peer() {
        return peer;
    }

    /** On which its connections are to live. */
    public EventLoop loop() {
        return loop;
    }

    /** The address, as people write it. Event loop. */
    public String remote() {
        return address.toString();
    }

    /** Why the peer cannot be reached; empty while it is, or nothing was tried. */
    public Optional<String> trouble() {
        return Optional.ofNullable(trouble);
    }

    /**
     * Dials this address from now on, and at once; an empty one changes nothing. The same one ends
     * a pause.
     */
    public void follow(Optional<Address> now) {
        loop.execute(() -> moved(now));
    }

    /** Dials no more, and ends what was dialled for this reason. */
    public void stop(String reason) {
        loop.execute(
                () -> {
                    stopped = true;
                    drop();
                    if (connection != null) {
                        connection.close(reason);
                    }
                });
    }

    /** Ends what is under way: an attempt at a host that says nothing lasts for seconds. */
    private void drop() {
        round++;
        if (pause != null) {
            pause.cancel(false);
            pause = null;
        }
        if (connecting != null) {
            ChannelFuture unused = connecting.close();
            connecting = null;
        }
    }

    private void moved(Optional<Address> now) {
        if (stopped || now.isEmpty()) {
            return;
        }
        if (now.get().equals(address)) {
            if (pause != null) {
                // Who says so again knows that somebody answers there by now.
                drop();
                backoff.reset();
                resolve();
            }
            return;
        }
        address = now.get();
        drop();
        attempts = 0;
        backoff.reset();
        Reached old = connection;
        connection = null;
        if (old != null) {
            old.close(peer + " has moved to " + address);
        }
        resolve();
    }

    private void resolve() {
        pause = null;
        int mine = round;
        String host = address.host();
        byte[] number = NetUtil.createByteArrayFromIpAddressString(host);
        // Of one with a zone the resolver knows the interface.
        if (number != null && host.indexOf('%') < 0) {
            // A resolver that hangs, as over an older address, must not hold this up.
            connect(mine, lookUp(number));
            return;
        }
        try {
            resolving.execute(
                    () -> {
                        Runnable found = lookUp(mine, host);
                        try {
                            loop.execute(found);
                        } catch (RejectedExecutionException e) {
                            LOG.debug("{}: closed while {} was looked up", self, host);
                        }
                    });
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed before {} was looked up", self, host);
        }
    }

    private static InetAddress[] lookUp(byte[] number) {
        try {
            return new InetAddress[] {InetAddress.getByAddress(number)};
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What is to be done with what was found. Waits for the resolver. */
    private Runnable lookUp(int mine, String host) {
        try {
            InetAddress[] found = InetAddress.getAllByName(host);
            return () -> connect(mine, found);
        } catch (UnknownHostException e) {
            return () -> failed(mine, "no host is called " + host);
        }
    }

    private void connect(int mine, InetAddress[] found) {
        if (mine != round) {
            return;
        }
        // A host may have several addresses of which not all answer.
        InetAddress host = found[attempts % found.length];
        attempts++;
        ChannelFuture begun = line.connect(this, mine, new InetSocketAddress(host, address.port()));
        connecting = begun.channel();
        ChannelFuture unused =
                begun.addListener(
                        done -> {
                            if (!done.isSuccess()) {
                                failed(mine, String.valueOf(done.cause().getMessage()));
                            }
                        });
    }

    /** The TCP connection of that round is there. Event loop. */
    public void connected(int mine, Reached begun) {
        if (mine != round || stopped) {
            begun.close(peer + " has moved, or is needed no longer");
            return;
        }
        connecting = null;
        connection = begun;
        sinceNanos = System.nanoTime();
    }

    /** The peer is who was wanted. Event loop. */
    public void known() {
        if (trouble != null) {
            LOG.info("{}: {} at {} can be reached again", self, peer, address);
            trouble = null;
        }
    }

    /** The connection is over. Event loop. */
    public void ended(Reached gone, String reason) {
        if (gone != connection) {
            return;
        }
        connection = null;
        if (gone.isUp() && System.nanoTime() - sinceNanos >= steadyNanos) {
            backoff.reset();
        }
        failed(round, reason);
    }

    private void failed(int mine, String reason) {
        if (mine != round || stopped) {
            return;
        }
        if (!reason.equals(trouble)) {
            LOG.warn("{}: no connection with {} at {}: {}", self, peer, address, reason);
        }
        trouble = reason;
        drop();
        pause = loop.schedule(this::resolve, backoff.nextMillis(), TimeUnit.MILLISECONDS);
    }
}
