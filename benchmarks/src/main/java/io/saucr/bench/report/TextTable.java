package io.saucr.bench.report;

import java.util.ArrayList;
import java.util.List;

/** A table of text with aligned columns: the first to the left, the others to the right. */
public final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    /** A table without rows. */
    public TextTable(String... heads) {
        rows.add(List.of(heads));
    }

    public void row(String... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException(cells.length + " cells");
        }
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String padding = " ".repeat(widths[i] - row.get(i).length());
                line.append(i == 0 ? row.get(i) + padding : "  " + padding + row.get(i));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    /** The same table for an HTML page. */
    String html() {
        StringBuilder text = new StringBuilder("<table>");
        String cell = "th";
        for (List<String> row : rows) {
            text.append("<tr>");
            for (String each : row) {
                text.append('<').append(cell).append('>').append(escape(each));
                text.append("</").append(cell).append('>');
            }
            text.append("</tr>\n");
            cell = "td";
        }
        return text.append("</table>\n").toString();
    }

    /** Text as it must stand in HTML. */
    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
