package io.saucr.server.metrics;

import io.prometheus.client.CollectorRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.zookeeper.metrics.Counter;
import org.apache.zookeeper.metrics.CounterSet;
import org.apache.zookeeper.metrics.Gauge;
import org.apache.zookeeper.metrics.GaugeSet;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.metrics.Summary;
import org.apache.zookeeper.metrics.SummarySet;

/**
 * ZooKeeper's metrics in a registry of the Prometheus client, with the names, types, labels and
 * quantiles of Apache's provider. A value is recorded without a lock and, once its key is known,
 * without an allocation; the threads that read do the work. As with Apache's provider, all contexts
 * are this one. Thread-safe.
 */
final class PrometheusContext implements MetricsContext {
    private final CollectorRegistry registry;
    private final Map<String, ExposedCounter> counters = new ConcurrentHashMap<>();
    private final Map<String, ExposedCounterSet> counterSets = new ConcurrentHashMap<>();
    private final Map<String, ExposedGauge> gauges = new ConcurrentHashMap<>();
    private final Map<String, ExposedGaugeSet> gaugeSets = new ConcurrentHashMap<>();
    private final Map<String, ExposedSummary> summaries = new ConcurrentHashMap<>();
    private final Map<String, ExposedSummarySet> summarySets = new ConcurrentHashMap<>();

    PrometheusContext(CollectorRegistry registry) {
        this.registry = registry;
    }

    @Override
    public MetricsContext getContext(String name) {
        return this;
    }

    @Override
    public Counter getCounter(String name) {
        return registered(counters, name, ExposedCounter::new);
    }

    @Override
    public CounterSet getCounterSet(String name) {
        return registered(counterSets, name, ExposedCounterSet::new);
    }

    @Override
    public void registerGauge(String name, Gauge gauge) {
        Objects.requireNonNull(gauge, () -> "no Gauge for " + name);
        registered(gauges, name, absent -> new ExposedGauge(absent).ask(gauge)).ask(gauge);
    }

    @Override
    public void unregisterGauge(String name) {
        unregister(gauges, name);
    }

    @Override
    public void registerGaugeSet(String name, GaugeSet gaugeSet) {
        Objects.requireNonNull(gaugeSet, () -> "no GaugeSet for " + name);
        registered(gaugeSets, name, absent -> new ExposedGaugeSet(absent).ask(gaugeSet))
                .ask(gaugeSet);
    }

    @Override
    public void unregisterGaugeSet(String name) {
        unregister(gaugeSets, name);
    }

    @Override
    public Summary getSummary(String name, DetailLevel detail) {
        ExposedSummary summary =
                registered(summaries, name, absent -> new ExposedSummary(absent, detail));
        requireSame(name, detail, summary.detail);
        return summary;
    }

    @Override
    public SummarySet getSummarySet(String name, DetailLevel detail) {
        ExposedSummarySet set =
                registered(summarySets, name, absent -> new ExposedSummarySet(absent, detail));
        requireSame(name, detail, set.detail);
        return set;
    }

    /** Ends the period of all summaries: {@link WindowedSummary}. */
    void nextPeriod() {
        summaries.values().forEach(ExposedSummary::nextPeriod);
        summarySets.values().forEach(ExposedSummarySet::nextPeriod);
    }

    /** Leaves the names to another context. What is recorded here from now on is not shown. */
    void unregisterAll() {
        for (Map<String, ? extends MetricFamily> known :
                List.of(counters, counterSets, gauges, gaugeSets, summaries, summarySets)) {
            known.keySet().forEach(name -> unregister(known, name));
        }
    }

    private <T extends MetricFamily> T registered(
            Map<String, T> known, String name, Function<String, T> create) {
        Objects.requireNonNull(name, "a metric without a name");
        return known.computeIfAbsent(name, absent -> create.apply(absent).register(registry));
    }

    private void unregister(Map<String, ? extends MetricFamily> known, String name) {
        Objects.requireNonNull(name, "a metric without a name");
        known.computeIfPresent(
                name,
                (same, family) -> {
                    registry.unregister(family);
                    return null;
                });
    }

    private static void requireSame(String name, DetailLevel asked, DetailLevel has) {
        if (asked != has) {
            throw new IllegalArgumentException(
                    "Already registered a summary as " + name + " with the detail " + has);
        }
    }
}
