package io.saucr.server.metrics;

import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.metrics.MetricsProvider;
import org.apache.zookeeper.metrics.Summary;
import org.apache.zookeeper.server.ServerMetrics;

/**
 * Where the metrics of this process can be seen: in ZooKeeper's metrics provider, whichever is
 * configured. Suppliers are asked by threads of the provider, which hold no lock; a metric that is
 * shown again gets its values from the new supplier. Thread-safe.
 */
public interface Exposition {
    /** That of the provider that runs in this process. */
    static Exposition ofThisProcess() {
        MetricsProvider provider = ServerMetrics.getMetrics().getMetricsProvider();
        return isPrometheus(provider.getClass().getName())
                ? PrometheusExposition.ofThisProcess()
                : new ProviderExposition(provider.getRootContext());
    }

    /**
     * Whether a provider shows the registry of the Prometheus client. By its name: without such a
     * provider the classes of that client need not be there.
     */
    static boolean isPrometheus(String provider) {
        return Set.of(
                        "io.saucr.server.metrics.SaucrPrometheusMetricsProvider",
                        "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider")
                .contains(provider);
    }

    /** Shows a gauge or a counter. */
    void show(Metric metric, Supplier<? extends Number> value);

    /** Shows a gauge or a counter that has several values, each with its key. */
    void showByKey(Metric metric, Supplier<Map<String, Number>> values);

    /**
     * Shows summaries that are kept without the provider, for what happens with each request.
     *
     * @param byKey by server or the like; with the key "" alone it has no key
     */
    void showSummaries(Metric metric, Supplier<Map<String, WindowedSummary>> byKey);

    /** The summary of this metric; the same however often it is asked for. */
    Summary summary(Metric metric);

    /**
     * What {@code mntr} must be given besides what the provider prints there, without its prefix: a
     * counter has the same key with every provider.
     */
    Map<String, Number> countersForMntr();
}
