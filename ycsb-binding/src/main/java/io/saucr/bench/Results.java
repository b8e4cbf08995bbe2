package io.saucr.bench;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files of one run: {@code slices.csv}, written slice by slice as they are measured, and at the
 * end the servers' logs, {@code result.json} (plan, machine, slices, ratios) and {@code table.txt}.
 * A folder without {@code result.json} holds a run that did not end. Used by one thread.
 */
final class Results {
    private static final String SLICES = "slices.csv";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path folder;
    private final RunPlan plan;
    private final Machine machine;

    /**
     * @throws IOException if the folder cannot be made or has a run in it
     */
    Results(Path folder, RunPlan plan, Machine machine) throws IOException {
        this.folder = folder;
        this.plan = plan;
        this.machine = machine;
        Files.createDirectories(folder);
        if (Files.exists(folder.resolve(SLICES))) {
            throw new IOException(
                    folder + " holds the results of another run: choose a new --out folder");
        }
        append(
                Stream.of(Slice.class.getRecordComponents())
                        .map(RecordComponent::getName)
                        .collect(Collectors.joining(",")));
    }

    void add(Slice slice) throws IOException {
        append(
                Stream.of(Slice.class.getRecordComponents())
                        .map(component -> cell(value(component, slice)))
                        .collect(Collectors.joining(",")));
    }

    /** Copies a server's log to {@code logs/}. */
    void keepLog(String configuration, int server, Path log) throws IOException {
        Path target = Files.createDirectories(folder.resolve("logs"));
        String name = configuration.replaceAll("[^\\w.-]", "_");
        Files.copy(log, target.resolve(name + "-" + server + ".log"));
    }

    private void append(String line) throws IOException {
        Files.writeString(
                folder.resolve(SLICES),
                line + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static Object value(RecordComponent component, Slice slice) {
        try {
            return component.getAccessor().invoke(slice);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(component.getName(), e);
        }
    }

    private static String cell(Object value) {
        if (value instanceof Double number) {
            return String.format(Locale.ROOT, "%.6g", number);
        }
        String text = value.toString();
        return text.contains(",") || text.contains("\"") || text.contains("\n")
                ? "\"" + text.replace("\"", "\"\"") + "\""
                : text;
    }

    /**
     * Writes what is written at the end.
     *
     * @return the text of {@code table.txt}
     */
    String finish(List<Slice> slices) throws IOException {
        Comparison comparison = new Comparison(slices);
        String table = table(comparison, slices);
        Files.writeString(folder.resolve("table.txt"), table);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("plan", described());
        all.put("machine", machine);
        all.put("slices", slices);
        all.put("ratios", comparison.rows());
        Path target = folder.resolve("result.json");
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentArraysWith(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE);
        try {
            JSON.writer(printer).writeValue(target.toFile(), all);
        } catch (IOException e) {
            throw new UncheckedIOException(target + " cannot be written", e);
        }
        return table;
    }

    private Map<String, Object> described() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("title", plan.title());
        List<Object> configurations = new ArrayList<>();
        for (Configuration each : plan.configurations()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", each.name());
            one.put("version", each.distribution().version());
            one.put("settings", each.settings());
            configurations.add(one);
        }
        values.put("configurations", configurations);
        values.put("voters", plan.voters());
        values.put("failedServers", plan.failedServers());
        values.put("cases", plan.cases());
        values.put("valueBytes", plan.valueBytes());
        values.put("records", plan.records());
        values.put("warmUpSeconds", plan.warmUp().toMillis() / 1e3);
        values.put("sliceSeconds", plan.slice().toMillis() / 1e3);
        values.put("compileSeconds", plan.compile().toMillis() / 1e3);
        values.put("rounds", plan.rounds());
        values.put("maxRounds", plan.maxRounds());
        values.put("precision", plan.precision());
        values.put("jvmFlags", plan.jvmFlags());
        return values;
    }

    // ---- For people ----

    private String table(Comparison comparison, List<Slice> slices) {
        StringBuilder text = new StringBuilder();
        int rounds = slices.stream().mapToInt(Slice::round).max().orElse(0);
        text.append(
                String.format(
                        Locale.ROOT,
                        "%s: %d of %d servers, %d-byte values, %d rounds of %.1f s%n%s%n%n",
                        plan.title(),
                        plan.voters() - plan.failedServers(),
                        plan.voters(),
                        plan.valueBytes(),
                        rounds,
                        plan.slice().toMillis() / 1e3,
                        machine));
        text.append(values(comparison)).append('\n');
        if (plan.configurations().size() > 1) {
            text.append(ratios(comparison)).append('\n');
        }
        text.append(
                "ops/s: median [quartiles] over the rounds; CPU: seconds per 10,000 operations.\n");
        if (plan.configurations().size() > 1) {
            text.append(
                    "Ratios: Hodges-Lehmann over rounds, with the confidence interval of the signed-rank"
                            + " test.\n");
        }
        warnings(slices).forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    private static TextTable values(Comparison comparison) {
        TextTable table =
                new TextTable(
                        "configuration",
                        "load",
                        "device",
                        "clients",
                        "mode",
                        "ops/s",
                        "p50 ms",
                        "p99 ms",
                        "CPU servers",
                        "leader",
                        "clients",
                        "forces/op",
                        "force ms",
                        "calls/op",
                        "slow/s",
                        "flushes/s",
                        "RSS MB");
        for (Case measured : comparison.cases()) {
            for (Map.Entry<String, List<Slice>> each : comparison.slices(measured).entrySet()) {
                String name = each.getKey();
                Spread throughput = comparison.spread(measured, name, Slice::throughput);
                table.row(
                        name,
                        measured.workload(),
                        device(measured),
                        Integer.toString(measured.clients()),
                        each.getValue().stream()
                                .map(Slice::mode)
                                .distinct()
                                .collect(Collectors.joining("+")),
                        String.format(
                                Locale.ROOT,
                                "%.0f [%.0f, %.0f]",
                                throughput.median(),
                                throughput.lowerQuartile(),
                                throughput.upperQuartile()),
                        median(comparison, measured, name, Slice::p50Millis),
                        median(comparison, measured, name, Slice::p99Millis),
                        median(comparison, measured, name, Slice::serverCpuPer10k),
                        median(comparison, measured, name, Slice::leaderCpuPer10k),
                        median(comparison, measured, name, Slice::clientCpuPer10k),
                        median(comparison, measured, name, Slice::forcesPerOperation),
                        median(comparison, measured, name, Slice::meanForceMillis),
                        median(comparison, measured, name, Slice::callsPerOperation),
                        median(
                                comparison,
                                measured,
                                name,
                                slice -> slice.slowCommits() / slice.seconds()),
                        median(
                                comparison,
                                measured,
                                name,
                                slice -> slice.flushes() / slice.seconds()),
                        median(comparison, measured, name, slice -> slice.residentBytes() / 1e6));
            }
        }
        return table;
    }

    private static String median(
            Comparison comparison, Case measured, String name, ToDoubleFunction<Slice> value) {
        return number(comparison.spread(measured, name, value).median());
    }

    private static TextTable ratios(Comparison comparison) {
        TextTable table =
                new TextTable(
                        "ratio",
                        "load",
                        "device",
                        "clients",
                        "throughput",
                        "interval",
                        "server CPU/op",
                        "interval");
        for (Comparison.Row row : comparison.rows()) {
            table.row(
                    row.configuration() + " / " + row.other(),
                    row.measured().workload(),
                    device(row.measured()),
                    Integer.toString(row.measured().clients()),
                    String.format(Locale.ROOT, "%.3f", row.throughput().ratio()),
                    interval(row.throughput()),
                    String.format(Locale.ROOT, "%.3f", row.serverCpu().ratio()),
                    interval(row.serverCpu()));
        }
        return table;
    }

    private static String device(Case measured) {
        return measured.device().name().toLowerCase(Locale.ROOT);
    }

    private static String interval(PairedRatio ratio) {
        return String.format(
                Locale.ROOT,
                "[%.3f, %.3f] at %.0f %%",
                ratio.low(),
                ratio.high(),
                ratio.confidence() * 100);
    }

    private List<String> warnings(List<Slice> slices) {
        List<String> lines = new ArrayList<>();
        long errors = slices.stream().mapToLong(Slice::errors).sum();
        if (errors > 0) {
            String first =
                    slices.stream()
                            .map(Slice::firstError)
                            .filter(text -> !text.isEmpty())
                            .findFirst()
                            .orElse("");
            lines.add("WARNING: " + errors + " operations failed; one of them: " + first);
        }
        long mixed = slices.stream().filter(slice -> slice.mode().equals("mixed")).count();
        if (mixed > 0) {
            lines.add("WARNING: the mode changed within " + mixed + " slices, which are included");
        }
        long tooFast =
                slices.stream()
                        .filter(
                                slice ->
                                        slice.forces() > 0
                                                && slice.meanForceMillis()
                                                        < slice.device().forceDelay().toNanos()
                                                                / 1e6)
                        .count();
        if (tooFast > 0) {
            lines.add(
                    "WARNING: in "
                            + tooFast
                            + " slices forces were faster than the device profile");
        }
        return lines;
    }

    /** Three significant digits, whole numbers from 100 on. */
    static String number(double value) {
        if (value == 0) {
            return "0";
        }
        double size = Math.abs(value);
        int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }
}
