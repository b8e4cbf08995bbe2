package io.saucr.services.bench;

import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Table;
import io.saucr.services.bench.Rounds.Measurement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;

/**
 * What applications showed that ran side by side: figures of each, and ratios to one of them in the
 * same rounds, as text, as a page with plots, and as JSON.
 */
final class RoundsReport extends Report {

    private static final int HEIGHT = 320;

    private final String title;
    private final Map<String, String> contenders;
    private final String first;
    private final List<Figure> figures;
    private final List<Measurement> measured;

    /**
     * A figure.
     *
     * @param name as measurements call it, with its unit
     * @param compared whether its ratio to that of the first contender is shown, and its plot
     */
    record Figure(String name, boolean compared) {}

    /**
     * A report.
     *
     * @param title of the page
     * @param contenders who took part, and what each is; the first is compared with the others
     * @param figures that are shown, in this order
     * @param measured in all rounds
     */
    RoundsReport(
            String title,
            Map<String, String> contenders,
            List<Figure> figures,
            List<Measurement> measured) {
        super(title);
        this.title = title;
        this.contenders = contenders;
        this.first = contenders.keySet().iterator().next();
        this.figures = figures;
        this.measured = measured;
    }

    @Override
    String text() {
        StringBuilder text = new StringBuilder(machine.toString()).append('\n');
        contenders.forEach(
                (name, what) -> text.append(name).append(": ").append(what).append('\n'));
        text.append('\n').append(table()).append('\n');
        text.append("Medians [quartiles] over ")
                .append(measured.stream().mapToInt(Measurement::round).max().orElseThrow() + 1)
                .append(" rounds.\n");
        if (figures.stream().anyMatch(Figure::compared)) {
            text.append('\n').append(ratios()).append('\n');
            text.append(RATIOS);
        }
        return text.toString();
    }

    private String table() {
        List<String> head = new ArrayList<>(List.of("figure"));
        head.addAll(contenders.keySet());
        Table table = Table.ofNumbers(head.toArray(String[]::new));
        for (Figure figure : figures) {
            List<String> row = new ArrayList<>(List.of(figure.name()));
            for (String contender : contenders.keySet()) {
                double[] own = of(contender, figure);
                row.add(own.length == 0 ? "-" : spread(Spread.of(own)));
            }
            table.row(row.toArray(String[]::new));
        }
        return table + "\n";
    }

    private String ratios() {
        Table table = Table.ofNumbers("contender / " + first, "figure", "ratio", "interval");
        for (String contender : contenders.keySet()) {
            for (Figure figure : figures) {
                double[] own = of(contender, figure);
                double[] other = of(first, figure);
                if (figure.compared() && !contender.equals(first) && own.length == other.length) {
                    if (own.length > 0) {
                        PairedRatio ratio = PairedRatio.of(own, other);
                        table.row(
                                contender,
                                figure.name(),
                                Numbers.number(ratio.ratio()),
                                interval(ratio));
                    }
                }
            }
        }
        return table + "\n";
    }

    /** In the order of the rounds; empty where it does not have it. */
    private double[] of(String contender, Figure figure) {
        return measured.stream()
                .filter(it -> it.contender().equals(contender))
                .filter(it -> it.figures().containsKey(figure.name()))
                .sorted(Comparator.comparingInt(Measurement::round))
                .mapToDouble(it -> it.figures().get(figure.name()))
                .toArray();
    }

    @Override
    Map<String, Object> content() {
        return Map.of("title", title, "contenders", contenders, "measurements", measured);
    }

    /** Medians side by side. */
    @Override
    Map<String, CategoryChart> plots() {
        Map<String, CategoryChart> plots = new LinkedHashMap<>();
        for (Figure figure : figures) {
            if (!figure.compared()) {
                continue;
            }
            Map<String, Double> medians = new LinkedHashMap<>();
            for (String contender : contenders.keySet()) {
                double[] own = of(contender, figure);
                if (own.length > 0) {
                    medians.put(contender, Spread.of(own).median());
                }
            }
            CategoryChart chart = chart(HEIGHT, "", figure.name() + ", median");
            chart.getStyler().setLegendVisible(false);
            chart.addSeries(
                    figure.name(), List.copyOf(medians.keySet()), List.copyOf(medians.values()));
            plots.put(figure.name(), chart);
        }
        return plots;
    }
}
