package io.saucr.crash.report;

import static io.saucr.crash.report.Report.escape;
import static io.saucr.crash.report.Report.seconds;

import io.saucr.crash.campaign.Activity;
import io.saucr.crash.campaign.ClusterState;
import io.saucr.crash.campaign.Expectation;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.paper.Table2;
import io.saucr.ensemble.Majority;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sequences of cluster states: the table of systems, the graph of states with the steps that were
 * taken, a timeline for each sequence that was not correct, and all of them. Stateless.
 */
final class SequenceSection {
    private static final int CHART_WIDTH = 900;
    private static final int LABEL_WIDTH = 70;
    private static final int ROW_HEIGHT = 24;

    private SequenceSection() {}

    static void append(StringBuilder page, List<Outcome> outcomes) {
        page.append("<h2>Cluster-state sequences</h2>");
        expectations(page, outcomes);
        table2(page, outcomes);
        summary(page, outcomes);
        suspicious(page, outcomes);
        excused(page, outcomes);
        graph(page, outcomes);
        failures(page, outcomes);
        page.append(
                        "<details><summary>All sequences</summary><table><tr><th>system</th><th>servers</th>")
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
        page.append("</table></details>");
    }

    /** What must hold, and whether it did. */
    private static void expectations(StringBuilder page, List<Outcome> outcomes) {
        List<Expectation> expectations = Expectation.of(outcomes);
        if (expectations.isEmpty()) {
            return;
        }
        page.append("<table><tr><th>what must hold</th><th>sequences</th><th>held</th>")
                .append("<th>broken</th></tr>");
        for (Expectation expectation : expectations) {
            int broken = expectation.broken().size();
            page.append("<tr><td>").append(escape(expectation.claim()));
            page.append("</td><td>").append(expectation.cases());
            page.append("</td><td class=\"ok\">").append(expectation.cases() - broken);
            page.append(broken > 0 ? "</td><td class=\"loss\">" : "</td><td>").append(broken);
            page.append("</td></tr>");
        }
        page.append("</table>");
    }

    /** Table 2 of the paper, its own shares next to ours. */
    private static void table2(StringBuilder page, List<Outcome> outcomes) {
        page.append("<h3>Systems side by side (table 2 of the paper)</h3><table>")
                .append("<tr><th>system, servers, failures</th><th>sequences</th>")
                .append("<th>correct</th><th>too few recovered</th><th>unavailable</th>")
                .append("<th>data loss</th><th>ours</th><th>the paper's</th></tr>");
        for (Table2.Row row : Table2.rows(outcomes)) {
            page.append("<tr><td>").append(escape(row.name()));
            page.append("</td><td>").append(row.outcomes().size()).append("</td>");
            counts(page, row.outcomes());
            page.append("<td>").append(row.shares());
            page.append("</td><td>").append(row.paperShares()).append("</td></tr>");
        }
        page.append(
                        "</table><p class=\"note\">The last two columns: correct / unavailable / data loss.")
                .append(
                        " Too few recovered: the system refuses to serve because fewer servers than")
                .append(
                        " a recovery needs still know everything (with sealed views: as the model of")
                .append(" views allows); the paper counts it as")
                .append(
                        " unavailable. Unavailable: it does not serve, and nothing that its servers")
                .append(" say of themselves explains that: a fault.</p>");
        young(page, outcomes);
        page.append("<h3>By campaign</h3>");
    }

    private static void counts(StringBuilder page, List<Outcome> outcomes) {
        cell(page, "ok", count(outcomes, Verdict.CORRECT));
        cell(page, "na", count(outcomes, Verdict.TOO_FEW_RECOVERED));
        cell(page, "loss", count(outcomes, Verdict.UNAVAILABLE));
        cell(page, "loss", count(outcomes, Verdict.DATA_LOSS));
    }

    private static void cell(StringBuilder page, String style, long count) {
        page.append(count > 0 ? "<td class=\"" + style + "\">" : "<td>");
        page.append(count).append("</td>");
    }

    /** A case of its own: the first snapshot of stock ZooKeeper. */
    private static void young(StringBuilder page, List<Outcome> outcomes) {
        List<Outcome> young = outcomes.stream().filter(o -> o.plan().contains("young")).toList();
        if (young.isEmpty()) {
            return;
        }
        page.append(
                        "<p class=\"note\">Young ensembles had nothing on disk before the first fault but")
                .append(
                        " what they synced themselves. Stock ZooKeeper does not sync the snapshot of")
                .append(
                        " its first start: after a power cut its servers may find a log next to an empty")
                .append(" snapshot and refuse to start. Of ")
                .append(young.size())
                .append(" sequences with young ensembles, ")
                .append(young.stream().filter(Outcome::firstSnapshotGone).count())
                .append(" ended that way.</p>");
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
                .append("<th>too few recovered</th><th>unavailable</th>")
                .append("<th>data loss</th><th>seconds each</th></tr>");
        groups.forEach(
                (key, group) -> {
                    page.append("<tr><td>").append(escape(key.get(0)));
                    page.append("</td><td>").append(key.get(1));
                    page.append("</td><td class=\"l\">").append(escape(key.get(2)));
                    page.append("</td><td class=\"l\">").append(escape(key.get(3)));
                    page.append("</td><td>").append(group.size()).append("</td>");
                    counts(page, group);
                    double mean = group.stream().mapToLong(Outcome::millis).average().orElse(0);
                    page.append("<td>").append(seconds((long) mean)).append("</td></tr>");
                });
        page.append(
                        "</table><p class=\"note\">Only writes acknowledged before the next fault began")
                .append(" count. Unless the faults say \"young\", everything was made durable once")
                .append(
                        " before the first fault: stock ZooKeeper does not force its first snapshot,")
                .append(" and after a power cut of a young ensemble may refuse to start.</p>");
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

    /**
     * How many sequences had to be available at their end by the model of sealed views, and how
     * many were; empty where no system has views.
     */
    static String modelOfViews(List<Outcome> outcomes) {
        List<Outcome> judged = outcomes.stream().filter(o -> o.model() != null).toList();
        List<Outcome> due = judged.stream().filter(o -> o.model().hadToServe()).toList();
        long refused = due.stream().filter(o -> o.verdict() == Verdict.UNAVAILABLE).count();
        return judged.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT,
                        "Model of sealed views: %d sequences had to be available at the end, %d were;"
                                + " %d more might refuse, %d did, each explained.",
                        due.size(),
                        due.size() - refused,
                        judged.size() - due.size(),
                        judged.stream().filter(Outcome::excused).count());
    }

    /** Every refusal that the model of sealed views excuses, with the reason. */
    private static void excused(StringBuilder page, List<Outcome> outcomes) {
        String summary = modelOfViews(outcomes);
        if (summary.isEmpty()) {
            return;
        }
        page.append("<h3>Who had to be available</h3><p>").append(summary).append("</p>");
        List<Outcome> excused = outcomes.stream().filter(Outcome::excused).toList();
        if (!excused.isEmpty()) {
            page.append(
                    "<table><tr><th class=\"l\">refused</th><th class=\"l\">why it may</th></tr>");
            for (Outcome outcome : excused) {
                page.append("<tr><td class=\"l\"><code>")
                        .append(escape(outcome.sequence().toString()))
                        .append("</code> ")
                        .append(escape(outcome.plan()))
                        .append("</td><td class=\"l\">")
                        .append(escape(outcome.model().why()))
                        .append("</td></tr>");
            }
            page.append("</table>");
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
        int height = 90 * n + 60;
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
        places.put("-", new double[] {CHART_WIDTH / 2.0, 30 + 90.0 * n});
        page.append("<h3>Graph of the states of ")
                .append(n)
                .append(" servers</h3><svg class=\"own\" viewBox=\"0 0 ")
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
                        boolean crash = alive(step.get(0)) > alive(step.get(1));
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
                    boolean majority = alive(name) >= Majority.of(n);
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

    private static int alive(String state) {
        return state.equals("-") ? 0 : state.length();
    }

    private static void failures(StringBuilder page, List<Outcome> outcomes) {
        List<Outcome> failed =
                outcomes.stream()
                        .filter(o -> o.verdict() != Verdict.CORRECT && !o.events().isEmpty())
                        .toList();
        page.append("<h3>Sequences that were not correct</h3>");
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

    /**
     * For each server a bar while it had power, its forces as strokes in the bar, and a dot with
     * what it reported; below, the writes that were acknowledged.
     */
    private static void timeline(StringBuilder page, Outcome outcome) {
        double scale = (double) (CHART_WIDTH - LABEL_WIDTH - 8) / Math.max(1, outcome.millis());
        int bottom = ROW_HEIGHT * (outcome.servers() + 1);
        page.append("<svg class=\"own\" viewBox=\"0 0 " + CHART_WIDTH + " ")
                .append(bottom + ROW_HEIGHT)
                .append("\" role=\"img\" aria-label=\"power, fsyncs and writes over time\">");
        for (int id = 1; id <= outcome.servers(); id++) {
            int y = ROW_HEIGHT * (id - 1);
            page.append(String.format("<text x=\"0\" y=\"%d\">server %d</text>", y + 14, id));
            power(page, outcome, id, scale, y);
            if (outcome.activity().flushes().size() >= id) {
                Map<Integer, Integer> flushes = outcome.activity().flushes().get(id - 1);
                strokes(page, outcome.activity(), flushes, scale, y + 18, 4, "#2b5f9e", "forces");
            }
            states(page, outcome, id, scale, y);
        }
        page.append(String.format("<text x=\"0\" y=\"%d\">writes</text>", bottom - 8));
        int most =
                outcome.activity().acknowledged().values().stream()
                        .mapToInt(Integer::intValue)
                        .max()
                        .orElse(1);
        strokes(
                page,
                outcome.activity(),
                outcome.activity().acknowledged(),
                scale,
                bottom - 4,
                (ROW_HEIGHT - 8.0) / most,
                "#53606e",
                "writes acknowledged");
        for (Outcome.Event event : outcome.events()) {
            if (event.details().containsKey("writes")) {
                page.append(
                        String.format(
                                Locale.ROOT,
                                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\">%s writes</text>",
                                LABEL_WIDTH + event.millis() * scale,
                                bottom + 10,
                                escape(event.details().get("writes"))));
            }
        }
        page.append("</svg><p class=\"note\">Bars: power. Blue strokes: fsyncs of the disk, per ")
                .append(outcome.activity().sliceMillis())
                .append(" ms. Dots: green fast, blue slow or without modes, red recovering,")
                .append(" grey silent.</p>");
    }

    private static void power(StringBuilder page, Outcome outcome, int id, double scale, int y) {
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
    }

    private static void states(StringBuilder page, Outcome outcome, int id, double scale, int y) {
        for (Outcome.Event event : outcome.events()) {
            String said = event.details().get("server " + id);
            if (said != null) {
                String colour =
                        said.contains("recovering")
                                ? "#b3231c"
                                : said.contains("silent") || said.contains("ended")
                                        ? "#8a94a0"
                                        : said.contains("fast") ? "#197741" : "#2b5f9e";
                page.append(
                        String.format(
                                Locale.ROOT,
                                "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\">"
                                        + "<title>%s</title></circle>",
                                LABEL_WIDTH + event.millis() * scale,
                                y + 9,
                                colour,
                                escape(event.kind() + ": " + said)));
            }
        }
    }

    /** Draws a stroke upwards from {@code base} for each slice with a count, not above its row. */
    private static void strokes(
            StringBuilder page,
            Activity activity,
            Map<Integer, Integer> counts,
            double scale,
            int base,
            double unitHeight,
            String colour,
            String what) {
        counts.forEach(
                (slice, count) -> {
                    double height = Math.min(ROW_HEIGHT - 6, 2 + count * unitHeight);
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\""
                                            + " fill=\"%s\"><title>%d %s</title></rect>",
                                    LABEL_WIDTH + (double) slice * activity.sliceMillis() * scale,
                                    base - height,
                                    Math.max(1, activity.sliceMillis() * scale * 0.7),
                                    height,
                                    colour,
                                    count,
                                    what));
                });
    }

    private static void bar(StringBuilder page, double scale, long from, long to, int y) {
        page.append(
                String.format(
                        Locale.ROOT,
                        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"#dde6f0\"/>",
                        LABEL_WIDTH + from * scale,
                        y + 2,
                        (to - from) * scale));
    }

    private static long count(List<Outcome> outcomes, Verdict verdict) {
        return outcomes.stream().filter(outcome -> outcome.verdict() == verdict).count();
    }

    private static String verdict(Verdict verdict) {
        String style =
                switch (verdict) {
                    case CORRECT -> "ok";
                    case TOO_FEW_RECOVERED -> "na";
                    case UNAVAILABLE, DATA_LOSS -> "loss";
                };
        return "<span class=\"" + style + "\">" + verdict.words() + "</span>";
    }
}
