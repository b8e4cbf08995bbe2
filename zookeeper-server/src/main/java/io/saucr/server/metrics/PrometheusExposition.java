package io.saucr.server.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import io.prometheus.client.CollectorRegistry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.Summary;

/**
 * Shows metrics to Prometheus with their types and help texts. ZooKeeper's provider answers with
 * everything in the registry of the process and gives its own metrics their names for help, so ours
 * go into that registry next to it. Thread-safe.
 */
final class PrometheusExposition extends Collector implements Collector.Describable, Exposition {
    /** As ZooKeeper's provider has it. */
    private static final String KEY = "key";

    /** The registry belongs to the process, and its provider never takes anything out. */
    private static final class Registered {
        static final PrometheusExposition EXPOSITION =
                new PrometheusExposition().register(CollectorRegistry.defaultRegistry);
    }

    private final Map<Metric, Supplier<? extends Number>> values =
            Collections.synchronizedMap(new EnumMap<>(Metric.class));
    private final Map<Metric, Supplier<Map<String, Number>>> valuesByKey =
            Collections.synchronizedMap(new EnumMap<>(Metric.class));
    private final Map<Metric, io.prometheus.client.Summary> summaries =
            Collections.synchronizedMap(new EnumMap<>(Metric.class));

    private final Map<Metric, Supplier<Map<String, WindowedSummary>>> windowed =
            Collections.synchronizedMap(new EnumMap<>(Metric.class));

    static PrometheusExposition ofThisProcess() {
        return Registered.EXPOSITION;
    }

    @Override
    public void show(Metric metric, Supplier<? extends Number> value) {
        values.put(metric, value);
    }

    @Override
    public void showByKey(Metric metric, Supplier<Map<String, Number>> all) {
        valuesByKey.put(metric, all);
    }

    @Override
    public void showSummaries(Metric metric, Supplier<Map<String, WindowedSummary>> byKey) {
        windowed.put(metric, byKey);
    }

    private static List<Sample> samples(Metric metric, String key, WindowedSummary summary) {
        List<Sample> samples = new ArrayList<>();
        for (Sample each :
                Quantiles.samples(
                        metric.prometheusName(),
                        DetailLevel.ADVANCED,
                        key.isEmpty() ? List.of() : List.of(KEY),
                        key.isEmpty() ? List.of() : List.of(key),
                        summary)) {
            samples.add(
                    each.name.endsWith("_count")
                            ? each
                            : new Sample(
                                    each.name,
                                    each.labelNames,
                                    each.labelValues,
                                    metric.inPrometheusUnits(each.value)));
        }
        return samples;
    }

    @Override
    public Summary summary(Metric metric) {
        io.prometheus.client.Summary summary =
                summaries.computeIfAbsent(metric, PrometheusExposition::emptySummary);
        return value -> summary.observe(metric.inPrometheusUnits((double) value));
    }

    /** With the quantiles of ZooKeeper's own detailed summaries. */
    private static io.prometheus.client.Summary emptySummary(Metric metric) {
        return io.prometheus.client.Summary.build(metric.prometheusName(), metric.help())
                .quantile(0.5, 0.05)
                .quantile(0.9, 0.01)
                .quantile(0.99, 0.001)
                .create();
    }

    @Override
    public Map<String, Number> countersForMntr() {
        Map<String, Number> result = new LinkedHashMap<>();
        for (Metric metric : Metric.values()) {
            Supplier<? extends Number> value = values.get(metric);
            if (value != null && metric.kind() == Metric.Kind.COUNTER) {
                result.put(metric.key(), value.get());
            }
        }
        return result;
    }

    @Override
    public List<MetricFamilySamples> collect() {
        List<MetricFamilySamples> families = new ArrayList<>();
        for (Metric metric : Metric.values()) {
            Supplier<? extends Number> value = values.get(metric);
            Supplier<Map<String, Number>> byKey = valuesByKey.get(metric);
            io.prometheus.client.Summary summary = summaries.get(metric);
            if (value != null) {
                families.add(family(metric, List.of(sample(metric, value.get()))));
            }
            if (byKey != null) {
                List<Sample> samples = new ArrayList<>();
                byKey.get().forEach((key, each) -> samples.add(sample(metric, key, each)));
                families.add(family(metric, samples));
            }
            if (summary != null) {
                families.addAll(summary.collect());
            }
            Supplier<Map<String, WindowedSummary>> shown = windowed.get(metric);
            if (shown != null) {
                List<Sample> samples = new ArrayList<>();
                shown.get().forEach((key, each) -> samples.addAll(samples(metric, key, each)));
                families.add(family(metric, samples));
            }
        }
        return families;
    }

    /** The names that are taken; a request for some of them finds them by this. */
    @Override
    public List<MetricFamilySamples> describe() {
        List<MetricFamilySamples> families = new ArrayList<>();
        for (Metric metric : Metric.values()) {
            families.add(family(metric, List.of()));
        }
        return families;
    }

    private static MetricFamilySamples family(Metric metric, List<Sample> samples) {
        // The registry takes out of the list what a request does not ask for.
        return new MetricFamilySamples(
                metric.prometheusName(),
                type(metric.kind()),
                metric.help(),
                new ArrayList<>(samples));
    }

    private static Type type(Metric.Kind kind) {
        return switch (kind) {
            case GAUGE -> Type.GAUGE;
            case COUNTER -> Type.COUNTER;
            case MICROSECONDS, MILLISECONDS -> Type.SUMMARY;
        };
    }

    private static Sample sample(Metric metric, Number value) {
        return new Sample(metric.prometheusName(), List.of(), List.of(), value.doubleValue());
    }

    private static Sample sample(Metric metric, String key, Number value) {
        return new Sample(metric.prometheusName(), List.of(KEY), List.of(key), value.doubleValue());
    }
}
