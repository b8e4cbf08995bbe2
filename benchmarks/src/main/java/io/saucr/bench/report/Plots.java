package io.saucr.bench.report;

import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.DeviceProfile;
import io.saucr.bench.result.FlappingSample;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Samples;
import io.saucr.bench.result.Slice;
import io.saucr.bench.result.SlowDiskVerdict;
import io.saucr.bench.result.Spread;
import io.saucr.bench.result.TimeSample;
import io.saucr.bench.result.Timeline;
import io.saucr.bench.result.TimelineEvent;
import io.saucr.bench.result.TimelinePoint;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.GraphicsEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** What a run measured, as SVG. Stateless. */
final class Plots {
    static final String NO_FONTS =
            "No plots: this machine has no fonts to draw text with (install fontconfig and a font, such"
                    + " as fonts-dejavu-core); all values are in the tables.";

    private static final int WIDTH = 860;
    private static final int HEIGHT = 380;
    private static final double WIDEST_LINEAR = 20;
    private static final Color GRID = new Color(0xe4e7ea);
    private static final Pattern LONG_NUMBER = Pattern.compile("-?\\d+\\.\\d{3,}(?![\\dE])");

    private static final Color[] COLORS = {
        new Color(0x1b6ca8), new Color(0xd1495b), new Color(0x66a182),
        new Color(0xedae49), new Color(0x7d5ba6), new Color(0x444f5a)
    };

    private Plots() {}

    /** Whether there are fonts; without, nothing can be drawn. */
    private static boolean canDraw() {
        try {
            return GraphicsEnvironment.getLocalGraphicsEnvironment()
                            .getAvailableFontFamilyNames()
                            .length
                    > 0;
        } catch (RuntimeException | LinkageError | InternalError e) {
            return false; // What the JDK throws here depends on which library is missing.
        }
    }

    /**
     * The plots of a result by their names; none if there is nothing to plot, or {@link #NO_FONTS}.
     */
    static Map<String, String> of(RunResult result) throws IOException {
        Map<String, String> plots = new LinkedHashMap<>();
        if (!canDraw()) {
            return plots;
        }
        if (!result.slices().isEmpty()) {
            Comparison comparison = new Comparison(result.slices());
            for (DeviceProfile device : DeviceProfile.values()) {
                List<Case> cases =
                        comparison.cases().stream().filter(c -> c.device() == device).toList();
                if (!cases.isEmpty()) {
                    addCases(plots, result.title(), comparison, cases);
                }
            }
        }
        for (Timeline line : Timeline.of(result)) {
            plots.put(
                    fileName(result.title() + "-" + line.configuration() + "-" + line.round()),
                    svg(timeline(line)));
        }
        // Four times of each case would be too many to read; that table has one line for each.
        if (!result.times().isEmpty() && SlowDiskVerdict.of(result.times()).isEmpty()) {
            plots.put(result.title(), svg(times(result.times())));
        }
        List<Samples.Ratio> flapping = FlappingSample.compared(result.flapping()).ratios();
        if (!flapping.isEmpty()) {
            plots.put(
                    result.title(),
                    svg(
                            ratios(
                                    " while a server flaps",
                                    "multiple",
                                    flapping,
                                    Samples.Ratio::measure)));
        }
        List<Samples.Ratio> rates =
                BurstSample.compared(result.bursts()).ratios().stream()
                        .filter(BurstSample::isRate)
                        .toList();
        if (!rates.isEmpty()) {
            plots.put(
                    result.title(),
                    svg(
                            ratios(
                                    " while very much comes at once",
                                    "multiple of operations/s",
                                    rates,
                                    Samples.Ratio::subject)));
        }
        return plots;
    }

    private static String fileName(String text) {
        return text.replaceAll("[^\\w.-]", "_");
    }

    // ---- Slices ----

    /**
     * What may vary between cases: each becomes the x axis of a plot of the cases that differ in
     * nothing else.
     *
     * @param costs whether plots of what an operation costs are worth their room
     */
    private record Axis(String name, ToDoubleFunction<Case> value, boolean costs) {
        private static final List<Axis> ALL =
                List.of(
                        new Axis("offered operations/s", Case::rate, false),
                        new Axis("clients", Case::clients, false),
                        new Axis("servers", Case::voters, false),
                        new Axis("bytes of a value", Case::valueBytes, true),
                        new Axis("observers", each -> each.sizes().observers(), true),
                        new Axis("znodes", each -> each.sizes().znodes(), true),
                        new Axis("idle sessions", each -> each.sizes().sessions(), true),
                        new Axis("watches", each -> each.sizes().watches(), true),
                        new Axis("recursive watchers", each -> each.sizes().watchers(), true));

        double of(Case each) {
            return value.applyAsDouble(each);
        }

        /** The cases by what they have on the other axes, if they differ on this one. */
        Collection<List<Case>> lines(List<Case> cases) {
            Map<List<Double>, List<Case>> lines =
                    cases.stream()
                            .sorted(Comparator.comparingDouble(value))
                            .collect(
                                    Collectors.groupingBy(
                                            each ->
                                                    ALL.stream()
                                                            .filter(axis -> !axis.name.equals(name))
                                                            .map(axis -> axis.of(each))
                                                            .toList(),
                                            LinkedHashMap::new,
                                            Collectors.toList()));
            return lines.values().stream()
                    .filter(line -> line.stream().mapToDouble(value).distinct().count() > 1)
                    .toList();
        }
    }

    private static void addCases(
            Map<String, String> plots, String title, Comparison comparison, List<Case> cases)
            throws IOException {
        String device = Results.device(cases.get(0));
        List<Axis> axes = Axis.ALL.stream().filter(axis -> !axis.lines(cases).isEmpty()).toList();
        if (axes.isEmpty()) {
            plots.put(title + "-" + device, svg(bars(title, comparison, cases)));
            return;
        }
        List<String> workloads = cases.stream().map(Case::workload).distinct().toList();
        for (String workload : workloads) {
            List<Case> own = cases.stream().filter(c -> c.workload().equals(workload)).toList();
            String name = title + "-" + device + (workloads.size() > 1 ? "-" + workload : "");
            String heading = title + ", " + device + ", " + workload;
            for (Axis axis : axes) {
                int number = 0;
                for (List<Case> line : axis.lines(own)) {
                    String of = axes.size() > 1 ? "-" + axis.name : "";
                    String more = number++ == 0 ? "" : "-" + number;
                    addLines(plots, fileName(name + of + more), heading, axis, comparison, line);
                }
            }
        }
    }

    private static void addLines(
            Map<String, String> plots,
            String name,
            String heading,
            Axis axis,
            Comparison comparison,
            List<Case> line)
            throws IOException {
        Map<String, Map<String, ToDoubleFunction<Slice>>> values = new LinkedHashMap<>();
        values.put("operations/s", Map.of("", Slice::throughput));
        Map<String, ToDoubleFunction<Slice>> latencies = new LinkedHashMap<>();
        latencies.put(" p50", Slice::p50Millis);
        latencies.put(" p99", Slice::p99Millis);
        values.put("latency (ms)", latencies);
        if (axis.costs) {
            values.put("CPU of the servers (us/operation)", Map.of("", Slice::serverCpuMicros));
            values.put("read and write calls/operation", Map.of("", Slice::callsPerOperation));
        }
        for (Map.Entry<String, Map<String, ToDoubleFunction<Slice>>> each : values.entrySet()) {
            String suffix =
                    each.getKey().equals("operations/s")
                            ? ""
                            : "-" + each.getKey().replaceAll("\\W.*", "");
            plots.put(
                    name + suffix,
                    svg(lines(heading, each.getKey(), axis, comparison, line, each.getValue())));
        }
    }

    private static XYChart lines(
            String title,
            String what,
            Axis axis,
            Comparison comparison,
            List<Case> cases,
            Map<String, ToDoubleFunction<Slice>> values) {
        XYChart chart = xy(title, axis.name, what);
        List<Double> seen = new ArrayList<>();
        List<Double> x = cases.stream().map(axis::of).toList();
        for (String configuration : comparison.slices(cases.get(0)).keySet()) {
            values.forEach(
                    (suffix, value) -> {
                        List<Double> y = new ArrayList<>();
                        for (Case each : cases) {
                            y.add(comparison.spread(each, configuration, value).median());
                        }
                        seen.addAll(y);
                        var series = chart.addSeries(configuration + suffix, x, y);
                        if (suffix.endsWith("p99")) {
                            series.setLineStyle(SeriesLines.DASH_DASH);
                        }
                    });
        }
        chart.getStyler().setYAxisLogarithmic(wide(seen));
        chart.getStyler().setXAxisLogarithmic(wide(x));
        return chart;
    }

    private static boolean wide(List<Double> values) {
        double least = values.stream().mapToDouble(Double::doubleValue).min().orElse(1);
        double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        return least > 0 && most / least > WIDEST_LINEAR;
    }

    private static CategoryChart bars(String title, Comparison comparison, List<Case> cases) {
        CategoryChart chart = category(title + ", " + Results.device(cases.get(0)), "operations/s");
        List<Double> seen = new ArrayList<>();
        for (String configuration : comparison.slices(cases.get(0)).keySet()) {
            List<Double> medians = new ArrayList<>();
            List<Double> quartiles = new ArrayList<>();
            for (Case each : cases) {
                Spread spread = comparison.spread(each, configuration, Slice::throughput);
                medians.add(spread.median());
                quartiles.add(
                        Math.min(
                                spread.median() / 2,
                                (spread.upperQuartile() - spread.lowerQuartile()) / 2));
            }
            seen.addAll(medians);
            chart.addSeries(
                    configuration, cases.stream().map(Case::workload).toList(), medians, quartiles);
        }
        if (wide(seen)) {
            double least = seen.stream().mapToDouble(Double::doubleValue).min().orElse(1);
            chart.getStyler().setYAxisLogarithmic(true);
            chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least / 2))));
        }
        return chart;
    }

    // ---- Timelines and times ----

    private static XYChart timeline(Timeline line) {
        XYChart chart =
                xy(line.configuration() + ", round " + line.round(), "seconds", "operations/s");
        List<Double> x = line.points().stream().map(TimelinePoint::seconds).toList();
        double most = 1;
        for (String mode : line.points().stream().map(TimelinePoint::mode).distinct().toList()) {
            List<Double> y = new ArrayList<>();
            for (TimelinePoint point : line.points()) {
                y.add(point.mode().equals(mode) ? point.throughput() : Double.NaN);
                most = Math.max(most, point.throughput());
            }
            chart.addSeries(mode.equals("-") ? "no mode" : mode + " mode", x, y)
                    .setMarker(SeriesMarkers.CIRCLE);
        }
        int number = 0;
        for (TimelineEvent event : line.events()) {
            chart.addSeries(
                            ++number + ": " + event.what(),
                            List.of(event.seconds(), event.seconds()),
                            List.of(0.0, most))
                    .setMarker(SeriesMarkers.NONE)
                    .setLineStyle(SeriesLines.DOT_DOT)
                    .setLineColor(Color.GRAY);
        }
        chart.getStyler().setMarkerSize(4);
        return chart;
    }

    private static CategoryChart times(List<TimeSample> samples) {
        CategoryChart chart = category("", "seconds, median");
        Map<String, Map<String, Double>> medians = new LinkedHashMap<>();
        List<String> measures = samples.stream().map(TimeSample::measure).distinct().toList();
        for (Samples.Row row : TimeSample.compared(samples).rows()) {
            medians.computeIfAbsent(row.configuration(), name -> new LinkedHashMap<>())
                    .put(row.subject(), Spread.of(row.array()).median());
        }
        medians.forEach(
                (name, own) ->
                        chart.addSeries(
                                name,
                                measures,
                                measures.stream()
                                        .map(each -> own.getOrDefault(each, 0.0))
                                        .toList()));
        return chart;
    }

    /**
     * The first configuration as a multiple of the others.
     *
     * @param what what each bar is of
     */
    private static CategoryChart ratios(
            String title,
            String y,
            List<Samples.Ratio> ratios,
            Function<Samples.Ratio, String> what) {
        CategoryChart chart = category(ratios.get(0).configuration() + title, y);
        for (String other : ratios.stream().map(Samples.Ratio::other).distinct().toList()) {
            List<Samples.Ratio> own =
                    ratios.stream().filter(each -> each.other().equals(other)).toList();
            chart.addSeries(
                    "of " + other,
                    own.stream().map(what).toList(),
                    own.stream().map(each -> each.ratio().ratio()).toList(),
                    own.stream()
                            .map(each -> each.ratio().relativeHalfWidth() * each.ratio().ratio())
                            .toList());
        }
        return chart;
    }

    private static XYChart xy(String title, String x, String y) {
        XYChart chart =
                new XYChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .xAxisTitle(x)
                        .yAxisTitle(y)
                        .build();
        style(chart.getStyler());
        return chart;
    }

    private static CategoryChart category(String title, String y) {
        CategoryChart chart =
                new CategoryChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .yAxisTitle(y)
                        .build();
        style(chart.getStyler());
        return chart;
    }

    private static void style(AxesChartStyler styler) {
        styler.setChartBackgroundColor(Color.WHITE);
        // A path for each dash would be most of the file.
        styler.setPlotGridLinesStroke(new BasicStroke(1));
        styler.setPlotGridLinesColor(GRID);
        styler.setSeriesColors(COLORS);
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setLegendFont(styler.getLegendFont().deriveFont(11f));
    }

    private static String svg(Chart<?, ?> chart) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        VectorGraphicsEncoder.saveVectorGraphic(chart, bytes, VectorGraphicsFormat.SVG);
        String svg = bytes.toString(StandardCharsets.UTF_8);
        return rounded(svg.substring(svg.indexOf("<svg")));
    }

    /** Rounds coordinates to hundredths of a pixel, which makes the text half as long. */
    private static String rounded(String svg) {
        return LONG_NUMBER
                .matcher(svg)
                .replaceAll(
                        number ->
                                new BigDecimal(number.group())
                                        .setScale(2, RoundingMode.HALF_UP)
                                        .stripTrailingZeros()
                                        .toPlainString());
    }
}
