package io.saucr.crash;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Keeps what the runs of a failed test leave behind, before its temporary folder goes: histories,
 * outcomes, reports and the servers' logs. The failure names the folder, which is in the module's
 * {@code target/failed-runs}.
 */
final class FailedRuns implements TestExecutionExceptionHandler {
    private final Supplier<Path> work;
    private final Path target;

    /**
     * @param work the folder of the test
     */
    FailedRuns(Supplier<Path> work) {
        this(work, Path.of("target"));
    }

    FailedRuns(Supplier<Path> work, Path target) {
        this.work = work;
        this.target = target;
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure)
            throws Throwable {
        String test =
                context.getRequiredTestClass().getSimpleName()
                        + "."
                        + context.getRequiredTestMethod().getName();
        throw kept(test, failure);
    }

    /** The failure with the folder in its message; as it was, if there was nothing to keep. */
    Throwable kept(String test, Throwable failure) {
        try (Stream<Path> files = Files.walk(work.get())) {
            Path folder = null;
            for (Path file : files.filter(FailedRuns::tells).toList()) {
                if (folder == null) {
                    folder = freshFolder(test);
                }
                Path copy = folder.resolve(work.get().relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
            return folder == null
                    ? failure
                    : new AssertionError(
                            failure.getMessage() + "\nHistories and logs are kept in " + folder,
                            failure);
        } catch (IOException e) {
            failure.addSuppressed(e);
            return failure;
        }
    }

    private static boolean tells(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file)
                && (name.endsWith(".edn")
                        || name.endsWith(".log")
                        || name.endsWith(".jsonl")
                        || name.startsWith("report."));
    }

    private Path freshFolder(String test) throws IOException {
        Path parent = Files.createDirectories(target.resolve("failed-runs")).toAbsolutePath();
        for (int i = 1; ; i++) {
            try {
                return Files.createDirectory(parent.resolve(i == 1 ? test : test + "-" + i));
            } catch (FileAlreadyExistsException e) {
                // An earlier failure of the same test.
            }
        }
    }
}
