package io.saucr.bench.cli;

import io.saucr.bench.report.HtmlReport;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One report of several runs. */
@Command(
        name = "report",
        description = "Writes one HTML report of several runs, which needs no other file.",
        mixinStandardHelpOptions = true)
public final class ReportCommand implements Callable<Integer> {
    @Parameters(
            arity = "1..*",
            paramLabel = "FOLDER",
            description = "Folders with results, or folders of such folders.")
    private List<Path> folders;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Where the report goes (default: ${DEFAULT-VALUE}).",
            defaultValue = "report.html")
    private Path out;

    @Override
    public Integer call() throws Exception {
        List<RunResult> results = new ArrayList<>();
        for (Path folder : folders) {
            results.addAll(results(folder));
        }
        Files.writeString(out, HtmlReport.page(results));
        System.out.println("The report of " + results.size() + " runs is in " + out);
        return 0;
    }

    /**
     * The result of a folder, or of each folder in it, in the order in which the runs began.
     *
     * @throws IOException if there is none
     */
    public static List<RunResult> results(Path folder) throws IOException {
        if (RunFolder.complete(folder) || !Files.isDirectory(folder)) {
            return List.of(RunFolder.result(folder));
        }
        List<RunResult> results = new ArrayList<>();
        try (Stream<Path> inside = Files.list(folder)) {
            for (Path each : inside.filter(RunFolder::complete).toList()) {
                results.add(RunFolder.result(each));
            }
        }
        if (results.isEmpty()) {
            throw new IOException(
                    folder + " holds no complete run: there is no " + RunFolder.RESULT);
        }
        results.sort(Comparator.comparing(RunResult::begun));
        return results;
    }
}
