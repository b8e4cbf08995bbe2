package io.saucr.services.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How a command prints what it found: a table for people, JSON for programs. One thread. */
final class Output {

    /** For people, or for programs. */
    enum Format {
        TABLE,
        JSON
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BYTES_PER_UNIT = 1_024;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "table or json. Default: table.")
    private Format format;

    @Option(names = "--json", description = "The same as -o json.")
    private boolean json;

    boolean json() {
        return json || format == Format.JSON;
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    PrintWriter err() {
        return spec.commandLine().getErr();
    }

    void print(JsonNode node) {
        try {
            out().println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(node));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rows in columns that are as wide as their widest cell; the first row is the header. */
    void print(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            out().println(line.toString().stripTrailing());
        }
    }

    /** A list with a header, or nothing where it is empty. */
    void print(String title, List<String> header, List<List<String>> rows) {
        if (rows.isEmpty()) {
            return;
        }
        List<List<String>> all = new ArrayList<>();
        all.add(header);
        all.addAll(rows);
        out().println();
        out().println(title);
        print(all);
    }

    /** A number of bytes as people read it, such as {@code 64.0 MiB}. */
    static String bytes(long bytes) {
        if (bytes < BYTES_PER_UNIT) {
            return bytes + " B";
        }
        double value = bytes;
        String units = "KMGTPE";
        int unit = -1;
        while (value >= BYTES_PER_UNIT && unit < units.length() - 1) {
            value /= BYTES_PER_UNIT;
            unit++;
        }
        return String.format(Locale.ROOT, "%.1f %ciB", value, units.charAt(unit));
    }

    /** A duration as people read it, such as {@code 2.5 s}. */
    static String millis(long millis) {
        if (millis < 1_000) {
            return millis + " ms";
        }
        if (millis < 60_000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1_000.0);
        }
        long seconds = millis / 1_000;
        return seconds < 3_600
                ? String.format(Locale.ROOT, "%d:%02d min", seconds / 60, seconds % 60)
                : String.format(Locale.ROOT, "%d:%02d h", seconds / 3_600, seconds / 60 % 60);
    }

    /** What is of one line, whatever it held. */
    static String line(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints()
                .map(point -> Character.isISOControl(point) ? ' ' : point)
                .forEach(line::appendCodePoint);
        return line.toString().strip();
    }
}
