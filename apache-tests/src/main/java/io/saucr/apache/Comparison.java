package io.saucr.apache;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.apache.Exclusions.Exclusion;
import io.saucr.apache.fork.Activity;
import io.saucr.apache.fork.TestResult;
import io.saucr.apache.fork.TestResult.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Every test in three columns, worst first. Immutable.
 *
 * @param rows every test that has run in at least one column
 * @param classes number of classes that have a result, by column
 * @param activity what SAUCR did in the column where it was on
 */
record Comparison(
        List<Row> rows, Map<Column, Long> classes, Activity activity, List<Exclusion> excluded) {

    /** What a row says, worst first. */
    enum Verdict {
        DIFFERS("passes on stock, not on ours"),
        DIFFERS_WITH_REASON("differs with SAUCR on, for a reason"),
        BETTER("fails on stock, passes on ours"),
        FAILS_EVERYWHERE("fails on stock, too"),
        INCOMPLETE("a column has not been run"),
        SAME("the same");

        private final String title;

        Verdict(String title) {
            this.title = title;
        }
    }

    /**
     * One test.
     *
     * @param states by column; a column that was not run is absent
     * @param note the reason for a difference, or the first line of the first failure
     */
    record Row(
            String testClass,
            String test,
            Map<Column, State> states,
            Verdict verdict,
            String note) {}

    static Comparison of(Collection<ClassResult> results, Exclusions exclusions) {
        Map<String, Map<Column, ClassResult>> byClass = new TreeMap<>();
        for (ClassResult result : results) {
            byClass.computeIfAbsent(result.testClass(), name -> new EnumMap<>(Column.class))
                    .put(result.column(), result);
        }
        List<Row> rows = new ArrayList<>();
        byClass.forEach((name, columns) -> rows.addAll(rows(name, columns, exclusions)));
        rows.sort(
                Comparator.comparing(Row::verdict)
                        .thenComparing(Row::testClass)
                        .thenComparing(Row::test));
        Map<Column, Long> classes =
                results.stream()
                        .collect(
                                Collectors.groupingBy(
                                        ClassResult::column,
                                        () -> new EnumMap<>(Column.class),
                                        Collectors.counting()));
        Activity activity =
                results.stream().map(ClassResult::activity).reduce(Activity.NONE, Activity::plus);
        return new Comparison(
                rows,
                classes,
                activity,
                exclusions.list().stream().filter(Exclusion::everywhere).toList());
    }

    private static List<Row> rows(
            String testClass, Map<Column, ClassResult> columns, Exclusions exclusions) {
        Map<String, Map<Column, TestResult>> byTest = new LinkedHashMap<>();
        for (ClassResult result : columns.values()) {
            for (TestResult test : result.tests()) {
                byTest.computeIfAbsent(test.test(), name -> new EnumMap<>(Column.class))
                        .put(result.column(), test);
            }
        }
        List<Row> rows = new ArrayList<>();
        byTest.forEach(
                (test, results) -> {
                    Map<Column, State> states = new EnumMap<>(Column.class);
                    columns.keySet().forEach(column -> states.put(column, absent(test, results)));
                    results.forEach((column, result) -> states.put(column, result.state()));
                    String reason = exclusions.reasonToDiffer(testClass, test);
                    Verdict verdict = verdict(states, !reason.isEmpty());
                    String note =
                            verdict == Verdict.DIFFERS_WITH_REASON ? reason : failure(results);
                    rows.add(new Row(testClass, test, states, verdict, note));
                });
        return rows;
    }

    /**
     * The state of a test that another column has a result of and this one has not. The class as a
     * whole then had nothing to report, and any other test was not reached.
     */
    private static State absent(String test, Map<Column, TestResult> results) {
        return test.equals(TestResult.WHOLE_CLASS)
                        && results.values().stream().allMatch(result -> result.state().bad())
                ? State.PASSED
                : State.CRASHED;
    }

    private static Verdict verdict(Map<Column, State> states, boolean mayDifferWhenOn) {
        State stock = states.get(Column.STOCK);
        if (stock == null || states.size() < Column.values().length) {
            return Verdict.INCOMPLETE;
        }
        boolean offDiffers = kind(states.get(Column.OFF)) != kind(stock);
        boolean onDiffers = kind(states.get(Column.ON)) != kind(stock);
        if (!offDiffers && !onDiffers) {
            return stock.bad() ? Verdict.FAILS_EVERYWHERE : Verdict.SAME;
        }
        if (stock.bad()) {
            return Verdict.BETTER;
        }
        return !offDiffers && mayDifferWhenOn ? Verdict.DIFFERS_WITH_REASON : Verdict.DIFFERS;
    }

    /** 0 good, 1 not run, 2 bad. */
    private static int kind(State state) {
        return state.good() ? 0 : state.bad() ? 2 : 1;
    }

    private static String failure(Map<Column, TestResult> results) {
        return results.values().stream()
                .filter(result -> !result.detail().isEmpty())
                .reduce((first, second) -> second)
                .map(result -> result.detail().lines().findFirst().orElse(""))
                .orElse("");
    }

    long count(Verdict verdict) {
        return rows.stream().filter(row -> row.verdict == verdict).count();
    }

    private long count(Column column, Predicate<State> which) {
        return rows.stream()
                .filter(row -> row.states.containsKey(column))
                .filter(row -> which.test(row.states.get(column)))
                .count();
    }

    /** For people at a terminal: the totals, then every row that is not the same everywhere. */
    String text() {
        StringBuilder out = new StringBuilder();
        out.append(
                String.format(
                        "%-10s %8s %8s %8s %8s %8s%n",
                        "", "classes", "tests", "passed", "failed", "not run"));
        for (Column column : classes.keySet()) {
            out.append(
                    String.format(
                            "%-10s %8d %8d %8d %8d %8d%n",
                            column.title(),
                            classes.get(column),
                            count(column, state -> true),
                            count(column, State::good),
                            count(column, State::bad),
                            count(column, state -> kind(state) == 1)));
        }
        out.append(
                String.format(
                        "SAUCR on: %d servers, %d fast commits, %d slow commits%n",
                        activity.peers(), activity.fastCommits(), activity.slowCommits()));
        for (Verdict verdict : Verdict.values()) {
            out.append(String.format("%6d %s%n", count(verdict), verdict.title));
        }
        out.append(String.format("%6d left out everywhere%n", excluded.size()));
        for (Row row : rows) {
            if (row.verdict != Verdict.SAME) {
                out.append(
                        String.format(
                                "%n%s %s#%s%n  %s%n  %s%n",
                                row.verdict, row.testClass, row.test, states(row), row.note));
            }
        }
        excluded.forEach(e -> out.append(String.format("%nleft out: %s%n", e)));
        return out.toString();
    }

    private static String states(Row row) {
        List<String> parts = new ArrayList<>();
        row.states.forEach((column, state) -> parts.add(column.title() + ": " + state));
        return String.join(", ", parts);
    }

    /** For programs: everything. */
    String json() throws JsonProcessingException {
        return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(this);
    }

    /** For a browser: everything, one table. */
    String html() {
        StringBuilder out = new StringBuilder();
        out.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
                .append("<title>ZooKeeper's own tests</title><style>")
                .append("body{font:14px sans-serif}td,th{text-align:left;padding:2px 8px;")
                .append("vertical-align:top}.FAILED,.TIMED_OUT,.CRASHED{background:#fbb}")
                .append(".FLAKY{background:#ffd}.DIFFERS{font-weight:bold}</style></head><body>")
                .append("<h1>ZooKeeper's own tests, in three columns</h1>\n<pre>")
                .append(
                        escaped(
                                text().lines()
                                        .limit(classes.size() + 9)
                                        .collect(Collectors.joining("\n"))))
                .append("</pre>\n<table><tr><th>Test");
        for (Column column : Column.values()) {
            out.append("<th>").append(column.title());
        }
        out.append("<th>What it says\n");
        for (Row row : rows) {
            out.append("<tr class=\"").append(row.verdict).append("\"><td>");
            out.append(escaped(row.testClass + "#" + row.test));
            for (Column column : Column.values()) {
                State state = row.states.get(column);
                out.append("<td class=\"").append(state).append("\">");
                out.append(state == null ? "" : state);
            }
            out.append("<td>");
            if (row.verdict != Verdict.SAME) {
                out.append(escaped(row.verdict.title + ". " + row.note));
            }
            out.append('\n');
        }
        out.append("</table>\n<h2>Left out in every column</h2><ul>\n");
        excluded.forEach(e -> out.append("<li>").append(escaped(e.toString())).append('\n'));
        return out.append("</ul></body></html>\n").toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
