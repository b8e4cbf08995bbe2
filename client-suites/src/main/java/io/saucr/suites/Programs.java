package io.saucr.suites;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs programs, and lays out the files that they need. */
final class Programs {
    private static final int LIMIT_HOURS = 3;

    private Programs() {}

    /**
     * Runs a program of which a failure is a result, as that of a test.
     *
     * @param output the file that gets all that it prints
     * @throws IOException if it cannot be started, or does not end within three hours
     */
    static void run(Path folder, Map<String, String> environment, Path output, List<String> command)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            if (!process.waitFor(LIMIT_HOURS, TimeUnit.HOURS)) {
                throw new IOException(command + " still runs after " + LIMIT_HOURS + " hours");
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** Runs a program that must not fail, and returns what it printed. */
    static String read(Path folder, String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", "");
        try {
            Path errors = Files.createTempFile("errors", "");
            Process process =
                    new ProcessBuilder(command)
                            .directory(folder.toFile())
                            .redirectOutput(output.toFile())
                            .redirectError(errors.toFile())
                            .start();
            if (process.waitFor() != 0) {
                throw new IOException(
                        String.join(" ", command) + " failed: " + Files.readString(errors));
            }
            Files.delete(errors);
            return Files.readString(output);
        } finally {
            Files.delete(output);
        }
    }

    /** Writes a script of this package into a folder. */
    static void script(String name, Path folder) throws IOException {
        Files.createDirectories(folder);
        Path file = folder.resolve(name);
        try (InputStream script = Programs.class.getResourceAsStream(name)) {
            Files.copy(script, file, StandardCopyOption.REPLACE_EXISTING);
        }
        file.toFile().setExecutable(true);
    }

    /** Copies a folder; the copies may be written, whatever the originals are. */
    static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(
                from,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes a)
                            throws IOException {
                        Files.createDirectories(to.resolve(from.relativize(dir)));
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes a)
                            throws IOException {
                        Path copy = to.resolve(from.relativize(file));
                        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                        copy.toFile().setWritable(true);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
