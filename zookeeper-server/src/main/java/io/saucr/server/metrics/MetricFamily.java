package io.saucr.server.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * A metric of ZooKeeper as the registry of the Prometheus client shows it. As with Apache's
 * provider, its help text is its name. Thread-safe if its samples are.
 */
abstract class MetricFamily extends Collector implements Collector.Describable {
    /** The label of all sets. */
    static final String KEY = "key";

    final String name;
    private final Type type;

    /**
     * @throws IllegalArgumentException if Prometheus does not allow the name
     */
    MetricFamily(String name, Type type) {
        checkMetricName(name);
        this.name = name;
        this.type = type;
    }

    /** The values of this moment, for the thread that answers a request. */
    abstract List<Sample> samples();

    @Override
    public final List<MetricFamilySamples> collect() {
        return List.of(family(samples()));
    }

    /** By this the registry knows which names are taken. */
    @Override
    public final List<MetricFamilySamples> describe() {
        return List.of(family(List.of()));
    }

    private MetricFamilySamples family(List<Sample> samples) {
        // The registry takes out of the list what a request does not ask for.
        return new MetricFamilySamples(name, type, name, new ArrayList<>(samples));
    }

    final Sample sample(double value) {
        return new Sample(name, List.of(), List.of(), value);
    }

    /** A sample for each key. */
    final <T> List<Sample> samples(Map<String, T> values, ToDoubleFunction<? super T> value) {
        List<Sample> samples = new ArrayList<>();
        values.forEach(
                (key, each) ->
                        samples.add(
                                new Sample(
                                        name,
                                        List.of(KEY),
                                        List.of(key),
                                        value.applyAsDouble(each))));
        return samples;
    }
}
