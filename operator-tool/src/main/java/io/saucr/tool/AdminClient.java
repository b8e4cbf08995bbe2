package io.saucr.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.tool.EndpointException.Reason;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.HttpsURLConnection;

/** Questions and orders to the AdminServer of a server, over HTTP or HTTPS. Thread-safe. */
final class AdminClient {
    private static final int LONGEST_ANSWER = 16 << 20;
    private static final int TOO_MANY_REQUESTS = 429;

    private final Connection connection;

    /** Made at the first answer: a start would pay for it. */
    private static final class Json {
        static final ObjectMapper MAPPER = new ObjectMapper();
    }

    AdminClient(Connection connection) {
        this.connection = connection;
    }

    /**
     * @throws EndpointException if it does not answer, does not know the command ({@code
     *     UNKNOWN_COMMAND}), or refuses it
     */
    JsonNode get(Endpoint endpoint, String command, Deadline deadline) throws EndpointException {
        try {
            return answer(open(endpoint, command, deadline));
        } catch (IOException e) {
            throw problem(e, deadline);
        }
    }

    /**
     * Sends the body, in one piece.
     *
     * @throws EndpointException as {@link #get}
     */
    JsonNode post(Endpoint endpoint, String command, String body, Deadline deadline)
            throws EndpointException {
        try {
            HttpURLConnection http = open(endpoint, command, deadline);
            http.setRequestMethod("POST");
            http.setDoOutput(true);
            http.setRequestProperty("Content-Type", "text/plain; charset=utf-8");
            http.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            return answer(http);
        } catch (IOException e) {
            throw problem(e, deadline);
        }
    }

    /**
     * An answer that is no JSON.
     *
     * @param in it, as it comes; a server that breaks off, or is silent for longer than the
     *     patience, is an {@link EndpointException}
     * @param zxid that it begins at, hexadecimal with 0x; null if the server does not tell
     * @param bytes that it should have; -1 if the server does not tell
     */
    record Download(InputStream in, String zxid, long bytes) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    /** Tells an error of the server from one of whatever the bytes are written to. */
    private static final class Body extends FilterInputStream {
        private final Duration patience;

        Body(InputStream in, Duration patience) {
            super(in);
            this.patience = patience;
        }

        @Override
        public int read() throws IOException {
            try {
                return super.read();
            } catch (IOException e) {
                throw EndpointException.brokenOff(e, patience);
            }
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                return super.read(into, offset, length);
            } catch (IOException e) {
                throw EndpointException.brokenOff(e, patience);
            }
        }
    }

    /**
     * Asks for a file.
     *
     * @throws EndpointException as {@link #get}
     */
    Download download(Endpoint endpoint, String command, Deadline deadline)
            throws EndpointException {
        try {
            HttpURLConnection http = open(endpoint, command, deadline);
            int status = http.getResponseCode();
            if (status != HttpURLConnection.HTTP_OK
                    || String.valueOf(http.getContentType()).contains("json")) {
                answer(http);
                throw new EndpointException(Reason.REFUSED, "answers no file");
            }
            return new Download(
                    new Body(http.getInputStream(), deadline.patience()),
                    http.getHeaderField("last_zxid"),
                    http.getHeaderFieldLong("snapshot_size", -1));
        } catch (IOException e) {
            throw problem(e, deadline);
        }
    }

    /**
     * Sends a file.
     *
     * @throws EndpointException as {@link #get}
     */
    JsonNode upload(Endpoint endpoint, String command, Path file, Deadline deadline)
            throws EndpointException {
        try {
            HttpURLConnection http = open(endpoint, command, deadline);
            http.setRequestMethod("POST");
            http.setDoOutput(true);
            http.setRequestProperty("Content-Type", "application/octet-stream");
            http.setFixedLengthStreamingMode(Files.size(file));
            try (OutputStream out = http.getOutputStream()) {
                Files.copy(file, out);
            }
            return answer(http);
        } catch (HttpRetryException e) {
            throw new EndpointException(Reason.REFUSED, refusal(e.responseCode(), ""));
        } catch (IOException e) {
            throw problem(e, deadline);
        }
    }

    /** What an error means; where nothing listens, with the options that say where it is. */
    private static EndpointException problem(IOException cause, Deadline deadline) {
        EndpointException problem = EndpointException.of(cause, deadline.patience());
        return problem.getMessage().equals(EndpointException.NOTHING_THERE)
                ? new EndpointException(
                        problem.reason(),
                        problem.getMessage()
                                + " (--admin says where it is, or the file of --config)")
                : problem;
    }

    private HttpURLConnection open(Endpoint endpoint, String command, Deadline deadline)
            throws IOException {
        URI admin =
                endpoint.admin()
                        .orElseThrow(
                                () ->
                                        new EndpointException(
                                                Reason.UNREACHABLE,
                                                "is not to be asked (--admin none, or"
                                                        + " admin.enableServer=false)"));
        HttpURLConnection http =
                (HttpURLConnection)
                        URI.create(admin + "/" + command).toURL().openConnection(Proxy.NO_PROXY);
        http.setConnectTimeout(deadline.millisLeft());
        http.setReadTimeout(deadline.millisLeft());
        http.setInstanceFollowRedirects(false);
        http.setUseCaches(false);
        if (http instanceof HttpsURLConnection https) {
            https.setSSLSocketFactory(connection.adminTls().getSocketFactory());
            if (!connection.verifiesHostnames()) {
                https.setHostnameVerifier((host, session) -> true);
            }
        }
        // Without credentials we are who our address says; some header there must be.
        http.setRequestProperty(
                "Authorization",
                connection.auth().map(Connection.Credentials::header).orElse("ip self"));
        return http;
    }

    private static JsonNode answer(HttpURLConnection http) throws IOException {
        int status = http.getResponseCode();
        if (status >= 300 && status < 400) {
            throw new EndpointException(
                    Reason.UNREACHABLE,
                    "sends elsewhere: "
                            + http.getHeaderField("Location")
                            + " (--admin-tls if it wants HTTPS)");
        }
        JsonNode body = body(http, status);
        String error = body.path("error").asText("");
        if (error.startsWith("Unknown command")) {
            throw new EndpointException(Reason.UNKNOWN_COMMAND, "does not know this command");
        }
        if (error.contains("not currently serving")) {
            throw new EndpointException(Reason.NOT_SERVING, "does not serve at present");
        }
        if (status == HttpURLConnection.HTTP_OK && (error.isEmpty() || error.equals("null"))) {
            if (!body.path("command").isTextual()) {
                // An AdminServer names the command in every answer; other services answer, too.
                throw new EndpointException(
                        Reason.UNREACHABLE, "does not name the command: this is no AdminServer");
            }
            return body;
        }
        if (status == HttpURLConnection.HTTP_GONE) {
            throw new EndpointException(Reason.GONE, error);
        }
        throw new EndpointException(Reason.REFUSED, refusal(status, error));
    }

    private static String refusal(int status, String error) {
        return switch (status) {
            case HttpURLConnection.HTTP_UNAUTHORIZED -> "refuses the credentials: " + error;
            case HttpURLConnection.HTTP_FORBIDDEN ->
                    "refuses: who orders this needs all permissions on the node / (--auth,"
                            + " --auth-file)";
            case TOO_MANY_REQUESTS ->
                    "refuses: asked again too soon (admin.rateLimiterIntervalInMS, five minutes if"
                            + " it is not set)";
            case HttpURLConnection.HTTP_UNAVAILABLE ->
                    "refuses: the command is turned off there (admin.snapshot.enabled,"
                            + " admin.restore.enabled, serializeLastProcessedZxid.enabled)";
            default -> "refuses, HTTP status " + status + (error.isEmpty() ? "" : ": " + error);
        };
    }

    private static JsonNode body(HttpURLConnection http, int status) throws IOException {
        byte[] bytes;
        try (InputStream in = status < 400 ? http.getInputStream() : http.getErrorStream()) {
            bytes = in == null ? new byte[0] : in.readNBytes(LONGEST_ANSWER);
        }
        if (bytes.length == 0 && status >= 400) {
            return Json.MAPPER.createObjectNode();
        }
        try {
            return Json.MAPPER.readTree(bytes);
        } catch (JsonProcessingException e) {
            if (status == HttpURLConnection.HTTP_NOT_FOUND) {
                throw new EndpointException(
                        Reason.UNREACHABLE, "has no commands of an AdminServer at this address");
            }
            if (status >= 400) {
                return Json.MAPPER.createObjectNode();
            }
            throw new EndpointException(
                    Reason.UNREACHABLE, "answers no JSON: this is no AdminServer");
        }
    }
}
