package io.saucr.crash;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.report.Report;
import io.saucr.crash.report.Results;
import io.saucr.crash.report.TextReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code saucr-crash report}. */
@Command(
        name = "report",
        description =
                "Writes report.html, report.txt and report.json from the outcomes in a folder.",
        mixinStandardHelpOptions = true)
final class ReportCommand implements Callable<Integer> {
    @Option(
            names = {"-o", "--out"},
            defaultValue = "saucr-crash-out",
            description = "Default: ${DEFAULT-VALUE}.")
    private Path out;

    @Override
    public Integer call() throws IOException {
        if (!Files.isDirectory(out) || Results.in(out, System.out).isEmpty()) {
            throw new IOException(out + " holds no outcomes");
        }
        write(out);
        return 0;
    }

    /** Writes the reports of a folder into it, and prints the text. */
    static void write(Path out) throws IOException {
        Results results = Results.in(out, System.out);
        String text = TextReport.of(results);
        Files.writeString(out.resolve("report.txt"), text);
        Path page = out.resolve("report.html");
        Files.writeString(page, Report.html(results));
        new ObjectMapper()
                .writerWithDefaultPrettyPrinter()
                .writeValue(out.resolve("report.json").toFile(), results);
        System.out.printf("%n%s%nreport: %s%n", text, page);
    }
}
