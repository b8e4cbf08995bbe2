package io.saucr.server.metrics;

import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import io.saucr.server.http.Exchange;
import io.saucr.server.http.HttpListener;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/**
 * {@code /metrics} over HTTP: the registry in the text format of Prometheus, or with parameters
 * {@code name[]} those metrics of it.
 *
 * <p>Requests cannot take the processors or the memory away from the server: one answer is written
 * at a time, and an {@link HttpListener} bounds the rest. Thread-safe.
 */
final class MetricsEndpoint {
    private static final int MOST_CONNECTIONS = 256;
    private static final long PATIENCE_MILLIS = 30_000;

    private final HttpListener listener;
    private final CollectorRegistry registry;

    /**
     * Listens from now on.
     *
     * @throws IOException if it cannot; nothing is left behind
     */
    MetricsEndpoint(InetSocketAddress address, CollectorRegistry registry) throws IOException {
        this.registry = registry;
        listener =
                new HttpListener(
                        "metrics",
                        address,
                        new HttpListener.Bounds(MOST_CONNECTIONS, 1, PATIENCE_MILLIS),
                        null,
                        this::answer);
    }

    /** Also where port 0 was asked for. */
    int port() {
        return listener.port();
    }

    void stop() {
        listener.close();
    }

    private void answer(Exchange exchange) throws IOException {
        if (exchange.method().equals("TRACE")) {
            exchange.refuseMethod();
        } else if (exchange.path().equals("/metrics")) {
            if (exchange.reads() || exchange.method().equals("POST")) {
                List<String> names = exchange.parameters().getOrDefault("name[]", List.of());
                exchange.answer(200, TextFormat.CONTENT_TYPE_004, text(Set.copyOf(names)));
            } else {
                exchange.refuseMethod();
            }
        }
    }

    private byte[] text(Set<String> names) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (Writer writer = new OutputStreamWriter(text, StandardCharsets.UTF_8)) {
            TextFormat.write004(writer, registry.filteredMetricFamilySamples(names));
        }
        return text.toByteArray();
    }
}
