package org.apache.zookeeper.server.persistence;

import io.saucr.server.runtime.ObstacleException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.server.ExitCode;
import org.apache.zookeeper.util.ServiceUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of a log whose disk refuses (R14). Any write that fails, of an entry, a force or a
 * marker, ends the log's claims for good and the process: what the disk holds is unknown from then
 * on. {@link #orBroken} is used under the log's locks, so that nobody else writes after a failure;
 * {@link #orEnd} outside of them, because the exit waits for the last flush, which takes them all.
 * Thread-safe.
 */
final class LogFailure {
    private static final Logger LOG = LoggerFactory.getLogger(LogFailure.class);

    private final RestartProof proof;
    private final RemovedLogWatch watch;
    private final AtomicBoolean exitRequested = new AtomicBoolean();
    private volatile boolean failed;

    /** Something that writes. */
    interface Work {
        void run() throws IOException;
    }

    /**
     * @param proof withdrawn by a failure
     * @param watch is asked once more before the process ends
     */
    LogFailure(RestartProof proof, RemovedLogWatch watch) {
        this.proof = proof;
        this.watch = watch;
    }

    /** Whether anything has failed. */
    boolean failed() {
        return failed;
    }

    void requireIntact() throws IOException {
        if (failed) {
            throw new IOException("a write or an fsync of this log has failed before");
        }
    }

    /**
     * What writes to the disk runs in here, under whatever locks it needs: when it fails, nobody
     * writes or claims anything afterwards, not even what would succeed. A force that others began
     * before still ends, and fails then.
     */
    void orBroken(Work work) throws IOException {
        requireIntact();
        boolean done = false;
        try {
            work.run();
            done = true;
        } finally {
            if (!done) {
                broken();
            }
        }
        requireIntact();
    }

    private void broken() {
        failed = true;
        proof.withdraw();
    }

    /** Outside of all locks: when the work fails, the process ends. */
    void orEnd(String what, Work work) throws IOException {
        try {
            work.run();
        } catch (IOException | RuntimeException | Error e) {
            endProcess(what, e);
            throw e;
        }
    }

    private void endProcess(String what, Throwable cause) {
        broken();
        if (exitRequested.getAndSet(true)) {
            return;
        }
        // A folder that was removed ends a server under load sooner than it looks for it.
        watch.lookNow();
        if (cause instanceof ObstacleException) {
            LOG.error("{} failed, so this server stops: {}", what, cause.getMessage());
        } else {
            LOG.error(
                    "{} failed: {}; what the disk holds is unknown now, so this server stops",
                    what,
                    cause.getMessage(),
                    cause);
        }
        ServiceUtils.requestSystemExit(ExitCode.UNEXPECTED_ERROR.getValue());
    }
}
