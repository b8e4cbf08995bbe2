package io.saucr.ensemble;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A process that takes orders and answers, line by line, on its standard streams. One thread gives
 * orders and waits; another one of its own hears what the process says.
 */
public final class LineProcess implements AutoCloseable {
    private static final int TAIL_LINES = 30;

    private final String name;
    private final Path log;
    private final Duration patience;
    private final Process process;
    private final BufferedWriter orders;
    private final Thread reader;
    private final List<String> lines = new ArrayList<>(); // Guarded by its own monitor.

    /**
     * Starts a process.
     *
     * @param name for messages
     * @param environment variables besides those of this process
     * @param log gets what it writes to its error stream, behind what is there
     * @param patience how long a line is waited for
     * @param heard is given each line that it says, before any caller waits for it
     */
    public LineProcess(
            String name,
            List<String> command,
            Map<String, String> environment,
            Path log,
            Duration patience,
            Consumer<String> heard)
            throws IOException {
        this.name = name;
        this.log = log;
        this.patience = patience;
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        process = builder.start();
        orders = process.outputWriter(StandardCharsets.UTF_8);
        BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
        reader = new Thread(() -> hear(said, heard), name + " says");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * The command line of a JVM with the class path of this process, or of the tests that run.
     *
     * @param program name of its main class
     */
    public static List<String> java(List<String> flags, String program, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add("-Xshare:auto");
        command.add("-cp");
        command.add(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(program);
        command.addAll(List.of(arguments));
        return command;
    }

    private void hear(BufferedReader said, Consumer<String> heard) {
        try {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                heard.accept(line);
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) {
            // It was killed.
        } finally {
            synchronized (lines) {
                lines.notifyAll();
            }
        }
    }

    /** Gives an order; a process that has ended does not hear it, and does not answer. */
    public void order(String line) {
        try {
            orders.write(line);
            orders.newLine();
            orders.flush();
        } catch (IOException e) {
            // The wait for its answer fails.
        }
    }

    /** How many lines it has said. */
    public int said() {
        synchronized (lines) {
            return lines.size();
        }
    }

    /** Whether it has said a line that begins so. */
    public boolean hasSaid(String beginning) {
        synchronized (lines) {
            return lines.stream().anyMatch(it -> it.startsWith(beginning));
        }
    }

    /** Gives an order, and waits for a line that begins in one of these ways and comes after it. */
    public String ask(String order, String... beginnings) {
        int from = said();
        order(order);
        return await(from, beginnings);
    }

    /**
     * Waits for a line that begins in one of these ways.
     *
     * @param from the number of the first line that counts, from 0
     * @throws IllegalStateException where it does not come; the message has the end of its log
     */
    public String await(int from, String... beginnings) {
        Deadline deadline = Deadline.in(patience);
        synchronized (lines) {
            for (int next = from; ; ) {
                for (; next < lines.size(); next++) {
                    if (Arrays.stream(beginnings).anyMatch(lines.get(next)::startsWith)) {
                        return lines.get(next);
                    }
                }
                if (deadline.hasPassed() || (!process.isAlive() && !reader.isAlive())) {
                    throw new IllegalStateException(
                            "%s %s %s; the end of %s:\n%s"
                                    .formatted(
                                            name,
                                            process.isAlive() ? "does not say" : "ended without",
                                            Arrays.toString(beginnings),
                                            log,
                                            logTail()));
                }
                try {
                    lines.wait(100);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("interrupted", e);
                }
            }
        }
    }

    /** The last lines of its log. */
    public String logTail() {
        try {
            List<String> all = Files.readAllLines(log);
            return String.join("\n", all.subList(Math.max(0, all.size() - TAIL_LINES), all.size()));
        } catch (IOException e) {
            return "unreadable: " + e.getMessage();
        }
    }

    public Process process() {
        return process;
    }

    /** SIGKILL; returns when it is dead and everything that it said has been heard. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        try {
            reader.join(patience.toMillis());
            orders.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // What it did not hear is lost with it.
        }
    }
}
