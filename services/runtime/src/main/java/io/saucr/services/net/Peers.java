package io.saucr.services.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.saucr.services.Address;
import io.saucr.services.wire.Endpoint;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsIdentity;
import io.saucr.services.wire.Transport;
import io.saucr.services.wire.Wire;
import java.io.IOException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** All connections of one service or client with others. Any thread. */
public final class Peers extends Endpoint<Connection> {

    /** What is flushed together, at most, while a read or a burst of sends is under way. */
    private static final int FLUSHED_TOGETHER = 256;

    private final String self;
    private final boolean client;
    private final LinkListener listener;
    private final Executor executor;
    private final FrameCodec codec;
    private final AtomicLong unsent = new AtomicLong();

    private Peers(
            Transport transport,
            String self,
            boolean client,
            NetOptions options,
            Optional<TlsIdentity> tls,
            LinkListener listener,
            Executor executor,
            Random random) {
        super(transport, self, options, tls, random, options.backoffMin(), options.backoffMax());
        this.self = self;
        this.client = client;
        this.listener = listener;
        this.executor = executor;
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
     * As {@link Endpoint#listen}.
     *
     * @throws IllegalStateException for an outside client
     */
    @Override
    public Address listen(Address at) throws IOException {
        if (client) {
            throw new IllegalStateException(
                    self + " is a client and cannot listen at " + at + ": only services do");
        }
        return super.listen(at);
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
        follow(peer, address);
    }

    @Override
    protected Connection wire(Wire.Owner owner, Channel channel, String peer, String remote) {
        return new Connection(
                self, client, options, codec, listener, executor, unsent, owner, channel, peer,
                remote);
    }

    @Override
    protected void build(SocketChannel channel, Connection connection) {
        ChannelPipeline pipeline = channel.pipeline();
        long tickMillis = options.keepAlive().toMillis();
        pipeline.addLast(new FlushConsolidationHandler(FLUSHED_TOGETHER, true));
        pipeline.addLast(new IdleStateHandler(tickMillis, tickMillis, 0, TimeUnit.MILLISECONDS));
        pipeline.addLast(new SignalDecoder(codec));
    }
}
