package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import org.apache.zookeeper.metrics.Counter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A counter that many threads add to without a lock. Thread-safe. */
final class ExposedCounter extends MetricFamily implements Counter {
    private static final Logger LOG = LoggerFactory.getLogger(ExposedCounter.class);

    private final ExactSum sum = new ExactSum();

    ExposedCounter(String name) {
        super(name, Type.COUNTER);
    }

    /** Adds a number that is not negative; a negative one is logged and ignored. */
    @Override
    public void add(long delta) {
        if (delta < 0) {
            LOG.error("Counter {} cannot take {}", name, delta);
            return;
        }
        sum.add(delta);
    }

    @Override
    public long get() {
        return (long) sum.get();
    }

    @Override
    List<Sample> samples() {
        return List.of(sample(sum.get()));
    }
}
