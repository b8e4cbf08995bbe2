package io.saucr.services.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.core.config.HostPort;
import io.saucr.services.ServiceStatus;
import io.saucr.services.status.StatusPage;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

/** The status page of one running service: what it says, and orders to it. One thread. */
final class Page {

    private static final ObjectMapper JSON =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    private static final int SHOWN_CHARACTERS = 200;
    private static final int HTTP_PORT = 80;

    private final URI address;
    private final Duration patience;
    private final HttpClient client;

    /** What a page said, as it came and as this release understands it. */
    record Said(JsonNode json, ServiceStatus status) {}

    Page(URI address, Duration patience) {
        this.address = address;
        this.patience = patience;
        this.client =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .connectTimeout(patience)
                        .build();
    }

    /**
     * The address of a page, with or without {@code http://}.
     *
     * @throws IllegalArgumentException where it is none; the message says what is allowed
     */
    static URI address(String text) {
        String url = text.contains("://") ? text : "http://" + text;
        try {
            URI address = new URI(url.endsWith("/") ? url : url + "/");
            boolean web = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
            if (web
                    && address.getRawAuthority() != null
                    && address.getRawQuery() == null
                    && address.getRawFragment() == null) {
                // Not the URI's own host: a name with an underscore is none for it.
                HostPort.parse(address.getRawAuthority(), text.contains("://") ? HTTP_PORT : 0);
                return address;
            }
        } catch (URISyntaxException | IllegalArgumentException e) {
            // As below.
        }
        throw new IllegalArgumentException(
                "a status page is HOST:PORT or a URL, such as localhost:8085, not \""
                        + text
                        + "\"");
    }

    URI address() {
        return address;
    }

    /** How the service is now. */
    Said status() throws FailureException, InterruptedException {
        HttpResponse<String> answer = ask(request("status.json").GET());
        if (answer.statusCode() == 503) {
            throw new FailureException(address + ": " + Output.line(answer.body()));
        }
        if (answer.statusCode() != 200) {
            throw noPage("it answered with status " + answer.statusCode() + shown(answer), null);
        }
        try {
            JsonNode json = JSON.readTree(answer.body());
            ServiceStatus status = JSON.treeToValue(json, ServiceStatus.class);
            if (status != null && status.service() != null && status.generation() != null) {
                return new Said(json, status);
            }
        } catch (JsonProcessingException | RuntimeException e) {
            throw noPage("its status.json is something else" + shown(answer), e);
        }
        throw noPage("its status.json is something else" + shown(answer), null);
    }

    /**
     * Gives an order; returns once it is final.
     *
     * @param order such as {@code retry}
     * @throws FailureException with what the service said where it refused
     */
    void order(String order, Map<String, String> parameters)
            throws FailureException, InterruptedException {
        String query =
                parameters.entrySet().stream()
                        .map(it -> it.getKey() + "=" + encoded(it.getValue()))
                        .collect(Collectors.joining("&"));
        HttpResponse<String> answer =
                ask(
                        request(order + "?" + query)
                                .header(StatusPage.ORDER_HEADER, "bin/saucr-services")
                                .POST(HttpRequest.BodyPublishers.noBody()));
        if (answer.statusCode() != 200) {
            throw new FailureException(
                    answer.statusCode() == 404
                            ? address
                                    + " knows no order "
                                    + order
                                    + ": its service runs an older release of this library"
                            : address + " refused: " + Output.line(answer.body()));
        }
    }

    private HttpRequest.Builder request(String path) throws FailureException {
        try {
            return HttpRequest.newBuilder(HostPort.connectable(address.resolve(path)));
        } catch (UnknownHostException e) {
            throw noPage("its host has no address", e);
        }
    }

    private static String encoded(String value) {
        // A blank is a plus sign in forms alone; this is understood everywhere.
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private HttpResponse<String> ask(HttpRequest.Builder request)
            throws FailureException, InterruptedException {
        try {
            return client.send(
                    request.timeout(patience).build(), HttpResponse.BodyHandlers.ofString());
        } catch (HttpTimeoutException e) {
            throw new FailureException(
                    address
                            + " did not answer within "
                            + Output.millis(patience.toMillis())
                            + "; --timeout gives it more",
                    e);
        } catch (ConnectException e) {
            throw new FailureException(
                    "nothing listens at "
                            + address
                            + ". Does the service run, with statusPage(...)? Its log says where the"
                            + " page is",
                    e);
        } catch (IOException e) {
            throw noPage(e.getMessage() == null ? e.toString() : e.getMessage(), e);
        }
    }

    private static String shown(HttpResponse<String> answer) {
        String line = Output.line(answer.body());
        return line.isEmpty()
                ? ""
                : ": " + line.substring(0, Math.min(SHOWN_CHARACTERS, line.length()));
    }

    private FailureException noPage(String why, Throwable cause) {
        return new FailureException(
                address
                        + " is not the status page of a service: "
                        + why
                        + ". The service's log says where its page is",
                cause);
    }
}
