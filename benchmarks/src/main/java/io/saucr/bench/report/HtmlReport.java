package io.saucr.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.result.RunResult;
import io.saucr.ensemble.Table;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The results of runs as one HTML page that needs nothing else. Stateless. */
public final class HtmlReport {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STYLE =
            """
            body{font:15px/1.45 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;
             color:#1c2530;background:#fff}
            h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}
            table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
            th,td{padding:.25rem .6rem;border-bottom:1px solid #d7dde4;text-align:right;
             white-space:nowrap}
            th:first-child,td:first-child{text-align:left}
            pre{font:12px ui-monospace,monospace;overflow-x:auto}
            svg{max-width:100%;height:auto}p.note{color:#53606e}p.warning{color:#b3231c}
            summary{cursor:pointer}
            """;

    private HtmlReport() {}

    /** The whole page, with a section for each run. */
    public static String page(List<RunResult> results) throws IOException {
        StringBuilder page = new StringBuilder();
        page.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>Benchmarks</title><style>")
                .append(STYLE)
                .append("</style></head><body><h1>Benchmarks</h1>");
        if (results.size() > 1) {
            page.append("<p>")
                    .append(
                            results.stream()
                                    .map(
                                            result ->
                                                    "<a href=\"#%s\">%s</a>"
                                                            .formatted(
                                                                    escape(result.title()),
                                                                    escape(result.title())))
                                    .collect(Collectors.joining(" · ")))
                    .append("</p>");
        }
        for (RunResult result : results) {
            section(page, result);
        }
        return page.append("</body></html>\n").toString();
    }

    private static void section(StringBuilder page, RunResult result) throws IOException {
        page.append("<h2 id=\"").append(escape(result.title())).append("\">");
        page.append(escape(result.title())).append("</h2>");
        note(page, result.begun() + "; " + result.machine());
        for (String remark : PaperFigures.remarks(result.title())) {
            note(page, "In the paper: " + remark);
        }
        for (Map.Entry<String, String> plot : plots(page, result).entrySet()) {
            page.append("<figure>")
                    .append(plot.getValue())
                    .append("<figcaption>")
                    .append(escape(plot.getKey()))
                    .append("</figcaption></figure>\n");
        }
        for (Results.Section each : Results.sections(result)) {
            table(page, each.table());
            if (!each.note().isEmpty()) {
                note(page, each.note());
            }
        }
        for (String warning : Results.warnings(result.slices())) {
            page.append("<p class=\"warning\">").append(escape(warning)).append("</p>");
        }
        page.append("<details><summary>Plan and machine</summary><pre>")
                .append(escape(plan(result)))
                .append("</pre></details>\n");
    }

    private static Map<String, String> plots(StringBuilder page, RunResult result)
            throws IOException {
        Map<String, String> plots = Plots.of(result);
        if (plots.isEmpty() && !result.slices().isEmpty()) {
            note(page, Plots.NO_FONTS);
        }
        return plots;
    }

    private static void table(StringBuilder page, Table table) {
        page.append("<table>");
        String cell = "th";
        for (List<String> row : table.rows()) {
            page.append("<tr>");
            for (String each : row) {
                page.append('<').append(cell).append('>').append(escape(each));
                page.append("</").append(cell).append('>');
            }
            page.append("</tr>\n");
            cell = "td";
        }
        page.append("</table>\n");
    }

    /** Text as it must stand in HTML. */
    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    private static void note(StringBuilder page, String text) {
        page.append("<p class=\"note\">").append(escape(text)).append("</p>");
    }

    private static String plan(RunResult result) throws IOException {
        return JSON.writerWithDefaultPrettyPrinter()
                .writeValueAsString(Map.of("plan", result.plan(), "machine", result.machine()));
    }
}
