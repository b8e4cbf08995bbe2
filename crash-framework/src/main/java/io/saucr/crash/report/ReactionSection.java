package io.saucr.crash.report;

import io.saucr.crash.paper.ReactionPoint;
import io.saucr.crash.paper.ReactionTable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Figure 11 of the paper: a plot for each heartbeat interval, and its numbers. Stateless. */
final class ReactionSection {
    private ReactionSection() {}

    static void append(StringBuilder page, List<ReactionPoint> points) throws IOException {
        page.append(
                        "<h2>All servers lose power, one after the other</h2><p class=\"note\">From fast")
                .append(
                        " mode, under load. A server is safe if its disk held everything that it had")
                .append(" acknowledged when its power went. If as many as the dashed line says are")
                .append(" safe, the ensemble serves again. Averages over the repetitions; the gap")
                .append(
                        " shown is the planned one. The paper's interval is 50 ms: safe above 30 ms")
                .append(" leader first, above 50 ms followers first.</p>");
        ReactionTable.of(points).forEach(table -> append(page, table));
        for (List<ReactionPoint> plot :
                points.stream()
                        .collect(
                                Collectors.groupingBy(
                                        p -> p.servers() * 1_000_000L + p.heartbeatMillis(),
                                        TreeMap::new,
                                        Collectors.toList()))
                        .values()) {
            page.append(plot(plot));
        }
    }

    private static void append(StringBuilder page, ReactionTable table) {
        page.append("<table><tr><th>").append(table.servers()).append(" servers</th>");
        table.gapsMillis().forEach(gap -> page.append("<th>").append(gap).append(" ms</th>"));
        page.append("</tr>");
        for (ReactionTable.Row row : table.rows()) {
            page.append("<tr><td>").append(Report.escape(row.name())).append("</td>");
            for (Optional<ReactionTable.Cell> cell : row.cells()) {
                boolean always = cell.map(ReactionTable.Cell::always).orElse(true);
                page.append(always ? "<td class=\"ok\">" : "<td class=\"na\">")
                        .append(cell.map(ReactionTable.Cell::words).orElse(""))
                        .append("</td>");
            }
            page.append("</tr>");
        }
        page.append("</table><p class=\"note\">\"!\": in some repetition fewer were safe than the ")
                .append(table.needed())
                .append(" that are needed.</p>");
    }

    /** Draws the points of one heartbeat interval, as SVG. */
    private static String plot(List<ReactionPoint> points) throws IOException {
        ReactionPoint any = points.get(0);
        XYChart chart =
                new XYChartBuilder()
                        .width(800)
                        .height(360)
                        .title(
                                "%s servers, heartbeat %s ms"
                                        .formatted(any.servers(), any.heartbeatMillis()))
                        .xAxisTitle("time between failures (ms)")
                        .yAxisTitle("servers safe on disk")
                        .build();
        chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideSE);
        chart.getStyler().setYAxisMin(0.0).setYAxisMax((double) any.servers());
        chart.getStyler().setChartBackgroundColor(java.awt.Color.WHITE);
        points.stream()
                .collect(
                        Collectors.groupingBy(
                                ReactionPoint::order, TreeMap::new, Collectors.toList()))
                .forEach(
                        (order, line) -> {
                            TreeMap<Long, Double> byGap =
                                    line.stream()
                                            .collect(
                                                    Collectors.groupingBy(
                                                            ReactionPoint::gapMillis,
                                                            TreeMap::new,
                                                            Collectors.averagingInt(
                                                                    ReactionPoint::safe)));
                            chart.addSeries(
                                    order,
                                    new ArrayList<>(byGap.keySet()),
                                    new ArrayList<>(byGap.values()));
                        });
        double last = points.stream().mapToLong(ReactionPoint::gapMillis).max().orElse(0);
        chart.addSeries("needed", new double[] {0, last}, new double[] {any.needed(), any.needed()})
                .setMarker(SeriesMarkers.NONE)
                .setLineStyle(org.knowm.xchart.style.lines.SeriesLines.DASH_DASH);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        VectorGraphicsEncoder.saveVectorGraphic(chart, bytes, VectorGraphicsFormat.SVG);
        String svg = bytes.toString(StandardCharsets.UTF_8);
        String caption =
                ("%s servers, heartbeat %s ms: servers safe on disk by the time"
                                + " between failures")
                        .formatted(any.servers(), any.heartbeatMillis());
        return "<figure>%s<figcaption>%s</figcaption></figure>"
                .formatted(svg.substring(svg.indexOf("<svg")), caption);
    }
}
