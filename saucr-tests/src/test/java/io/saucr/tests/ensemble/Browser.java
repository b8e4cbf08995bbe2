package io.saucr.tests.ensemble;

import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * One tab of a headless Chromium, driven over its DevTools protocol. Used by one test thread;
 * closing it ends the browser.
 */
final class Browser implements AutoCloseable {
    private static final List<String> PROGRAMS =
            List.of("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final WebSocket socket;
    private final AtomicInteger lastCall = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> calls = new ConcurrentHashMap<>();
    private final String session;

    /**
     * Starts the browser and opens a page. The test is skipped if there is none on this machine.
     *
     * @param work a folder for its profile; what an earlier run left there is removed
     */
    Browser(Path work, String url, int width, int height) throws Exception {
        BuiltDistribution.deleteTree(work);
        Files.createDirectories(work);
        process =
                new ProcessBuilder(
                                program().toString(),
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--no-first-run",
                                "--hide-scrollbars",
                                "--remote-debugging-port=0",
                                "--user-data-dir=" + work,
                                "--window-size=" + width + "," + height,
                                "about:blank")
                        .redirectErrorStream(true)
                        .redirectOutput(work.resolve("browser.log").toFile())
                        .start();
        try {
            Path active = work.resolve("DevToolsActivePort");
            SaucrEnsemble.await(
                    "the browser",
                    () -> Files.exists(active) && Files.readAllLines(active).size() == 2);
            List<String> port = Files.readAllLines(active);
            socket =
                    HttpClient.newHttpClient()
                            .newWebSocketBuilder()
                            .buildAsync(
                                    URI.create("ws://127.0.0.1:" + port.get(0) + port.get(1)),
                                    new Answers())
                            .get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            String target =
                    call(null, "Target.createTarget", Map.of("url", url)).get("targetId").asText();
            session =
                    call(null, "Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                            .get("sessionId")
                            .asText();
        } catch (Exception | Error e) {
            close();
            throw e;
        }
    }

    private static Path program() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> PROGRAMS.stream().map(Path.of(folder)::resolve))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(
                        () -> abort("no browser: install one of " + String.join(", ", PROGRAMS)));
    }

    /** The value of a JavaScript expression in the page. */
    JsonNode evaluate(String expression) throws Exception {
        JsonNode result =
                call(
                        session,
                        "Runtime.evaluate",
                        Map.of("expression", expression, "returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException(expression + ": " + result.get("exceptionDetails"));
        }
        return result.get("result").path("value");
    }

    /** What the page shows, as text. */
    String text() throws Exception {
        return evaluate("document.body.innerText").asText();
    }

    /** A picture of the page as it is now, PNG. */
    byte[] screenshot() throws Exception {
        String picture =
                call(session, "Page.captureScreenshot", Map.of("format", "png"))
                        .get("data")
                        .asText();
        return Base64.getDecoder().decode(picture);
    }

    private JsonNode call(String inSession, String method, Map<String, Object> parameters)
            throws Exception {
        int id = lastCall.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        calls.put(id, answer);
        Map<String, Object> message = new HashMap<>();
        message.put("id", id);
        message.put("method", method);
        message.put("params", parameters);
        if (inSession != null) {
            message.put("sessionId", inSession);
        }
        socket.sendText(JSON.writeValueAsString(message), true).get();
        JsonNode got = answer.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        if (got.has("error")) {
            throw new IllegalStateException(method + ": " + got.get("error"));
        }
        return got.get("result");
    }

    private final class Answers implements WebSocket.Listener {
        private final StringBuilder parts = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            parts.append(part);
            if (last) {
                try {
                    JsonNode message = JSON.readTree(parts.toString());
                    CompletableFuture<JsonNode> call = calls.remove(message.path("id").asInt(-1));
                    if (call != null) {
                        call.complete(message);
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                } finally {
                    parts.setLength(0);
                }
            }
            from.request(1);
            return null;
        }
    }

    /** Ends the browser with all its processes: the program may be a script that started it. */
    @Override
    public void close() {
        List<ProcessHandle> all =
                Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
        all.forEach(ProcessHandle::destroy);
        CompletableFuture<?>[] ends =
                all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(ends).get(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            all.forEach(ProcessHandle::destroyForcibly);
        } catch (ExecutionException | TimeoutException e) {
            all.forEach(ProcessHandle::destroyForcibly);
        }
    }
}
