package io.saucr.ensemble;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs a command of the operating system to its end. Stateless. */
public final class Command {
    private Command() {}

    /**
     * Runs one.
     *
     * @return what it printed
     * @throws IOException with all of that if its status is not 0
     */
    public static String run(String... words) throws IOException {
        return feed("", words);
    }

    /** As {@link #run}, with standard input. */
    public static String feed(String input, String... words) throws IOException {
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        try (OutputStream stdin = process.getOutputStream()) {
            stdin.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(
                        "%s%s ended with %s: %s"
                                .formatted(
                                        String.join(" ", words),
                                        input.isEmpty() ? "" : " <<\n" + input,
                                        status,
                                        output.trim()));
            }
            return output;
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: " + String.join(" ", words), e);
        }
    }

    /** Whether the path has such a program. */
    public static boolean exists(String name) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (Files.isExecutable(Path.of(folder).resolve(name))) {
                return true;
            }
        }
        return List.of("/usr/sbin", "/sbin").stream()
                .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(name)));
    }
}
