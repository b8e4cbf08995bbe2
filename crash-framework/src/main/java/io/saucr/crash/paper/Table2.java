package io.saucr.crash.paper;

import io.saucr.crash.campaign.Outcome;
import io.saucr.crash.campaign.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Table 2 of the paper: systems side by side, the paper's own numbers next to ours. Stateless. */
public final class Table2 {
    /** What the paper reports, in the order correct, unavailable, data loss; of how many. */
    private static final Map<String, int[]> PAPER =
            Map.ofEntries(
                    Map.entry("zk-mem 5 one by one", new int[] {248, 0, 250}),
                    Map.entry("zk-mem 7 one by one", new int[] {455, 0, 311}),
                    Map.entry("zk-mem 5 simultaneous", new int[] {248, 0, 250}),
                    Map.entry("zk-mem 7 simultaneous", new int[] {455, 0, 311}),
                    Map.entry("vr-ideal 5 one by one", new int[] {28, 470, 0}),
                    Map.entry("vr-ideal 7 one by one", new int[] {189, 577, 0}),
                    Map.entry("vr-ideal 5 simultaneous", new int[] {28, 470, 0}),
                    Map.entry("vr-ideal 7 simultaneous", new int[] {189, 577, 0}),
                    Map.entry("zk-disk 5 one by one", new int[] {498, 0, 0}),
                    Map.entry("zk-disk 7 one by one", new int[] {766, 0, 0}),
                    Map.entry("zk-disk 5 simultaneous", new int[] {498, 0, 0}),
                    Map.entry("zk-disk 7 simultaneous", new int[] {766, 0, 0}),
                    Map.entry("saucr 5 one by one", new int[] {498, 0, 0}),
                    Map.entry("saucr 7 one by one", new int[] {766, 0, 0}),
                    Map.entry("saucr 5 simultaneous", new int[] {475, 23, 0}),
                    Map.entry("saucr 7 simultaneous", new int[] {725, 41, 0}));

    private Table2() {}

    /**
     * @param paper correct, unavailable, data loss; empty where the paper has no such row
     */
    public record Row(String name, List<Outcome> outcomes, Optional<int[]> paper) {
        public long count(Verdict verdict) {
            return outcomes.stream().filter(outcome -> outcome.verdict() == verdict).count();
        }

        /** Our shares in the paper's terms: correct, unavailable, data loss. */
        public String shares() {
            int nobody = (int) (count(Verdict.UNAVAILABLE) + count(Verdict.TOO_FEW_RECOVERED));
            return percent(
                    new int[] {
                        (int) count(Verdict.CORRECT), nobody, (int) count(Verdict.DATA_LOSS)
                    });
        }

        public String paperShares() {
            return paper.map(Table2::percent).orElse("");
        }
    }

    private static String percent(int[] counts) {
        double all = Math.max(1, counts[0] + counts[1] + counts[2]);
        return String.format(
                Locale.ROOT,
                "%.0f / %.0f / %.0f %%",
                100 * counts[0] / all,
                100 * counts[1] / all,
                100 * counts[2] / all);
    }

    /** A row for each system, number of servers, and kind of sequence. */
    public static List<Row> rows(List<Outcome> outcomes) {
        Map<String, List<Outcome>> rows = new TreeMap<>();
        for (Outcome outcome : outcomes) {
            boolean together = outcome.plan().startsWith("simultaneous");
            boolean processes = outcome.plan().startsWith("processes");
            rows.computeIfAbsent(
                            outcome.system()
                                    + " "
                                    + outcome.servers()
                                    + (processes
                                            ? " processes"
                                            : together ? " simultaneous" : " one by one")
                                    + (outcome.plan().contains("young") ? ", young" : "")
                                    + (outcome.plan().contains("idle") ? ", idle before" : ""),
                            key -> new ArrayList<>())
                    .add(outcome);
        }
        List<Row> table = new ArrayList<>();
        rows.forEach(
                (name, row) ->
                        table.add(
                                new Row(
                                        name,
                                        List.copyOf(row),
                                        Optional.ofNullable(PAPER.get(name)))));
        return table;
    }
}
