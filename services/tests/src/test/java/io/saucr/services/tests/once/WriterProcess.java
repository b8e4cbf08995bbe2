package io.saucr.services.tests.once;

import io.saucr.ensemble.LineProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * One client as a process of the operating system. It can be killed at any moment and started again
 * on its folder. Thread-safe.
 */
final class WriterProcess implements AutoCloseable {
    private static final List<String> SMALL_JVM =
            List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData");

    /** The exit status of a process that SIGKILL has ended. */
    static final int KILLED = 128 + 9;

    private final List<String> command;
    private final Path folder;
    private Process process; // Guarded by this.
    private int starts; // Guarded by this.

    /**
     * @param folder the client's; made if it is not there
     * @param arguments of {@link WriterProgram}, but the folder
     */
    WriterProcess(Path folder, List<String> arguments) throws IOException {
        Files.createDirectories(folder);
        this.folder = folder;
        List<String> all = new ArrayList<>(arguments);
        all.add(folder.toString());
        String program = WriterProgram.class.getName();
        command = LineProcess.java(SMALL_JVM, program, all.toArray(String[]::new));
    }

    Path folder() {
        return folder;
    }

    /**
     * @throws IllegalStateException if it runs
     */
    synchronized void start() throws IOException {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException(folder + " has a client, pid " + process.pid());
        }
        starts++;
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
                        .start();
    }

    /** SIGKILL, and waits for the end. */
    synchronized void kill() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
    }

    synchronized int starts() {
        return starts;
    }

    /** Empty while it runs; that of a killed one is not 0. */
    synchronized OptionalInt exitStatus() {
        return process == null || process.isAlive()
                ? OptionalInt.empty()
                : OptionalInt.of(process.exitValue());
    }

    /** Its end of the log, for a message. */
    String log() throws IOException {
        List<String> lines =
                Files.exists(folder.resolve("log"))
                        ? Files.readAllLines(folder.resolve("log"))
                        : List.of();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
    }

    /** Why the client stopped; empty if it has not said so. */
    String reason() throws IOException {
        Path file = folder.resolve(WriterProgram.REASON);
        return Files.exists(file) ? Files.readString(file) : "";
    }

    @Override
    public void close() {
        kill();
    }
}
