package io.saucr.crash.report;

import io.saucr.crash.campaign.Expectation;
import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.paper.ReactionTable;
import io.saucr.crash.paper.Table2;
import io.saucr.ensemble.Table;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The results as lines of text. Stateless. */
public final class TextReport {
    private static final int MOST_NAMED = 10;

    private TextReport() {}

    /** All sections that there is something for. */
    public static String of(Results results) {
        StringBuilder text = new StringBuilder();
        if (!results.sequences().isEmpty()) {
            sequences(text, results.sequences());
        }
        if (!results.nemesis().isEmpty()) {
            nemesis(text, results.nemesis());
        }
        if (!results.figure11().isEmpty()) {
            figure11(text, results);
        }
        return text.toString();
    }

    private static void sequences(StringBuilder text, List<Outcome> outcomes) {
        Table table =
                new Table(
                        "system, servers, failures",
                        "sequences",
                        "correct",
                        "too few recovered",
                        "unavailable",
                        "data loss",
                        "ours",
                        "the paper's",
                        "seconds each");
        for (Table2.Row row : Table2.rows(outcomes)) {
            table.row(
                    row.name(),
                    Integer.toString(row.outcomes().size()),
                    Long.toString(row.count(Verdict.CORRECT)),
                    Long.toString(row.count(Verdict.TOO_FEW_RECOVERED)),
                    Long.toString(row.count(Verdict.UNAVAILABLE)),
                    Long.toString(row.count(Verdict.DATA_LOSS)),
                    row.shares(),
                    row.paperShares(),
                    Report.seconds(
                            (long)
                                    row.outcomes().stream()
                                            .mapToLong(Outcome::millis)
                                            .average()
                                            .orElse(0)));
        }
        text.append(table).append("\n(ours, the paper's: correct / unavailable / data loss)\n\n");
        for (Expectation expectation : Expectation.of(outcomes)) {
            text.append(
                    String.format(
                            Locale.ROOT,
                            "%s  %s: %d of %d%n",
                            expectation.held() ? "held  " : "BROKEN",
                            expectation.claim(),
                            expectation.cases() - expectation.broken().size(),
                            expectation.cases()));
            expectation.broken().stream()
                    .limit(MOST_NAMED)
                    .forEach(
                            outcome ->
                                    text.append("          ")
                                            .append(outcome.key())
                                            .append(": ")
                                            .append(outcome.verdict().words())
                                            .append("; ")
                                            .append(outcome.reason())
                                            .append('\n'));
        }
        views(text, outcomes);
    }

    /** What the model of sealed views says, and each refusal that it excuses. */
    private static void views(StringBuilder text, List<Outcome> outcomes) {
        String summary = SequenceSection.modelOfViews(outcomes);
        if (!summary.isEmpty()) {
            text.append('\n').append(summary).append('\n');
        }
        outcomes.stream()
                .filter(Outcome::excused)
                .forEach(
                        outcome ->
                                text.append("explained ")
                                        .append(outcome.key())
                                        .append(": ")
                                        .append(outcome.model().why())
                                        .append('\n'));
    }

    private static void nemesis(StringBuilder text, List<NemesisOutcome> outcomes) {
        text.append(text.isEmpty() ? "" : "\n").append("Clients under faults: ");
        Map<String, Long> counts =
                outcomes.stream()
                        .collect(
                                Collectors.groupingBy(
                                        o -> o.system() + " " + NemesisSection.words(o.verdict()),
                                        TreeMap::new,
                                        Collectors.counting()));
        text.append(
                counts.entrySet().stream()
                        .map(e -> e.getKey() + " " + e.getValue())
                        .collect(Collectors.joining("; ")));
        text.append(
                String.format(
                        Locale.ROOT,
                        "; %d calls, %d faults%n",
                        outcomes.stream().mapToLong(o -> o.ok() + o.failed() + o.unknown()).sum(),
                        outcomes.stream().mapToLong(o -> o.injected().size()).sum()));
        for (NemesisOutcome outcome : outcomes) {
            if (outcome.verdict() != NemesisOutcome.Verdict.LINEARIZABLE) {
                text.append("          ").append(outcome.key()).append(": ");
                text.append(outcome.reason());
                text.append("; history: histories/").append(outcome.history()).append('\n');
                outcome.evidence()
                        .forEach(line -> text.append("            ").append(line).append('\n'));
            }
            for (NemesisOutcome.Refusal refusal : outcome.refusals()) {
                text.append(
                        String.format(
                                Locale.ROOT,
                                "          seed %d, %.1f s, server %d: %s%n",
                                outcome.seed(),
                                refusal.millis() / 1000.0,
                                refusal.server(),
                                refusal.why()));
            }
        }
    }

    private static void figure11(StringBuilder text, Results results) {
        for (ReactionTable table : ReactionTable.of(results.figure11())) {
            String[] header = new String[table.gapsMillis().size() + 1];
            header[0] = table.servers() + " servers, safe on disk by gap";
            for (int i = 1; i < header.length; i++) {
                header[i] = table.gapsMillis().get(i - 1) + " ms";
            }
            Table lines = new Table(header);
            for (ReactionTable.Row row : table.rows()) {
                String[] cells = new String[header.length];
                cells[0] = row.name();
                for (int i = 1; i < cells.length; i++) {
                    cells[i] = row.cells().get(i - 1).map(c -> c.words()).orElse("");
                }
                lines.row(cells);
            }
            text.append(text.isEmpty() ? "" : "\n").append(lines).append('\n');
            text.append(
                    String.format(
                            Locale.ROOT,
                            "(averages; ! where some round had fewer than the %d that are needed)%n",
                            table.needed()));
        }
    }
}
