package io.saucr.services.tests.standby;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.history.EdnHistory;
import io.saucr.history.History;
import io.saucr.history.HistoryEvent;
import io.saucr.history.LinearizabilityChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a campaign showed: how long clients waited for their next answer, and what their history is.
 * Used by one thread.
 *
 * @param <K> what the primary met
 */
final class Outcome<K extends Enum<K>> {

    /** What a loaded machine adds between a reply and who notes it. */
    private static final long NOTED_MILLIS = 200;

    private final Path out;
    private final Map<String, Object> report;
    private final Map<K, List<Double>> millis = new TreeMap<>();

    /**
     * Nothing yet.
     *
     * @param out folder of report.json and history.edn
     * @param settings of the campaign, for the report
     */
    Outcome(Path out, Map<String, Object> settings) {
        this.out = out;
        this.report = new TreeMap<>(settings);
        report.put("millis", millis);
    }

    /** Clients waited so long, in ms. */
    void waited(K what, double millisUntilAnswer) {
        millis.computeIfAbsent(what, it -> new ArrayList<>()).add(millisUntilAnswer);
    }

    private static double at(List<Double> sorted, double part) {
        return sorted.get((int) Math.min(sorted.size() - 1, Math.floor(part * sorted.size())));
    }

    void print() {
        millis.forEach(
                (what, each) -> {
                    List<Double> sorted = each.stream().sorted().toList();
                    System.out.printf(
                            Locale.ROOT,
                            "  %-14s n=%-4d median %6.0f ms, p90 %6.0f, most %6.0f%n",
                            what.name().toLowerCase(Locale.ROOT),
                            sorted.size(),
                            at(sorted, 0.5),
                            at(sorted, 0.9),
                            at(sorted, 1));
                });
    }

    /**
     * Writes the report.
     *
     * @param more for it, next to settings, times and the verdict
     */
    void write(String verdict, Map<String, Object> more) throws IOException {
        report.putAll(more);
        report.put("verdict", verdict);
        Files.write(
                out.resolve("report.json"),
                new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(report));
    }

    /**
     * Stops clients, prints and reports whether each write that was answered is there, or was
     * announced as lost.
     *
     * @param longestMillis between the first and the last reply of one epoch that are lost: the
     *     lease, and the time for which a primary stood still, as what is on its way then comes
     *     when it wakes
     */
    boolean isBounded(Ledger ledger, long longestMillis) throws IOException {
        ledger.stop();
        List<String> wrong = ledger.judge(longestMillis + NOTED_MILLIS);
        print();
        String verdict =
                wrong.isEmpty()
                        ? "each is there or announced as lost, within the lease"
                        : wrong.size() + " violations";
        System.out.printf(
                Locale.ROOT,
                "%d writes answered, %d of them announced as lost; %s%n",
                ledger.answered(),
                ledger.lost(),
                verdict);
        wrong.stream().limit(20).forEach(System.out::println);
        write(verdict, Map.of("answered", ledger.answered(), "lost", ledger.lost()));
        return wrong.isEmpty();
    }

    /** Keeps a history, prints and reports whether it is linearizable. */
    boolean isLinearizable(History history) throws IOException {
        EdnHistory.write(history, out.resolve("history.edn"));
        LinearizabilityChecker.Result result =
                new LinearizabilityChecker(LinearizabilityChecker.DEFAULT_CONFIGURATIONS)
                        .check(history);
        System.out.printf(
                Locale.ROOT,
                "%d calls answered, %d failed, %d unknown; %s%n",
                history.count(HistoryEvent.Type.OK),
                history.count(HistoryEvent.Type.FAIL),
                history.count(HistoryEvent.Type.INFO),
                result.summary());
        result.evidence().forEach(System.out::println);
        write(
                result.summary(),
                Map.of(
                        "answered", history.count(HistoryEvent.Type.OK),
                        "unknown", history.count(HistoryEvent.Type.INFO)));
        return result.answer() == LinearizabilityChecker.Answer.LINEARIZABLE;
    }
}
