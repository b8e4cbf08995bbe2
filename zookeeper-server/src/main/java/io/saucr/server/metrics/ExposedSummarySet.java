package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;
import org.apache.zookeeper.metrics.SummarySet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Summaries by key, which many threads add to without a lock. Thread-safe. */
final class ExposedSummarySet extends MetricFamily implements SummarySet {
    private static final Logger LOG = LoggerFactory.getLogger(ExposedSummarySet.class);

    final DetailLevel detail;
    private final Map<String, WindowedSummary> summaries = new ConcurrentHashMap<>();

    ExposedSummarySet(String name, DetailLevel detail) {
        super(name, Type.SUMMARY);
        this.detail = detail;
    }

    /** Adds a value; without a key it is logged and ignored. */
    @Override
    public void add(String key, long value) {
        if (key == null) {
            LOG.error("Summary {} cannot take {} without a key", name, value);
            return;
        }
        WindowedSummary summary = summaries.get(key);
        if (summary == null) {
            summary = summaries.computeIfAbsent(key, absent -> new WindowedSummary());
        }
        summary.add(value);
    }

    void nextPeriod() {
        summaries.values().forEach(WindowedSummary::nextPeriod);
    }

    @Override
    List<Sample> samples() {
        List<Sample> samples = new ArrayList<>();
        summaries.forEach(
                (key, summary) ->
                        samples.addAll(
                                Quantiles.samples(
                                        name, detail, List.of(KEY), List.of(key), summary)));
        return samples;
    }
}
