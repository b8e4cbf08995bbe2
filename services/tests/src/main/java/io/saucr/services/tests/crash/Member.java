package io.saucr.services.tests.crash;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.ensemble.HostedProcess;
import io.saucr.ensemble.Signal;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One process on a machine of its own, with what it says. It can be started again on what its disk
 * kept. Orders are given by one thread; lines are heard by another.
 */
public final class Member implements HostedProcess, AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Enough for what tests keep in memory. */
    public static final List<String> SMALL_JVM =
            List.of("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final List<String> ANY_JVM =
            List.of(
                    "-XX:-UsePerfData",
                    "-Xshare:auto",
                    "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml");

    private final int id;
    private final String name;
    private final FaultBackend machines;
    private final Class<?> program;
    private final List<String> jvm;
    private final Path log;
    private final Consumer<String> heard;
    private final List<String> lines = new ArrayList<>(); // Guarded by itself, of this start.
    private Process process;
    private BufferedWriter orders;
    private Thread reader;
    private int starts;
    private boolean stopped;

    /**
     * A process that does not run yet.
     *
     * @param jvm options of its JVM
     * @param log gets what it logs, over all starts
     * @param heard is given each line that it says, before anybody waits for it
     */
    public Member(
            int id,
            String name,
            FaultBackend machines,
            Class<?> program,
            List<String> jvm,
            Path log,
            Consumer<String> heard) {
        this.id = id;
        this.name = name;
        this.machines = machines;
        this.program = program;
        this.jvm = List.copyOf(jvm);
        this.log = log;
        this.heard = heard;
    }

    /**
     * Starts it.
     *
     * @throws IllegalStateException where it runs
     */
    public void start(List<String> arguments) throws IOException {
        if (isAlive()) {
            throw new IllegalStateException(name + " runs, pid " + pid());
        }
        end();
        machines.beforeStart(id);
        List<String> command = new ArrayList<>(machines.commandPrefix(id));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(ANY_JVM);
        command.add("-cp");
        command.add(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(program.getName());
        command.addAll(arguments);
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(machines.environment(id));
        synchronized (lines) {
            lines.clear();
        }
        process = builder.start();
        starts++;
        stopped = false;
        orders = process.outputWriter(StandardCharsets.UTF_8);
        BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
        reader = new Thread(() -> hear(said), name + " says");
        reader.setDaemon(true);
        reader.start();
    }

    private void hear(BufferedReader said) {
        try {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                heard.accept(line);
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) {
            // It has ended.
        } finally {
            synchronized (lines) {
                lines.notifyAll();
            }
        }
    }

    /** Gives an order; one that has ended does not hear it. */
    public void order(String line) {
        try {
            orders.write(line);
            orders.newLine();
            orders.flush();
        } catch (IOException e) {
            // Whoever waits for its answer finds out.
        }
    }

    /** Waits for a line of this start that begins so. */
    public String await(String beginning) {
        return await(beginning, 0);
    }

    /** Gives an order, and waits for a line that begins so and was said after it. */
    public String ask(String order, String beginning) {
        int from;
        synchronized (lines) {
            from = lines.size();
        }
        order(order);
        return await(beginning, from);
    }

    private String await(String beginning, int from) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        synchronized (lines) {
            for (int next = from; ; ) {
                for (; next < lines.size(); next++) {
                    if (lines.get(next).startsWith(beginning)) {
                        return lines.get(next);
                    }
                }
                long left = (end - System.nanoTime()) / 1_000_000;
                if (left <= 0 || (!isAlive() && !reader.isAlive())) {
                    throw new IllegalStateException(
                            name
                                    + (left <= 0 ? " does not say \"" : " ended without \"")
                                    + beginning
                                    + "\"; the end of "
                                    + log
                                    + ":\n"
                                    + logTail());
                }
                try {
                    lines.wait(Math.min(left, 100));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("interrupted", e);
                }
            }
        }
    }

    /** Whether this start has said a line that begins so. */
    public boolean hasSaid(String beginning) {
        synchronized (lines) {
            return lines.stream().anyMatch(it -> it.startsWith(beginning));
        }
    }

    private String logTail() {
        try {
            List<String> all = Files.readAllLines(log);
            return String.join("\n", all.subList(Math.max(0, all.size() - 30), all.size()));
        } catch (IOException e) {
            return "unreadable: " + e.getMessage();
        }
    }

    /** Waits until it has ended by itself; its exit status. */
    public int awaitEnd() throws InterruptedException {
        if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(name + " does not end:\n" + logTail());
        }
        return process.exitValue();
    }

    /** SIGSTOP. */
    public void freeze() throws IOException {
        Signal.STOP.send(List.of(pid()));
        stopped = true;
    }

    /** SIGCONT, where it stands still. */
    public void thaw() throws IOException {
        if (stopped && isAlive()) {
            Signal.CONT.send(List.of(pid()));
        }
        stopped = false;
    }

    public String name() {
        return name;
    }

    public int starts() {
        return starts;
    }

    @Override
    public int id() {
        return id;
    }

    @Override
    public boolean isAlive() {
        return process != null && process.isAlive();
    }

    @Override
    public long pid() {
        if (process == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return process.pid();
    }

    @Override
    public void kill() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
            end();
        }
    }

    /** Everything that it said has been heard then. */
    private void end() {
        if (reader == null) {
            return;
        }
        try {
            reader.join(PATIENCE.toMillis());
            orders.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // What it did not hear is lost with it.
        }
        reader = null;
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (RuntimeException e) {
            throw new UncheckedIOException(new IOException(name + " could not be killed", e));
        }
    }
}
