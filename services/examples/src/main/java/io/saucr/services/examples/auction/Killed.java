package io.saucr.services.examples.auction;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A Java process that is killed by SIGKILL and started again by the same command. One thread at a
 * time.
 */
public final class Killed implements AutoCloseable {

    private final String name;
    private final List<String> command;
    private final Path log;
    private Process process;
    private int kills;

    /**
     * Starts it.
     *
     * @param name for people
     * @param log gets what it writes, of all starts
     * @param heapMegabytes that its heap may have
     * @param program its main class, of this process's class path
     * @param arguments of each start
     */
    public Killed(String name, Path log, int heapMegabytes, Class<?> program, String... arguments)
            throws IOException {
        this.name = name;
        this.log = log;
        command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "-Xmx" + heapMegabytes + "m",
                        "-Dlogback.configurationFile=io/saucr/services/examples/logback.xml",
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName()));
        command.addAll(List.of(arguments));
        Files.createDirectories(log.getParent());
        start();
    }

    /**
     * Starts it again.
     *
     * @throws IllegalStateException where it runs
     */
    public void start() throws IOException {
        if (process != null && process.isAlive()) {
            throw new IllegalStateException(name + " runs");
        }
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .redirectInput(new File("/dev/null"))
                        .start();
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** How often it was killed. */
    public int kills() {
        return kills;
    }

    /**
     * SIGKILL.
     *
     * @throws IOException if it exited on its own before
     */
    public void kill() throws IOException, InterruptedException {
        if (!process.isAlive()) {
            throw new IOException(
                    name + " exited on its own with " + process.exitValue() + "; see " + log);
        }
        process.destroyForcibly();
        process.waitFor();
        kills++;
    }

    /** SIGKILL; then it starts again. */
    public void killAndStart() throws IOException, InterruptedException {
        kill();
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
