package io.saucr.services.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.core.Body;
import io.saucr.services.http.HttpListener.Asker;
import io.saucr.services.http.HttpListener.Head;
import io.saucr.services.http.HttpListener.Response;
import io.saucr.services.turns.DoorRequest;
import io.saucr.services.turns.DoorRequest.Answer;
import io.saucr.services.turns.DoorRequest.Outcome;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.RecordJson;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
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
 * <tr><td>500</td><td>the handler failed; nothing of its turn remains, and the key is free</td></tr>
 * <tr><td>503</td><td>the service refused it, has too much to do, or ends</td></tr>
 * <tr><td>504</td><td>no answer in time; perhaps it is still carried out: ask again with the same
 * key</td></tr>
 * </table>
 *
 * <p>Plain HTTP, and nobody is asked who he is: the one that reaches it is a client without a name.
 * Put something before it that is, where others than this machine reach it. What it holds is
 * bounded: the requests under way, their bodies, and the time that a body may take to come. Any
 * thread.
 */
public final class HttpDoor implements Http.Served {

    /** The header that makes a request happen once. */
    public static final String KEY_HEADER = "Idempotency-Key";

    /** The header that says of which type a reply is. */
    public static final String TYPE_HEADER = "X-Type";

    private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);

    private static final Map<String, String> NOT_KEPT = Map.of("Cache-Control", "no-store");
    private static final Map<String, String> JSON = json(Map.of());
    private static final Map<String, String> ALLOWS_POST = json(Map.of("Allow", "POST"));
    private static final int MOST_REQUESTS = 1_000;
    private static final int LONGEST_KEY = 200;

    private final String service;
    private final Http.Requests requests;
    private final int largestBytes;
    private final Duration patience;
    private final HttpListener listener;
    private final MeantHost host;
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
            String service, Address at, int largestBytes, Duration patience, Http.Requests requests)
            throws IOException {
        this.service = service;
        this.requests = requests;
        this.largestBytes = largestBytes;
        this.patience = patience;
        watch =
                Executors.newSingleThreadScheduledExecutor(
                        task -> {
                            Thread thread = new Thread(task, "http " + service);
                            thread.setDaemon(true);
                            return thread;
                        });
        listener =
                new HttpListener(
                        "the HTTP door of " + service,
                        at,
                        new HttpListener.Bounds(largestBytes, patience),
                        new Pages());
        host = listener.host();
        LOG.info("{}: HTTP door at http://{}/", service, listener.address());
    }

    /** Where it listens. */
    @Override
    public Address address() {
        return listener.address();
    }

    /** Tells those who wait that the service ends, and lets go of all connections. */
    @Override
    public void close() {
        closing = true;
        calls.values().forEach(it -> it.tell(error(503, ends())));
        listener.close();
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

        Response response() {
            Response error = error(status, getMessage());
            return status == 405 ? new Response(405, ALLOWS_POST, error.text()) : error;
        }
    }

    /** What the listener asks; on the threads of connections. */
    private final class Pages implements HttpListener.Pages {

        @Override
        public Optional<Response> refuse(Head head) {
            try {
                check(head);
                return Optional.empty();
            } catch (WrongException e) {
                return Optional.of(e.response());
            }
        }

        @Override
        public void take(Head head, byte[] body, Asker asker) {
            Call call = new Call(newest.incrementAndGet(), asker);
            try {
                DoorRequest request = read(call, head, body);
                call.begin();
                requests.request(request);
            } catch (WrongException e) {
                call.tell(e.response());
            }
        }

        @Override
        public Response error(int status, String reason) {
            return HttpDoor.error(status, reason);
        }
    }

    private Class<?> check(Head head) throws WrongException {
        if (closing) {
            throw new WrongException(503, service + " ends");
        }
        if (!host.isMeant(head.first("Host"))) {
            throw new WrongException(403, "the door is asked by the name of its host");
        }
        if (!head.method().equals("POST")) {
            throw new WrongException(405, "messages and queries come by POST /TYPE");
        }
        String type = type(head);
        Optional<Class<?>> found = requests.type(type);
        if (found.isEmpty()) {
            throw new WrongException(404, service + " takes no " + type);
        }
        if (!isJson(head.first("Content-Type"))) {
            // A page of another site cannot send this without being asked who it is.
            throw new WrongException(415, "the body is JSON: send Content-Type: application/json");
        }
        if (!requests.allows(type)) {
            throw new WrongException(403, "you may not send " + type + " to " + service);
        }
        Optional<String> unused = key(head.all(KEY_HEADER));
        return found.get();
    }

    private static String type(Head head) {
        return head.path().isEmpty() ? "" : head.path().substring(1);
    }

    private DoorRequest read(Call call, Head head, byte[] body) throws WrongException {
        Class<?> as = check(head);
        Body message;
        try {
            message = requests.encode(RecordJson.read(as, body));
        } catch (IllegalArgumentException e) {
            throw new WrongException(400, e.getMessage());
        }
        if (message.bytes().length > largestBytes) {
            throw new WrongException(
                    413, "a message to " + service + " has at most " + largestBytes + " bytes");
        }
        Optional<String> key = key(head.all(KEY_HEADER));
        return new DoorRequest(
                call.id,
                message,
                key.map(it -> new DoorRequest.Key(it, hash(type(head), body))),
                it -> call.tell(response(it)));
    }

    private static boolean isJson(String type) {
        return type != null
                && type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT).equals("application/json");
    }

    private static Optional<String> key(List<String> given) throws WrongException {
        if (given.isEmpty()) {
            return Optional.empty();
        }
        String key = given.get(0);
        if (given.size() > 1 || !key.matches("[\\x20-\\x7e]{1," + LONGEST_KEY + "}")) {
            throw new WrongException(
                    400,
                    "one %s of 1 to %s printable characters of ASCII"
                            .formatted(KEY_HEADER, LONGEST_KEY));
        }
        return Optional.of(key);
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

    private static Response response(Outcome outcome) {
        if (outcome instanceof Outcome.Answered it) {
            return it.answer()
                    .map(answer -> new Response(200, headers(answer), answer.json()))
                    .orElse(new Response(204, NOT_KEPT, ""));
        } else if (outcome instanceof Outcome.Refused it) {
            return error(503, it.reason());
        } else if (outcome instanceof Outcome.Failed it) {
            return error(500, it.reason());
        } else if (outcome instanceof Outcome.UnderWay) {
            return error(409, "the first request with this key is still under way");
        } else if (outcome instanceof Outcome.OtherBody) {
            return error(422, "this key came with another request before");
        } else if (outcome instanceof Outcome.Waits) {
            return error(202, "the reply comes later: ask again with the same " + KEY_HEADER);
        }
        return error(
                504,
                "no reply in time. Perhaps this is still carried out: ask again with the same "
                        + KEY_HEADER);
    }

    private static Map<String, String> json(Map<String, String> more) {
        Map<String, String> headers = new LinkedHashMap<>(NOT_KEPT);
        headers.put("Content-Type", "application/json");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.putAll(more);
        return Collections.unmodifiableMap(headers);
    }

    private static Map<String, String> headers(Answer answer) {
        Map<String, String> headers = new LinkedHashMap<>(JSON);
        headers.put(TYPE_HEADER, URLEncoder.encode(answer.type(), StandardCharsets.UTF_8));
        return headers;
    }

    private static Response error(int status, String reason) {
        return new Response(
                status,
                JSON,
                JsonNodeFactory.instance
                        .objectNode()
                        .put(status == 202 ? "state" : "error", reason)
                        .toString());
    }

    /** One request and its one answer. */
    private final class Call {
        final long id;
        private final Asker asker;
        private final AtomicBoolean answered = new AtomicBoolean();
        private volatile Future<?> late;

        Call(long id, Asker asker) {
            this.id = id;
            this.asker = asker;
        }

        void begin() throws WrongException {
            calls.put(id, this);
            if (closing) {
                throw new WrongException(503, service + " ends");
            }
            if (calls.size() > MOST_REQUESTS) {
                throw new WrongException(503, service + " has too many requests; try again later");
            }
            late =
                    watch.schedule(
                            () -> requests.giveUp(id), patience.toMillis(), TimeUnit.MILLISECONDS);
        }

        void tell(Response response) {
            if (answered.compareAndSet(false, true)) {
                Future<?> watching = late;
                if (watching != null) {
                    watching.cancel(false);
                }
                calls.remove(id);
                asker.answer(response);
            }
        }
    }
}
