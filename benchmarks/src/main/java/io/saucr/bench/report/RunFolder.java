package io.saucr.bench.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.FlappingSample;
import io.saucr.bench.result.Machine;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Samples;
import io.saucr.bench.result.SlowDiskVerdict;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * The files of one run. {@code plan.json} is there from the beginning, rows of measurements are
 * added to CSV files as they are measured, histograms to {@code latencies/}, and at the end come
 * the servers' logs, {@code table.txt}, {@code report.html}, and {@code result.json} last: a folder
 * without it holds a run that did not end, which can be resumed. Used by one thread.
 */
public final class RunFolder {
    public static final String RESULT = "result.json";
    private static final String PLAN = "plan.json";
    private static final double MICROS_PER_MILLI = 1000;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final CsvMapper CSV =
            CsvMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY).build();

    private final Path path;
    private final String title;
    private final Map<String, Object> plan;
    private final Machine machine;
    private final String begun;

    private RunFolder(
            Path path, String title, Map<String, Object> plan, Machine machine, String begun) {
        this.path = path;
        this.title = title;
        this.plan = plan;
        this.machine = machine;
        this.begun = begun;
    }

    /** What is in {@code plan.json}. */
    private record Opening(String title, String begun, Machine machine, Map<String, Object> plan) {}

    /**
     * Makes the folder of a new run, or continues with one that did not end.
     *
     * @param plan what is to be measured; to resume a run it must be the same
     * @param resume whether a run that is there continues
     * @throws IOException if the folder cannot be made, or holds a run that cannot continue
     */
    public static RunFolder open(Path path, String title, Map<String, Object> plan, boolean resume)
            throws IOException {
        Files.createDirectories(path);
        Path file = path.resolve(PLAN);
        if (!Files.exists(file)) {
            if (Files.exists(path.resolve(RESULT))) {
                throw new IOException(path + " holds the results of another program");
            }
            Opening opening =
                    new Opening(
                            title,
                            OffsetDateTime.now(ZoneId.systemDefault())
                                    .truncatedTo(ChronoUnit.SECONDS)
                                    .toString(),
                            Machine.here(),
                            plan);
            writer().writeValue(file.toFile(), opening);
            return new RunFolder(path, title, plan, opening.machine(), opening.begun());
        }
        if (!resume) {
            throw new IOException(
                    path
                            + " holds the results of another run: choose a new --out folder"
                            + (complete(path) ? "" : ", or continue that run with --resume"));
        }
        if (complete(path)) {
            throw new IOException(path + " holds a run that is complete: nothing to resume");
        }
        Opening opening = JSON.readValue(file.toFile(), Opening.class);
        JsonNode wanted = JSON.readTree(JSON.writeValueAsString(plan));
        JsonNode found = JSON.readTree(JSON.writeValueAsString(opening.plan()));
        if (!found.equals(wanted)) {
            throw new IOException(
                    ("%s holds a run with another plan: resume it with the options"
                                    + " that it was begun with, they are in %s")
                            .formatted(path, file));
        }
        return new RunFolder(path, title, plan, opening.machine(), opening.begun());
    }

    /** Whether the folder holds a run that came to its end. */
    public static boolean complete(Path path) {
        return Files.exists(path.resolve(RESULT));
    }

    /**
     * The result in a folder.
     *
     * @throws IOException if there is none, or one of another program or version
     */
    public static RunResult result(Path path) throws IOException {
        try {
            RunResult result = JSON.readValue(path.resolve(RESULT).toFile(), RunResult.class);
            if (result.title() == null || result.begun() == null || result.machine() == null) {
                throw new IOException(
                        path.resolve(RESULT) + " is of another program, or of another version");
            }
            return result;
        } catch (JsonProcessingException e) {
            throw new IOException(
                    path.resolve(RESULT) + " is of another program, or of another version", e);
        } catch (FileNotFoundException e) {
            throw new IOException(path + " holds no complete run: there is no " + RESULT, e);
        }
    }

    private static ObjectWriter writer() {
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentArraysWith(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE);
        return JSON.writer(printer);
    }

    /** A result of this run with nothing measured yet. */
    public RunResult empty() {
        return new RunResult(
                title, begun, plan, machine, null, null, null, null, null, null, null, null);
    }

    /** The rows of a CSV file, none if it is not there. */
    public <T extends Record> List<T> rows(String file, Class<T> type) throws IOException {
        if (!Files.exists(path.resolve(file))) {
            return List.of();
        }
        try (MappingIterator<T> rows =
                CSV.readerFor(type)
                        .with(CsvSchema.emptySchema().withHeader())
                        .readValues(path.resolve(file).toFile())) {
            return rows.readAll();
        }
    }

    /** Adds rows to a CSV file, which has the names of the record's parts in its first line. */
    public <T extends Record> void append(String file, Class<T> type, List<T> rows)
            throws IOException {
        Path target = path.resolve(file);
        CsvSchema schema = CSV.schemaFor(type);
        Files.writeString(
                target,
                CSV.writer(Files.exists(target) ? schema : schema.withHeader())
                        .writeValueAsString(rows),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** Puts other rows in place of those in a CSV file. */
    public <T extends Record> void replace(String file, Class<T> type, List<T> rows)
            throws IOException {
        Files.deleteIfExists(path.resolve(file));
        append(file, type, rows);
    }

    /**
     * Adds a histogram of microseconds to {@code latencies/NAME.hlog}.
     *
     * @param fresh whether what the file held before is dropped
     */
    public void keep(String name, String tag, Histogram histogram, boolean fresh)
            throws IOException {
        Path file = Files.createDirectories(path.resolve("latencies")).resolve(name + ".hlog");
        boolean empty = fresh || !Files.exists(file);
        try (PrintStream out =
                new PrintStream(
                        Files.newOutputStream(
                                file,
                                StandardOpenOption.CREATE,
                                fresh
                                        ? StandardOpenOption.TRUNCATE_EXISTING
                                        : StandardOpenOption.APPEND),
                        false,
                        StandardCharsets.UTF_8)) {
            HistogramLogWriter log = new HistogramLogWriter(out);
            if (empty) {
                log.outputLogFormatVersion();
                log.outputLegend();
            }
            histogram.setTag(tag);
            log.outputIntervalHistogram(
                    histogram.getStartTimeStamp() / 1000.0,
                    histogram.getEndTimeStamp() / 1000.0,
                    histogram,
                    MICROS_PER_MILLI);
        }
    }

    /** Copies a server's log to {@code logs/}. */
    public void keepLog(String configuration, int server, Path log) throws IOException {
        Path logs = Files.createDirectories(path.resolve("logs"));
        String name = configuration.replaceAll("[^\\w.-]", "_") + "-" + server;
        Path target = logs.resolve(name + ".log");
        for (int again = 2; Files.exists(target); again++) {
            target = logs.resolve(name + "-" + again + ".log");
        }
        Files.copy(log, target);
    }

    /** Says on standard error that the run has not come to its end, and how it can. */
    public void sayUnfinished() {
        System.err.println(
                ("saucr-bench: the run in %s did not end and is no result; the same"
                                + " command with --out %s --resume continues it.")
                        .formatted(path, path));
    }

    /** Writes what is written at the end, and shows the tables. */
    public void finish(RunResult result) throws IOException {
        String table = Results.text(result);
        Files.writeString(path.resolve("table.txt"), table);
        for (Map.Entry<String, String> plot : Plots.of(result).entrySet()) {
            Files.writeString(path.resolve(plot.getKey() + ".svg"), plot.getValue());
        }
        Files.writeString(path.resolve("report.html"), HtmlReport.page(List.of(result)));
        Map<String, Object> all =
                JSON.convertValue(result, new TypeReference<LinkedHashMap<String, Object>>() {});
        all.values().removeIf(value -> value instanceof List<?> list && list.isEmpty());
        if (!result.slices().isEmpty()) {
            all.put("ratios", new Comparison(result.slices()).rows());
        }
        List<SlowDiskVerdict> verdicts = SlowDiskVerdict.of(result.times());
        if (!verdicts.isEmpty()) {
            all.put("slowDisks", verdicts);
        }
        put(all, "flappingRatios", FlappingSample.compared(result.flapping()), null);
        put(all, "burstRatios", BurstSample.compared(result.bursts()), "burst");
        writer().writeValue(path.resolve(RESULT).toFile(), all);
        System.out.println(table);
        System.out.println("Results are in " + path);
    }

    private static void put(
            Map<String, Object> all, String key, Samples<?> samples, String subject) {
        if (!samples.rows().isEmpty()) {
            all.put(key, samples.ratios().stream().map(each -> each.described(subject)).toList());
        }
    }
}
