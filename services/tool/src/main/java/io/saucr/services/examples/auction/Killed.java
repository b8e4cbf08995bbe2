package io.saucr.services.examples.auction;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that is killed and started again. One thread at a time. */
final class Killed implements AutoCloseable {

    private final String name;
    private final List<String> command;
    private final Path log;
    private Process process;
    private int kills;

    Killed(String name, Path log, Class<?> program, String... arguments) throws IOException {
        this.name = name;
        this.log = log;
        command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "-Xmx128m",
                        "-Dlogback.configurationFile=io/saucr/services/tool/logback.xml",
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName()));
        command.addAll(List.of(arguments));
        Files.createDirectories(log.getParent());
        start();
    }

    private void start() throws IOException {
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .redirectInput(new File("/dev/null"))
                        .start();
    }

    String name() {
        return name;
    }

    int kills() {
        return kills;
    }

    /** SIGKILL; then it starts again. */
    void killAndStart() throws IOException, InterruptedException {
        if (!process.isAlive()) {
            throw new IOException(
                    name + " ended by itself with " + process.exitValue() + "; see " + log);
        }
        process.destroyForcibly();
        process.waitFor();
        kills++;
        start();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
