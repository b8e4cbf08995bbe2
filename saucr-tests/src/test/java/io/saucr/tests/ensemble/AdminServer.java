package io.saucr.tests.ensemble;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.ServerAddress;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The AdminServer of one server, as a client over HTTP sees it. */
final class AdminServer {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String root;

    AdminServer(ServerProcess server) {
        this.root = "http://" + hostAndPort(server.address());
    }

    /** An answer: its status, and its body if that is JSON. */
    record Answer(int status, JsonNode body) {}

    /** An ensemble as {@link SaucrEnsemble#describe} makes it, with AdminServers and shims. */
    static Ensemble.Builder describe(String name, int voters) throws IOException {
        Ensemble.Builder builder = SaucrEnsemble.describe(name, voters);
        LoopbackHosting hosting =
                new LoopbackHosting(
                        BuiltDistribution.target().resolve("ensembles").resolve(name),
                        voters,
                        LoopbackHosting.Disk.SHIM_WITH_JOURNAL);
        String addresses =
                IntStream.rangeClosed(1, voters)
                        .mapToObj(id -> id + "=" + hostAndPort(hosting.address(id)))
                        .collect(Collectors.joining(","));
        return builder.hosting(hosting)
                .set("admin.enableServer", "true")
                .set("saucr.adminServers", addresses);
    }

    private static String hostAndPort(ServerAddress address) {
        return address.clientHost() + ":" + address.adminPort();
    }

    String url(String command) {
        return root + "/commands/" + command;
    }

    /** {@code /livez} or {@code /readyz}, with parameters. */
    HttpResponse<String> probe(String path) throws IOException, InterruptedException {
        return HTTP.send(
                HttpRequest.newBuilder(URI.create(root + path)).timeout(PATIENCE).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String command) throws IOException, InterruptedException {
        return get(command, null);
    }

    /**
     * @param authorization the header's value, or null for none
     */
    HttpResponse<String> get(String command, String authorization)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url(command))).timeout(PATIENCE);
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** {@code /commands/saucr}. */
    JsonNode saucr() throws IOException, InterruptedException {
        return JSON.readTree(get("saucr").body());
    }

    /**
     * @param authorization the header's value, or null for none
     */
    Answer post(String command, String authorization, String body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url(command)))
                        .POST(HttpRequest.BodyPublishers.ofString(body));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        HttpResponse<String> response =
                HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Answer(response.statusCode(), JSON.readTree(response.body()));
    }
}
