package io.saucr.crash.report;

import static io.saucr.crash.report.Report.escape;
import static io.saucr.crash.report.Report.seconds;

import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.nemesis.NemesisOutcome.Injected;
import io.saucr.crash.nemesis.NemesisOutcome.Refusal;
import io.saucr.crash.nemesis.NemesisOutcome.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Clients under faults: one line a run, with the faults of each. Stateless. */
final class NemesisSection {
    private static final int CHART_WIDTH = 900;
    private static final Map<String, String> COLOURS = new LinkedHashMap<>();

    static {
        COLOURS.put("partition", "#7a4fbf");
        COLOURS.put("pause", "#c98a00");
        COLOURS.put("kill", "#d9541e");
        COLOURS.put("power-cut", "#b3231c");
        COLOURS.put("slow-disk", "#2b5f9e");
        COLOURS.put("all-processes", "#6b2b1c");
        COLOURS.put("refused-write", "#0f7c8a");
        COLOURS.put("hung-disk", "#5d7fb0");
        COLOURS.put("lost-log", "#a0408f");
        COLOURS.put("lost-disk", "#5e1250");
        COLOURS.put("stop", "#4f7a2f");
        COLOURS.put("move-leader", "#8a9a1c");
    }

    private NemesisSection() {}

    static void append(StringBuilder page, List<NemesisOutcome> outcomes) {
        page.append(
                        "<h2>Clients under faults</h2><p class=\"note\">Each run: concurrent clients read")
                .append(" (sync, then read), write and compare-and-set registers while servers are")
                .append(" broken; afterwards every register is read once more. A history is")
                .append(" linearizable if all its calls fit into one order that real time allows. ")
                .append(
                        outcomes.stream()
                                .collect(
                                        Collectors.groupingBy(
                                                o -> o.verdict(),
                                                java.util.TreeMap::new,
                                                Collectors.counting()))
                                .entrySet()
                                .stream()
                                .map(e -> words(e.getKey()) + ": " + e.getValue())
                                .collect(Collectors.joining("; ")))
                .append(
                        ".</p><table><tr><th>system</th><th>servers</th><th>seed</th><th>seconds</th>")
                .append("<th class=\"l\">back end</th><th class=\"l\">verdict</th><th>ok</th>")
                .append("<th>failed</th><th>unknown</th><th>faults</th><th>registers</th>")
                .append("<th>configurations</th></tr>");
        for (NemesisOutcome outcome : outcomes) {
            page.append("<tr><td>").append(escape(outcome.system() + " " + outcome.version()));
            page.append("</td><td>").append(outcome.servers());
            page.append("</td><td>").append(outcome.seed());
            page.append("</td><td>").append(outcome.seconds());
            page.append("</td><td class=\"l\">").append(escape(outcome.backend()));
            page.append("</td><td class=\"l\">").append(verdict(outcome.verdict()));
            page.append("</td><td>").append(outcome.ok());
            page.append("</td><td>").append(outcome.failed());
            page.append("</td><td>").append(outcome.unknown());
            page.append("</td><td>").append(outcome.injected().size());
            page.append("</td><td>").append(outcome.registers());
            page.append("</td><td>").append(outcome.configurations()).append("</td></tr>");
        }
        page.append("</table>");
        for (NemesisOutcome outcome : outcomes) {
            boolean good = outcome.verdict() == Verdict.LINEARIZABLE;
            page.append(good ? "<details>" : "<details open>");
            page.append("<summary>").append(verdict(outcome.verdict()));
            page.append(" &nbsp; ").append(escape(outcome.key())).append("</summary>");
            if (!good) {
                page.append("<p>").append(escape(outcome.reason())).append("</p><ul>");
                for (String call : outcome.evidence()) {
                    page.append("<li><code>").append(escape(call)).append("</code></li>");
                }
                page.append("</ul>");
            }
            timeline(page, outcome);
            if (!outcome.refusals().isEmpty()) {
                page.append("<p>Servers that did not serve, and why:</p><ul>");
                for (Refusal refusal : outcome.refusals()) {
                    page.append("<li>").append(seconds(refusal.millis())).append(" s, server ");
                    page.append(refusal.server()).append(": ").append(escape(refusal.why()));
                    page.append("</li>");
                }
                page.append("</ul>");
            }
            page.append("<p class=\"note\">history: <code>histories/")
                    .append(escape(outcome.history()))
                    .append("</code></p></details>");
        }
    }

    /** A tick for each server that a fault touched, at its time. */
    private static void timeline(StringBuilder page, NemesisOutcome outcome) {
        int height = 18 * outcome.servers() + 24;
        double scale = (CHART_WIDTH - 70.0) / Math.max(1, outcome.seconds() * 1000 + 10_000);
        page.append("<svg class=\"own\" viewBox=\"0 0 " + CHART_WIDTH + " ")
                .append(height)
                .append("\" role=\"img\" aria-label=\"faults by server and time\">");
        for (int id = 1; id <= outcome.servers(); id++) {
            page.append(
                    String.format(
                            Locale.ROOT,
                            "<text x=\"0\" y=\"%d\">server %d</text><line x1=\"70\" x2=\"%d\""
                                    + " y1=\"%d\" y2=\"%d\" stroke=\"#d7dde4\"/>",
                            18 * id,
                            id,
                            CHART_WIDTH,
                            18 * id - 4,
                            18 * id - 4));
        }
        for (Injected injected : outcome.injected()) {
            String colour = COLOURS.getOrDefault(injected.fault(), "#197741");
            for (int id : injected.servers()) {
                page.append(
                        String.format(
                                Locale.ROOT,
                                "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"><title>%s at %s"
                                        + " s</title></circle>",
                                70 + injected.millis() * scale,
                                18 * id - 4,
                                colour,
                                escape(injected.fault()),
                                seconds(injected.millis())));
            }
        }
        int x = 70;
        for (Map.Entry<String, String> colour : COLOURS.entrySet()) {
            page.append(
                    String.format(
                            Locale.ROOT,
                            "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/><text x=\"%d\""
                                    + " y=\"%d\">%s</text>",
                            x,
                            height - 10,
                            colour.getValue(),
                            x + 8,
                            height - 6,
                            colour.getKey()));
            x += 90;
        }
        page.append("</svg>");
    }

    private static String verdict(Verdict verdict) {
        String style =
                switch (verdict) {
                    case LINEARIZABLE -> "ok";
                    case NOT_LINEARIZABLE -> "loss";
                    case UNKNOWN, UNAVAILABLE -> "na";
                };
        return "<span class=\"" + style + "\">" + words(verdict) + "</span>";
    }

    static String words(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
