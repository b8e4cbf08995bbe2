package io.saucr.services.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Restate's server as a process on ports of loopback, with its presets: it forces its log. The
 * program comes from the npm registry, and is linked statically, so that its forces can be neither
 * counted nor delayed.
 */
final class RestateServer implements AutoCloseable {

    /** Where the program is kept, and installed to where it is missing. */
    static final String FOLDER = "saucr.bench.restate";

    private static final String PACKAGE = "@restatedev/restate-server-linux-x64";
    private static final String VERSION = "1.7.12";
    private static final int STARTING_SECONDS = 60;
    private static final int INSTALLING_MINUTES = 10;

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process process;
    private final Path said;
    private final int ingress;
    private final int admin;

    /**
     * Starts it, and waits until it takes requests.
     *
     * @param folder empty, for its data
     * @throws IOException where it does not start; the message has what it said
     */
    RestateServer(Path folder) throws IOException, InterruptedException {
        List<Integer> free = TableCluster.freePorts(3);
        ingress = free.get(0);
        admin = free.get(1);
        said = folder.resolve("restate.log");
        Path configuration = folder.resolve("restate.toml");
        Files.writeString(
                configuration,
                """
                disable-telemetry = true
                base-dir = "%s"
                bind-address = "127.0.0.1:%d"
                advertised-address = "http://127.0.0.1:%<d"
                listen-mode = "tcp"
                log-filter = "warn"
                [ingress]
                bind-address = "127.0.0.1:%d"
                [admin]
                disable-web-ui = true
                bind-address = "127.0.0.1:%d"
                """
                        .formatted(folder.resolve("restate"), free.get(2), ingress, admin));
        process =
                new ProcessBuilder(
                                program().toString(),
                                "--no-logo",
                                "--config-file",
                                configuration.toString())
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        boolean started = false;
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STARTING_SECONDS);
            while (!healthy()) {
                if (!process.isAlive() || System.nanoTime() > end) {
                    throw new IOException(
                            "Restate's server did not start:\n" + Files.readString(said));
                }
                Thread.sleep(50);
            }
            started = true;
        } finally {
            if (!started) {
                process.destroyForcibly();
            }
        }
    }

    /** Where the program is, or goes. */
    static Path folder() {
        return Path.of(
                System.getProperty(
                        FOLDER,
                        Path.of(System.getProperty("java.io.tmpdir"), "saucr-bench-restate")
                                .toString()));
    }

    private static Path program() {
        return folder().resolve("node_modules").resolve(PACKAGE).resolve("bin/restate-server");
    }

    /**
     * Installs the program where it is missing.
     *
     * @throws IOException where npm is missing or fails; the message says what to do
     */
    static void install() throws IOException, InterruptedException {
        if (Files.isExecutable(program())) {
            return;
        }
        Files.createDirectories(folder());
        Path said = folder().resolve("npm.log");
        System.err.println("installing " + PACKAGE + " " + VERSION + " to " + folder());
        Process npm;
        try {
            npm =
                    new ProcessBuilder(
                                    "npm",
                                    "install",
                                    "--no-save",
                                    "--no-audit",
                                    "--no-fund",
                                    "--prefix",
                                    folder().toString(),
                                    PACKAGE + "@" + VERSION)
                            .redirectErrorStream(true)
                            .redirectOutput(said.toFile())
                            .start();
        } catch (IOException e) {
            throw new IOException(
                    "the contender restate needs a program that npm installs, and npm was not"
                            + " found: install it, or name the other --contenders",
                    e);
        }
        boolean ended = npm.waitFor(INSTALLING_MINUTES, TimeUnit.MINUTES);
        npm.destroyForcibly();
        if (!ended || npm.exitValue() != 0 || !Files.isExecutable(program())) {
            throw new IOException(
                    ("npm could not install %s (it exists for Linux on x86-64): name the other"
                                    + " --contenders, or mend what it said:\n%s")
                            .formatted(PACKAGE, Files.readString(said)));
        }
    }

    private boolean healthy() throws InterruptedException {
        try {
            return http.send(
                                            get(ingress, "/restate/health"),
                                            HttpResponse.BodyHandlers.discarding())
                                    .statusCode()
                            == 200
                    && http.send(get(admin, "/health"), HttpResponse.BodyHandlers.discarding())
                                    .statusCode()
                            == 200;
        } catch (IOException e) {
            // Not yet.
            return false;
        }
    }

    private static HttpRequest get(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(5))
                .version(HttpClient.Version.HTTP_1_1)
                .build();
    }

    private HttpResponse<String> request(int port, String path, String body)
            throws IOException, InterruptedException {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(Duration.ofMinutes(1))
                        .version(HttpClient.Version.HTTP_1_1);
        if (body.isEmpty()) {
            builder.POST(HttpRequest.BodyPublishers.noBody());
        } else {
            builder.header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return http.send(
                builder.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    /**
     * Makes the handlers known that a port of this process serves.
     *
     * @throws IOException where the server refuses them; the message has its answer
     */
    void register(int port) throws IOException, InterruptedException {
        String unused =
                answer(admin, "/deployments", "{\"uri\": \"http://127.0.0.1:" + port + "\"}");
    }

    /**
     * Calls a handler, or sends it a message: by the path that the server has for it.
     *
     * @param body JSON, or empty for a handler that takes nothing
     * @throws IOException where that fails; the message has the server's answer
     */
    String call(String path, String body) throws IOException, InterruptedException {
        return answer(ingress, path, body);
    }

    private String answer(int port, String path, String body)
            throws IOException, InterruptedException {
        HttpResponse<String> response = request(port, path, body);
        if (response.statusCode() / 100 != 2) {
            throw new IOException(
                    path
                            + ": Restate's server answered "
                            + response.statusCode()
                            + " "
                            + response.body()
                            + "\n"
                            + Files.readString(said));
        }
        return response.body();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
