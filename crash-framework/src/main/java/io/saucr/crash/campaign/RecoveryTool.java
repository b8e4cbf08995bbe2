package io.saucr.crash.campaign;

import io.saucr.ensemble.Distribution;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The {@code saucr-recovery} of a situation-aware distribution, which an operator asks about the
 * disk of a server that does not run. Without state.
 */
public final class RecoveryTool {
    private static final String MAIN_CLASS = "io.saucr.server.tool.RecoveryCommand";

    private final Distribution distribution;

    /** Of this distribution. */
    public RecoveryTool(Distribution distribution) {
        this.distribution = distribution;
    }

    /** What became of one command. */
    public record Answer(int status, String output, String errors) {}

    /** Runs one command line and waits for its end. */
    public Answer run(List<String> arguments) throws IOException, InterruptedException {
        String classPath =
                distribution.classPath().stream()
                        .map(Path::toString)
                        .collect(Collectors.joining(File.pathSeparator));
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx64m",
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Dsaucr.log.level=ERROR",
                                "-cp",
                                classPath,
                                MAIN_CLASS));
        command.addAll(arguments);
        Process tool = new ProcessBuilder(command).start();
        tool.getOutputStream().close();
        // It says little: neither stream fills up while the other one is read.
        String output = new String(tool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String errors = new String(tool.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(tool.waitFor(), output, errors);
    }
}
