package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.result.Machine;
import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import io.saucr.ensemble.Table;
import io.saucr.services.bench.Rounds.Measurement;
import java.awt.GraphicsEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;

/**
 * What applications showed that ran side by side: figures of each, and ratios to one of them in the
 * same rounds, as text, as a page with plots, and as JSON.
 */
final class RoundsReport {

    private static final int WIDTH = 860;
    private static final int HEIGHT = 320;

    private final Machine machine = Machine.here();
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
     * @param contenders who took part, and what each is
     * @param first with whom the others are compared
     * @param figures that are shown, in this order
     * @param measured in all rounds
     */
    RoundsReport(
            String title,
            Map<String, String> contenders,
            String first,
            List<Figure> figures,
            List<Measurement> measured) {
        this.title = title;
        this.contenders = contenders;
        this.first = first;
        this.figures = figures;
        this.measured = measured;
    }

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
            text.append("Ratios: Hodges-Lehmann over rounds, with the confidence interval of the")
                    .append(" signed-rank test.\n");
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
                                "["
                                        + Numbers.number(ratio.low())
                                        + ", "
                                        + Numbers.number(ratio.high())
                                        + "]");
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

    private static String spread(Spread spread) {
        return Numbers.number(spread.median())
                + " ["
                + Numbers.number(spread.lowerQuartile())
                + ", "
                + Numbers.number(spread.upperQuartile())
                + "]";
    }

    /**
     * Writes table.txt, report.html and result.json.
     *
     * @param folder is made where missing
     */
    void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("table.txt"), text());
        Files.writeString(folder.resolve("report.html"), page());
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("title", title);
        content.put("machine", machine);
        content.put("contenders", contenders);
        content.put("measurements", measured);
        new ObjectMapper()
                .writerWithDefaultPrettyPrinter()
                .writeValue(folder.resolve("result.json").toFile(), content);
    }

    private String page() throws IOException {
        StringBuilder page = new StringBuilder();
        page.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>")
                .append(title)
                .append("</title><style>body{font-family:sans-serif;max-width:75rem;")
                .append("margin:1rem auto}pre{overflow-x:auto}</style></head><body><h1>")
                .append(title)
                .append("</h1>");
        for (Figure figure : figures) {
            if (figure.compared()) {
                page.append("<h2>").append(figure.name()).append("</h2>").append(plot(figure));
            }
        }
        String text = text().replace("&", "&amp;").replace("<", "&lt;");
        return page.append("<pre>").append(text).append("</pre></body></html>\n").toString();
    }

    /** Medians side by side. */
    private String plot(Figure figure) throws IOException {
        if (GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames().length
                == 0) {
            return "<p>No plot: this machine has no fonts to draw text with. All values are below.</p>";
        }
        CategoryChart chart =
                new CategoryChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .yAxisTitle(figure.name() + ", median")
                        .build();
        chart.getStyler().setPlotGridVerticalLinesVisible(false);
        chart.getStyler().setLegendVisible(false);
        List<String> names = new ArrayList<>();
        List<Double> medians = new ArrayList<>();
        for (String contender : contenders.keySet()) {
            double[] own = of(contender, figure);
            if (own.length > 0) {
                names.add(contender);
                medians.add(Spread.of(own).median());
            }
        }
        chart.addSeries(figure.name(), names, medians);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        VectorGraphicsEncoder.saveVectorGraphic(chart, bytes, VectorGraphicsFormat.SVG);
        String svg = bytes.toString(StandardCharsets.UTF_8);
        return svg.substring(svg.indexOf("<svg"));
    }
}
