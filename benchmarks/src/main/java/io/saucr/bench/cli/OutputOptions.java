package io.saucr.bench.cli;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.bench.report.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import picocli.CommandLine.Option;

/** Where results and data go; filled in by picocli. */
final class OutputOptions {
    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "Where the results go (default: a new folder in bench-results).")
    private Path out;

    @Option(
            names = "--resume",
            description =
                    "Continue the run in the --out folder that did not end; the other options must be"
                            + " those that it was begun with.")
    private boolean resume;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description =
                    "Where the servers' data goes; on the disk to be measured (default: a temporary"
                            + " folder). What the run puts there is removed at its end.")
    private Path work;

    boolean resume() {
        return resume;
    }

    /** The folder of one run, or of the runs of one call. */
    Path path(String title) {
        if (out != null) {
            return out;
        }
        if (resume) {
            throw new IllegalArgumentException("--resume needs --out: which run is to continue?");
        }
        String now =
                LocalDateTime.now(ZoneId.systemDefault())
                        .format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
        return Path.of("bench-results").resolve(title + "-" + now);
    }

    RunFolder open(String title, Map<String, Object> plan) throws IOException {
        return open(path(title), title, plan);
    }

    /** As {@link RunFolder#open}, with {@code --resume} as it was given. */
    RunFolder open(Path folder, String title, Map<String, Object> plan) throws IOException {
        return RunFolder.open(folder, title, plan, resume);
    }

    WorkFolder work() throws IOException {
        return new WorkFolder(work != null ? work : Path.of(System.getProperty("java.io.tmpdir")));
    }
}
