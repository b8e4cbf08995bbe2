package io.saucr.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.CollectorRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.metrics.impl.DefaultMetricsProvider;
import org.junit.jupiter.api.Test;

class MetricTest {
    private final CollectorRegistry registry = new CollectorRegistry();
    private final PrometheusExposition prometheus = new PrometheusExposition().register(registry);

    @Test
    void namesAreDifferentAndEveryMetricIsExplained() throws Exception {
        assertThat(Stream.of(Metric.values()).map(Metric::key)).doesNotHaveDuplicates();
        assertThat(Stream.of(Metric.values()).map(Metric::prometheusName)).doesNotHaveDuplicates();
        String guide = Files.readString(Path.of("../docs/operate/metrics.md"));
        for (Metric metric : Metric.values()) {
            assertThat(metric.help()).endsWith(".").doesNotContain(metric.key());
            assertThat(guide)
                    .contains("`" + metric.key() + "`")
                    .contains("`" + metric.prometheusName() + "`");
        }
    }

    @Test
    void everyMetricIsShown() throws Exception {
        String source;
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            source =
                    files.filter(file -> file.toString().endsWith(".java"))
                            .map(MetricTest::text)
                            .collect(Collectors.joining());
        }
        for (Metric metric : Metric.values()) {
            assertThat(source).containsPattern("\\bMetric\\." + metric.name() + "\\b");
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void prometheusSeesCountersGaugesAndSummariesWithTheirHelp() {
        AtomicLong switches = new AtomicLong(3);
        prometheus.show(Metric.MODE, () -> 1);
        prometheus.show(Metric.MODE_SWITCHES, switches::get);
        prometheus.showByKey(Metric.FLUSH_CAUSES, () -> Map.of("idle", 4));
        prometheus.summary(Metric.FLUSH_TIME).add(2_500_000);
        prometheus.summary(Metric.FLUSH_TIME).add(2_500_000);
        prometheus.summary(Metric.RECOVERY_TIME).add(1_500);
        StageMetrics stages = new StageMetrics();
        stages.show(prometheus);
        stages.committed(3_000_000);
        stages.acksOf(2).add(4_000);

        assertThat(registry.getSampleValue("saucr_mode")).isEqualTo(1);
        assertThat(registry.getSampleValue("saucr_mode_switches_total")).isEqualTo(3);
        assertThat(
                        registry.getSampleValue(
                                "saucr_flush_causes_total",
                                new String[] {"key"},
                                new String[] {"idle"}))
                .isEqualTo(4);
        assertThat(registry.getSampleValue("saucr_flush_time_seconds_count")).isEqualTo(2);
        assertThat(registry.getSampleValue("saucr_flush_time_seconds_sum")).isEqualTo(5);
        assertThat(
                        registry.getSampleValue(
                                "saucr_flush_time_seconds",
                                new String[] {"quantile"},
                                new String[] {"0.99"}))
                .isEqualTo(2.5);
        assertThat(registry.getSampleValue("saucr_recovery_time_seconds_sum")).isEqualTo(1.5);
        assertThat(registry.getSampleValue("saucr_commit_time_seconds_sum")).isEqualTo(0.003);
        assertThat(registry.getSampleValue("saucr_commit_time_seconds_count")).isEqualTo(1);
        assertThat(
                        registry.getSampleValue(
                                "saucr_ack_time_seconds",
                                new String[] {"key", "quantile"},
                                new String[] {"2", "0.99"}))
                .isCloseTo(0.004, within(0.00002));
        switches.set(5);
        assertThat(registry.getSampleValue("saucr_mode_switches_total")).isEqualTo(5);

        Map<String, Collector.Type> types = new LinkedHashMap<>();
        for (MetricFamilySamples family : Collections.list(registry.metricFamilySamples())) {
            types.put(family.name, family.type);
            assertThat(family.help).endsWith(".");
        }
        assertThat(types)
                .containsOnly(
                        Map.entry("saucr_mode", Collector.Type.GAUGE),
                        Map.entry("saucr_mode_switches_total", Collector.Type.COUNTER),
                        Map.entry("saucr_flush_causes_total", Collector.Type.COUNTER),
                        Map.entry("saucr_flush_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_recovery_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_queue_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_proposal_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_ack_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_commit_time_seconds", Collector.Type.SUMMARY),
                        Map.entry("saucr_apply_time_seconds", Collector.Type.SUMMARY));
    }

    /** As with {@code /metrics?name[]=...}. */
    @Test
    void aMetricIsFoundByItsName() {
        prometheus.show(Metric.MODE, () -> 1);
        prometheus.show(Metric.FLUSHES, () -> 2);
        assertThat(
                        Collections.list(
                                registry.filteredMetricFamilySamples(
                                        Set.of("saucr_flushes_total"))))
                .singleElement()
                .satisfies(family -> assertThat(family.name).isEqualTo("saucr_flushes_total"));
    }

    @Test
    void aMetricThatIsShownAgainHasTheNewValue() {
        prometheus.show(Metric.FLUSHES, () -> 7);
        prometheus.show(Metric.FLUSHES, () -> 1);
        assertThat(registry.getSampleValue("saucr_flushes_total")).isEqualTo(1);
        prometheus.summary(Metric.FLUSH_TIME).add(1);
        prometheus.summary(Metric.FLUSH_TIME).add(1);
        assertThat(registry.getSampleValue("saucr_flush_time_seconds_count")).isEqualTo(2);
    }

    @Test
    void mntrKeepsTheKeysOfCountersWithPrometheus() {
        prometheus.show(Metric.MODE, () -> 1);
        prometheus.show(Metric.FAST_COMMITS, () -> 9);
        assertThat(prometheus.countersForMntr()).containsOnly(Map.entry("saucr_fast_commits", 9));
    }

    @Test
    void otherProvidersGetTheKeysOfMntr() {
        DefaultMetricsProvider provider = new DefaultMetricsProvider();
        Exposition exposition = new ProviderExposition(provider.getRootContext());
        exposition.show(Metric.FLUSHES, () -> 2);
        exposition.showByKey(Metric.FLUSH_CAUSES, () -> Map.of("idle", 1));
        exposition.summary(Metric.FLUSH_TIME).add(1_000);
        StageMetrics stages = new StageMetrics();
        stages.show(exposition);
        stages.applied(7_000);
        stages.applied(8_000);
        stages.acksOf(2).add(100);
        Map<String, Object> dump = new LinkedHashMap<>();
        provider.dump(dump::put);
        assertThat(dump)
                .containsEntry("saucr_flushes", 2)
                .containsEntry("idle_saucr_flush_causes", 1)
                .containsEntry("sum_saucr_flush_time_us", 1_000L)
                .containsEntry("avg_saucr_apply_time_us", 7.5)
                .containsEntry("min_saucr_apply_time_us", 7L)
                .containsEntry("max_saucr_apply_time_us", 8L)
                .containsEntry("p99_saucr_apply_time_us", 8L)
                .containsEntry("cnt_saucr_apply_time_us", 2L)
                .containsEntry("sum_saucr_apply_time_us", 15L)
                .containsEntry("p50_2_saucr_ack_time_us", 100L)
                .containsEntry("avg_saucr_commit_time_us", 0.0);
        assertThat(exposition.countersForMntr()).isEmpty();
    }
}
