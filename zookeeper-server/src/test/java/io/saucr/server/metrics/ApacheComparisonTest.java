package io.saucr.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.prometheus.client.CollectorRegistry;
import io.saucr.server.ReleasedClasses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.zookeeper.metrics.Counter;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.MetricsProvider;
import org.apache.zookeeper.metrics.Summary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same is done with Apache's provider and with ours; both must show the same. */
class ApacheComparisonTest {
    private static final String APACHE =
            "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider";
    private static final String OURS = SaucrPrometheusMetricsProvider.class.getName();

    /** Nothing of another test or server of this JVM is in a registry that both use. */
    @AfterEach
    void clear() {
        CollectorRegistry.defaultRegistry.clear();
    }

    @Test
    void countersGaugesAndTheirSets() throws Exception {
        sameLines(
                context -> {
                    Counter counter = context.getCounter("commits");
                    counter.inc();
                    counter.add(41);
                    counter.add(-5);
                    assertThat(counter.get()).isEqualTo(42);
                    assertThat(context.getCounter("commits")).isSameAs(counter);
                    context.getCounter("never");
                    context.getCounter("large").add(Long.MAX_VALUE);
                    context.getCounter("large").add(Long.MAX_VALUE);
                    context.getCounterSet("by_key").inc("one");
                    context.getCounterSet("by_key").add("two", 2);
                    context.getCounterSet("by_key").add("two", -2);
                    context.getCounterSet("by_key").add(null, 3);
                    context.getCounterSet("no_key_yet");
                    context.registerGauge("sessions", () -> 7);
                    context.registerGauge("sessions", () -> 8.25);
                    context.registerGauge("unknown", () -> null);
                    context.registerGauge("gone", () -> 1);
                    context.unregisterGauge("gone");
                    context.unregisterGauge("never_there");
                    context.registerGaugeSet("quota", () -> Map.of("/a", 1, "/b", -2L));
                    context.registerGaugeSet("gone_set", () -> Map.of("/a", 1));
                    context.unregisterGaugeSet("gone_set");
                    context.getContext("below").getCounter("below_counter").inc();
                });
    }

    @Test
    void strangeKeys() throws Exception {
        sameLines(
                context -> {
                    for (String key :
                            List.of("", " ", "a\"b", "a\\b", "a\nb", "{x=\"1\"}", "\u00fc\u4e2d")) {
                        context.getCounterSet("strange_counter").inc(key);
                        context.getSummarySet("strange_summary", DetailLevel.BASIC).add(key, 3);
                        context.registerGaugeSet("strange_gauge", () -> Map.of(key, 1));
                    }
                });
    }

    /** One value, so that both quantiles are exact. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, 100, -200, 255})
    void summariesOfOneValue(long value) throws Exception {
        sameLines(
                context -> {
                    context.getSummary("basic", DetailLevel.BASIC).add(value);
                    context.getSummary("detailed", DetailLevel.ADVANCED).add(value);
                    context.getSummary("empty", DetailLevel.ADVANCED);
                    context.getSummarySet("basic_set", DetailLevel.BASIC).add("key", value);
                    context.getSummarySet("detailed_set", DetailLevel.ADVANCED).add("key", value);
                    context.getSummarySet("detailed_set", DetailLevel.ADVANCED).add(null, value);
                    context.getSummarySet("empty_set", DetailLevel.ADVANCED);
                });
    }

    /** Apache's provider allows a rank to be wrong by so much: 5, 1 and 0.1 %. */
    @ParameterizedTest
    @ValueSource(ints = {1, 10, 1_000, 1_000_000_000})
    void quantilesOfManyValuesAreWhereTheSketchMayPutThem(int largest) throws Exception {
        long[] values =
                LongStream.concat(
                                new Random(largest).longs(20_000, 0, largest),
                                LongStream.of(largest))
                        .toArray();
        Consumer<MetricsContext> observations =
                context -> {
                    Summary summary = context.getSummary("many", DetailLevel.ADVANCED);
                    LongStream.of(values).forEach(summary::add);
                };
        Map<String, Double> ours = samples(shown(OURS, observations).scraped());
        Map<String, Double> apache = samples(shown(APACHE, observations).scraped());
        assertThat(ours.keySet()).isEqualTo(apache.keySet());
        assertThat(ours.get("many_count")).isEqualTo(apache.get("many_count"));
        assertThat(ours.get("many_sum")).isEqualTo(apache.get("many_sum"));
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        for (Map<String, Double> shown : List.of(ours, apache)) {
            assertQuantile(shown, sorted, "0.5", 0.05);
            assertQuantile(shown, sorted, "0.9", 0.01);
            assertQuantile(shown, sorted, "0.99", 0.001);
        }
    }

    private static void assertQuantile(
            Map<String, Double> shown, long[] sorted, String quantile, double error) {
        double fraction = Double.parseDouble(quantile);
        double least = (double) sorted[(int) ((fraction - error) * sorted.length) - 1];
        double most =
                (double)
                        sorted[
                                Math.min(
                                        sorted.length - 1,
                                        (int) ((fraction + error) * sorted.length) + 1)];
        assertThat(shown.get("many{quantile=\"" + quantile + "\",}"))
                .isBetween(least * (1 - 1.0 / 256), most * (1 + 1.0 / 256));
    }

    @Test
    void aNameHasOneKindOfMetric() throws Exception {
        for (String provider : List.of(APACHE, OURS)) {
            with(
                    provider,
                    context -> {
                        context.getSummary("summary", DetailLevel.BASIC);
                        context.getSummarySet("set", DetailLevel.ADVANCED);
                        context.getCounter("counter");
                        for (Consumer<MetricsContext> wrong :
                                List.<Consumer<MetricsContext>>of(
                                        it -> it.getSummary("summary", DetailLevel.ADVANCED),
                                        it -> it.getSummarySet("set", DetailLevel.BASIC),
                                        it -> it.getCounterSet("counter"),
                                        it -> it.getCounter("summary_count"),
                                        it -> it.registerGauge("counter", () -> 1),
                                        it -> it.getCounter("no-name"))) {
                            assertThatThrownBy(() -> wrong.accept(context))
                                    .isInstanceOf(IllegalArgumentException.class);
                        }
                    },
                    running -> null);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /metrics",
        "POST, /metrics",
        "HEAD, /metrics",
        "OPTIONS, /metrics",
        "PUT, /metrics",
        "DELETE, /metrics",
        "TRACE, /metrics",
        "STRANGE, /metrics",
        "GET, /metrics?name[]=commits",
        "GET, /metrics?name[]=many_count&name[]=commits",
        "GET, /metrics?name[]=none",
        "GET, /metrics/",
        "GET, /metrics/below",
        "GET, /",
        "GET, /else",
        "TRACE, /else"
    })
    void requests(String method, String path) throws Exception {
        Consumer<MetricsContext> observations =
                context -> {
                    context.getCounter("commits").inc();
                    context.getSummary("many", DetailLevel.ADVANCED).add(1);
                };
        Function<Running, List<String>> ask =
                running -> {
                    HttpResponse<String> answer = answer(method, running.port(), path);
                    return List.of(
                            Integer.toString(answer.statusCode()),
                            // Jetty's pages of errors are its own.
                            answer.statusCode() < 400
                                    ? answer.headers().allValues("Content-Type").toString()
                                    : "",
                            answer.headers().allValues("Allow").toString(),
                            answer.headers().allValues("Content-Encoding").toString(),
                            answer.statusCode() == 200 ? sorted(answer.body()) : "");
                };
        assertThat(with(OURS, observations, ask)).isEqualTo(with(APACHE, observations, ask));
    }

    private static Map<String, Object> dump(MetricsProvider provider) {
        Map<String, Object> lines = new TreeMap<>();
        provider.dump(lines::put);
        return lines;
    }

    private static void sameLines(Consumer<MetricsContext> observations) throws Exception {
        Shown ours = shown(OURS, observations);
        assertThat(ours.mntr()).isNotEmpty();
        assertThat(ours).isEqualTo(shown(APACHE, observations));
    }

    /**
     * @param scraped all lines
     * @param mntr what {@code mntr} is given: keys with their labels, and values
     */
    private record Shown(String scraped, Map<String, Object> mntr) {}

    private static Shown shown(String provider, Consumer<MetricsContext> observations)
            throws Exception {
        return with(
                provider,
                observations,
                running ->
                        new Shown(
                                sorted(answer("GET", running.port(), "/metrics").body()),
                                dump(running.provider())));
    }

    private record Running(MetricsProvider provider, int port) {}

    private static <T> T with(
            String name, Consumer<MetricsContext> observations, Function<Running, T> ask)
            throws Exception {
        MetricsProvider provider =
                Class.forName(name, true, new ReleasedClasses(APACHE))
                        .asSubclass(MetricsProvider.class)
                        .getDeclaredConstructor()
                        .newInstance();
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Properties properties = new Properties();
        properties.setProperty("httpHost", "127.0.0.1");
        properties.setProperty("httpPort", Integer.toString(port));
        properties.setProperty("exportJvmInfo", "false");
        // Apache's then records at once.
        properties.setProperty("numWorkerThreads", "0");
        provider.configure(properties);
        provider.start();
        try {
            observations.accept(provider.getRootContext());
            provider.resetAllValues();
            return ask.apply(new Running(provider, port));
        } finally {
            provider.stop();
            CollectorRegistry.defaultRegistry.clear();
        }
    }

    private static HttpResponse<String> answer(String method, int port, String path) {
        HttpRequest request =
                HttpRequest.newBuilder(
                                URI.create(
                                        "http://127.0.0.1:" + port + path.replace("[]", "%5B%5D")))
                        .method(method, BodyPublishers.noBody())
                        .build();
        try {
            return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The registry has no order. */
    private static String sorted(String text) {
        return text.lines().sorted().collect(Collectors.joining("\n"));
    }

    private static Map<String, Double> samples(String text) {
        Map<String, Double> samples = new TreeMap<>();
        for (String line : text.lines().toList()) {
            if (!line.startsWith("#")) {
                int blank = line.lastIndexOf(' ');
                samples.put(
                        line.substring(0, blank), Double.parseDouble(line.substring(blank + 1)));
            }
        }
        return samples;
    }
}
