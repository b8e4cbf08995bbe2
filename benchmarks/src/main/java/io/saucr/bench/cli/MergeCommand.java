package io.saucr.bench.cli;

import io.saucr.bench.result.Numbers;
import io.saucr.ensemble.Table;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Adds up what load generators on several machines saw of the same ensemble. */
@Command(
        name = "merge",
        description =
                "Adds up the latencies and throughputs of load generators that ran on several machines"
                        + " against the same ensemble at the same time, from the histogram logs that"
                        + " each wrote.",
        mixinStandardHelpOptions = true)
final class MergeCommand implements Callable<Integer> {
    private static final double MICROS_PER_MILLI = 1000;
    private static final String SUFFIX = ".hlog";

    @Parameters(
            arity = "1..*",
            paramLabel = "PATH",
            description =
                    "One for each generator: the folder with its results, or a histogram log (.hlog).")
    private List<Path> generators;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Writes the sums as a histogram log, too.")
    private Path out;

    /** A time in which one generator measured. */
    private record Interval(double begin, double end) {
        double overlap(Interval other) {
            return Math.max(0, Math.min(end, other.end) - Math.max(begin, other.begin));
        }

        double length() {
            return end - begin;
        }
    }

    /** What one generator saw of one case, over all its slices. */
    private static final class Seen {
        private final Histogram latencies = resizing();
        private final List<Interval> intervals = new ArrayList<>();

        void add(EncodableHistogram histogram) {
            latencies.add((Histogram) histogram);
            intervals.add(
                    new Interval(
                            histogram.getStartTimeStamp() / 1e3,
                            histogram.getEndTimeStamp() / 1e3));
        }

        double seconds() {
            return intervals.stream().mapToDouble(Interval::length).sum();
        }

        double throughput() {
            return latencies.getTotalCount() / seconds();
        }

        /** The part of this generator's time in which the other one measured, too. */
        double overlap(Seen other) {
            double common = 0;
            for (Interval own : intervals) {
                for (Interval its : other.intervals) {
                    common += own.overlap(its);
                }
            }
            return common / seconds();
        }
    }

    @Override
    public Integer call() throws Exception {
        Map<String, List<Seen>> cases = new LinkedHashMap<>();
        for (Path generator : generators) {
            read(generator)
                    .forEach(
                            (tag, seen) ->
                                    cases.computeIfAbsent(tag, key -> new ArrayList<>()).add(seen));
        }
        Table table =
                Table.ofNumbers(
                        "case",
                        "generators",
                        "ops/s",
                        "operations",
                        "p50 ms",
                        "p95 ms",
                        "p99 ms",
                        "p99.9 ms",
                        "max ms",
                        "at the same time");
        Map<String, Histogram> sums = new LinkedHashMap<>();
        cases.forEach(
                (tag, seen) -> {
                    Histogram sum = sum(seen);
                    sums.put(tag, sum);
                    table.row(
                            tag,
                            Integer.toString(seen.size()),
                            Numbers.number(seen.stream().mapToDouble(Seen::throughput).sum()),
                            Long.toString(sum.getTotalCount()),
                            millis(sum.getValueAtPercentile(50)),
                            millis(sum.getValueAtPercentile(95)),
                            millis(sum.getValueAtPercentile(99)),
                            millis(sum.getValueAtPercentile(99.9)),
                            millis(sum.getMaxValue()),
                            overlap(seen));
                });
        System.out.println(table);
        System.out.println(
                "ops/s is the sum over the generators. What they did not measure at the same time is"
                        + " not a throughput of the ensemble.");
        if (out != null) {
            write(sums);
        }
        return 0;
    }

    private static Histogram resizing() {
        Histogram histogram = new Histogram(3);
        histogram.setAutoResize(true);
        return histogram;
    }

    private static String millis(long micros) {
        return Numbers.number(micros / MICROS_PER_MILLI);
    }

    private static Histogram sum(List<Seen> seen) {
        Histogram sum = resizing();
        double begin = Double.MAX_VALUE;
        double end = 0;
        for (Seen each : seen) {
            sum.add(each.latencies);
            for (Interval interval : each.intervals) {
                begin = Math.min(begin, interval.begin);
                end = Math.max(end, interval.end);
            }
        }
        sum.setStartTimeStamp((long) (begin * 1e3));
        sum.setEndTimeStamp((long) (end * 1e3));
        return sum;
    }

    /** The smallest overlap of two generators, for people. */
    private static String overlap(List<Seen> seen) {
        double least = 1;
        for (Seen one : seen) {
            for (Seen other : seen) {
                least = one == other ? least : Math.min(least, one.overlap(other));
            }
        }
        return String.format(Locale.ROOT, "%.0f %%", 100 * least);
    }

    private static Map<String, Seen> read(Path generator) throws IOException {
        List<Path> logs = List.of(generator);
        if (Files.isDirectory(generator)) {
            Path inside = generator.resolve("latencies");
            try (Stream<Path> files = Files.list(Files.isDirectory(inside) ? inside : generator)) {
                logs = files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
            }
            if (logs.isEmpty()) {
                throw new IOException(generator + " holds no histogram log (*" + SUFFIX + ")");
            }
        }
        Map<String, Seen> seen = new LinkedHashMap<>();
        for (Path log : logs) {
            try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
                for (EncodableHistogram next = reader.nextIntervalHistogram();
                        next != null;
                        next = reader.nextIntervalHistogram()) {
                    String tag = next.getTag() == null ? "" : next.getTag();
                    seen.computeIfAbsent(tag, key -> new Seen()).add(next);
                }
            } catch (FileNotFoundException e) {
                throw new IOException(log + " cannot be read", e);
            }
        }
        if (seen.isEmpty()) {
            throw new IOException(generator + " holds no histogram");
        }
        return seen;
    }

    private void write(Map<String, Histogram> sums) throws IOException {
        try (PrintStream stream =
                new PrintStream(Files.newOutputStream(out), false, StandardCharsets.UTF_8)) {
            HistogramLogWriter log = new HistogramLogWriter(stream);
            log.outputLogFormatVersion();
            log.outputLegend();
            sums.forEach(
                    (tag, sum) -> {
                        sum.setTag(tag);
                        log.outputIntervalHistogram(
                                sum.getStartTimeStamp() / 1e3,
                                sum.getEndTimeStamp() / 1e3,
                                sum,
                                MICROS_PER_MILLI);
                    });
        }
    }
}
