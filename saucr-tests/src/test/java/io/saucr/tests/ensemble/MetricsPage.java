package io.saucr.tests.ensemble;

import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server shows to Prometheus. */
final class MetricsPage {
    /** For {@code zoo.cfg}: on a free port of this machine. */
    static final Map<String, String> SETTINGS =
            Map.of(
                    "metricsProvider.className",
                    "io.saucr.server.metrics.SaucrPrometheusMetricsProvider",
                    "metricsProvider.httpHost",
                    "127.0.0.1",
                    "metricsProvider.httpPort",
                    "0");

    private static final Pattern STARTED =
            Pattern.compile("Metrics for Prometheus at http://127\\.0\\.0\\.1:(\\d+)/metrics");

    private final ServerProcess server;

    MetricsPage(ServerProcess server) {
        this.server = server;
    }

    /** HOST:PORT since its last start; the provider says in the log which port it has got. */
    String address() throws IOException {
        OptionalInt last = OptionalInt.empty();
        for (String line : Files.readAllLines(server.logFile())) {
            Matcher started = STARTED.matcher(line);
            if (started.find()) {
                last = OptionalInt.of(Integer.parseInt(started.group(1)));
            }
        }
        return "127.0.0.1:"
                + last.orElseThrow(
                        () ->
                                new AssertionError(
                                        "no port of Prometheus in the log of server "
                                                + server.id()));
    }

    String text() throws IOException {
        URI metrics = URI.create("http://" + address() + "/metrics");
        try (var body = metrics.toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
