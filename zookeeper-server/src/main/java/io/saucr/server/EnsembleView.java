package io.saucr.server;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;

/**
 * Asks the other AdminServers of the ensemble for their status. Only servers of the configuration
 * are asked, all at once, for at most one second, and at most twice a second however often this
 * server is asked. Thread-safe.
 */
final class EnsembleView {
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final SaucrStatus status;
    private HttpClient client;
    private List<Map<String, Object>> answer;
    private long answeredNanos;

    /** Made at the first answer: every server's start would pay for it. */
    private static final class Json {
        static final ObjectMapper MAPPER = new ObjectMapper();
    }

    EnsembleView(SaucrStatus status) {
        this.status = status;
    }

    /**
     * One map for each server, by id: {@code server}, {@code address}, and {@code status} or {@code
     * error}.
     */
    synchronized List<Map<String, Object>> servers() {
        if (answer == null || System.nanoTime() - answeredNanos > FRESH_NANOS) {
            answer = ask();
            answeredNanos = System.nanoTime();
        }
        return answer;
    }

    private List<Map<String, Object>> ask() {
        long self = status.peer().getMyId();
        Map<Long, CompletableFuture<Map<String, Object>>> asked = new TreeMap<>();
        new TreeMap<>(status.peer().getView())
                .forEach(
                        (id, server) ->
                                asked.put(
                                        id,
                                        id == self
                                                ? CompletableFuture.completedFuture(
                                                        answered(id, "", status.full()))
                                                : ask(id, address(id, server))));
        List<Map<String, Object>> result = new ArrayList<>();
        asked.values().forEach(each -> result.add(each.join()));
        return result;
    }

    private CompletableFuture<Map<String, Object>> ask(long id, String address) {
        try {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(address)).timeout(PATIENCE).build();
            return client().sendAsync(request, HttpResponse.BodyHandlers.ofString())
                    .thenApply(response -> read(id, address, response))
                    .exceptionally(e -> silent(id, address, e));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.completedFuture(silent(id, address, e));
        }
    }

    private Map<String, Object> read(long id, String address, HttpResponse<String> response) {
        try {
            return answered(id, address, Json.MAPPER.readValue(response.body(), Map.class));
        } catch (IOException e) {
            throw new CompletionException("no JSON, HTTP status " + response.statusCode(), e);
        }
    }

    private static Map<String, Object> answered(long id, String address, Object status) {
        Map<String, Object> result = of(id, address);
        result.put("status", status);
        return result;
    }

    private static Map<String, Object> silent(long id, String address, Throwable error) {
        Throwable cause =
                error instanceof CompletionException && error.getCause() != null
                        ? error.getCause()
                        : error;
        Map<String, Object> result = of(id, address);
        result.put("error", cause.toString());
        return result;
    }

    private static Map<String, Object> of(long id, String address) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("server", id);
        result.put("address", address);
        return result;
    }

    /**
     * As configured; else the host of the other's election address, with this server's own port.
     */
    private String address(long id, QuorumServer server) {
        String configured = status.settings().adminServers().get(id);
        String hostAndPort = configured == null ? guessed(server) : configured;
        return "http://"
                + hostAndPort
                + System.getProperty("zookeeper.admin.commandURL", "/commands")
                + "/saucr";
    }

    private static String guessed(QuorumServer server) {
        InetSocketAddress election = server.electionAddr.getOne();
        InetAddress resolved = election.getAddress();
        String host = resolved == null ? election.getHostString() : resolved.getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host)
                + ":"
                + Integer.getInteger("zookeeper.admin.serverPort", 8080);
    }

    private HttpClient client() {
        if (client == null) {
            client =
                    HttpClient.newBuilder()
                            .version(HttpClient.Version.HTTP_1_1)
                            .connectTimeout(PATIENCE)
                            .build();
        }
        return client;
    }
}
