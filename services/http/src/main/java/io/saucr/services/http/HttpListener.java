package io.saucr.services.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.saucr.services.Address;
import io.saucr.services.wire.Listening;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for HTTP requests, takes them apart and sends the answers. Who is slow or silent costs
 * the others nothing: no thread belongs to a connection, and what all of them hold together is
 * bounded, in connections, bytes of bodies, and the time that a request may take to come or an
 * answer to be taken. One request of a connection is under way at a time. Any thread.
 */
public final class HttpListener implements AutoCloseable {

    /**
     * The first lines of a request.
     *
     * @param path without the query, escapes resolved
     * @param query as it came; empty text where there is none
     */
    public record Head(String method, String path, String query, HttpHeaders headers) {

        /** The values of a header, in the order in which they came. */
        public List<String> all(String name) {
            return headers.getAll(name);
        }

        /** The first value of a header, or null. */
        public String first(String name) {
            return headers.get(name);
        }
    }

    /**
     * An answer.
     *
     * @param headers apart from those that say how long it is
     * @param text in UTF-8; empty where there is no body
     */
    public record Response(int status, Map<String, String> headers, String text) {}

    /** Where an answer goes: the first one counts. Any thread. */
    public interface Asker {

        /** Answers; what comes after the first answer goes nowhere. */
        void answer(Response response);
    }

    /** What is asked for. Called by threads of connections: must not block. */
    public interface Pages {

        /** Looks at a request before its body comes. An answer says that it need not come. */
        Optional<Response> refuse(Head head);

        /** A request is there. */
        void take(Head head, byte[] body, Asker asker);

        /** An answer that was not asked for here: too large, too many, no HTTP. */
        Response error(int status, String reason);
    }

    /**
     * What is allowed.
     *
     * @param largestBytes of a body
     * @param patience so long a request may take to come, its connection may be silent before it,
     *     and its asker may take to read the answer
     */
    public record Bounds(int largestBytes, Duration patience) {}

    private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);

    private static final int MOST_CONNECTIONS = 1_000;
    private static final int LONGEST_LINE = 4_096;
    private static final int LONGEST_HEADERS = 16_384;
    private static final int CHUNK_BYTES = 8_192;
    private static final long CLOSING_MILLIS = 1_000;

    private final String self;
    private final Bounds bounds;
    private final Pages pages;
    private final long mostBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger connections = new AtomicInteger();
    private final EventLoopGroup loops;
    private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final Channel listening;
    private final Address address;

    /**
     * Begins to listen.
     *
     * @param self as "the HTTP door of bank", for errors and threads
     * @param at where; port 0 lets the system choose
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public HttpListener(String self, Address at, Bounds bounds, Pages pages) throws IOException {
        this.self = self;
        this.bounds = bounds;
        this.pages = pages;
        // All bodies together must not end the service; one of the largest always has room.
        mostBytes = Math.max(2L * bounds.largestBytes(), Runtime.getRuntime().maxMemory() / 16);
        loops = new NioEventLoopGroup(1, new DefaultThreadFactory(self, true));
        Channel bound = null;
        try {
            bound =
                    Listening.bind(
                            new ServerBootstrap()
                                    .group(loops)
                                    .channel(NioServerSocketChannel.class)
                                    .childHandler(
                                            new ChannelInitializer<SocketChannel>() {
                                                @Override
                                                protected void initChannel(SocketChannel channel) {
                                                    begin(channel);
                                                }
                                            }),
                            self,
                            at);
        } finally {
            if (bound == null) {
                end();
            }
        }
        listening = bound;
        address = new Address(at.host(), local().getPort());
    }

    private void begin(SocketChannel channel) {
        channel.pipeline()
                .addLast(new HttpServerCodec(LONGEST_LINE, LONGEST_HEADERS, CHUNK_BYTES))
                // What a client sends ahead of its answer waits here, in order.
                .addLast(new FlowControlHandler())
                .addLast(new Conversation());
        open.add(channel);
    }

    private InetSocketAddress local() {
        return (InetSocketAddress) listening.localAddress();
    }

    /** Where it listens. */
    public Address address() {
        return address;
    }

    /** Tells requests to this host from those that a page of the web sent here. */
    public MeantHost host() {
        return new MeantHost(local().getAddress(), address.host());
    }

    /** Ends all connections; answers that are on their way have a second to be taken. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(CLOSING_MILLIS);
        for (Channel channel : open) {
            Conversation conversation = channel.pipeline().get(Conversation.class);
            if (conversation != null) { // It has none any more if it just ends.
                conversation.closeBehindAnswer();
            }
        }
        open.newCloseFuture().awaitUninterruptibly(CLOSING_MILLIS);
        end();
    }

    private void end() {
        loops.shutdownGracefully(0, CLOSING_MILLIS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(2 * CLOSING_MILLIS);
    }

    /** One connection. Its thread alone, apart from answers, which are handed to it. */
    private final class Conversation extends ChannelInboundHandlerAdapter {
        private ChannelHandlerContext context;
        private Future<?> deadline;
        private Head head;
        private boolean keepsAlive;
        private Optional<Response> refusal = Optional.empty();
        private ByteArrayOutputStream body;
        private long counted;
        private long request;
        private boolean underWay;
        private ChannelFuture written;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            hurry();
            if (connections.incrementAndGet() > MOST_CONNECTIONS) {
                end(pages.error(503, "too many connections; try again later"));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            connections.decrementAndGet();
            relax();
            underWay = false;
            forget();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            LOG.debug("{}: a connection broke", self, cause);
            close();
        }

        private void close() {
            ChannelFuture unused = context.close();
        }

        /** From now on the other side has its time. */
        private void hurry() {
            relax();
            deadline =
                    context.executor()
                            .schedule(
                                    this::close,
                                    bounds.patience().toMillis(),
                                    TimeUnit.MILLISECONDS);
        }

        private void relax() {
            if (deadline != null) {
                deadline.cancel(false);
                deadline = null;
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            try {
                if (written != null && !keepsAlive) {
                    return; // Its last answer is on the way.
                }
                if (((HttpObject) message).decoderResult().isFailure()) {
                    keepsAlive = false;
                    end(pages.error(400, "this is no HTTP request, or its head is too long"));
                    return;
                }
                if (message instanceof HttpRequest it) {
                    begin(it);
                }
                if (message instanceof HttpContent it && head != null) {
                    add(it);
                }
            } finally {
                ReferenceCountUtil.release(message);
            }
        }

        private void begin(HttpRequest first) {
            keepsAlive = HttpUtil.isKeepAlive(first);
            body = new ByteArrayOutputStream();
            refusal = Optional.empty();
            try {
                URI uri = new URI(first.uri());
                head =
                        new Head(
                                first.method().name(),
                                uri.getPath() == null ? "" : uri.getPath(),
                                uri.getRawQuery() == null ? "" : uri.getRawQuery(),
                                first.headers());
                refusal = pages.refuse(head);
            } catch (URISyntaxException e) {
                end(pages.error(400, "this is no path: " + e.getMessage()));
                return;
            } catch (RuntimeException e) {
                refusal = Optional.of(failed(e));
            }
            if (refusal.isEmpty() && HttpUtil.getContentLength(first, 0L) > bounds.largestBytes()) {
                refusal = Optional.of(tooLarge());
            }
            if (HttpUtil.is100ContinueExpected(first)) {
                if (refusal.isPresent()) {
                    end(refusal.get());
                } else {
                    ChannelFuture unused =
                            context.writeAndFlush(
                                    new DefaultFullHttpResponse(
                                            HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
                }
            }
        }

        private Response failed(RuntimeException e) {
            LOG.warn("{}", self, e);
            return pages.error(500, self + " failed; its log says how");
        }

        private Response tooLarge() {
            return pages.error(413, "a body has at most " + bounds.largestBytes() + " bytes");
        }

        private void add(HttpContent part) {
            int more = part.content().readableBytes();
            if (refusal.isEmpty() && body.size() + (long) more > bounds.largestBytes()) {
                refuse(tooLarge());
            }
            if (refusal.isEmpty()) {
                counted += more;
                if (bytes.addAndGet(more) > mostBytes) {
                    refuse(pages.error(503, "too many requests; try again later"));
                } else {
                    byte[] given = new byte[more];
                    part.content().readBytes(given);
                    body.writeBytes(given);
                }
            }
            // Who still sends does not read; what is endless ends at the time for a request.
            if (part instanceof LastHttpContent) {
                complete();
            }
        }

        private void refuse(Response with) {
            refusal = Optional.of(with);
            body = new ByteArrayOutputStream();
            forget();
        }

        private void forget() {
            bytes.addAndGet(-counted);
            counted = 0;
        }

        private void complete() {
            relax();
            context.channel().config().setAutoRead(false);
            underWay = true;
            long mine = ++request;
            Head asked = head;
            byte[] given = body.toByteArray();
            head = null;
            body = null;
            if (refusal.isPresent()) {
                answer(refusal.get());
                return;
            }
            try {
                pages.take(asked, given, it -> answer(mine, it));
            } catch (RuntimeException e) {
                answer(failed(e));
            }
        }

        private void answer(long to, Response response) {
            context.executor()
                    .execute(
                            () -> {
                                if (underWay && request == to) {
                                    answer(response);
                                }
                            });
        }

        /** Answers before the request is there, and ends the connection. */
        private void end(Response response) {
            keepsAlive = false;
            answer(response);
        }

        private void answer(Response response) {
            underWay = false;
            forget();
            hurry();
            written = context.writeAndFlush(encoded(response));
            if (keepsAlive) {
                written.addListener(
                        done -> {
                            written = null;
                            hurry();
                            context.channel().config().setAutoRead(true);
                        });
            } else {
                written.addListener(ChannelFutureListener.CLOSE);
            }
        }

        private FullHttpResponse encoded(Response response) {
            FullHttpResponse encoded =
                    new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1,
                            HttpResponseStatus.valueOf(response.status()),
                            Unpooled.copiedBuffer(response.text(), StandardCharsets.UTF_8));
            response.headers().forEach(encoded.headers()::set);
            if (response.status() != 204) {
                HttpUtil.setContentLength(encoded, encoded.content().readableBytes());
            }
            encoded.headers().set(HttpHeaderNames.CONNECTION, keepsAlive ? "keep-alive" : "close");
            return encoded;
        }

        void closeBehindAnswer() {
            context.executor()
                    .execute(
                            () -> {
                                if (written == null) {
                                    close();
                                } else {
                                    written.addListener(ChannelFutureListener.CLOSE);
                                }
                            });
        }
    }
}
