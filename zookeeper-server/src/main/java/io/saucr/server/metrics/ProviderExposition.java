package io.saucr.server.metrics;

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

    @Override
    public Summary summary(Metric metric) {
        return context.getSummary(metric.key(), DetailLevel.ADVANCED);
    }

    @Override
    public Map<String, Number> countersForMntr() {
        return Map.of();
    }
}
