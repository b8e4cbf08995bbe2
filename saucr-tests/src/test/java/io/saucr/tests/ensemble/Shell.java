package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Commands as a user types them, run by bash. Thread-safe. */
final class Shell {
    private static final long SECONDS = 180;

    private final Path outputs;

    /** What a command printed, both streams, and its exit status. */
    record Result(int status, String output) {}

    /**
     * @param outputs a folder that exists, for what the commands print
     */
    Shell(Path outputs) {
        this.outputs = outputs;
    }

    /** Whether there is a program of this name on the path. */
    static boolean knows(String program) {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /**
     * Runs it to its end. What it has started in the background goes on.
     *
     * @param variables in addition to this process's own
     */
    Result run(Path directory, Map<String, String> variables, String command)
            throws IOException, InterruptedException {
        // A server that is started keeps a pipe open, but not a file.
        Path output = Files.createTempFile(outputs, "output", ".txt");
        ProcessBuilder builder =
                new ProcessBuilder("bash", "-o", "pipefail", "-c", command)
                        .directory(directory.toFile())
                        .redirectInput(Path.of("/dev/null").toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().putAll(variables);
        Process process = builder.start();
        boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
        String text = Files.readString(output);
        assertThat(ended).as("%s%n%s", command, text).isTrue();
        return new Result(process.exitValue(), text);
    }
}
