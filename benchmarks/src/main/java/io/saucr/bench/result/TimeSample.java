package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How long something took once. Immutable.
 *
 * @param measure what took that time
 * @param configuration whose ensemble
 * @param round from 1; the configurations take turns in each
 * @param seconds greater than 0
 */
public record TimeSample(String measure, String configuration, int round, double seconds)
        implements Sample {
    @Override
    public String subject() {
        return measure;
    }

    /** With what is compared of them. */
    public static Samples<TimeSample> compared(List<TimeSample> samples) {
        return new Samples<>(samples, List.of(new Samples.Measure<>("", TimeSample::seconds)));
    }

    /** Seconds by what was measured and by configuration, in the order of measurement. */
    public static Map<String, Map<String, List<Double>>> byMeasure(List<TimeSample> samples) {
        Map<String, Map<String, List<Double>>> grouped = new LinkedHashMap<>();
        for (TimeSample sample : samples) {
            grouped.computeIfAbsent(sample.measure(), measure -> new LinkedHashMap<>())
                    .computeIfAbsent(sample.configuration(), name -> new ArrayList<>())
                    .add(sample.seconds());
        }
        return grouped;
    }
}
