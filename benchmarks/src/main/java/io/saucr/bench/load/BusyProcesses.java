package io.saucr.bench.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Processes that only compute, so that a machine is busy. They end when this is closed, and soon
 * after this program has ended, however that came. Used by one thread.
 */
public final class BusyProcesses implements AutoCloseable {
    /** Counts, and now and then looks whether this program, its first argument, still runs. */
    private static final String LOOP =
            "while kill -0 \"$1\" 2>/dev/null; do"
                    + " i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done";

    private static final int MOST = 1000;

    private final List<Process> processes = new ArrayList<>();

    private BusyProcesses() {}

    /**
     * @throws IllegalArgumentException if there cannot be so many
     */
    public static void requirePossible(int count) {
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException("--busy: 0 to " + MOST + " processes");
        }
    }

    public static BusyProcesses start(int count) throws IOException {
        BusyProcesses started = new BusyProcesses();
        String self = Long.toString(ProcessHandle.current().pid());
        try {
            for (int i = 0; i < count; i++) {
                started.processes.add(
                        new ProcessBuilder("sh", "-c", LOOP, "busy", self)
                                .redirectErrorStream(true)
                                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                .start());
            }
            return started;
        } catch (IOException | RuntimeException e) {
            started.close();
            throw e;
        }
    }

    /**
     * @throws IOException if one has ended, so that the machine was less busy than it should have
     *     been
     */
    public void requireAlive() throws IOException {
        for (Process each : processes) {
            if (!each.isAlive()) {
                throw new IOException(
                        "a process that keeps the machine busy has ended with status "
                                + each.exitValue());
            }
        }
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
    }
}
