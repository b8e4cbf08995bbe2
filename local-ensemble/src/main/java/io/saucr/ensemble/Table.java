package io.saucr.ensemble;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Rows of text in columns that are as wide as their widest cell. Not safe for use by several
 * threads.
 */
public final class Table {
    private final List<List<String>> rows = new ArrayList<>();
    private final boolean ofNumbers;

    /** All columns to the left. */
    public Table(String... header) {
        this(false, header);
    }

    private Table(boolean ofNumbers, String... header) {
        this.ofNumbers = ofNumbers;
        rows.add(List.of(header));
    }

    /** The first column to the left, the others to the right. */
    public static Table ofNumbers(String... header) {
        return new Table(true, header);
    }

    /** The usual view of an ensemble: one line per server. */
    public static Table ofServers(List<ServerProcess> servers, List<ServerReport> reports) {
        Table table =
                new Table("id", "role", "mode", "recovery", "last zxid", "client", "pid", "LLE");
        for (int i = 0; i < reports.size(); i++) {
            ServerReport report = reports.get(i);
            ServerProcess server = servers.get(i);
            table.row(
                    Integer.toString(report.id()),
                    report.role(),
                    report.mode(),
                    report.recovery(),
                    report.lastZxid(),
                    server.address().client(),
                    server.runningPid().stream()
                            .mapToObj(Long::toString)
                            .findFirst()
                            .orElse(ServerReport.UNKNOWN),
                    report.lle());
        }
        return table;
    }

    /** Adds a row with as many cells as the header has. */
    public Table row(String... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException(
                    "row of %s cells under a header of %s: %s"
                            .formatted(cells.length, rows.get(0).size(), Arrays.toString(cells)));
        }
        rows.add(List.of(cells));
        return this;
    }

    /** The header, and the rows under it. */
    public List<List<String>> rows() {
        return Collections.unmodifiableList(rows);
    }

    /** The table as lines, without the line end of the last one. */
    @Override
    public String toString() {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String cell = row.get(i);
                String padding = " ".repeat(widths[i] - cell.length());
                line.append(i == 0 ? "" : "  ");
                line.append(ofNumbers && i > 0 ? padding + cell : cell + padding);
            }
            text.append(text.isEmpty() ? "" : "\n").append(line.toString().stripTrailing());
        }
        return text.toString();
    }
}
