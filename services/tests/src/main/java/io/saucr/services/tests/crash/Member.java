package io.saucr.services.tests.crash;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.ensemble.HostedProcess;
import io.saucr.ensemble.LineProcess;
import io.saucr.ensemble.Signal;
import java.io.IOException;
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
                    "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml");

    private final int id;
    private final String name;
    private final FaultBackend machines;
    private final Class<?> program;
    private final List<String> jvm;
    private final Path log;
    private final Consumer<String> heard;
    private LineProcess process;
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
        if (process != null) {
            process.close();
        }
        machines.beforeStart(id);
        List<String> flags = new ArrayList<>(jvm);
        flags.addAll(ANY_JVM);
        List<String> command = new ArrayList<>(machines.commandPrefix(id));
        command.addAll(
                LineProcess.java(flags, program.getName(), arguments.toArray(String[]::new)));
        process = new LineProcess(name, command, machines.environment(id), log, PATIENCE, heard);
        starts++;
        stopped = false;
    }

    /** Gives an order; one that has ended does not hear it. */
    public void order(String line) {
        process.order(line);
    }

    /** Waits for a line of this start that begins so. */
    public String await(String beginning) {
        return process.await(0, beginning);
    }

    /** Gives an order, and waits for a line that begins so and was said after it. */
    public String ask(String order, String beginning) {
        return process.ask(order, beginning);
    }

    /** Whether this start has said a line that begins so. */
    public boolean hasSaid(String beginning) {
        return process.hasSaid(beginning);
    }

    /** Waits until it has ended on its own; its exit status. */
    public int awaitEnd() throws InterruptedException {
        if (!process.process().waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(name + " does not end:\n" + process.logTail());
        }
        return process.process().exitValue();
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
        return process != null && process.process().isAlive();
    }

    @Override
    public long pid() {
        if (process == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return process.process().pid();
    }

    @Override
    public void kill() {
        if (process != null) {
            process.close();
        }
    }

    @Override
    public void close() {
        kill();
    }
}
