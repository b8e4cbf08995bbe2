package io.saucr.bench.cli;

import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Slice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Compares the working tree with a commit on a short set of loads. The commit is built in a folder
 * of its own, once; the working tree is not touched.
 *
 * <p>One start of servers is one value. Within a start the rounds agree closely, but the next start
 * of the same code may take a fifth more CPU time, because its JVMs compile other methods first, or
 * because it was started first.
 */
@Command(
        name = "gate",
        description = {
            "Compares the working tree with a commit: update-only, 1, 8 and 64 clients, hdd.",
            "The servers of both are started anew --starts times. The one that starts first"
                    + " changes, for it has slower servers.",
            "The gate closes if a value is worse than --tolerance allows even at the better end of"
                    + " its interval over the starts.",
            "Ends with 0, or with 3 if the gate is closed."
        },
        mixinStandardHelpOptions = true)
final class GateCommand implements Callable<Integer> {
    private static final int WORSE = 3;

    /** One of the two values that the gate looks at, of one case. */
    private enum Value {
        THROUGHPUT("throughput"),
        CPU("CPU time per operation");

        private final String text;

        Value(String text) {
            this.text = text;
        }

        PairedRatio of(Comparison.Row row) {
            return this == THROUGHPUT ? row.throughput() : row.serverCpu();
        }

        boolean worse(PairedRatio ratio, double tolerance) {
            return this == THROUGHPUT ? ratio.high() < 1 - tolerance : ratio.low() > 1 + tolerance;
        }
    }

    @Mixin private RunOptions options;

    @Option(
            names = "--commit",
            paramLabel = "COMMIT",
            description = "What the working tree is compared with (default: ${DEFAULT-VALUE}).",
            defaultValue = "HEAD")
    private String commit;

    @Option(
            names = "--starts",
            paramLabel = "N",
            description =
                    "How often the servers of both are started anew (default: ${DEFAULT-VALUE}).",
            defaultValue = "4")
    private int starts;

    @Option(
            names = "--tolerance",
            paramLabel = "PART",
            description =
                    "How much less throughput, or more CPU time of the servers per operation, is still"
                            + " allowed (default: ${DEFAULT-VALUE}).",
            defaultValue = "0.03")
    private double tolerance;

    @Override
    public Integer call() throws Exception {
        if (starts < 1) {
            throw new IllegalArgumentException("--starts must be at least 1, but is " + starts);
        }
        SourceTree source = SourceTree.ofProgram("the gate");
        String hash = source.hash(commit);
        String tree = source.workingTree();
        String base = source.commit(hash);
        Path folder = options.folder(Figure.gate(List.of(tree, base)));
        List<Comparison> measured = new ArrayList<>();
        for (int start = 1; start <= starts; start++) {
            System.out.println("Start " + start + " of " + starts);
            List<String> inTurn = start % 2 == 1 ? List.of(tree, base) : List.of(base, tree);
            measured.add(treeFirst(measured(inTurn, folder.resolve("start-" + start))));
        }
        List<Line> lines = lines(measured, tolerance);
        lines.forEach(line -> System.out.println(line.text()));
        boolean open = lines.stream().noneMatch(Line::worse);
        System.out.printf(
                Locale.ROOT,
                open
                        ? "The gate is open: nothing is worse than %s by more than %.0f %%.%n"
                        : "The gate is closed: what is marked is worse than %s by more than %.0f %%.%n",
                hash,
                100 * tolerance);
        return open ? 0 : WORSE;
    }

    private List<Slice> measured(List<String> configurations, Path folder) throws Exception {
        if (options.resume() && RunFolder.complete(folder)) {
            return RunFolder.result(folder).slices();
        }
        return options.measure(Figure.gate(configurations), folder).slices();
    }

    private static Comparison treeFirst(List<Slice> slices) {
        List<Slice> treeFirst = new ArrayList<>(slices);
        treeFirst.sort(
                Comparator.comparing(
                        slice -> !slice.configuration().equals(SourceTree.WORKING_TREE)));
        return new Comparison(treeFirst);
    }

    /**
     * A value over all starts.
     *
     * @param worse whether it is worse than allowed even at the better end of its interval
     */
    record Line(String text, boolean worse) {}

    /**
     * Both values of each case over the starts.
     *
     * @param starts the same cases in each, at least one
     * @param tolerance the part by which a value may be worse
     */
    static List<Line> lines(List<Comparison> starts, double tolerance) {
        List<Line> lines = new ArrayList<>();
        List<List<Comparison.Row>> rows = starts.stream().map(Comparison::rows).toList();
        for (int i = 0; i < rows.get(0).size(); i++) {
            int row = i;
            for (Value value : Value.values()) {
                List<PairedRatio> each =
                        rows.stream().map(start -> value.of(start.get(row))).toList();
                if (!each.contains(null)) {
                    lines.add(line(value, rows.get(0).get(row), each, tolerance));
                }
            }
        }
        return lines;
    }

    private static Line line(
            Value value, Comparison.Row row, List<PairedRatio> starts, double tolerance) {
        double[] ratios = starts.stream().mapToDouble(PairedRatio::ratio).toArray();
        double[] ones = new double[ratios.length];
        Arrays.fill(ones, 1);
        PairedRatio over = ratios.length == 1 ? starts.get(0) : PairedRatio.of(ratios, ones);
        boolean worse = value.worse(over, tolerance);
        return new Line(
                String.format(
                        Locale.ROOT,
                        "%s%s, %s: %.3f [%.3f, %.3f] of %s; starts:%s",
                        worse ? "WORSE: " : "",
                        value.text,
                        row.measured(),
                        over.ratio(),
                        over.low(),
                        over.high(),
                        row.other(),
                        Arrays.stream(ratios)
                                .mapToObj(ratio -> String.format(Locale.ROOT, " %.2f", ratio))
                                .collect(Collectors.joining())),
                worse);
    }
}
