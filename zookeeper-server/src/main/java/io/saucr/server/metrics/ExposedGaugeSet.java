package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import org.apache.zookeeper.metrics.GaugeSet;

/**
 * Gauges by key whose owner is asked at each request; null is 0. Unlike with Apache's provider, a
 * key that its owner no longer has is not shown any more. Thread-safe.
 */
final class ExposedGaugeSet extends MetricFamily {
    private volatile GaugeSet owner;

    ExposedGaugeSet(String name) {
        super(name, Type.GAUGE);
    }

    /** From now on this owner is asked. */
    ExposedGaugeSet ask(GaugeSet newOwner) {
        owner = newOwner;
        return this;
    }

    @Override
    List<Sample> samples() {
        return samples(owner.values(), ExposedGauge::valueOf);
    }
}
