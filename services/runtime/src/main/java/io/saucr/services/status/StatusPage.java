package io.saucr.services.status;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.saucr.services.Address;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.http.MeantHost;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small live page of one service, the same as JSON, and orders of operators:
 *
 * <pre>
 * GET  /             the page
 * GET  /status.json  {@link io.saucr.services.ServiceStatus}
 * POST /retry?parked=ID, /discard?parked=ID, /gone?service=NAME&amp;birth=HEX, /resume?channel=NAME
 * </pre>
 *
 * <p>Nobody is asked who he is, so it listens on loopback unless told otherwise, and answers only
 * requests that name that host, so that no page of the web can read it. An order needs the header
 * {@value #ORDER_HEADER}, which no page of another site can send. No message's content is shown.
 * Any thread.
 */
public final class StatusPage implements AutoCloseable {

    /** What an order has to carry, with any value. */
    public static final String ORDER_HEADER = "X-Saucr-Services";

    private static final Logger LOG = LoggerFactory.getLogger(StatusPage.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RunningService service;
    private final Address address;
    private final MeantHost host;
    private final HttpServer server;
    private final ExecutorService threads;

    /**
     * Begins to answer.
     *
     * @param at where; port 0 lets the system choose
     * @throws IOException where that is not possible, as the port is taken; says what to do
     */
    public StatusPage(RunningService service, Address at) throws IOException {
        this.service = service;
        InetSocketAddress socket = new InetSocketAddress(at.host(), at.port());
        try {
            server = HttpServer.create(socket, 50);
        } catch (IOException e) {
            throw new IOException(
                    "the status page of "
                            + service.name()
                            + " cannot listen at "
                            + at
                            + ": "
                            + e.getMessage()
                            + "; choose an address and port of this machine that is free",
                    e);
        }
        address = new Address(at.host(), server.getAddress().getPort());
        host = new MeantHost(server.getAddress().getAddress(), at.host());
        threads =
                Executors.newFixedThreadPool(
                        2,
                        task -> {
                            Thread thread = new Thread(task, "status page " + service.name());
                            thread.setDaemon(true);
                            return thread;
                        });
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
        LOG.info("{}: status page at http://{}/", service.name(), address);
    }

    /** Where it listens. */
    public Address address() {
        return address;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!host.isMeant(exchange.getRequestHeaders().getFirst("Host"))) {
                text(exchange, 403, "this page is asked for by the name of its host");
                return;
            }
            String path = exchange.getRequestURI().getPath();
            switch (exchange.getRequestMethod() + " " + path) {
                case "GET /" -> send(exchange, 200, "text/html; charset=utf-8", page());
                case "GET /status.json" -> status(exchange);
                case "POST /retry" -> order(exchange, it -> service.retry(id(it)));
                case "POST /discard" -> order(exchange, it -> service.discard(id(it)));
                case "POST /gone" ->
                        order(
                                exchange,
                                it -> service.declareGone(need(it, "service"), need(it, "birth")));
                case "POST /resume" -> order(exchange, it -> service.resume(need(it, "channel")));
                default -> text(exchange, 404, "there is no " + path + " here");
            }
        } catch (RuntimeException e) {
            LOG.warn("{}: status page", service.name(), e);
        }
    }

    private void status(HttpExchange exchange) throws IOException {
        try {
            send(
                    exchange,
                    200,
                    "application/json",
                    JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(service.status()));
        } catch (ServiceException e) {
            text(exchange, 503, e.getMessage());
        }
    }

    private interface Order {
        void give(Map<String, String> parameters);
    }

    private void order(HttpExchange exchange, Order order) throws IOException {
        if (exchange.getRequestHeaders().getFirst(ORDER_HEADER) == null) {
            text(exchange, 403, "an order needs the header " + ORDER_HEADER);
            return;
        }
        try {
            order.give(parameters(exchange));
            text(exchange, 200, "done");
        } catch (IllegalArgumentException e) {
            text(exchange, 400, e.getMessage());
        } catch (ServiceException e) {
            text(exchange, 503, e.getMessage());
        }
    }

    private static Map<String, String> parameters(HttpExchange exchange) {
        Map<String, String> parameters = new LinkedHashMap<>();
        String query = exchange.getRequestURI().getRawQuery();
        for (String pair : query == null ? new String[0] : query.split("&", -1)) {
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
        String id = need(parameters, "parked");
        try {
            return Long.parseLong(id);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "parked is the number of a message that was put aside, not \"" + id + "\"", e);
        }
    }

    private static void text(HttpExchange exchange, int status, String text) throws IOException {
        send(
                exchange,
                status,
                "text/plain; charset=utf-8",
                (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body)
            throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private static byte[] page() throws IOException {
        try (InputStream page = StatusPage.class.getResourceAsStream("status.html")) {
            return page.readAllBytes();
        }
    }
}
