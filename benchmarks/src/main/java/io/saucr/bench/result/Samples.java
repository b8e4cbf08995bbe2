package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The samples of a run, grouped, and the first configuration set against each other one. Immutable.
 *
 * @param <S> what is measured
 */
public final class Samples<S extends Sample> {
    /** A value of each sample that is compared. */
    public record Measure<S>(String name, ToDoubleFunction<S> value) {}

    /** The first configuration against another one. */
    public record Ratio(
            String subject, String measure, String configuration, String other, PairedRatio ratio) {
        /**
         * For {@code result.json}.
         *
         * @param key of the subject; null if there is none
         */
        public Map<String, Object> described(String key) {
            Map<String, Object> values = new LinkedHashMap<>();
            if (key != null) {
                values.put(key, subject);
            }
            values.put("measure", measure);
            values.put("configuration", configuration);
            values.put("other", other);
            values.put("ratio", ratio);
            return values;
        }
    }

    /** A value of one configuration in all rounds, and its ratio to the first configuration's. */
    public record Row(
            String subject,
            String measure,
            String configuration,
            List<Double> values,
            Optional<Ratio> ratio) {
        public Row {
            values = List.copyOf(values);
        }

        /** The same values as an array. */
        public double[] array() {
            return Samples.array(values);
        }
    }

    private final Map<String, Map<String, List<S>>> bySubject = new LinkedHashMap<>();
    private final List<Measure<S>> measures;

    /** Groups samples by subject and configuration, in the order in which these come. */
    public Samples(List<S> samples, List<Measure<S>> measures) {
        this.measures = List.copyOf(measures);
        for (S each : samples) {
            bySubject
                    .computeIfAbsent(each.subject(), subject -> new LinkedHashMap<>())
                    .computeIfAbsent(each.configuration(), name -> new ArrayList<>())
                    .add(each);
        }
    }

    /** By subject, measure and configuration. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        bySubject.forEach(
                (subject, configurations) -> {
                    for (Measure<S> measure : measures) {
                        Row first = null;
                        for (String name : configurations.keySet()) {
                            List<Double> values =
                                    configurations.get(name).stream()
                                            .map(measure.value::applyAsDouble)
                                            .toList();
                            Row row =
                                    new Row(
                                            subject,
                                            measure.name,
                                            name,
                                            values,
                                            ratio(first, name, values));
                            rows.add(row);
                            first = first == null ? row : first;
                        }
                    }
                });
        return rows;
    }

    /** Only where both were measured in all rounds, and neither counted nothing in one. */
    private static Optional<Ratio> ratio(Row first, String other, List<Double> values) {
        if (first == null
                || first.values.size() != values.size()
                || !positive(first.values)
                || !positive(values)) {
            return Optional.empty();
        }
        return Optional.of(
                new Ratio(
                        first.subject,
                        first.measure,
                        first.configuration,
                        other,
                        PairedRatio.of(first.array(), array(values))));
    }

    private static boolean positive(List<Double> values) {
        return values.stream().allMatch(value -> value > 0);
    }

    private static double[] array(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /**
     * The first configuration against each other one, subject by subject and measure by measure.
     */
    public List<Ratio> ratios() {
        return rows().stream().map(Row::ratio).flatMap(Optional::stream).toList();
    }
}
