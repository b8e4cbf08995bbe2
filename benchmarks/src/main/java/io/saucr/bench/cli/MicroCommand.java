package io.saucr.bench.cli;

import io.saucr.bench.micro.EveryProposal;
import io.saucr.bench.result.Numbers;
import io.saucr.ensemble.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The JMH benchmarks of the servers' core, with what they allocate. */
@Command(
        name = "micro",
        description = {
            "JMH benchmarks of the servers' core, with the bytes that each operation allocates.",
            "They are what happens for every proposal, and for every change of mode or servers.",
            "Ends with 3 if something that happens for every proposal allocates."
        },
        mixinStandardHelpOptions = true)
final class MicroCommand implements Callable<Integer> {
    private static final int ALLOCATES = 3;

    /**
     * Fewer bytes per operation than this count as none: JMH itself allocates a little, which it
     * divides among the operations. A single object has at least 16 bytes.
     */
    private static final double NOTHING_BYTES = 1;

    @Option(
            names = "--include",
            paramLabel = "REGEX",
            description = "Which benchmarks (default: all).",
            defaultValue = "io\\.saucr\\.bench\\.micro\\..*")
    private String include;

    @Option(
            names = "--forks",
            paramLabel = "N",
            description = "JVMs for each benchmark, 0 for this one (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private int forks;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Length of each of five iterations (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private double seconds;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Writes JMH's own results there, too, as JSON.")
    private Path out;

    @Override
    public Integer call() throws Exception {
        TimeValue each = TimeValue.milliseconds((long) (seconds * 1000));
        ChainedOptionsBuilder options =
                new OptionsBuilder()
                        .include(include)
                        .forks(forks)
                        .warmupTime(each)
                        .measurementTime(each)
                        .verbosity(VerboseMode.SILENT)
                        .addProfiler(GCProfiler.class)
                        .shouldFailOnError(true);
        if (out != null) {
            if (out.toAbsolutePath().getParent() != null) {
                Files.createDirectories(out.toAbsolutePath().getParent());
            }
            options.result(out.toString()).resultFormat(ResultFormatType.JSON);
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        if (results.isEmpty()) {
            throw new IOException("no benchmark matches " + include);
        }
        Table table = Table.ofNumbers("benchmark", "voters", "ns/op", "error", "bytes/op");
        List<String> allocating = new ArrayList<>();
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark();
            Result<?> time = result.getPrimaryResult();
            double bytes = allocated(result);
            table.row(
                    name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1),
                    result.getParams().getParam("voters"),
                    Numbers.number(time.getScore()),
                    Numbers.number(time.getScoreError()),
                    bytes < NOTHING_BYTES ? "0" : Numbers.number(bytes));
            if (name.startsWith(EveryProposal.class.getName()) && bytes >= NOTHING_BYTES) {
                allocating.add(name);
            }
        }
        System.out.println(table);
        if (!allocating.isEmpty()) {
            System.out.println(
                    "These happen for every proposal and must not allocate: "
                            + String.join(", ", allocating));
            return ALLOCATES;
        }
        return 0;
    }

    @SuppressWarnings("rawtypes") // JMH's signature
    private static double allocated(RunResult result) throws IOException {
        for (Map.Entry<String, Result> each : result.getSecondaryResults().entrySet()) {
            if (each.getKey().endsWith("gc.alloc.rate.norm")) {
                return each.getValue().getScore();
            }
        }
        throw new IOException("this JVM does not tell what is allocated");
    }
}
