package io.saucr.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Listens for HTTP. A client that is slow, silent or hostile costs the server little: no thread
 * belongs to a connection, connections and the bytes of answers that nobody reads are bounded, and
 * where there are too many of either, those that have waited longest make room. One thread reads
 * and writes for all connections; others, which come and go, run the requests. Thread-safe.
 */
public final class HttpListener implements AutoCloseable {

    /**
     * What clients may take.
     *
     * @param threads that run requests
     * @param patienceMillis so long a request's headers may take to come, a connection may be
     *     silent, and an answer or a part of a long one may take to be read
     */
    public record Bounds(int connections, int threads, long patienceMillis) {}

    /**
     * How connections are secured.
     *
     * @param onPlain called for each connection without TLS; null if there may be none
     */
    public record Tls(SslContext context, Runnable onPlain) {}

    private static final int READ_BYTES = 16_384;
    private static final long THREAD_IDLE_SECONDS = 10;
    private static final long CLOSING_MILLIS = 1_000;
    private static final long LEAST_UNREAD_BYTES = 32L << 20;

    private final Bounds bounds;
    private final Site site;
    private final long mostUnreadBytes =
            Math.max(LEAST_UNREAD_BYTES, Runtime.getRuntime().maxMemory() / 16);
    private final NioEventLoopGroup loop;
    private final ThreadPoolExecutor threads;
    private final ChannelGroup open = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE);
    private final Channel listening;

    // For the thread of the loop alone.

    /** Without a whole request, in the order in which they began to wait. */
    private final Set<Connection> waiting = new LinkedHashSet<>();

    /** With an answer that their clients have not read, and its length; the oldest is first. */
    private final Map<Connection, Integer> unread = new LinkedHashMap<>();

    private final Set<Connection> connections = new HashSet<>();
    private long unreadBytes;

    /**
     * Listens from now on.
     *
     * @param name of its threads
     * @param tls null for plain connections alone
     * @throws IOException if it cannot; nothing is left behind
     */
    public HttpListener(String name, InetSocketAddress address, Bounds bounds, Tls tls, Site site)
            throws IOException {
        if (address.isUnresolved()) {
            throw new UnknownHostException(address.getHostString());
        }
        this.bounds = bounds;
        this.site = site;
        loop = new NioEventLoopGroup(1, new DefaultThreadFactory(name, true));
        threads =
                new ThreadPoolExecutor(
                        bounds.threads(),
                        bounds.threads(),
                        THREAD_IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new DefaultThreadFactory(name + "-request", true));
        threads.allowCoreThreadTimeOut(true);
        ChannelFuture bound =
                new ServerBootstrap()
                        .group(loop)
                        .channel(NioServerSocketChannel.class)
                        .option(ChannelOption.SO_REUSEADDR, true)
                        // Memory is the heap's, and as much as is used: the server may have none
                        // to spare.
                        .childOption(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false))
                        .childOption(
                                ChannelOption.RCVBUF_ALLOCATOR,
                                new FixedRecvByteBufAllocator(READ_BYTES))
                        .childHandler(
                                new ChannelInitializer<SocketChannel>() {
                                    @Override
                                    protected void initChannel(SocketChannel channel) {
                                        begin(channel, tls);
                                    }
                                })
                        .bind(address)
                        .awaitUninterruptibly();
        listening = bound.channel();
        if (!bound.isSuccess()) {
            close();
            throw new IOException(bound.cause().getMessage(), bound.cause());
        }
    }

    private void begin(SocketChannel channel, Tls tls) {
        if (tls != null && tls.onPlain() == null) {
            channel.pipeline().addLast(tls.context().newHandler(channel.alloc()));
        } else if (tls != null) {
            channel.pipeline().addLast(new FirstBytes(tls));
        }
        Connection connection = new Connection(this, channel);
        channel.pipeline()
                .addLast(Connection.decoder())
                .addLast(Connection.encoder())
                .addLast(connection);
        open.add(channel);
    }

    /** Decides by the first bytes of a connection. */
    private static final class FirstBytes extends OptionalSslHandler {
        private final Tls tls;

        FirstBytes(Tls tls) {
            super(tls.context());
            this.tls = tls;
        }

        @Override
        protected ChannelHandler newNonSslHandler(ChannelHandlerContext context) {
            tls.onPlain().run();
            return super.newNonSslHandler(context);
        }
    }

    /** The port that it listens on, also where port 0 was asked for. */
    public int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    Bounds bounds() {
        return bounds;
    }

    void run(Connection connection, Exchange exchange) {
        threads.execute(() -> connection.run(site, exchange));
    }

    void opened(Connection connection) {
        connections.add(connection);
        while (connections.size() > bounds.connections()) {
            Iterator<Connection> oldest =
                    (waiting.isEmpty() ? unread.keySet() : waiting).iterator();
            if (!oldest.hasNext()) {
                return; // All have a request that is being run.
            }
            drop(oldest.next());
        }
    }

    private void drop(Connection connection) {
        closed(connection);
        connection.close();
    }

    void closed(Connection connection) {
        connections.remove(connection);
        waiting.remove(connection);
        read(connection);
    }

    void waits(Connection connection) {
        waiting.add(connection);
    }

    void waitsNoMore(Connection connection) {
        waiting.remove(connection);
    }

    /** An answer is about to be written. */
    void answers(Connection connection, int bytes) {
        unread.put(connection, bytes);
        unreadBytes += bytes;
        while (unreadBytes > mostUnreadBytes && unread.size() > 1) {
            drop(unread.keySet().iterator().next());
        }
    }

    /** The client has read its answer, or its connection is closed. */
    void read(Connection connection) {
        Integer bytes = unread.remove(connection);
        unreadBytes -= bytes == null ? 0 : bytes;
    }

    /** Ends all connections. Answers have a second to be read, requests to be answered. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(CLOSING_MILLIS);
        for (Channel channel : open) {
            Connection connection = channel.pipeline().get(Connection.class);
            if (connection != null) { // It has none any more if it just ends.
                connection.closeBehindAnswer();
            }
        }
        open.newCloseFuture().awaitUninterruptibly(CLOSING_MILLIS);
        threads.shutdownNow();
        open.close().awaitUninterruptibly(CLOSING_MILLIS);
        loop.shutdownGracefully(0, CLOSING_MILLIS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(CLOSING_MILLIS);
    }
}
