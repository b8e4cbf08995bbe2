package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.result.Machine;
import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Spread;
import java.awt.GraphicsEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;

/** What a run showed, as text, as a page with plots, and as JSON. */
abstract class Report {

    /** How ratios come about. */
    static final String RATIOS =
            "Ratios: Hodges-Lehmann over rounds, with the confidence interval of the signed-rank test.\n";

    private static final int WIDTH = 860;

    /** That it was measured on. */
    final Machine machine = Machine.here();

    private final String title;

    Report(String title) {
        this.title = title;
    }

    /** All that it says. */
    abstract String text();

    /** Each plot under its heading. */
    abstract Map<String, CategoryChart> plots();

    /** What result.json has besides the machine. */
    abstract Map<String, Object> content();

    /**
     * Writes table.txt, report.html and result.json.
     *
     * @param folder is made where missing
     */
    void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("table.txt"), text());
        Files.writeString(folder.resolve("report.html"), page());
        Map<String, Object> all = new LinkedHashMap<>(content());
        all.put("machine", machine);
        new ObjectMapper()
                .writerWithDefaultPrettyPrinter()
                .writeValue(folder.resolve("result.json").toFile(), all);
    }

    private String page() throws IOException {
        StringBuilder page =
                new StringBuilder(
                        """
                        <!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title><style>
                        body{font-family:sans-serif;max-width:75rem;margin:1rem auto}pre{overflow-x:auto}
                        </style></head><body><h1>%<s</h1>
                        """
                                .formatted(title));
        for (Map.Entry<String, CategoryChart> each : plots().entrySet()) {
            page.append("<h2>").append(each.getKey()).append("</h2>").append(svg(each.getValue()));
        }
        String text = text().replace("&", "&amp;").replace("<", "&lt;");
        return page.append("<pre>").append(text).append("</pre></body></html>\n").toString();
    }

    /** An empty chart for medians of contenders, side by side. */
    static CategoryChart chart(int height, String x, String y) {
        CategoryChart chart =
                new CategoryChartBuilder()
                        .width(WIDTH)
                        .height(height)
                        .xAxisTitle(x)
                        .yAxisTitle(y)
                        .build();
        chart.getStyler().setPlotGridVerticalLinesVisible(false);
        return chart;
    }

    private static String svg(CategoryChart chart) throws IOException {
        if (GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames().length
                == 0) {
            return "<p>No plot: this machine has no fonts to draw text with. All values are below.</p>";
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        VectorGraphicsEncoder.saveVectorGraphic(chart, bytes, VectorGraphicsFormat.SVG);
        String svg = bytes.toString(StandardCharsets.UTF_8);
        return svg.substring(svg.indexOf("<svg"));
    }

    /** Median and quartiles. */
    static String spread(Spread spread) {
        return Numbers.number(spread.median())
                + " "
                + interval(spread.lowerQuartile(), spread.upperQuartile());
    }

    static String interval(PairedRatio ratio) {
        return interval(ratio.low(), ratio.high());
    }

    static String interval(double low, double high) {
        return "[%s, %s]".formatted(Numbers.number(low), Numbers.number(high));
    }
}
