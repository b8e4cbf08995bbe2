package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * The slices of complete rounds, grouped, and the first configuration set against each other one.
 * Immutable.
 */
public final class Comparison {
    /**
     * One configuration against another in one case.
     *
     * @param throughput how many times the other's throughput the first has
     * @param p99 how many times the other's 99th percentile of latency the first has
     * @param serverCpu how many times the other's CPU time for an operation its servers take; null
     *     if that is not known of both
     * @param calls how many times the other's read and write calls for an operation they make; null
     *     if that is not known of both
     */
    public record Row(
            Case measured,
            String configuration,
            String other,
            PairedRatio throughput,
            PairedRatio p99,
            PairedRatio serverCpu,
            PairedRatio calls) {}

    private final Map<Case, Map<String, List<Slice>>> byCase = new LinkedHashMap<>();

    /**
     * Compares the slices of each case.
     *
     * @param slices in the order of the plan: the first configuration is compared with the others
     */
    public Comparison(List<Slice> slices) {
        for (Slice slice : slices) {
            byCase.computeIfAbsent(slice.measured(), measured -> new LinkedHashMap<>())
                    .computeIfAbsent(slice.configuration(), name -> new ArrayList<>())
                    .add(slice);
        }
    }

    /** In the order of the plan. */
    public Set<Case> cases() {
        return byCase.keySet();
    }

    /** The configurations' slices of a case, in the order of the plan. */
    public Map<String, List<Slice>> slices(Case measured) {
        return byCase.get(measured);
    }

    /** A value over all slices of one configuration in a case. */
    public Spread spread(Case measured, String configuration, ToDoubleFunction<Slice> value) {
        return Spread.of(
                byCase.get(measured).get(configuration).stream().mapToDouble(value).toArray());
    }

    /** The first configuration against each other one, case by case. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        byCase.forEach(
                (measured, configurations) -> {
                    List<String> names = List.copyOf(configurations.keySet());
                    List<Slice> first = configurations.get(names.get(0));
                    for (String other : names.subList(1, names.size())) {
                        List<Slice> against = configurations.get(other);
                        rows.add(
                                new Row(
                                        measured,
                                        names.get(0),
                                        other,
                                        ratio(first, against, Slice::throughput),
                                        ratio(first, against, Comparison::p99),
                                        known(first) && known(against)
                                                ? ratio(first, against, Comparison::serverCpu)
                                                : null,
                                        callsKnown(first) && callsKnown(against)
                                                ? ratio(first, against, Slice::callsPerOperation)
                                                : null));
                    }
                });
        return rows;
    }

    private static boolean known(List<Slice> slices) {
        return slices.stream().allMatch(Slice::serversKnown);
    }

    private static boolean callsKnown(List<Slice> slices) {
        return slices.stream().allMatch(slice -> slice.serverReadWriteCalls() > 0);
    }

    /** The 99th percentile, but at least the smallest value that a histogram tells from 0. */
    private static double p99(Slice slice) {
        return Math.max(0.001, slice.p99Millis());
    }

    /**
     * CPU time of the servers for an operation. A slice counts at least one tick of the clock, so
     * that a very short one still has a ratio.
     */
    private static double serverCpu(Slice slice) {
        return Math.max(0.01, slice.serverCpuSeconds()) / slice.operations();
    }

    private static PairedRatio ratio(
            List<Slice> first, List<Slice> other, ToDoubleFunction<Slice> value) {
        int rounds = Math.min(first.size(), other.size());
        return PairedRatio.of(
                first.subList(0, rounds).stream().mapToDouble(value).toArray(),
                other.subList(0, rounds).stream().mapToDouble(value).toArray());
    }
}
