package io.saucr.services.bench;

import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Table;
import io.saucr.services.bench.ServicesBench.Sample;
import io.saucr.services.bench.SliceProcess.Measured;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.CategoryChart;

/**
 * What a run showed: figures of each contender, and its ratios to the first of the same rounds, as
 * text, as a page with plots, and as JSON.
 */
final class ServicesReport extends Report {

    private static final int HEIGHT = 380;

    private final List<Contender> contenders;
    private final List<Integer> pairs;
    private final List<Double> forces;
    private final List<Sample> samples;

    /**
     * A report of samples of all contenders, for all numbers of pairs and delays of forces, in the
     * same rounds.
     */
    ServicesReport(
            List<Contender> contenders,
            List<Integer> pairs,
            List<Double> forces,
            List<Sample> samples) {
        super("A durable turn");
        this.contenders = contenders;
        this.pairs = pairs;
        this.forces = forces;
        this.samples = samples;
    }

    @Override
    String text() {
        StringBuilder text = new StringBuilder(machine.toString()).append('\n');
        for (Contender contender : contenders) {
            text.append(contender).append(": ").append(contender.description()).append('\n');
        }
        text.append('\n').append(figures()).append('\n');
        text.append("Medians [quartiles] over ")
                .append(samples.stream().mapToInt(Sample::round).max().orElseThrow() + 1)
                .append(
                        " rounds, each in a fresh JVM. Forces per turn: of files, by the whole process.\n");
        if (contenders.size() > 1) {
            text.append('\n').append(ratios()).append('\n');
            text.append(RATIOS);
        }
        return text.toString();
    }

    private String figures() {
        Table table =
                Table.ofNumbers(
                        "forces +ms",
                        "pairs",
                        "contender",
                        "turns/s",
                        "mean us",
                        "p50 us",
                        "p99 us",
                        "CPU us per turn",
                        "forces per turn");
        for (double force : forces) {
            for (int count : pairs) {
                for (Contender contender : contenders) {
                    List<Measured> own = of(contender, count, force);
                    if (own.isEmpty()) {
                        continue;
                    }
                    table.row(
                            Numbers.number(force),
                            String.valueOf(count),
                            contender.toString(),
                            spread(own, m -> m.slice().turnsPerSecond()),
                            spread(own, m -> m.slice().meanMicros()),
                            spread(own, m -> m.slice().p50Micros()),
                            spread(own, m -> m.slice().p99Micros()),
                            spread(own, m -> m.slice().cpuMicrosPerTurn()),
                            own.get(0).forces() < 0 ? "-" : spread(own, Measured::forcesPerTurn));
                }
            }
        }
        return table + "\n";
    }

    private String ratios() {
        Table table =
                Table.ofNumbers(
                        "forces +ms",
                        "pairs",
                        "contender / " + contenders.get(0),
                        "turns/s",
                        "interval",
                        "mean time",
                        "interval",
                        "CPU per turn",
                        "interval");
        for (double force : forces) {
            for (int count : pairs) {
                List<Measured> first = of(contenders.get(0), count, force);
                for (Contender contender : contenders.subList(1, contenders.size())) {
                    List<Measured> own = of(contender, count, force);
                    if (own.isEmpty()) {
                        continue;
                    }
                    PairedRatio rate = ratio(own, first, m -> m.slice().turnsPerSecond());
                    PairedRatio mean = ratio(own, first, m -> m.slice().meanMicros());
                    PairedRatio cpu = ratio(own, first, m -> m.slice().cpuMicrosPerTurn());
                    table.row(
                            Numbers.number(force),
                            String.valueOf(count),
                            contender.toString(),
                            Numbers.number(rate.ratio()),
                            interval(rate),
                            Numbers.number(mean.ratio()),
                            interval(mean),
                            Numbers.number(cpu.ratio()),
                            interval(cpu));
                }
            }
        }
        return table + "\n";
    }

    /** In the order of the rounds. */
    private List<Measured> of(Contender contender, int count, double force) {
        return samples.stream()
                .filter(s -> s.forceMillis() == force && s.pairs() == count)
                .filter(s -> s.contender().equals(contender.toString()))
                .sorted(Comparator.comparingInt(Sample::round))
                .map(Sample::result)
                .toList();
    }

    /** Median of the means, or nothing to be drawn where it did not take part. */
    private static Double meanMillis(List<Measured> own) {
        return own.isEmpty() ? null : all(own, m -> m.slice().meanMicros() / 1000).median();
    }

    private static Spread all(List<Measured> results, ToDoubleFunction<Measured> figure) {
        return Spread.of(results.stream().mapToDouble(figure).toArray());
    }

    private static String spread(List<Measured> results, ToDoubleFunction<Measured> figure) {
        return spread(all(results, figure));
    }

    private static PairedRatio ratio(
            List<Measured> own, List<Measured> first, ToDoubleFunction<Measured> figure) {
        return PairedRatio.of(
                own.stream().mapToDouble(figure).toArray(),
                first.stream().mapToDouble(figure).toArray());
    }

    @Override
    Map<String, Object> content() {
        return Map.of("samples", samples);
    }

    /**
     * Medians of a contender side by side for each delay; on a logarithmic axis, as they differ by
     * tens.
     */
    @Override
    Map<String, CategoryChart> plots() {
        Map<String, CategoryChart> plots = new LinkedHashMap<>();
        List<String> names = forces.stream().map(Numbers::number).toList();
        for (int count : pairs) {
            CategoryChart chart =
                    chart(
                            HEIGHT,
                            "added to each force, ms",
                            "time of a turn in ms, median of the means");
            for (Contender contender : contenders) {
                chart.addSeries(
                        contender.toString(),
                        names,
                        forces.stream().map(f -> meanMillis(of(contender, count, f))).toList());
            }
            plots.put("Time of a turn, " + count + (count == 1 ? " pair" : " pairs"), chart);
        }
        return plots;
    }
}
