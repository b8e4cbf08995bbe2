package io.saucr.bench.report;

import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.FlappingSample;
import io.saucr.bench.result.MethodShare;
import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Samples;
import io.saucr.bench.result.Slice;
import io.saucr.bench.result.SlowDiskVerdict;
import io.saucr.bench.result.Spread;
import io.saucr.bench.result.StageCost;
import io.saucr.bench.result.TimeSample;
import io.saucr.bench.result.Timeline;
import io.saucr.ensemble.Table;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a run measured, as text for people. Stateless. */
public final class Results {
    private Results() {}

    /** A table, and what has to be known about it; the first ones are the most important. */
    record Section(Table table, String note) {}

    /** All tables for which there are values. */
    static List<Section> sections(RunResult result) {
        List<Section> all = new ArrayList<>();
        if (!result.slices().isEmpty()) {
            Comparison comparison = new Comparison(result.slices());
            if (!comparison.rows().isEmpty()) {
                all.add(new Section(ratios(result.title(), comparison), RATIOS));
            }
            all.add(
                    new Section(
                            values(comparison),
                            "ops/s: median [quartiles] over "
                                    + rounds(result.slices())
                                    + "; CPU: seconds per 10,000 operations; KB, segments, calls,"
                                    + " fsyncs: per operation."));
        }
        if (!result.times().isEmpty()) {
            List<SlowDiskVerdict> verdicts = SlowDiskVerdict.of(result.times());
            if (!verdicts.isEmpty()) {
                all.add(new Section(slowDisks(verdicts), ""));
            }
            all.add(new Section(times(result.times()), RATIOS));
        }
        if (!result.timeline().isEmpty()) {
            all.add(new Section(timeline(result), ""));
        }
        if (!result.flapping().isEmpty()) {
            all.add(new Section(flapping(result.flapping()), RATIOS));
        }
        if (!result.bursts().isEmpty()) {
            all.add(new Section(bursts(result.bursts()), RATIOS));
        }
        if (!result.stages().isEmpty()) {
            all.add(new Section(stages(result.stages()), ""));
            all.add(new Section(methods(result.methods()), ""));
        }
        return all;
    }

    /** All tables, with notes on them; the most important last, where a terminal ends. */
    static String text(RunResult result) {
        StringBuilder text = new StringBuilder();
        text.append(result.title()).append(", ").append(result.begun()).append('\n');
        text.append(result.machine()).append('\n');
        List<Section> sections = new ArrayList<>(sections(result));
        if (result.stages().isEmpty()) {
            Collections.reverse(sections);
        }
        for (Section each : sections) {
            text.append('\n').append(each.table).append('\n');
            text.append(each.note).append(each.note.isEmpty() ? "" : "\n");
        }
        warnings(result.slices()).forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    private static final String RATIOS =
            "Ratios: Hodges-Lehmann over rounds, with the confidence interval of the signed-rank"
                    + " test.";

    private static String rounds(List<Slice> slices) {
        int rounds = slices.stream().mapToInt(Slice::round).max().orElse(0);
        return rounds
                + (rounds == 1 ? " round of " : " rounds of ")
                + Numbers.number(slices.get(0).seconds())
                + " s";
    }

    // ---- Slices ----

    /** Every configuration in every case. */
    static Table values(Comparison comparison) {
        Table table =
                Table.ofNumbers(
                        "configuration",
                        "load",
                        "device",
                        "n",
                        "clients",
                        "bytes",
                        "offered/s",
                        "mode",
                        "ops/s",
                        "p50 ms",
                        "p99 ms",
                        "p99.9 ms",
                        "CPU servers",
                        "leader",
                        "clients",
                        "KB",
                        "segments",
                        "calls",
                        "fsyncs",
                        "fsync ms",
                        "slow/s",
                        "flushes/s",
                        "RSS MB");
        for (Case measured : comparison.cases()) {
            for (Map.Entry<String, List<Slice>> each : comparison.slices(measured).entrySet()) {
                Cells cells = new Cells(comparison, measured, each.getKey());
                Spread throughput = cells.spread(Slice::throughput);
                boolean known = each.getValue().stream().allMatch(Slice::serversKnown);
                table.row(
                        each.getKey(),
                        measured.workload() + measured.sizes(),
                        device(measured),
                        measured.voters() == 0 ? "-" : Integer.toString(measured.voters()),
                        Integer.toString(measured.clients()),
                        Integer.toString(measured.valueBytes()),
                        measured.rate() == 0 ? "-" : Numbers.number(measured.rate()),
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
                        cells.median(Slice::p50Millis),
                        cells.median(Slice::p99Millis),
                        cells.median(Slice::p999Millis),
                        known ? cells.median(Slice::serverCpuPer10k) : "-",
                        known ? cells.median(Slice::leaderCpuPer10k) : "-",
                        cells.median(Slice::clientCpuPer10k),
                        cells.positive(slice -> slice.allocatedPerOperation() / 1e3),
                        cells.positive(Slice::segmentsPerOperation),
                        cells.positive(Slice::callsPerOperation),
                        known ? cells.median(Slice::forcesPerOperation) : "-",
                        known ? cells.median(Slice::meanForceMillis) : "-",
                        cells.median(slice -> slice.slowCommits() / slice.seconds()),
                        cells.median(slice -> slice.flushes() / slice.seconds()),
                        cells.positive(slice -> slice.residentBytes() / 1e6));
            }
        }
        return table;
    }

    private record Cells(Comparison comparison, Case measured, String name) {
        Spread spread(ToDoubleFunction<Slice> value) {
            return comparison.spread(measured, name, value);
        }

        String median(ToDoubleFunction<Slice> value) {
            return Numbers.number(spread(value).median());
        }

        /** The median as text; a value of 0 is not known, and shown as "-". */
        String positive(ToDoubleFunction<Slice> value) {
            double median = spread(value).median();
            return median > 0 ? Numbers.number(median) : "-";
        }
    }

    /** The first configuration against each other one, the paper's words next to them. */
    static Table ratios(String title, Comparison comparison) {
        Table table =
                Table.ofNumbers(
                        "ratio",
                        "case",
                        "throughput",
                        "interval",
                        "p99",
                        "interval",
                        "server CPU/op",
                        "interval",
                        "calls/op",
                        "interval",
                        "throughput in the paper");
        for (Comparison.Row row : comparison.rows()) {
            Optional<PairedRatio> cpu = Optional.ofNullable(row.serverCpu());
            Optional<PairedRatio> calls = Optional.ofNullable(row.calls());
            table.row(
                    row.configuration() + " / " + row.other(),
                    row.measured().toString(),
                    ratio(row.throughput()),
                    interval(row.throughput()),
                    ratio(row.p99()),
                    interval(row.p99()),
                    cpu.map(Results::ratio).orElse("-"),
                    cpu.map(Results::interval).orElse("-"),
                    calls.map(Results::ratio).orElse("-"),
                    calls.map(Results::interval).orElse("-"),
                    PaperFigures.throughputRatio(title, row).orElse("-"));
        }
        return table;
    }

    static String device(Case measured) {
        return measured.device().name().toLowerCase(Locale.ROOT);
    }

    private static String ratio(PairedRatio ratio) {
        return String.format(Locale.ROOT, "%.3f", ratio.ratio());
    }

    private static String interval(PairedRatio ratio) {
        return String.format(
                Locale.ROOT,
                "[%.3f, %.3f] at %.0f %%",
                ratio.low(),
                ratio.high(),
                ratio.confidence() * 100);
    }

    /** What a reader of the slices must know. */
    static List<String> warnings(List<Slice> slices) {
        List<String> lines = new ArrayList<>();
        long errors = slices.stream().mapToLong(Slice::errors).sum();
        if (errors > 0) {
            String first =
                    slices.stream()
                            .map(Slice::firstError)
                            .filter(text -> text != null && !text.isEmpty())
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
                            + " slices fsyncs were faster than the device profile");
        }
        long behind =
                slices.stream()
                        .filter(slice -> slice.rate() > 0)
                        .filter(slice -> slice.throughput() < 0.97 * slice.rate())
                        .count();
        if (behind > 0) {
            lines.add(
                    "NOTE: in "
                            + behind
                            + " slices more was offered than could be done: their latencies are those"
                            + " of a queue that grows with the length of the slice");
        }
        return lines;
    }

    // ---- What each ensemble of its own did ----

    /** How long things took, and the first configuration against each other one. */
    static Table times(List<TimeSample> samples) {
        return compared("time of", "seconds", "ratio", TimeSample.compared(samples));
    }

    /** What a server that goes and comes costs, and the first configuration against the others. */
    public static Table flapping(List<FlappingSample> samples) {
        return compared(
                "while a server flaps",
                "median",
                "ratio of " + samples.get(0).configuration(),
                FlappingSample.compared(samples));
    }

    /** What it costs when very much comes at once, the first configuration against the others. */
    public static Table bursts(List<BurstSample> samples) {
        return compared(
                "while very much comes at once",
                "median",
                "ratio of " + samples.get(0).configuration(),
                BurstSample.compared(samples));
    }

    private static Table compared(String what, String median, String ratio, Samples<?> samples) {
        Table table =
                Table.ofNumbers(
                        what, "configuration", median, "quartiles", "rounds", ratio, "interval");
        for (Samples.Row row : samples.rows()) {
            Spread spread = Spread.of(row.array());
            Optional<PairedRatio> paired = row.ratio().map(Samples.Ratio::ratio);
            table.row(
                    Stream.of(row.subject(), row.measure())
                            .filter(each -> !each.isEmpty())
                            .collect(Collectors.joining(": ")),
                    row.configuration(),
                    Numbers.number(spread.median()),
                    "[%s, %s]"
                            .formatted(
                                    Numbers.number(spread.lowerQuartile()),
                                    Numbers.number(spread.upperQuartile())),
                    Integer.toString(row.values().size()),
                    paired.map(Results::ratio).orElse("-"),
                    paired.map(Results::interval).orElse("-"));
        }
        return table;
    }

    // ---- Timelines ----

    /** Throughput and mode between one event and the next. */
    static Table timeline(RunResult result) {
        Table table =
                Table.ofNumbers(
                        "configuration",
                        "round",
                        "from s",
                        "until s",
                        "servers",
                        "mode",
                        "ops/s",
                        "after");
        for (Timeline line : Timeline.of(result)) {
            for (Timeline.Phase phase : line.phases()) {
                table.row(
                        line.configuration(),
                        Integer.toString(line.round()),
                        Numbers.number(phase.from()),
                        Numbers.number(phase.until()),
                        Integer.toString(phase.servers()),
                        phase.modes(),
                        Numbers.number(phase.throughput()),
                        phase.after());
            }
        }
        return table;
    }

    // ---- Stages ----

    /** CPU time by stage, the configurations side by side. */
    static Table stages(List<StageCost> costs) {
        List<String> names = costs.stream().map(StageCost::configuration).distinct().toList();
        List<String> heads = new ArrayList<>(List.of("stage", "of"));
        names.forEach(
                name -> {
                    heads.add(name + " CPU us/op");
                    heads.add("waiting us/op");
                    heads.add("switches/op");
                });
        Table table = Table.ofNumbers(heads.toArray(String[]::new));
        for (String role : List.of(StageCost.LEADER, StageCost.FOLLOWERS)) {
            List<StageCost> own = costs.stream().filter(c -> c.role().equals(role)).toList();
            List<String> stages =
                    own.stream()
                            .map(StageCost::stage)
                            .distinct()
                            .sorted(
                                    Comparator.comparingDouble(
                                            stage ->
                                                    -cost(
                                                            own,
                                                            names.get(0),
                                                            stage,
                                                            StageCost::cpuMicros)))
                            .toList();
            for (String stage : stages) {
                table.row(line(stage, role, own, names, stage));
            }
            table.row(line("all", role, own, names, null));
        }
        List<StageCost> busiest =
                costs.stream().filter(c -> c.role().equals(StageCost.BUSIEST)).toList();
        table.row(line(StageCost.BUSIEST, StageCost.LEADER, busiest, names, null));
        return table;
    }

    private static String[] line(
            String head, String role, List<StageCost> costs, List<String> names, String stage) {
        List<String> cells = new ArrayList<>(List.of(head, role));
        for (String name : names) {
            cells.add(Numbers.number(cost(costs, name, stage, StageCost::cpuMicros)));
            cells.add(Numbers.number(cost(costs, name, stage, StageCost::waitMicros)));
            cells.add(Numbers.number(cost(costs, name, stage, StageCost::switches)));
        }
        return cells.toArray(String[]::new);
    }

    /** The median over the rounds of a stage, or (without one) of the sum of all stages. */
    private static double cost(
            List<StageCost> costs,
            String configuration,
            String stage,
            ToDoubleFunction<StageCost> value) {
        Map<Integer, Double> byRound =
                costs.stream()
                        .filter(cost -> cost.configuration().equals(configuration))
                        .filter(cost -> stage == null || cost.stage().equals(stage))
                        .collect(
                                Collectors.groupingBy(
                                        StageCost::round, Collectors.summingDouble(value)));
        return byRound.isEmpty()
                ? 0
                : Spread.of(byRound.values().stream().mapToDouble(Double::doubleValue).toArray())
                        .median();
    }

    /** Which methods were found running, stage by stage. */
    static Table methods(List<MethodShare> methods) {
        Table table = Table.ofNumbers("configuration", "of", "stage", "share", "method");
        for (MethodShare each : methods) {
            table.row(
                    each.configuration(),
                    each.role(),
                    each.stage(),
                    String.format(Locale.ROOT, "%.1f %%", 100 * each.share()),
                    each.method());
        }
        return table;
    }

    /** What became of ensembles with one slow disk. */
    public static Table slowDisks(List<SlowDiskVerdict> verdicts) {
        Table table =
                Table.ofNumbers(
                        "slow disk of",
                        "configuration",
                        "throughput / without it",
                        "worst round",
                        "longest pause s",
                        "0.5 and 2 s");
        for (SlowDiskVerdict verdict : verdicts) {
            table.row(
                    verdict.measured(),
                    verdict.configuration(),
                    String.format(Locale.ROOT, "%.3f", verdict.ratio()),
                    String.format(Locale.ROOT, "%.3f", verdict.leastRatio()),
                    Numbers.number(verdict.longestPause()),
                    verdict.good() ? "kept" : "MISSED");
        }
        return table;
    }
}
