package io.saucr.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Signals that Java cannot send itself, to several processes by one call of the shell's kill. */
public enum Signal {
    STOP,
    CONT,
    KILL,
    TERM,
    /** A JVM prints the stacks of its threads, and continues. */
    QUIT,
    /** Power is about to fail. */
    PWR;

    private static final Duration STANDSTILL_PATIENCE = Duration.ofSeconds(10);

    /**
     * Threads stop within microseconds, and power cuts may follow each other within milliseconds.
     */
    private static final long STANDSTILL_LOOK_NANOS = 100_000;

    /**
     * Sends this signal; processes that no longer exist are passed over. After STOP they stand
     * still: kill returns before threads on other processors have noticed, and one of them may
     * still answer somebody.
     *
     * @throws IOException if there is no shell
     * @throws EnsembleException if a process continues for ten seconds after STOP
     */
    public void send(Collection<Long> pids) throws IOException {
        if (pids.isEmpty()) {
            return;
        }
        // The shell's own: a small Debian has no program of that name.
        List<String> command = new ArrayList<>(List.of("sh", "-c", "kill \"$@\"", "kill"));
        command.add("-" + name());
        pids.forEach(pid -> command.add(Long.toString(pid)));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while sending " + name(), e);
        }
        if (this == STOP) {
            pids.forEach(Signal::awaitStandstill);
        }
    }

    private static void awaitStandstill(long pid) {
        Deadline deadline = Deadline.in(STANDSTILL_PATIENCE);
        while (!standsStill(pid)) {
            deadline.requireTimeLeft(() -> "process " + pid + " continues although it was stopped");
            LockSupport.parkNanos(STANDSTILL_LOOK_NANOS);
        }
    }

    /** Also true of a process that has ended, and on a system without /proc. */
    static boolean standsStill(long pid) {
        Path threads = Path.of("/proc", Long.toString(pid), "task");
        try (Stream<Path> each = Files.list(threads)) {
            return each.noneMatch(Signal::runs);
        } catch (IOException | UncheckedIOException e) {
            return true;
        }
    }

    /**
     * Running, or asleep so that any signal wakes it. A thread that waits for a disk stops before
     * it does anything else.
     */
    private static boolean runs(Path thread) {
        try {
            String state = ProcStat.fields(thread)[0];
            return state.equals("R") || state.equals("S");
        } catch (IOException e) {
            return false; // gone meanwhile
        }
    }
}
