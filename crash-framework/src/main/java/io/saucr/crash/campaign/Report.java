package io.saucr.crash.campaign;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The outcomes of a campaign as one HTML page that needs nothing else: the table of systems, the
 * graph of cluster states with the steps that were taken, and a timeline for each sequence that was
 * not correct. Stateless.
 */
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
            summary{cursor:pointer}svg text{font:11px system-ui,sans-serif;fill:#1c2530}
            p.note{color:#53606e}
            """;

    private static final int CHART_WIDTH = 900;
    private static final int LABEL_WIDTH = 70;

    private Report() {}

    /** The whole page. */
    public static String html(List<Outcome> outcomes) {
        StringBuilder page = new StringBuilder();
        page.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>Crash sequences</title><style>")
                .append(STYLE)
                .append("</style></head><body><h1>Cluster-state sequences</h1>");
        summary(page, outcomes);
        suspicious(page, outcomes);
        graph(page, outcomes);
        failures(page, outcomes);
        page.append("<h2>All sequences</h2><table><tr><th>system</th><th>servers</th>")
                .append("<th class=\"l\">faults</th><th class=\"l\">sequence</th>")
                .append("<th class=\"l\">verdict</th><th>acknowledged</th><th>seconds</th></tr>");
        for (Outcome outcome : outcomes) {
            page.append("<tr><td>").append(escape(outcome.system()));
            page.append("</td><td>").append(outcome.servers());
            page.append("</td><td class=\"l\">").append(escape(outcome.plan()));
            page.append("</td><td class=\"l\"><code>")
                    .append(escape(outcome.sequence().toString()));
            page.append("</code></td><td class=\"l\">").append(verdict(outcome.verdict()));
            page.append("</td><td>").append(outcome.acknowledged());
            page.append("</td><td>").append(seconds(outcome.millis())).append("</td></tr>");
        }
        page.append("</table></body></html>\n");
        return page.toString();
    }

    private static void summary(StringBuilder page, List<Outcome> outcomes) {
        Map<List<String>, List<Outcome>> groups = new LinkedHashMap<>();
        for (Outcome outcome : outcomes) {
            groups.computeIfAbsent(
                            List.of(
                                    outcome.system() + " " + outcome.version(),
                                    Integer.toString(outcome.servers()),
                                    outcome.plan(),
                                    outcome.backend()),
                            key -> new ArrayList<>())
                    .add(outcome);
        }
        page.append("<table><tr><th>system</th><th>servers</th><th class=\"l\">faults</th>")
                .append("<th class=\"l\">back end</th><th>sequences</th><th>correct</th>")
                .append("<th>unavailable</th><th>of these too few recovered</th>")
                .append("<th>data loss</th><th>seconds each</th></tr>");
        groups.forEach(
                (key, group) -> {
                    page.append("<tr><td>").append(escape(key.get(0)));
                    page.append("</td><td>").append(key.get(1));
                    page.append("</td><td class=\"l\">").append(escape(key.get(2)));
                    page.append("</td><td class=\"l\">").append(escape(key.get(3)));
                    page.append("</td><td>").append(group.size());
                    page.append("</td><td class=\"ok\">").append(count(group, Verdict.CORRECT));
                    page.append("</td><td class=\"na\">").append(count(group, Verdict.UNAVAILABLE));
                    page.append("</td><td>")
                            .append(group.stream().filter(Report::tooFewRecovered).count());
                    long losses = count(group, Verdict.DATA_LOSS);
                    page.append(losses > 0 ? "</td><td class=\"loss\">" : "</td><td>")
                            .append(losses);
                    double mean = group.stream().mapToLong(Outcome::millis).average().orElse(0);
                    page.append("</td><td>").append(seconds((long) mean)).append("</td></tr>");
                });
        page.append(
                        "</table><p class=\"note\">Only writes acknowledged before the next fault began")
                .append(" count. Unless the faults say \"young\", everything was made durable once")
                .append(
                        " before the first fault: stock ZooKeeper does not force its first snapshot,")
                .append(
                        " and after a power cut of a young ensemble may refuse to start. A system is")
                .append(
                        " counted under \"too few recovered\" where fewer than n minus a bare majority")
                .append(" of the servers were recovered at the end.</p>");
    }

    /** Fewer recovered servers than a recovery needs answers. */
    static boolean tooFewRecovered(Outcome outcome) {
        int majority = outcome.servers() / 2 + 1;
        int recovered = outcome.servers() - outcome.recovering().size();
        return outcome.verdict() == Verdict.UNAVAILABLE
                && !outcome.recovering().isEmpty()
                && recovered < outcome.servers() - majority;
    }

    private static void suspicious(StringBuilder page, List<Outcome> outcomes) {
        List<Outcome> strange =
                outcomes.stream()
                        .filter(o -> o.verdict() == Verdict.DATA_LOSS && !o.lossPossible())
                        .toList();
        if (!strange.isEmpty()) {
            page.append("<p class=\"loss\">")
                    .append(strange.size())
                    .append(" data losses although no majority of the servers that were up had")
                    .append(" lost its memory: a fault of the system under test that memory does")
                    .append(" not explain, or of this tester.</p>");
        }
    }

    private static void graph(StringBuilder page, List<Outcome> outcomes) {
        TreeMap<Integer, Map<List<String>, Integer>> steps = new TreeMap<>();
        for (Outcome outcome : outcomes) {
            Map<List<String>, Integer> taken =
                    steps.computeIfAbsent(outcome.servers(), n -> new HashMap<>());
            List<ClusterState> states = outcome.sequence().states();
            for (int i = 1; i < states.size(); i++) {
                taken.merge(
                        List.of(states.get(i - 1).toString(), states.get(i).toString()),
                        1,
                        Integer::sum);
            }
        }
        steps.forEach((n, taken) -> graph(page, n, taken));
    }

    private static void graph(StringBuilder page, int n, Map<List<String>, Integer> taken) {
        Map<String, double[]> places = new HashMap<>();
        int height = 90 * n + 30;
        for (int alive = 1; alive <= n; alive++) {
            List<String> level = new ArrayList<>();
            for (int bits = 1; bits < 1 << n; bits++) {
                if (Integer.bitCount(bits) == alive) {
                    StringBuilder name = new StringBuilder();
                    for (int id = 1; id <= n; id++) {
                        name.append((bits & (1 << (id - 1))) != 0 ? Integer.toString(id) : "");
                    }
                    level.add(name.toString());
                }
            }
            level.sort(null);
            for (int i = 0; i < level.size(); i++) {
                double x = (i + 0.5) * CHART_WIDTH / level.size();
                places.put(level.get(i), new double[] {x, 30 + 90.0 * (n - alive)});
            }
        }
        page.append("<h2>Graph of the states of ")
                .append(n)
                .append(" servers</h2><svg viewBox=\"0 0 ")
                .append(CHART_WIDTH)
                .append(' ')
                .append(height)
                .append("\" role=\"img\" aria-label=\"cluster states and the steps taken\">");
        int most = taken.values().stream().mapToInt(Integer::intValue).max().orElse(1);
        taken.forEach(
                (step, times) -> {
                    double[] from = places.get(step.get(0));
                    double[] to = places.get(step.get(1));
                    if (from != null && to != null) {
                        boolean crash = step.get(0).length() > step.get(1).length();
                        page.append(
                                String.format(
                                        Locale.ROOT,
                                        "<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\""
                                                + " stroke=\"%s\" stroke-opacity=\"%.2f\""
                                                + " stroke-width=\"%.1f\"><title>%s to %s: %d"
                                                + "</title></line>",
                                        from[0] + (crash ? -3 : 3),
                                        from[1],
                                        to[0] + (crash ? -3 : 3),
                                        to[1],
                                        crash ? "#b3231c" : "#197741",
                                        0.2 + 0.6 * times / most,
                                        1 + 3.0 * times / most,
                                        step.get(0),
                                        step.get(1),
                                        times));
                    }
                });
        boolean labelled = n <= 5;
        places.forEach(
                (name, place) -> {
                    boolean majority = name.length() > n / 2;
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"%d\" fill=\"%s\""
                                            + " stroke=\"#53606e\"><title>%s</title></circle>",
                                    place[0],
                                    place[1],
                                    labelled ? 19 : 5,
                                    majority ? "#e3f3e9" : "#f6ece9",
                                    name));
                    if (labelled) {
                        page.append(
                                String.format(
                                        Locale.ROOT,
                                        "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>",
                                        place[0],
                                        place[1] + 4,
                                        name));
                    }
                });
        page.append(
                        "</svg><p class=\"note\">Red: power cuts. Green: servers return. The wider, the")
                .append(" more often.</p>");
    }

    private static void failures(StringBuilder page, List<Outcome> outcomes) {
        List<Outcome> failed =
                outcomes.stream()
                        .filter(o -> o.verdict() != Verdict.CORRECT && !o.events().isEmpty())
                        .toList();
        page.append("<h2>Sequences that were not correct</h2>");
        if (failed.isEmpty()) {
            page.append("<p>None.</p>");
        }
        for (Outcome outcome : failed) {
            page.append("<details><summary>").append(verdict(outcome.verdict()));
            page.append(" &nbsp; ").append(escape(outcome.system()));
            page.append(" &nbsp; <code>").append(escape(outcome.sequence().toString()));
            page.append("</code> &nbsp; ").append(escape(outcome.plan()));
            page.append("</summary><p>").append(escape(outcome.reason()));
            if (!outcome.lost().isEmpty()) {
                page.append(": <code>");
                page.append(
                        escape(
                                String.join(
                                        " ",
                                        outcome.lost()
                                                .subList(0, Math.min(8, outcome.lostCount())))));
                page.append("</code>");
            }
            page.append("</p>");
            timeline(page, outcome);
            page.append("<table>");
            for (Outcome.Event event : outcome.events()) {
                page.append("<tr><td>").append(seconds(event.millis()));
                page.append("</td><td class=\"l\">").append(escape(event.kind()));
                page.append("</td><td class=\"l\"><code>").append(escape(event.servers()));
                page.append("</code></td><td class=\"l\">");
                event.details()
                        .forEach(
                                (key, value) ->
                                        page.append(escape(key))
                                                .append(": ")
                                                .append(escape(value))
                                                .append("; "));
                page.append("</td></tr>");
            }
            page.append("</table></details>");
        }
    }

    /** A bar for each time that a server had power; its mode, where it said one. */
    private static void timeline(StringBuilder page, Outcome outcome) {
        double scale = (double) (CHART_WIDTH - LABEL_WIDTH) / Math.max(1, outcome.millis());
        int height = 24 * outcome.servers() + 24;
        page.append("<svg viewBox=\"0 0 " + CHART_WIDTH + " ").append(height).append("\">");
        for (int id = 1; id <= outcome.servers(); id++) {
            int y = 24 * (id - 1);
            page.append(String.format("<text x=\"0\" y=\"%d\">server %d</text>", y + 14, id));
            long up = 0;
            boolean alive = true;
            for (Outcome.Event event : outcome.events()) {
                boolean now = event.servers().contains(Integer.toString(id));
                if (alive && !now) {
                    bar(page, scale, up, event.millis(), y);
                }
                if (!alive && now) {
                    up = event.millis();
                }
                alive = now;
            }
            if (alive) {
                bar(page, scale, up, outcome.millis(), y);
            }
            for (Outcome.Event event : outcome.events()) {
                String said = event.details().get("server " + id);
                if (said != null) {
                    double x = LABEL_WIDTH + event.millis() * scale;
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\">"
                                            + "<title>%s</title></circle>",
                                    x,
                                    y + 9,
                                    said.contains("recovering")
                                            ? "#b3231c"
                                            : said.contains("fast") ? "#197741" : "#2b5f9e",
                                    escape(said)));
                }
            }
        }
        for (Outcome.Event event : outcome.events()) {
            if (event.kind().equals("acknowledged")) {
                page.append(
                        String.format(
                                Locale.ROOT,
                                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\">%s writes</text>",
                                LABEL_WIDTH + event.millis() * scale,
                                height - 6,
                                escape(event.details().getOrDefault("writes", ""))));
            }
        }
        page.append("</svg>");
    }

    private static void bar(StringBuilder page, double scale, long from, long to, int y) {
        page.append(
                String.format(
                        Locale.ROOT,
                        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"#c9d8ea\"/>",
                        LABEL_WIDTH + from * scale,
                        y + 2,
                        (to - from) * scale));
    }

    private static long count(List<Outcome> outcomes, Verdict verdict) {
        return outcomes.stream().filter(outcome -> outcome.verdict() == verdict).count();
    }

    private static String verdict(Verdict verdict) {
        return switch (verdict) {
            case CORRECT -> "<span class=\"ok\">correct</span>";
            case UNAVAILABLE -> "<span class=\"na\">unavailable</span>";
            case DATA_LOSS -> "<span class=\"loss\">data loss</span>";
        };
    }

    private static String seconds(long millis) {
        return String.format(Locale.ROOT, "%.1f", millis / 1000.0);
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
