package io.saucr.server.http;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A request and its answer. For the thread that {@link Site#answer} is called on. */
public final class Exchange {
    private static final byte[] NOTHING = {};

    /** As Apache's servers say it, of every path. */
    private static final String ALLOWED = "GET, HEAD, POST, TRACE, OPTIONS";

    private final HttpRequest request;
    private final Target target;
    private final Connection connection;
    private final RequestBody body;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private boolean answered;

    Exchange(HttpRequest request, Target target, Connection connection, RequestBody body) {
        this.request = request;
        this.target = target;
        this.connection = connection;
        this.body = body;
    }

    public String method() {
        return request.method().name();
    }

    /** Whether the request wants to see something, or at least the headers of it. */
    public boolean reads() {
        return request.method().equals(HttpMethod.GET) || isHead();
    }

    boolean isHead() {
        return request.method().equals(HttpMethod.HEAD);
    }

    /** Whether an answer may come in parts, and the connection stays open unless one says no. */
    boolean takesChunks() {
        return request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    }

    /** The decoded path, which begins with a slash. */
    public String path() {
        return target.path();
    }

    /** The query as it came; empty if there is none. */
    public String query() {
        return target.query();
    }

    /** The parameters of the query, in their order. */
    public Map<String, List<String>> parameters() {
        return target.parameters();
    }

    /** The first value of a header of the request; null if it has none. */
    public String header(String name) {
        return request.headers().get(name);
    }

    /** All values of a header of the request. */
    public List<String> headers(String name) {
        return request.headers().getAll(name);
    }

    public InetSocketAddress remote() {
        return connection.remote();
    }

    /** Whether the request came by TLS. */
    public boolean isSecure() {
        return connection.isSecure();
    }

    /** Those that the client has shown in its handshake; null if it has none. */
    public X509Certificate[] certificates() {
        return connection.certificates();
    }

    /** What follows the request's headers. A part that does not come in time is an exception. */
    public InputStream body() {
        return body;
    }

    RequestBody requestBody() {
        return body;
    }

    boolean isAnswered() {
        return answered;
    }

    /** Adds a header to the answer. */
    public void addHeader(String name, String value) {
        headers.put(name, value);
    }

    /** Answers with a text. */
    public void answer(int status, String text) {
        answer(status, "text/plain;charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Answers, and does not wait until the client reads.
     *
     * @param type null if there is none, or it is among the headers
     */
    public void answer(int status, String type, byte[] content) {
        begin(type);
        connection.answer(this, status, headers, content);
    }

    /**
     * Answers as many bytes as a stream has, waits for the client, and closes the stream.
     *
     * @throws IOException if the client does not read, or the stream fails. The connection ends
     *     without the end of the answer: no client takes a part of it for the whole.
     */
    public void stream(int status, String type, InputStream content) throws IOException {
        begin(type);
        try (content) {
            connection.stream(this, status, headers, content);
        }
    }

    private void begin(String type) {
        if (answered) {
            throw new IllegalStateException("answered already");
        }
        answered = true;
        if (type != null) {
            headers.putIfAbsent("Content-Type", type);
        }
    }

    /**
     * Answers a request whose method its path does not have. TRACE is forbidden: what it echoes may
     * be a secret that a browser hides from a page.
     */
    public void refuseMethod() {
        switch (method()) {
            case "TRACE" -> answer(403, "Forbidden\n");
            case "OPTIONS" -> {
                addHeader("Allow", ALLOWED);
                answer(200, null, NOTHING);
            }
            case "GET", "HEAD", "POST", "PUT", "DELETE" ->
                    answer(405, "HTTP method " + method() + " is not supported by this URL\n");
            default -> answer(501, "This method is not implemented\n");
        }
    }
}
