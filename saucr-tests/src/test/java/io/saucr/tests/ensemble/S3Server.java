package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The process of a server that speaks S3 on the loopback address: moto, a Python program. */
final class S3Server implements AutoCloseable {
    private static final Pattern ADDRESS =
            Pattern.compile("Running on (http://127\\.0\\.0\\.1:\\d+)");

    private final Process process;
    private final String address;

    private S3Server(Process process, String address) {
        this.process = process;
        this.address = address;
    }

    /**
     * Starts one with an empty bucket. The test is skipped if there is no Python with pip.
     *
     * @param output for what it prints
     */
    static S3Server start(Path output, String bucket) throws Exception {
        Path packages = PythonPackages.installed("python-s3", "requirements-s3.txt", "moto");
        ProcessBuilder builder =
                new ProcessBuilder("python3", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0")
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment()
                .putAll(Map.of("PYTHONPATH", packages.toString(), "PYTHONUNBUFFERED", "1"));
        Process process = builder.start();
        AtomicReference<String> address = new AtomicReference<>();
        SaucrEnsemble.await(
                "the address of the S3 server",
                () -> {
                    assertThat(process.isAlive()).as(Files.readString(output)).isTrue();
                    ADDRESS.matcher(Files.readString(output))
                            .results()
                            .map((MatchResult found) -> found.group(1))
                            .findFirst()
                            .ifPresent(address::set);
                    return address.get() != null;
                });
        S3Server server = new S3Server(process, address.get());
        server.make(bucket);
        return server;
    }

    private void make(String bucket) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(address + "/" + bucket))
                        .PUT(BodyPublishers.noBody())
                        .build();
        assertThat(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode())
                .isEqualTo(200);
    }

    /** What its clients have in their environment. */
    Map<String, String> environment() {
        return Map.of(
                "AWS_ENDPOINT_URL", address,
                "AWS_REGION", "us-east-1",
                "AWS_ACCESS_KEY_ID", "test",
                "AWS_SECRET_ACCESS_KEY", "test");
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
