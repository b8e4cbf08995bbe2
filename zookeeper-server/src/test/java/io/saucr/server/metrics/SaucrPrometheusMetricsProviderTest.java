package io.saucr.server.metrics;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.prometheus.client.CollectorRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.zookeeper.metrics.Counter;
import org.apache.zookeeper.metrics.CounterSet;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.MetricsProvider;
import org.apache.zookeeper.metrics.MetricsProviderLifeCycleException;
import org.apache.zookeeper.metrics.Summary;
import org.apache.zookeeper.metrics.SummarySet;
import org.apache.zookeeper.metrics.impl.MetricsProviderBootstrap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SaucrPrometheusMetricsProviderTest {
    private static final int WRITERS = 4;
    private static final String APACHES =
            "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";

    private final SaucrPrometheusMetricsProvider provider = new SaucrPrometheusMetricsProvider();

    @AfterEach
    void stop() {
        provider.stop();
        CollectorRegistry.defaultRegistry.clear();
    }

    private void start(String... keysAndValues) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("httpHost", "127.0.0.1");
        properties.setProperty("httpPort", "0");
        properties.setProperty("exportJvmInfo", "false");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.setProperty(keysAndValues[i], keysAndValues[i + 1]);
        }
        provider.configure(properties);
        provider.start();
    }

    /** Apache's class needs Jetty, which is not there. */
    @Test
    void theNameOfApachesProviderGivesThisOne() throws Exception {
        Properties properties = new Properties();
        properties.setProperty("httpHost", "127.0.0.1");
        properties.setProperty("httpPort", "0");
        properties.setProperty("exportJvmInfo", "false");
        for (String name : List.of(APACHES, SaucrPrometheusMetricsProvider.class.getName())) {
            MetricsProvider started =
                    MetricsProviderBootstrap.startMetricsProvider(name, properties);
            started.stop();
            assertThat(started).isInstanceOf(SaucrPrometheusMetricsProvider.class);
        }
    }

    @Test
    void recordingAllocatesNothing() throws Exception {
        Counter counter = provider.getRootContext().getCounter("a_counter");
        CounterSet counterSet = provider.getRootContext().getCounterSet("a_counter_set");
        Summary summary = provider.getRootContext().getSummary("a_summary", DetailLevel.ADVANCED);
        SummarySet set = provider.getRootContext().getSummarySet("a_set", DetailLevel.BASIC);
        Runnable some =
                () -> {
                    for (int value = 0; value < 50_000; value++) {
                        counter.inc();
                        counterSet.inc("key");
                        summary.add(value);
                        set.add("key", -value);
                    }
                };
        some.run();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        some.run();
        // A single object for each round would be 800 KB.
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
    }

    @Test
    void nothingThatManyThreadsRecordIsLostWhileItIsScraped() throws Exception {
        start();
        int each = 100_000;
        Counter counter = provider.getRootContext().getCounter("a_counter");
        CounterSet counters = provider.getRootContext().getCounterSet("a_counter_set");
        Summary summary = provider.getRootContext().getSummary("a_summary", DetailLevel.ADVANCED);
        SummarySet set = provider.getRootContext().getSummarySet("a_set", DetailLevel.ADVANCED);
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                String key = Integer.toString(i % 2);
                writers.add(
                        threads.submit(
                                () -> {
                                    for (int value = 0; value < each; value++) {
                                        counter.inc();
                                        counters.add(key, 2);
                                        summary.add(value);
                                        set.add(key, value);
                                    }
                                }));
            }
            double seen = 0;
            while (!writers.stream().allMatch(Future::isDone)) {
                double now = scraped().getOrDefault("a_summary_count", 0.0);
                assertThat(now).isGreaterThanOrEqualTo(seen);
                seen = now;
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
        } finally {
            threads.shutdownNow();
        }
        double sum = WRITERS * (each * (each - 1.0) / 2);
        assertThat(scraped())
                .containsEntry("a_counter", (double) WRITERS * each)
                .containsEntry("a_counter_set{key=\"0\",}", (double) WRITERS * each)
                .containsEntry("a_counter_set{key=\"1\",}", (double) WRITERS * each)
                .containsEntry("a_summary_count", (double) WRITERS * each)
                .containsEntry("a_summary_sum", sum)
                .containsEntry("a_set_count{key=\"0\",}", WRITERS / 2.0 * each)
                .containsEntry("a_set_sum{key=\"1\",}", sum / 2);
    }

    /** More of them than it has threads. */
    @Test
    void clientsThatDoNotReadOrDoNotFinishKeepNobodyElseFromTheMetrics() throws Exception {
        start();
        CounterSet large = provider.getRootContext().getCounterSet("large");
        String filler = "x".repeat(1_000);
        for (int i = 0; i < 6_000; i++) {
            large.inc(filler + i);
        }
        List<Socket> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 40; i++) {
                Socket client = new Socket();
                client.setReceiveBufferSize(1_024);
                client.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), provider.port()));
                clients.add(client);
                String request =
                        switch (i % 4) {
                            case 0 -> "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
                            case 1 -> "GET /metr";
                            case 2 -> "\u0016\u0003\u0001 garbage\r\n\r\n\u0000";
                            default -> "GET /metrics HTTP/1.1\r\nHost: a\r\nHalf: ";
                        };
                client.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            }
            for (int i = 0; i < 3; i++) {
                assertThat(scraped()).hasSize(6_000);
            }
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    void connectionsThatDoNothingMakeRoomWhereThereAreTooMany() throws Exception {
        start();
        provider.getRootContext().getCounter("a_counter");
        List<Socket> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 280; i++) {
                clients.add(new Socket(InetAddress.getLoopbackAddress(), provider.port()));
            }
            await().atMost(Duration.ofSeconds(25))
                    .untilAsserted(() -> assertThat(scraped()).containsKey("a_counter"));
        } finally {
            for (Socket client : clients) {
                client.close();
            }
        }
    }

    @Test
    void aGaugeThatFailsIsAnErrorAndNotHalfAnAnswer() throws Exception {
        start();
        provider.getRootContext().getCounter("a_counter");
        provider.getRootContext()
                .registerGauge(
                        "broken",
                        () -> {
                            throw new IllegalStateException("no value");
                        });
        assertThatThrownBy(this::scraped).hasMessageContaining("500");
        provider.getRootContext().unregisterGauge("broken");
        assertThat(scraped()).containsKey("a_counter");
    }

    @Test
    void anotherOneHasThePort() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertThatThrownBy(() -> start("httpPort", port))
                    .isInstanceOf(MetricsProviderLifeCycleException.class)
                    .hasMessage(
                            "No metrics at metricsProvider.httpHost=127.0.0.1,"
                                    + " metricsProvider.httpPort="
                                    + port
                                    + ": Address already in use");
        }
        start();
        assertThat(scraped()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"httpPort", "numWorkerThreads", "maxQueueSize", "workerShutdownTimeoutMs"})
    void aNumberThatIsNone(String key) {
        assertThatThrownBy(() -> start(key, "many"))
                .isInstanceOf(MetricsProviderLifeCycleException.class)
                .hasMessage("metricsProvider." + key + "=many is not allowed; it must be a number");
    }

    /** A server in a process that uses it may be started again there. */
    @Test
    void anotherOneInTheSameProcessHasItsOwnMetrics() throws Exception {
        start();
        provider.getRootContext().getCounter("a_counter").add(5);
        provider.getRootContext().registerGauge("a_gauge", () -> 1);
        provider.getRootContext().getSummarySet("a_set", DetailLevel.BASIC).add("key", 1);
        provider.stop();
        SaucrPrometheusMetricsProvider next = new SaucrPrometheusMetricsProvider();
        next.getRootContext().getCounter("a_counter").inc();
        Map<String, Object> dumped = new HashMap<>();
        next.dump(dumped::put);
        assertThat(dumped).containsOnly(Map.entry("a_counter", 1.0));
    }

    private Map<String, Double> scraped() throws IOException {
        Map<String, Double> samples = new HashMap<>();
        URI metrics = URI.create("http://127.0.0.1:" + provider.port() + "/metrics");
        try (InputStream body = metrics.toURL().openStream()) {
            for (String line :
                    new String(body.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
                if (!line.startsWith("#")) {
                    int blank = line.lastIndexOf(' ');
                    samples.put(
                            line.substring(0, blank),
                            Double.parseDouble(line.substring(blank + 1)));
                }
            }
        }
        return samples;
    }
}
