package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import org.apache.zookeeper.metrics.Gauge;

/** A gauge whose owner is asked at each request; null is 0. Thread-safe. */
final class ExposedGauge extends MetricFamily {
    private volatile Gauge owner;

    ExposedGauge(String name) {
        super(name, Type.GAUGE);
    }

    /** From now on this owner is asked. */
    ExposedGauge ask(Gauge newOwner) {
        owner = newOwner;
        return this;
    }

    static double valueOf(Number value) {
        return value == null ? 0 : value.doubleValue();
    }

    @Override
    List<Sample> samples() {
        return List.of(sample(valueOf(owner.get())));
    }
}
