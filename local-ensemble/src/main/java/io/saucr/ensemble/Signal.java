package io.saucr.ensemble;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Signals that Java cannot send itself, to several processes by one call of kill(1). */
public enum Signal {
    STOP,
    CONT,
    KILL,
    TERM,
    /** A JVM prints the stacks of its threads, and goes on. */
    QUIT,
    /** Power is about to fail. */
    PWR;

    /**
     * Sends this signal; processes that no longer exist are passed over.
     *
     * @throws IOException if kill(1) cannot be run
     */
    public void send(Collection<Long> pids) throws IOException {
        if (pids.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("kill", "-" + name()));
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
    }
}
