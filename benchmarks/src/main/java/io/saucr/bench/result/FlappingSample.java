package io.saucr.bench.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What one ensemble did while a follower of it was killed and returned again and again, or while
 * other processes kept its machine busy. Immutable.
 *
 * @param round from 1; the configurations take turns in each
 * @param seconds length of the window that all counts are of, but for {@code noops}
 * @param writes acknowledged
 * @param longestGapSeconds without an acknowledged write
 * @param modeSwitches of the leader, both ways; 0 if it has no modes
 * @param fastCommits of the leader; 0 if it has no modes
 * @param noops proposals that no client asked for, no-ops and seals, from the clients' first to
 *     their last
 * @param serverCpuSeconds of all servers, the starts of the one that flaps included
 * @param kills of the follower
 * @param returns after which it served again
 */
public record FlappingSample(
        String configuration,
        int round,
        double seconds,
        long writes,
        double longestGapSeconds,
        double p99Millis,
        long modeSwitches,
        long fastCommits,
        long noops,
        double serverCpuSeconds,
        int kills,
        int returns) {

    /** What is compared. */
    public record Measure(String name, ToDoubleFunction<FlappingSample> value) {}

    /** The first configuration against another one; only where neither counted nothing. */
    public record Ratio(String measure, String configuration, String other, PairedRatio ratio) {}

    /** In the order of the tables. */
    public static final List<Measure> MEASURES =
            List.of(
                    new Measure("writes/s", each -> each.writes / each.seconds),
                    new Measure("longest gap s", FlappingSample::longestGapSeconds),
                    new Measure("p99 ms", FlappingSample::p99Millis),
                    new Measure("mode switches", FlappingSample::modeSwitches),
                    new Measure("mode switches/h", each -> 3600 * each.modeSwitches / each.seconds),
                    new Measure(
                            "committed fast",
                            each -> (double) each.fastCommits / Math.max(1, each.writes)),
                    new Measure("no-ops and seals", FlappingSample::noops),
                    new Measure(
                            "CPU s per 10,000 writes",
                            each -> each.serverCpuSeconds * 10_000 / Math.max(1, each.writes)),
                    new Measure("returns", FlappingSample::returns));

    /**
     * How many proposals between two zxids were nobody's write, nor the beginning or end of a
     * client's session.
     *
     * @param clients whose sessions began and ended meanwhile
     * @throws IllegalStateException if another epoch has begun, whose zxids begin anew
     */
    public static long noops(long zxidBefore, long zxidAfter, long writes, int clients) {
        if (zxidBefore >>> 32 != zxidAfter >>> 32) {
            throw new IllegalStateException("another leader was elected while a follower flapped");
        }
        return zxidAfter - zxidBefore - writes - 2L * clients;
    }

    /** The samples of each configuration, in the order in which these come. */
    public static Map<String, List<FlappingSample>> byName(List<FlappingSample> samples) {
        Map<String, List<FlappingSample>> grouped = new LinkedHashMap<>();
        for (FlappingSample each : samples) {
            grouped.computeIfAbsent(each.configuration, name -> new ArrayList<>()).add(each);
        }
        return grouped;
    }

    /** The first configuration against each other one, measure by measure. */
    public static List<Ratio> ratios(List<FlappingSample> samples) {
        Map<String, List<FlappingSample>> grouped = byName(samples);
        List<String> names = List.copyOf(grouped.keySet());
        List<Ratio> ratios = new ArrayList<>();
        for (Measure measure : MEASURES) {
            for (String other : names.subList(Math.min(1, names.size()), names.size())) {
                double[] first = values(grouped.get(names.get(0)), measure);
                double[] against = values(grouped.get(other), measure);
                if (positive(first) && positive(against)) {
                    ratios.add(
                            new Ratio(
                                    measure.name,
                                    names.get(0),
                                    other,
                                    PairedRatio.of(first, against)));
                }
            }
        }
        return ratios;
    }

    private static double[] values(List<FlappingSample> samples, Measure measure) {
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
}
