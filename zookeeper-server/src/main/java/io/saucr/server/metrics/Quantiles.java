package io.saucr.server.metrics;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import io.saucr.server.metrics.WindowedSummary.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.metrics.MetricsContext.DetailLevel;

/** The quantiles that a summary shows, and their labels: those of Apache's provider. */
final class Quantiles {
    private static final List<Double> BASIC = List.of(0.5);
    private static final List<Double> ADVANCED = List.of(0.5, 0.9, 0.99);

    private Quantiles() {}

    /**
     * Quantiles, count and sum.
     *
     * @param labels names of labels, one for each of the values
     */
    static List<Sample> samples(
            String name,
            DetailLevel detail,
            List<String> labels,
            List<String> labelValues,
            WindowedSummary summary) {
        List<Double> fractions = detail == DetailLevel.BASIC ? BASIC : ADVANCED;
        Values values = summary.values(fractions);
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < fractions.size(); i++) {
            samples.add(
                    new Sample(
                            name,
                            with(labels, "quantile"),
                            with(labelValues, Collector.doubleToGoString(fractions.get(i))),
                            values.quantiles().get(i)));
        }
        samples.add(new Sample(name + "_count", labels, labelValues, (double) values.count()));
        samples.add(new Sample(name + "_sum", labels, labelValues, values.sum()));
        return samples;
    }

    private static List<String> with(List<String> list, String last) {
        return Stream.concat(list.stream(), Stream.of(last)).toList();
    }
}
