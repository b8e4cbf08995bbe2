package org.apache.zookeeper.server.persistence;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether somebody has removed the log below this server. Forces of it succeed, and what they save
 * is lost with the process. It is reported, and the server continues: if it happened to all servers
 * at once, what they have in memory is all that is left.
 *
 * <p>{@link #look} by one thread; the rest is thread-safe and waits for nothing.
 */
final class RemovedLogWatch {
    private static final Logger LOG = LoggerFactory.getLogger(RemovedLogWatch.class);

    /** How often it is looked. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final Path directory;
    private final BooleanSupplier closed;
    private long lookedAt = System.nanoTime();
    private volatile boolean removed;

    /** Null until a file is made. */
    private volatile Path newestFile;

    /**
     * @param directory of the log
     * @param closed whether the log is closed
     */
    RemovedLogWatch(Path directory, BooleanSupplier closed) {
        this.directory = directory;
        this.closed = closed;
    }

    /** The file that is being written; null if there is none. */
    Path newestFile() {
        return newestFile;
    }

    /** From now on this file is written; null while files are taken back. */
    void newestFileIs(Path file) {
        newestFile = file;
    }

    /** Whether the log is removed. Stays so while the process lives. */
    boolean removed() {
        return removed;
    }

    /** Looks, if it was long ago. */
    void look() {
        long now = System.nanoTime();
        if (now - lookedAt >= LOOK_NANOS) {
            lookedAt = now;
            lookNow();
        }
    }

    void lookNow() {
        Path newest = newestFile;
        Path wanted = newest == null ? directory : newest;
        // A file that is being taken back is missing by right, and so is all of a closed log.
        if (removed || !Files.notExists(wanted) || newest != newestFile || closed.getAsBoolean()) {
            return;
        }
        removed = true;
        LOG.error(
                "{} is not there any more: somebody removed it while this server writes its log."
                        + " What this server has logged is lost when its process ends. Restart it"
                        + " while a majority of the others serves, and it copies everything from"
                        + " them; if the same happened to them, make a backup first",
                wanted);
    }
}
