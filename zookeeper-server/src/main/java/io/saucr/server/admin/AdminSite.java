package io.saucr.server.admin;

import io.saucr.server.http.Exchange;
import io.saucr.server.http.Site;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import javax.servlet.http.HttpServletRequest;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.CommandResponse;
import org.apache.zookeeper.server.admin.Commands;
import org.apache.zookeeper.server.admin.JsonOutputter;
import org.apache.zookeeper.server.auth.IPAuthenticationProvider;

/**
 * What an AdminServer answers: ZooKeeper's commands as Apache's AdminServer does, {@code /livez}
 * and {@code /readyz} ({@link Health}), and {@code /}, from which it sends a browser to the status
 * page, where this process has one. Thread-safe.
 */
public final class AdminSite implements Site {

    /** A browser that came by TLS once comes by TLS for a day. */
    private static final String STRICT_TRANSPORT = "max-age=86400; includeSubDomains";

    private final String commandUrl;
    private final Supplier<ZooKeeperServer> serving;

    /**
     * @param commandUrl the folder of the commands
     * @param serving the server that runs now; gives null if there is none
     */
    public AdminSite(String commandUrl, Supplier<ZooKeeperServer> serving) {
        this.commandUrl = commandUrl;
        this.serving = serving;
    }

    @Override
    public void answer(Exchange exchange) throws IOException {
        if (exchange.isSecure()) {
            exchange.addHeader("Strict-Transport-Security", STRICT_TRANSPORT);
        }
        String path = exchange.path();
        if (exchange.method().equals("TRACE")) {
            exchange.refuseMethod();
        } else if (path.equals(commandUrl) || path.startsWith(commandUrl + "/")) {
            answerFolder(exchange, path.substring(commandUrl.length()));
        } else if (exchange.reads()) {
            answerOther(exchange, path);
        }
    }

    private void answerFolder(Exchange exchange, String path) throws IOException {
        boolean posts = exchange.method().equals("POST");
        if (!exchange.reads() && !posts) {
            exchange.refuseMethod();
        } else if (path.isEmpty() || path.equals("/")) {
            exchange.answer(200, null, links().getBytes(StandardCharsets.ISO_8859_1));
        } else if (posts) {
            post(exchange, path.substring(1));
        } else {
            get(exchange, path.substring(1));
        }
    }

    private String links() {
        StringBuilder links = new StringBuilder();
        for (String name : new TreeSet<>(Commands.getPrimaryNames())) {
            links.append("<a href=\"%s/%s\">%s</a>\n<br/>\n".formatted(commandUrl, name, name));
        }
        return links.toString();
    }

    private void get(Exchange exchange, String name) throws IOException {
        Map<String, String> arguments = new HashMap<>();
        exchange.parameters().forEach((key, values) -> arguments.put(key, values.get(0)));
        HttpServletRequest request = ServletRequest.of(exchange);
        CommandResponse response =
                Commands.runGetCommand(
                        name, serving.get(), arguments, exchange.header("Authorization"), request);
        if (response == null) {
            hasNoSuchMethod(exchange, name);
            return;
        }
        response.getHeaders().forEach(exchange::addHeader);
        InputStream stream = response.getInputStream();
        if (stream == null) {
            answer(exchange, response, request);
        } else if (stream instanceof ByteArrayInputStream) {
            exchange.answer(response.getStatusCode(), null, stream.readAllBytes());
        } else {
            exchange.stream(response.getStatusCode(), "application/octet-stream", stream);
        }
    }

    private void post(Exchange exchange, String name) {
        HttpServletRequest request = ServletRequest.of(exchange);
        CommandResponse response =
                Commands.runPostCommand(
                        name,
                        serving.get(),
                        exchange.body(),
                        exchange.header("Authorization"),
                        request);
        if (response == null) {
            hasNoSuchMethod(exchange, name);
        } else {
            answer(exchange, response, request);
        }
    }

    /** Apache's AdminServer fails with an exception here, and has the same status. */
    private static void hasNoSuchMethod(Exchange exchange, String name) {
        exchange.answer(500, "the command %s has no %s\n".formatted(name, exchange.method()));
    }

    private static void answer(
            Exchange exchange, CommandResponse response, HttpServletRequest request) {
        JsonOutputter json =
                new JsonOutputter(IPAuthenticationProvider.getClientIPAddress(request));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintWriter writer =
                new PrintWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
            json.output(response, writer);
        }
        exchange.answer(response.getStatusCode(), json.getContentType(), bytes.toByteArray());
    }

    private void answerOther(Exchange exchange, String path) {
        if (path.equals("/") && Commands.getCommand(PageCommand.NAME) != null) {
            // Without a host: only the browser knows by which name it came here.
            exchange.addHeader("Location", commandUrl + "/" + PageCommand.NAME);
            exchange.answer(302, null, new byte[0]);
        } else if (path.equals("/livez")) {
            probe(Health.live(), exchange);
        } else if (path.equals("/readyz")) {
            probe(Health.ready(serving.get(), SaucrStatus.ongoingRecovery()), exchange);
        }
    }

    private static void probe(Health health, Exchange exchange) {
        Map<String, List<String>> parameters = exchange.parameters();
        Health.Answer answer =
                health.answer(
                        parameters.containsKey("verbose"),
                        parameters.getOrDefault("exclude", List.of()).toArray(new String[0]));
        exchange.addHeader("Cache-Control", "no-store");
        exchange.addHeader("X-Content-Type-Options", "nosniff");
        exchange.answer(answer.status(), answer.text());
    }
}
