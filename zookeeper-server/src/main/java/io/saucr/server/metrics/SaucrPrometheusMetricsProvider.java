package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.hotspot.DefaultExports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.Properties;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.metrics.MetricsProvider;
import org.apache.zookeeper.metrics.MetricsProviderLifeCycleException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shows the metrics to Prometheus as Apache's {@code PrometheusMetricsProvider} does, under the
 * same names and with the same keys in {@code zoo.cfg}, and in {@code mntr} as that one does. It
 * differs in what a recorded value costs: there it is a task for another thread and a lock, here
 * two atomic additions ({@link WindowedSummary}). So the keys for threads and queue are read, and
 * change nothing.
 *
 * <p>A quantile is that of the last 8 to 10 minutes, as there. There its rank is within the error
 * of a sketch; here its rank is exact, and its value within the 0.4 % of {@link Histogram}.
 */
public class SaucrPrometheusMetricsProvider implements MetricsProvider {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrPrometheusMetricsProvider.class);
    private static final long PERIOD_MILLIS = 120_000;

    /** That of the process: the JVM's metrics are there, and those of SAUCR. */
    private final CollectorRegistry registry = CollectorRegistry.defaultRegistry;

    private final PrometheusContext context = new PrometheusContext(registry);
    private String host = "0.0.0.0";
    private int port = 7000;
    private boolean exportJvmInfo = true;
    private MetricsEndpoint endpoint;
    private Timer periods;

    @Override
    public void configure(Properties given) throws MetricsProviderLifeCycleException {
        host = given.getProperty("httpHost", host);
        port = (int) number(given, "httpPort", port);
        exportJvmInfo = Boolean.parseBoolean(given.getProperty("exportJvmInfo", "true"));
        number(given, "numWorkerThreads", 1);
        number(given, "maxQueueSize", 1_000_000);
        number(given, "workerShutdownTimeoutMs", 1_000);
    }

    private static long number(Properties given, String key, long preset)
            throws MetricsProviderLifeCycleException {
        String value = given.getProperty(key, Long.toString(preset));
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new MetricsProviderLifeCycleException(
                    "metricsProvider." + key + "=" + value + " is not allowed; it must be a number",
                    e);
        }
    }

    @Override
    public synchronized void start() throws MetricsProviderLifeCycleException {
        if (exportJvmInfo) {
            DefaultExports.initialize();
        }
        try {
            endpoint = new MetricsEndpoint(new InetSocketAddress(host, port), registry);
        } catch (IOException | RuntimeException e) {
            throw new MetricsProviderLifeCycleException(
                    "No metrics at metricsProvider.httpHost="
                            + host
                            + ", metricsProvider.httpPort="
                            + port
                            + ": "
                            + e.getMessage(),
                    e);
        }
        LOG.info(
                "Metrics for Prometheus at http://{}:{}/metrics, by {}",
                host,
                endpoint.port(),
                SaucrPrometheusMetricsProvider.class.getName());
        periods = new Timer("metrics-periods", true);
        periods.schedule(
                new TimerTask() {
                    @Override
                    public void run() {
                        context.nextPeriod();
                    }
                },
                PERIOD_MILLIS,
                PERIOD_MILLIS);
    }

    /** The port that it listens on. */
    synchronized int port() {
        return endpoint.port();
    }

    @Override
    public synchronized void stop() {
        context.unregisterAll();
        if (periods != null) {
            periods.cancel();
            periods = null;
        }
        if (endpoint != null) {
            endpoint.stop();
            endpoint = null;
        }
    }

    @Override
    public MetricsContext getRootContext() {
        return context;
    }

    /** For {@code mntr}: each line of {@code /metrics}, without the escapes of its format. */
    @Override
    public void dump(BiConsumer<String, Object> sink) {
        for (MetricFamilySamples family : Collections.list(registry.metricFamilySamples())) {
            for (Sample sample : family.samples) {
                sink.accept(key(sample), sample.value);
            }
        }
    }

    private static String key(Sample sample) {
        if (sample.labelNames.isEmpty()) {
            return sample.name;
        }
        return IntStream.range(0, sample.labelNames.size())
                .mapToObj(i -> sample.labelNames.get(i) + "=\"" + sample.labelValues.get(i) + "\"")
                .collect(Collectors.joining(",", sample.name + "{", "}"));
    }

    /** Does nothing, as with Apache's provider: for Prometheus a counter never goes down. */
    @Override
    public void resetAllValues() {}
}
