package io.saucr.services.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.Address;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.http.HttpListener;
import io.saucr.services.http.MeantHost;
import io.saucr.services.turns.Http;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small live page of one service, the same as JSON, and orders of operators:
 *
 * <pre>
 * GET  /             the page
 * GET  /status.json  {@link io.saucr.services.ServiceStatus}
 * POST /retry?message=ID, /discard?message=ID, /declare-lost?service=NAME&amp;generation=HEX,
 *      /return-undelivered?service=NAME, /resume?channel=NAME, /handover, /handover?member=ID
 * </pre>
 *
 * <p>Nobody is asked who he is, so it listens on loopback unless told otherwise, and answers only
 * requests that name that host, so that no page of the web can read it. An order needs the header
 * {@value #ORDER_HEADER}, which no page of another site can send. No message's content is shown.
 * Any thread.
 */
public final class StatusPage implements Http.Served {

    /** What an order has to carry, with any value. */
    public static final String ORDER_HEADER = "X-Saucr-Services";

    private static final Logger LOG = LoggerFactory.getLogger(StatusPage.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** No order has a body. */
    private static final HttpListener.Bounds BOUNDS =
            new HttpListener.Bounds(4_096, Duration.ofSeconds(10));

    private static final int THREADS = 2;
    private static final int MOST_WAITING = 100;

    private final RunningService service;
    private final String page;
    private final ExecutorService threads;
    private final HttpListener listener;

    /**
     * Begins to answer.
     *
     * @param at where; port 0 lets the system choose
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public StatusPage(RunningService service, Address at) throws IOException {
        this.service = service;
        page = page();
        String self = "the status page of " + service.name();
        // The service may take its time to answer, which must not hold up who asks for the page.
        threads =
                new ThreadPoolExecutor(
                        THREADS,
                        THREADS,
                        0,
                        TimeUnit.SECONDS,
                        new ArrayBlockingQueue<>(MOST_WAITING),
                        task -> {
                            Thread thread = new Thread(task, self);
                            thread.setDaemon(true);
                            return thread;
                        });
        Requests requests = new Requests();
        listener = new HttpListener(self, at, BOUNDS, requests);
        requests.host = listener.host();
        LOG.info("{}: status page at http://{}/", service.name(), address());
    }

    /** Where it listens. */
    @Override
    public Address address() {
        return listener.address();
    }

    @Override
    public void close() {
        listener.close();
        threads.shutdownNow();
    }

    /** What is asked for. */
    private final class Requests implements HttpListener.Pages {

        /** Null until the listener has its address; nobody is meant until then. */
        private volatile MeantHost host;

        @Override
        public Optional<HttpListener.Response> refuse(HttpListener.Head head) {
            MeantHost meant = host;
            if (meant == null || !meant.isMeant(head.first("Host"))) {
                return Optional.of(error(403, "this page is asked for by the name of its host"));
            }
            return switch (head.method() + " " + head.path()) {
                case "GET /", "GET /status.json" -> Optional.empty();
                case "POST /retry",
                        "POST /discard",
                        "POST /declare-lost",
                        "POST /return-undelivered",
                        "POST /resume",
                        "POST /handover" ->
                        head.first(ORDER_HEADER) == null
                                ? Optional.of(
                                        error(403, "an order needs the header " + ORDER_HEADER))
                                : Optional.empty();
                default -> Optional.of(error(404, "there is no " + head.path() + " here"));
            };
        }

        @Override
        public void take(HttpListener.Head head, byte[] body, HttpListener.Asker asker) {
            if (head.path().equals("/")) {
                asker.answer(response(200, "text/html; charset=utf-8", page));
                return;
            }
            try {
                threads.execute(() -> asker.answer(answer(head)));
            } catch (RejectedExecutionException e) {
                asker.answer(error(503, MOST_WAITING + " requests wait already; ask later"));
            }
        }

        @Override
        public HttpListener.Response error(int status, String reason) {
            return response(status, "text/plain; charset=utf-8", reason + "\n");
        }

        private HttpListener.Response answer(HttpListener.Head head) {
            try {
                if (head.path().equals("/status.json")) {
                    return response(
                            200,
                            "application/json",
                            JSON.writerWithDefaultPrettyPrinter()
                                    .writeValueAsString(service.status()));
                }
                order(head.path(), parameters(head.query()));
                return response(200, "text/plain; charset=utf-8", "done\n");
            } catch (IllegalArgumentException e) {
                return error(400, e.getMessage());
            } catch (ServiceException e) {
                return error(503, e.getMessage());
            } catch (JsonProcessingException | RuntimeException e) {
                LOG.warn("{}: status page", service.name(), e);
                return error(500, "the status page failed; its log says how");
            }
        }
    }

    private void order(String path, Map<String, String> parameters) {
        switch (path) {
            case "/retry" -> service.retry(id(parameters));
            case "/discard" -> service.discard(id(parameters));
            case "/declare-lost" ->
                    service.declareLost(
                            need(parameters, "service"), need(parameters, "generation"));
            case "/return-undelivered" -> service.returnUndelivered(need(parameters, "service"));
            case "/resume" -> service.resume(need(parameters, "channel"));
            case "/handover" -> service.handOver(Optional.ofNullable(parameters.get("member")));
            default -> throw new IllegalArgumentException("there is no order " + path);
        }
    }

    private static Map<String, String> parameters(String query) {
        Map<String, String> parameters = new LinkedHashMap<>();
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                parameters.put(
                        pair.substring(0, equals),
                        URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
            }
        }
        return parameters;
    }

    private static String need(Map<String, String> parameters, String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the parameter " + name + " is missing");
        }
        return value;
    }

    private static long id(Map<String, String> parameters) {
        String id = need(parameters, "message");
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "message is the number of a dead letter, not \"" + id + "\"", e);
        }
    }

    private static HttpListener.Response response(int status, String type, String text) {
        return new HttpListener.Response(
                status,
                Map.of(
                        "Content-Type",
                        type,
                        "Cache-Control",
                        "no-store",
                        "X-Content-Type-Options",
                        "nosniff"),
                text);
    }

    private static String page() throws IOException {
        try (InputStream page = StatusPage.class.getResourceAsStream("status.html")) {
            return new String(page.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
