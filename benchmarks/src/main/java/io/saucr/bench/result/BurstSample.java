package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What one ensemble did while very much came at once: a bulk load, or sessions that expired.
 * Immutable.
 *
 * @param burst what came, in words
 * @param round from 1; the configurations take turns in each
 * @param seconds length of the window that all counts are of
 * @param operations that clients saw succeed
 * @param longestGapSeconds without one
 * @param modeSwitches of the leader, both ways; 0 if it has no modes, and after an election
 * @param elections of another leader meanwhile
 */
public record BurstSample(
        String burst,
        String configuration,
        int round,
        double seconds,
        long operations,
        double longestGapSeconds,
        double serverCpuSeconds,
        long modeSwitches,
        long elections) {

    /** What is compared. */
    public record Measure(String name, ToDoubleFunction<BurstSample> value) {}

    /** The first configuration against another one; only where neither counted nothing. */
    public record Ratio(
            String burst, String measure, String configuration, String other, PairedRatio ratio) {}

    private static final String RATE = "operations/s";

    /** In the order of the tables. */
    public static final List<Measure> MEASURES =
            List.of(
                    new Measure(RATE, each -> each.operations / each.seconds),
                    new Measure("seconds", BurstSample::seconds),
                    new Measure("longest gap s", BurstSample::longestGapSeconds),
                    new Measure(
                            "CPU us/op",
                            each -> each.serverCpuSeconds * 1e6 / Math.max(1, each.operations)),
                    new Measure("CPU s", BurstSample::serverCpuSeconds),
                    new Measure("mode switches", BurstSample::modeSwitches),
                    new Measure("elections", BurstSample::elections));

    /** The samples of each burst and, within it, configuration; in the order of these. */
    public static Map<String, Map<String, List<BurstSample>>> grouped(List<BurstSample> samples) {
        Map<String, Map<String, List<BurstSample>>> grouped = new LinkedHashMap<>();
        for (BurstSample each : samples) {
            grouped.computeIfAbsent(each.burst, name -> new LinkedHashMap<>())
                    .computeIfAbsent(each.configuration, name -> new ArrayList<>())
                    .add(each);
        }
        return grouped;
    }

    /** The first configuration against each other one, burst by burst and measure by measure. */
    public static List<Ratio> ratios(List<BurstSample> samples) {
        List<Ratio> ratios = new ArrayList<>();
        grouped(samples)
                .forEach(
                        (burst, configurations) -> {
                            List<String> names = List.copyOf(configurations.keySet());
                            for (Measure measure : MEASURES) {
                                for (String other : names.subList(1, names.size())) {
                                    add(
                                            ratios,
                                            burst,
                                            measure,
                                            names.get(0),
                                            other,
                                            configurations);
                                }
                            }
                        });
        return ratios;
    }

    private static void add(
            List<Ratio> ratios,
            String burst,
            Measure measure,
            String name,
            String other,
            Map<String, List<BurstSample>> configurations) {
        double[] first = values(configurations.get(name), measure);
        double[] against = values(configurations.get(other), measure);
        if (positive(first) && positive(against)) {
            ratios.add(new Ratio(burst, measure.name, name, other, PairedRatio.of(first, against)));
        }
    }

    private static double[] values(List<BurstSample> samples, Measure measure) {
        return samples.stream().mapToDouble(measure.value).toArray();
    }

    private static boolean positive(double[] values) {
        for (double value : values) {
            if (!(value > 0)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the ratio is that of operations per second. */
    public static boolean isRate(Ratio ratio) {
        return ratio.measure.equals(RATE);
    }
}
