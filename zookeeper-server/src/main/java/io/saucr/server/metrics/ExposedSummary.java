package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.Summary;

/** A summary that many threads add to without a lock. Thread-safe. */
final class ExposedSummary extends MetricFamily implements Summary {
    final DetailLevel detail;
    private final WindowedSummary summary = new WindowedSummary();

    ExposedSummary(String name, DetailLevel detail) {
        super(name, Type.SUMMARY);
        this.detail = detail;
    }

    @Override
    public void add(long value) {
        summary.add(value);
    }

    void nextPeriod() {
        summary.nextPeriod();
    }

    @Override
    List<Sample> samples() {
        return Quantiles.samples(name, detail, List.of(), List.of(), summary);
    }
}
