package io.saucr.server.metrics;

import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.metrics.CounterSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counters by key, which many threads add to without a lock. Thread-safe. */
final class ExposedCounterSet extends MetricFamily implements CounterSet {
    private static final Logger LOG = LoggerFactory.getLogger(ExposedCounterSet.class);

    private final Map<String, ExactSum> sums = new ConcurrentHashMap<>();

    ExposedCounterSet(String name) {
        super(name, Type.COUNTER);
    }

    /** Adds a number that is not negative; without a key, or if it is, it is logged and ignored. */
    @Override
    public void add(String key, long delta) {
        if (key == null || delta < 0) {
            LOG.error("Counter {} with key {} cannot take {}", name, key, delta);
            return;
        }
        ExactSum sum = sums.get(key);
        if (sum == null) {
            sum = sums.computeIfAbsent(key, absent -> new ExactSum());
        }
        sum.add(delta);
    }

    @Override
    List<Sample> samples() {
        return samples(sums, ExactSum::get);
    }
}
