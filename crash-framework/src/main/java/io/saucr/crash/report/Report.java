package io.saucr.crash.report;

import java.io.IOException;
import java.util.Locale;

/** The results of campaigns as one HTML page that needs nothing else. Stateless. */
public final class Report {
    private static final String STYLE =
            """
            body{font:15px/1.45 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;
             color:#1c2530;background:#fff}
            h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}
            table{border-collapse:collapse}th,td{padding:.3rem .8rem;border-bottom:1px solid #d7dde4;
             text-align:right}th:first-child,td:first-child{text-align:left}
            td.l,th.l{text-align:left}.ok{color:#197741}.na{color:#9a6200}.loss{color:#b3231c;
             font-weight:600}code{font:13px ui-monospace,monospace}
            details{margin:.5rem 0;border-left:3px solid #d7dde4;padding-left:.8rem}
            summary{cursor:pointer}svg{max-width:100%}
            svg.own text{font:11px system-ui,sans-serif;fill:#1c2530}p.note{color:#53606e}
            """;

    private Report() {}

    /** The whole page, with a section for each kind of result that there is. */
    public static String html(Results results) throws IOException {
        StringBuilder page = new StringBuilder();
        page.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>Crash tests</title><style>")
                .append(STYLE)
                .append("</style></head><body><h1>Crash tests</h1>");
        if (!results.sequences().isEmpty()) {
            SequenceSection.append(page, results.sequences());
        }
        if (!results.nemesis().isEmpty()) {
            NemesisSection.append(page, results.nemesis());
        }
        if (!results.figure11().isEmpty()) {
            ReactionSection.append(page, results.figure11());
        }
        page.append("</body></html>\n");
        return page.toString();
    }

    static String seconds(long millis) {
        return String.format(Locale.ROOT, "%.1f", millis / 1000.0);
    }

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
