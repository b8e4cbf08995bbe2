package io.saucr.services.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.core.Body;
import io.saucr.services.http.DoorRequest.Answer;
import io.saucr.services.http.DoorRequest.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The door of a service for clients that speak HTTP: {@code POST /TYPE} with a JSON object that is
 * a message or query of that type, as {@link RecordJson} says.
 *
 * <p>With an {@value #KEY_HEADER} of 1 to 200 printable characters of ASCII a message is carried
 * out once: for 24 hours the same request with the same key is answered by the first one's answer,
 * also after crashes. Later it counts as new. There is no order between requests. Without a key a
 * message is carried out at most once, and where the connection breaks nobody knows whether. To a
 * query a key means nothing.
 *
 * <table>
 * <caption>Answers</caption>
 * <tr><td>200</td><td>the reply as JSON, its type in {@value #TYPE_HEADER}</td></tr>
 * <tr><td>202</td><td>the turn left the reply to a later one: ask again with the same key</td></tr>
 * <tr><td>204</td><td>the turn is final, and gave no reply</td></tr>
 * <tr><td>400</td><td>the body or the key is none; says what is wrong</td></tr>
 * <tr><td>403</td><td>clients may not send this type, or the page was asked by another name</td></tr>
 * <tr><td>404</td><td>no handler takes this type</td></tr>
 * <tr><td>405, 415</td><td>no POST, no {@code application/json}</td></tr>
 * <tr><td>409</td><td>the first request with this key is still under way</td></tr>
 * <tr><td>413</td><td>larger than a message may be</td></tr>
 * <tr><td>422</td><td>the key came with another body or type before</td></tr>
 * <tr><td>503</td><td>the service refused it, has too much to do, or ends</td></tr>
 * <tr><td>504</td><td>no answer in time; perhaps it is still carried out: ask again with the same
 * key</td></tr>
 * </table>
 *
 * <p>Plain HTTP, and nobody is asked who he is: whoever reaches it is a client without a name. Put
 * something before it that is, where others than this machine reach it. What it holds is bounded:
 * the requests under way, their bodies, and the time that a body may take to come. Any thread.
 */
public final class HttpDoor implements AutoCloseable {

    /** The header that makes a request happen once. */
    public static final String KEY_HEADER = "Idempotency-Key";

    /** The header that says of which type a reply is. */
    public static final String TYPE_HEADER = "X-Type";

    /** Where requests go. Any thread. */
    public interface Requests {

        /** The class of messages and queries of a type; empty where no handler takes it. */
        Optional<Class<?>> type(String name);

        /** Whether clients may send this type. */
        boolean allows(String type);

        /**
         * A message as it travels.
         *
         * @throws IllegalArgumentException where it cannot
         */
        Body encode(Object message);

        /** Takes a request to its turn; where that is not possible any more, nothing happens. */
        void request(DoorRequest request);

        /** Nobody waits for that request any longer; it is told an outcome, if it has none. */
        void giveUp(long id);
    }

    private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);

    private static final int READING_THREADS = 32;
    private static final int ANSWERING_THREADS = 256;
    private static final int MOST_REQUESTS = 1_000;
    private static final int LONGEST_KEY = 200;
    private static final long CLOSING_MILLIS = 1_000;

    private final String service;
    private final Requests requests;
    private final int largestBytes;
    private final Duration patience;
    private final Address address;
    private final MeantHost host;
    private final HttpServer server;
    private final ThreadPoolExecutor reading;
    private final ThreadPoolExecutor answering;
    private final ScheduledExecutorService watch;
    private final AtomicLong newest = new AtomicLong();
    private final Map<Long, Call> calls = new ConcurrentHashMap<>();
    private volatile boolean closing;

    /**
     * Begins to answer.
     *
     * @param service its name
     * @param at where; port 0 lets the system choose
     * @param largestBytes of a request's body
     * @param patience so long a caller waits for an answer, and so long its request may take to
     *     come
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public HttpDoor(
            String service, Address at, int largestBytes, Duration patience, Requests requests)
            throws IOException {
        this.service = service;
        this.requests = requests;
        this.largestBytes = largestBytes;
        this.patience = patience;
        try {
            server = HttpServer.create(new InetSocketAddress(at.host(), at.port()), 128);
        } catch (IOException e) {
            throw new IOException(
                    "the HTTP door of "
                            + service
                            + " cannot listen at "
                            + at
                            + ": "
                            + e.getMessage()
                            + "; choose an address and port of this machine that is free",
                    e);
        }
        address = new Address(at.host(), server.getAddress().getPort());
        host = new MeantHost(server.getAddress().getAddress(), at.host());
        ThreadFactory threads =
                task -> {
                    Thread thread = new Thread(task, "http " + service);
                    thread.setDaemon(true);
                    return thread;
                };
        reading =
                new ThreadPoolExecutor(
                        READING_THREADS,
                        READING_THREADS,
                        10,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        threads);
        reading.allowCoreThreadTimeOut(true);
        answering =
                new ThreadPoolExecutor(
                        0,
                        ANSWERING_THREADS,
                        10,
                        TimeUnit.SECONDS,
                        new SynchronousQueue<>(),
                        threads);
        watch = Executors.newSingleThreadScheduledExecutor(threads);
        server.setExecutor(reading);
        server.createContext("/", this::take);
        server.start();
        LOG.info("{}: HTTP door at http://{}/", service, address);
    }

    /** Where it listens. */
    public Address address() {
        return address;
    }

    /** Tells those who wait that the service ends, and lets go of all connections. */
    @Override
    public void close() {
        closing = true;
        List<Call> waiting = List.copyOf(calls.values());
        waiting.forEach(it -> it.error(503, ends()));
        try {
            for (Call call : waiting) {
                boolean unused = call.sent.await(CLOSING_MILLIS, TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.stop(0);
        reading.shutdownNow();
        answering.shutdownNow();
        watch.shutdownNow();
    }

    private String ends() {
        return service
                + " ends. Whether this was carried out is not known: ask again with the same "
                + KEY_HEADER;
    }

    /** A request that cannot be carried out. */
    private static final class WrongException extends Exception {
        private static final long serialVersionUID = 1;

        final int status;

        WrongException(int status, String reason) {
            super(reason);
            this.status = status;
        }
    }

    private void take(HttpExchange exchange) throws IOException {
        Call call = new Call(newest.incrementAndGet(), exchange);
        try {
            call.begin();
            DoorRequest request = read(call, exchange);
            call.wait(patience);
            requests.request(request);
        } catch (WrongException e) {
            call.error(e.status, e.getMessage());
        } catch (IOException e) {
            call.drop();
        } catch (RuntimeException e) {
            LOG.warn("{}: HTTP door", service, e);
            call.error(500, "the door failed; its log says how");
        }
        // The rest is done when the outcome comes: the exchange stays open.
    }

    private DoorRequest read(Call call, HttpExchange exchange) throws WrongException, IOException {
        Headers headers = exchange.getRequestHeaders();
        if (!host.isMeant(headers.getFirst("Host"))) {
            throw new WrongException(403, "the door is asked by the name of its host");
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            throw new WrongException(405, "messages and queries come by POST /TYPE");
        }
        String path = exchange.getRequestURI().getPath();
        String type = path == null || path.isEmpty() ? "" : path.substring(1);
        Optional<Class<?>> found = requests.type(type);
        if (found.isEmpty()) {
            throw new WrongException(404, service + " takes no " + type);
        }
        if (!isJson(headers.getFirst("Content-Type"))) {
            // A page of another site cannot send this without being asked who it is.
            throw new WrongException(415, "the body is JSON: send Content-Type: application/json");
        }
        if (!requests.allows(type)) {
            throw new WrongException(403, "you may not send " + type + " to " + service);
        }
        Optional<String> key = key(headers.get(KEY_HEADER));
        byte[] body = body(exchange);
        Body message;
        try {
            message = requests.encode(RecordJson.read(found.get(), body));
        } catch (IllegalArgumentException e) {
            throw new WrongException(400, e.getMessage());
        }
        if (message.bytes().length > largestBytes) {
            throw new WrongException(413, tooLarge());
        }
        return new DoorRequest(
                call.id,
                message,
                key.map(it -> new DoorRequest.Key(it, hash(type, body))),
                call::tell);
    }

    private static boolean isJson(String type) {
        return type != null
                && type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT).equals("application/json");
    }

    private static Optional<String> key(List<String> given) throws WrongException {
        if (given == null || given.isEmpty()) {
            return Optional.empty();
        }
        String key = given.get(0);
        if (given.size() > 1 || !key.matches("[\\x20-\\x7e]{1," + LONGEST_KEY + "}")) {
            throw new WrongException(
                    400,
                    "one "
                            + KEY_HEADER
                            + " of 1 to "
                            + LONGEST_KEY
                            + " printable characters of ASCII");
        }
        return Optional.of(key);
    }

    private String tooLarge() {
        return "a message to " + service + " has at most " + largestBytes + " bytes";
    }

    private byte[] body(HttpExchange exchange) throws IOException, WrongException {
        try (InputStream in = exchange.getRequestBody()) {
            byte[] body = in.readNBytes(largestBytes + 1);
            if (body.length > largestBytes) {
                // Who still sends does not read; what is endless ends at the time for a request.
                in.transferTo(OutputStream.nullOutputStream());
                throw new WrongException(413, tooLarge());
            }
            return body;
        }
    }

    private static Bytes hash(String type, byte[] body) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(type.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            return Bytes.of(digest.digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java has SHA-256", e);
        }
    }

    /** One request and its one answer. */
    private final class Call {
        final long id;
        final HttpExchange exchange;
        final CountDownLatch sent = new CountDownLatch(1);
        private final AtomicBoolean answered = new AtomicBoolean();
        private volatile Future<?> late;

        Call(long id, HttpExchange exchange) {
            this.id = id;
            this.exchange = exchange;
        }

        void begin() throws WrongException {
            calls.put(id, this);
            if (closing) {
                throw new WrongException(503, service + " ends");
            }
            if (calls.size() > MOST_REQUESTS) {
                throw new WrongException(503, service + " has too many requests; try again later");
            }
            // A body that drips in byte by byte must not hold a thread for ever.
            late = watch.schedule(this::drop, patience.toMillis(), TimeUnit.MILLISECONDS);
        }

        void wait(Duration time) {
            late.cancel(false);
            late =
                    watch.schedule(
                            () -> requests.giveUp(id), time.toMillis(), TimeUnit.MILLISECONDS);
        }

        /** Ends it without an answer. */
        void drop() {
            if (answered.compareAndSet(false, true)) {
                over();
            }
        }

        void tell(Outcome outcome) {
            if (outcome instanceof Outcome.Answered it) {
                if (it.answer().isEmpty()) {
                    answer(204, "", new byte[0]);
                } else {
                    Answer answer = it.answer().get();
                    byte[] json = answer.json().getBytes(StandardCharsets.UTF_8);
                    answer(200, answer.type(), json);
                }
            } else if (outcome instanceof Outcome.Refused it) {
                error(503, it.reason());
            } else if (outcome instanceof Outcome.UnderWay) {
                error(409, "the first request with this key is still under way");
            } else if (outcome instanceof Outcome.OtherBody) {
                error(422, "this key came with another request before");
            } else if (outcome instanceof Outcome.Waits) {
                error(202, "the reply comes later: ask again with the same " + KEY_HEADER);
            } else if (outcome instanceof Outcome.Late) {
                error(
                        504,
                        "no reply in time. Perhaps this is still carried out: ask again with the"
                                + " same "
                                + KEY_HEADER);
            }
        }

        void error(int status, String reason) {
            String json =
                    JsonNodeFactory.instance
                            .objectNode()
                            .put(status == 202 ? "state" : "error", reason)
                            .toString();
            answer(status, "", json.getBytes(StandardCharsets.UTF_8));
        }

        private void answer(int status, String type, byte[] json) {
            if (!answered.compareAndSet(false, true)) {
                return;
            }
            try {
                answering.execute(() -> send(status, type, json));
            } catch (RejectedExecutionException e) {
                over();
            }
        }

        private void send(int status, String type, byte[] json) {
            try {
                Headers headers = exchange.getResponseHeaders();
                headers.set("Cache-Control", "no-store");
                if (!type.isEmpty()) {
                    headers.set(TYPE_HEADER, URLEncoder.encode(type, StandardCharsets.UTF_8));
                }
                if (json.length > 0) {
                    headers.set("Content-Type", "application/json");
                    headers.set("X-Content-Type-Options", "nosniff");
                }
                exchange.sendResponseHeaders(status, json.length == 0 ? -1 : json.length);
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(json);
                }
            } catch (IOException e) {
                LOG.debug("{}: a caller went before its answer", service, e);
            } finally {
                over();
            }
        }

        private void over() {
            Future<?> watching = late;
            if (watching != null) {
                watching.cancel(false);
            }
            calls.remove(id);
            exchange.close();
            sent.countDown();
        }
    }
}
