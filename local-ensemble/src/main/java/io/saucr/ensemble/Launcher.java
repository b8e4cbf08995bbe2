package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How the process of one server is started, found again and asked to end. The calls come one at a
 * time, under the lock of the server's {@link ServerProcess}.
 */
interface Launcher {
    /** Writes what the server needs next to its {@code zoo.cfg}, before its first start. */
    void prepare() throws IOException;

    /** Starts the process, which does not run, and returns at once. */
    void start() throws IOException;

    /** Waits for the script that starts the process, if one does. Needs no lock. */
    void awaitStarted() throws InterruptedException;

    /** Whether the process runs, or is about to. */
    boolean isAlive();

    /** The process that was started last; it may have ended. Empty if there is none to be found. */
    Optional<ProcessHandle> process();

    /** How the process that was started last has ended; empty while it runs, or if nobody knows. */
    OptionalInt exitStatus();

    /** Asks the process to end in good order and returns at once. */
    void terminate() throws IOException;

    /**
     * Waits for the end of the process.
     *
     * @return whether it has ended in time
     */
    boolean awaitEnd(Duration timeout) throws InterruptedException;

    /** What the server has printed, over all its starts. */
    Path logFile();
}
