package io.saucr.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.ArrayDeque;
import java.util.Date;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection. Its requests are run one after another, and while one is run, no more is read
 * than that asks for. Its fields belong to the thread of the loop, unless they say something else.
 */
final class Connection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private static final int LONGEST_LINE = 8_192;
    private static final int LONGEST_HEADERS = 8_192;
    private static final int PART_BYTES = 32_768;

    /** Parts of requests that a client may send ahead of an answer; no client of ours does. */
    private static final int MOST_AHEAD = 64;

    /** A client that still sends does not see an answer if its connection is closed at once. */
    private static final long LINGER_MILLIS = 1_000;

    private final HttpListener listener;
    private final SocketChannel channel;
    private final Deque<HttpObject> ahead = new ArrayDeque<>();
    private Exchange exchange;
    private Future<?> deadline;
    private boolean ended;

    /** Also for the thread that runs the request. */
    private volatile boolean keepsAlive = true;

    Connection(HttpListener listener, SocketChannel channel) {
        this.listener = listener;
        this.channel = channel;
    }

    /** A message with two lengths is refused: another program could see another request in it. */
    static HttpRequestDecoder decoder() {
        return new HttpRequestDecoder(
                new HttpDecoderConfig()
                        .setMaxInitialLineLength(LONGEST_LINE)
                        .setMaxHeaderSize(LONGEST_HEADERS)
                        .setMaxChunkSize(PART_BYTES)) {
            @Override
            protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
                throw new IllegalArgumentException("both Transfer-Encoding and Content-Length");
            }
        };
    }

    static HttpResponseEncoder encoder() {
        return new HttpResponseEncoder();
    }

    // ---- Any thread ----

    InetSocketAddress remote() {
        return channel.remoteAddress();
    }

    boolean isSecure() {
        return channel.pipeline().get(SslHandler.class) != null;
    }

    X509Certificate[] certificates() {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        try {
            return tls == null
                    ? null
                    : (X509Certificate[]) tls.engine().getSession().getPeerCertificates();
        } catch (SSLPeerUnverifiedException e) {
            return null;
        }
    }

    void close() {
        ChannelFuture unused = channel.close();
    }

    void closeBehindAnswer() {
        channel.eventLoop()
                .execute(
                        () -> {
                            keepsAlive = false;
                            if (exchange == null) {
                                close();
                            }
                        });
    }

    // ---- The thread that runs a request ----

    void run(Site site, Exchange asked) {
        try {
            site.answer(asked);
            if (!asked.isAnswered()) {
                asked.answer(404, "Not Found\n");
            }
        } catch (IOException e) {
            LOG.debug("The connection of {} ends", remote(), e);
            close();
        } catch (RuntimeException | Error e) {
            LOG.warn("{} {} failed", asked.method(), asked.path(), e);
            if (asked.isAnswered()) {
                close();
            } else {
                asked.answer(500, "Server Error\n");
            }
        }
    }

    void answer(Exchange asked, int status, Map<String, String> headers, byte[] content) {
        channel.eventLoop()
                .execute(
                        () -> {
                            try {
                                write(asked, status, headers, content);
                            } catch (RuntimeException e) {
                                LOG.warn("The answer to {} is not one", asked.path(), e);
                                close();
                            }
                        });
    }

    void stream(Exchange asked, int status, Map<String, String> headers, InputStream content)
            throws IOException {
        if (asked.isHead()) {
            keepsAlive = false; // Where the answer would end is not known.
            answer(asked, status, headers, null);
            return;
        }
        HttpResponse head =
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
        if (asked.takesChunks()) {
            head.headers().set("Transfer-Encoding", HttpHeaderValues.CHUNKED);
        } else {
            keepsAlive = false;
        }
        boolean ends = !keepsAlive || !asked.requestBody().isComplete();
        addHeaders(head.headers(), headers, asked, ends);
        try {
            send(head);
            while (true) {
                byte[] part = content.readNBytes(PART_BYTES);
                if (part.length == 0) {
                    break;
                }
                send(new DefaultHttpContent(Unpooled.wrappedBuffer(part)));
            }
            send(LastHttpContent.EMPTY_LAST_CONTENT);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
        channel.eventLoop().execute(() -> finish(asked, ends));
    }

    private void send(HttpObject part) throws IOException {
        ChannelFuture sent = channel.writeAndFlush(part);
        try {
            if (!sent.await(listener.bounds().patienceMillis())) {
                throw new IOException("the client does not read its answer");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (!sent.isSuccess()) {
            throw new IOException("the client does not read its answer", sent.cause());
        }
    }

    // ---- The thread of the loop ----

    @Override
    public void channelActive(ChannelHandlerContext context) {
        await();
        listener.opened(this);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        relax();
        listener.closed(this);
        if (exchange != null) {
            exchange.requestBody().breakOff();
        }
        forgetAhead();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOG.debug("The connection of {} broke", remote(), cause);
        close();
    }

    /** The next request is awaited. */
    private void await() {
        listener.waits(this);
        hurry(listener.bounds().patienceMillis());
    }

    private void hurry(long millis) {
        relax();
        deadline = channel.eventLoop().schedule(this::close, millis, TimeUnit.MILLISECONDS);
    }

    private void relax() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (ended) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (ahead.size() >= MOST_AHEAD) {
            keepsAlive = false;
            ReferenceCountUtil.release(message);
            return;
        }
        ahead.add((HttpObject) message);
        takeAhead();
    }

    private void takeAhead() {
        while (!ahead.isEmpty() && isDue(ahead.peek())) {
            HttpObject next = ahead.poll();
            try {
                if (next instanceof HttpRequest it) {
                    begin(it);
                } else if (exchange != null) {
                    add((HttpContent) next);
                }
            } finally {
                ReferenceCountUtil.release(next);
            }
        }
    }

    /** A next request is not until the last one is answered. */
    private boolean isDue(HttpObject next) {
        return exchange == null
                || (!(next instanceof HttpRequest) && !exchange.requestBody().isComplete());
    }

    private void begin(HttpRequest request) {
        listener.waitsNoMore(this);
        relax();
        channel.config().setAutoRead(false);
        keepsAlive = HttpUtil.isKeepAlive(request);
        RequestBody body =
                new RequestBody(
                        listener.bounds().patienceMillis(),
                        () -> channel.eventLoop().execute(() -> readMore(request)));
        Target target = new Target(request.uri(), "", Map.of());
        int refusal = refusal(request);
        if (refusal == 0) {
            try {
                target = Target.of(request.uri());
            } catch (IllegalArgumentException e) {
                refusal = 400;
            }
        }
        exchange = new Exchange(request, target, this, body);
        if (refusal != 0) {
            keepsAlive = false;
            exchange.answer(refusal, HttpResponseStatus.valueOf(refusal).reasonPhrase() + "\n");
        } else {
            listener.run(this, exchange);
        }
    }

    /** The status that refuses a request for what its first lines are; 0 if it is fine. */
    private static int refusal(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            Throwable cause = request.decoderResult().cause();
            if (cause instanceof TooLongHttpLineException) {
                return 414;
            }
            return cause instanceof TooLongFrameException ? 431 : 400;
        }
        HttpVersion version = request.protocolVersion();
        boolean current = version.equals(HttpVersion.HTTP_1_1);
        if (!current && !version.equals(HttpVersion.HTTP_1_0)) {
            return 505;
        }
        List<String> codings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
        boolean understood =
                codings.isEmpty()
                        || (current
                                && codings.size() == 1
                                && HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(
                                        codings.get(0)));
        int hosts = request.headers().getAll(HttpHeaderNames.HOST).size();
        return understood && (current ? hosts == 1 : hosts <= 1) ? 0 : 400;
    }

    /** The thread that runs the request wants more of its body. */
    private void readMore(HttpRequest request) {
        if (HttpUtil.is100ContinueExpected(request)) {
            request.headers().remove(HttpHeaderNames.EXPECT);
            ChannelFuture unused =
                    channel.writeAndFlush(
                            new DefaultFullHttpResponse(
                                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        }
        Channel unused = channel.read();
    }

    private void add(HttpContent part) {
        RequestBody body = exchange.requestBody();
        if (part.decoderResult().isFailure()) {
            keepsAlive = false;
            body.breakOff();
            return;
        }
        ByteBuf content = part.content();
        byte[] bytes = new byte[content.readableBytes()];
        content.readBytes(bytes);
        body.add(bytes);
        if (part instanceof LastHttpContent) {
            body.complete();
        }
    }

    private void write(Exchange asked, int status, Map<String, String> headers, byte[] content) {
        if (asked != exchange || !channel.isActive()) {
            return;
        }
        // What the client has not sent yet cannot be told from a next request.
        boolean ends = !keepsAlive || !asked.requestBody().isComplete();
        DefaultFullHttpResponse response =
                new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1,
                        HttpResponseStatus.valueOf(status),
                        asked.isHead() ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(content));
        addHeaders(response.headers(), headers, asked, ends);
        if (content != null) {
            response.headers().set("Content-Length", content.length);
        }
        listener.answers(this, response.content().readableBytes());
        hurry(listener.bounds().patienceMillis());
        channel.writeAndFlush(response)
                .addListener(
                        (ChannelFutureListener)
                                written -> {
                                    if (written.isSuccess()) {
                                        finish(asked, ends);
                                    } else {
                                        close();
                                    }
                                });
    }

    @SuppressWarnings("JavaUtilDate") // Netty's formatter wants one
    private static void addHeaders(
            HttpHeaders all, Map<String, String> headers, Exchange asked, boolean ends) {
        all.set("Date", DateFormatter.format(new Date()));
        headers.forEach(all::set);
        if (ends) {
            all.set("Connection", HttpHeaderValues.CLOSE);
        } else if (!asked.takesChunks()) {
            all.set("Connection", HttpHeaderValues.KEEP_ALIVE);
        }
    }

    /** The answer is written: the next request is due. */
    private void finish(Exchange asked, boolean ends) {
        listener.read(this);
        boolean whole = asked.requestBody().isComplete();
        exchange = null;
        if (!channel.isActive()) {
            return;
        }
        if (ends || !keepsAlive) {
            end(whole && ahead.isEmpty());
            return;
        }
        takeAhead();
        if (exchange == null) {
            await();
            channel.config().setAutoRead(true);
        }
    }

    private void end(boolean atOnce) {
        ended = true;
        forgetAhead();
        if (atOnce) {
            close();
            return;
        }
        listener.waits(this);
        hurry(LINGER_MILLIS);
        if (!isSecure()) {
            ChannelFuture unused = channel.shutdownOutput();
        }
        channel.config().setAutoRead(true);
    }

    private void forgetAhead() {
        ahead.forEach(ReferenceCountUtil::release);
        ahead.clear();
    }
}
