package io.saucr.server.metrics;

import io.saucr.server.metrics.WindowedSummary.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.Summary;

/**
 * Shows metrics in any provider, through the interface that all of them have. That one has no help
 * texts, and asks for values of gauges only, so counters are gauges here.
 */
final class ProviderExposition implements Exposition {
    private static final List<Double> FRACTIONS = List.of(0.0, 0.5, 0.95, 0.99, 0.999, 1.0);
    private static final List<String> NAMES = List.of("min", "p50", "p95", "p99", "p999", "max");

    /** Averages have four places after the point, as ZooKeeper's. */
    private static final double PARTS = 10_000;

    private final MetricsContext context;

    ProviderExposition(MetricsContext context) {
        this.context = context;
    }

    @Override
    public void show(Metric metric, Supplier<? extends Number> value) {
        context.registerGauge(metric.key(), value::get);
    }

    @Override
    public void showByKey(Metric metric, Supplier<Map<String, Number>> values) {
        context.registerGaugeSet(metric.key(), values::get);
    }

    /**
     * With the keys of ZooKeeper's summaries: what is in front of the name is what a set's key is.
     */
    @Override
    public void showSummaries(Metric metric, Supplier<Map<String, WindowedSummary>> byKey) {
        context.registerGaugeSet(
                metric.key(),
                () -> {
                    Map<String, Number> values = new LinkedHashMap<>();
                    byKey.get().forEach((key, summary) -> add(values, key, summary));
                    return values;
                });
    }

    private static void add(Map<String, Number> values, String key, WindowedSummary summary) {
        Values now = summary.values(FRACTIONS);
        String end = key.isEmpty() ? "" : "_" + key;
        boolean none = now.count() == 0;
        values.put("avg" + end, none ? 0.0 : rounded(now.sum() / (double) now.count()));
        values.put("cnt" + end, now.count());
        values.put("sum" + end, Math.round(now.sum()));
        for (int i = 0; i < FRACTIONS.size(); i++) {
            double value = now.quantiles().get(i);
            values.put(NAMES.get(i) + end, Double.isNaN(value) ? 0 : Math.round(value));
        }
    }

    private static double rounded(double value) {
        return (double) Math.round(value * PARTS) / PARTS;
    }

    @Override
    public Summary summary(Metric metric) {
        return context.getSummary(metric.key(), DetailLevel.ADVANCED);
    }

    @Override
    public Map<String, Number> countersForMntr() {
        return Map.of();
    }
}
