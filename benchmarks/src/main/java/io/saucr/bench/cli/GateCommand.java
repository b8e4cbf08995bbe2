package io.saucr.bench.cli;

import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Slice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Compares the working tree with a commit on a short set of loads. The commit is built in a folder
 * of its own, once; the working tree is not touched.
 */
@Command(
        name = "gate",
        description = {
            "Compares the working tree with a commit: update-only, 1, 8 and 64 clients, hdd.",
            "If the working tree is worse by more than --tolerance, as far as the interval of"
                    + " confidence tells, all is measured again with new ensembles, and what is"
                    + " worse again closes the gate.",
            "Ends with 0, or with 3 if the gate is closed."
        },
        mixinStandardHelpOptions = true)
final class GateCommand implements Callable<Integer> {
    private static final int WORSE = 3;

    @Mixin private RunOptions options;

    @Option(
            names = "--commit",
            paramLabel = "COMMIT",
            description = "What the working tree is compared with (default: ${DEFAULT-VALUE}).",
            defaultValue = "HEAD")
    private String commit;

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
        SourceTree source = SourceTree.ofProgram("the gate");
        String hash = source.hash(commit);
        String tree = source.workingTree();
        String base = source.commit(hash);
        Path folder = options.folder(Figure.gate(List.of(tree, base)));
        Map<String, String> worse = worse(measured(List.of(tree, base), folder));
        if (!worse.isEmpty()) {
            worse.values().forEach(System.out::println);
            System.out.println(
                    "That may be how these servers happened to be compiled: again, with new ones, the"
                            + " other first.");
            Map<String, String> again =
                    worse(measured(List.of(base, tree), folder.resolve("again")));
            again.keySet().retainAll(worse.keySet());
            worse = again;
            worse.values().forEach(line -> System.out.println("CONFIRMED " + line));
        }
        if (worse.isEmpty()) {
            System.out.printf(
                    Locale.ROOT,
                    "The gate is open: nothing is worse than %s by more than %.0f %%.%n",
                    hash,
                    100 * tolerance);
        }
        return worse.isEmpty() ? 0 : WORSE;
    }

    private List<Slice> measured(List<String> configurations, Path folder) throws Exception {
        if (options.resume() && RunFolder.complete(folder)) {
            return RunFolder.result(folder).slices();
        }
        return options.measure(Figure.gate(configurations), folder).slices();
    }

    private Map<String, String> worse(List<Slice> slices) {
        List<Slice> treeFirst = new ArrayList<>(slices);
        treeFirst.sort(
                Comparator.comparing(
                        slice -> !slice.configuration().equals(SourceTree.WORKING_TREE)));
        return worse(new Comparison(treeFirst), tolerance);
    }

    /**
     * The values that are worse than allowed even at the better end of their interval, with a line
     * about each.
     */
    static Map<String, String> worse(Comparison comparison, double tolerance) {
        Map<String, String> lines = new LinkedHashMap<>();
        for (Comparison.Row row : comparison.rows()) {
            if (row.throughput().high() < 1 - tolerance) {
                put(lines, "throughput", row, row.throughput());
            }
            if (row.serverCpu() != null && row.serverCpu().low() > 1 + tolerance) {
                put(lines, "CPU time per operation", row, row.serverCpu());
            }
        }
        return lines;
    }

    private static void put(
            Map<String, String> lines, String what, Comparison.Row row, PairedRatio ratio) {
        lines.put(
                what + ", " + row.measured(),
                String.format(
                        Locale.ROOT,
                        "WORSE: %s, %s: %.3f [%.3f, %.3f] of %s",
                        what,
                        row.measured(),
                        ratio.ratio(),
                        ratio.low(),
                        ratio.high(),
                        row.other()));
    }
}
