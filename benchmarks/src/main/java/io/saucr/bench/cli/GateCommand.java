package io.saucr.bench.cli;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.Comparison;
import io.saucr.bench.result.PairedRatio;
import io.saucr.bench.result.Slice;
import io.saucr.ensemble.Distribution;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
    private static final String TREE = "working-tree";
    private static final String DISTRIBUTION = "distribution.tar.gz";

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
        String source = System.getProperty("saucr.root");
        if (source == null) {
            throw new IOException("the gate needs the source tree: start it by bin/saucr-bench");
        }
        Path root = Path.of(source);
        String hash = output(root, "git", "rev-parse", "--short", commit + "^{commit}");
        Path other = unpack(built(root, hash), root, hash);
        Path own =
                Distribution.tarball(root)
                        .orElseThrow(
                                () ->
                                        new IOException(
                                                "the working tree's distribution has not been"
                                                        + " built"));
        Path mine = unpack(own, root, TREE);
        String tree = TREE + "=" + mine + ",saucr.enabled=true";
        String base = hash + "=" + other + ",saucr.enabled=true";
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
        treeFirst.sort(Comparator.comparing(slice -> !slice.configuration().equals(TREE)));
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

    /** The commit's distribution, built if it has not been before. */
    private static Path built(Path tree, String hash) throws Exception {
        Path folder = Files.createDirectories(tree.resolve("benchmarks/target/gate"));
        Path distribution = folder.resolve(hash + "-" + DISTRIBUTION);
        if (Files.exists(distribution)) {
            return distribution;
        }
        Path source = Files.createDirectories(folder.resolve(hash + "-source"));
        try {
            Path archive = folder.resolve(hash + ".tar");
            output(tree, "git", "archive", "--output=" + archive.toAbsolutePath(), hash);
            output(source, "tar", "-xf", archive.toAbsolutePath().toString());
            Files.delete(archive);
            System.err.println("building " + hash);
            output(
                    source,
                    "mvn",
                    "-B",
                    "-q",
                    "-pl",
                    "zookeeper-server",
                    "-am",
                    "-DskipTests",
                    "package");
            Path tarball =
                    Distribution.tarball(source)
                            .orElseThrow(
                                    () ->
                                            new IOException(
                                                    "commit " + hash + " builds no distribution"));
            Files.move(tarball, distribution, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            WorkFolder.delete(source);
        }
        return distribution;
    }

    /** Unpacks a copy of the distribution, so that the tree may be built again meanwhile. */
    private static Path unpack(Path tarball, Path tree, String name) throws IOException {
        return Distribution.unpack(tarball, tree.resolve("benchmarks/target/gate").resolve(name));
    }

    /** What a command prints, without the end of the line. */
    private static String output(Path folder, String... command) throws Exception {
        File log = File.createTempFile("saucr-bench-", ".log");
        try {
            Process process =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(log)
                            .start();
            int status = process.waitFor();
            String output = Files.readString(log.toPath(), StandardCharsets.UTF_8).strip();
            if (status != 0) {
                throw new IOException(String.join(" ", command) + " failed:\n" + output);
            }
            return output;
        } finally {
            Files.delete(log.toPath());
        }
    }
}
