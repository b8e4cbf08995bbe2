package io.saucr.crash.paper;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Figure 11 in numbers, for ensembles of one size: a row for each heartbeat interval and order, a
 * column for each gap.
 *
 * @param needed servers that must be safe
 */
public record ReactionTable(int servers, int needed, List<Long> gapsMillis, List<Row> rows) {
    /** Cells in the order of the gaps; empty where nothing was measured. */
    public record Row(String name, List<Optional<Cell>> cells) {}

    /**
     * @param averageSafe over the repetitions
     * @param always whether as many as needed were safe in every one
     */
    public record Cell(double averageSafe, boolean always) {
        /** For a cell of text. */
        public String words() {
            return String.format(Locale.ROOT, "%.1f%s", averageSafe, always ? "" : " !");
        }
    }

    /** One table for each size of ensembles. */
    public static List<ReactionTable> of(List<ReactionPoint> points) {
        List<ReactionTable> tables = new ArrayList<>();
        points.stream()
                .collect(
                        Collectors.groupingBy(
                                ReactionPoint::servers, TreeMap::new, Collectors.toList()))
                .forEach((servers, same) -> tables.add(table(servers, same)));
        return tables;
    }

    private static ReactionTable table(int servers, List<ReactionPoint> points) {
        List<Long> gaps =
                points.stream().map(ReactionPoint::gapMillis).distinct().sorted().toList();
        List<Row> rows = new ArrayList<>();
        points.stream()
                .collect(
                        Collectors.groupingBy(
                                p ->
                                        String.format(
                                                Locale.ROOT,
                                                "heartbeat %4d ms, %s",
                                                p.heartbeatMillis(),
                                                p.order()),
                                TreeMap::new,
                                Collectors.toList()))
                .forEach(
                        (name, row) ->
                                rows.add(
                                        new Row(
                                                name,
                                                gaps.stream()
                                                        .map(gap -> cell(row, gap))
                                                        .toList())));
        return new ReactionTable(servers, points.get(0).needed(), gaps, rows);
    }

    private static Optional<Cell> cell(List<ReactionPoint> row, long gapMillis) {
        List<ReactionPoint> same = row.stream().filter(p -> p.gapMillis() == gapMillis).toList();
        if (same.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                new Cell(
                        same.stream().mapToInt(ReactionPoint::safe).average().orElse(0),
                        same.stream().allMatch(p -> p.safe() >= p.needed())));
    }
}
