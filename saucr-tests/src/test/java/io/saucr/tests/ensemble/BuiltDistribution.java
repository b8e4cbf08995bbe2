package io.saucr.tests.ensemble;

import io.saucr.crash.process.Distribution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The distribution that this build packages, unpacked once per run of the tests. */
final class BuiltDistribution {
    private BuiltDistribution() {}

    private static final class Unpacked {
        static final Path HOME = unpack();
    }

    /** The unpacked folder, with {@code bin}, {@code conf} and {@code lib}. */
    static Path home() {
        return Unpacked.HOME;
    }

    /** What it takes to launch one of its servers. */
    static Distribution servers() throws IOException {
        return Distribution.folder(home());
    }

    /** This module's build folder. */
    static Path target() {
        return Path.of(property("saucr.tests.target")).toAbsolutePath();
    }

    private static Path unpack() {
        Path archive = Path.of(property("saucr.distribution"));
        if (!Files.exists(archive)) {
            throw new IllegalStateException(
                    archive + " does not exist: run 'mvn verify' from the root folder");
        }
        Path folder = target().resolve("distribution");
        try {
            deleteTree(folder);
            Files.createDirectories(folder);
            run("tar", "-xzf", archive.toString(), "-C", folder.toString());
            try (Stream<Path> unpacked = Files.list(folder)) {
                return unpacked.findFirst().orElseThrow();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(archive + " cannot be unpacked", e);
        }
    }

    /** Deletes a folder with everything below it, if it exists. */
    static void deleteTree(Path folder) throws IOException {
        if (Files.exists(folder)) {
            run("rm", "-rf", folder.toString());
        }
    }

    /**
     * Runs a command to its end and returns what it printed.
     *
     * @throws IOException with its output if it fails
     */
    static String run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + " failed:\n" + output);
            }
            return output;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + command[0] + " ran", e);
        }
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException("set -D" + name + ", as the module's pom does");
        }
        return value;
    }
}
