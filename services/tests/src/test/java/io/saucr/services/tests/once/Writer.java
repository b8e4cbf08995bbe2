package io.saucr.services.tests.once;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A way to do a client's steps, each once if it can. Used by one thread. */
interface Writer {
    /** The ways that are compared. */
    enum Way {
        /** ZooKeeper's own client, pipelined; what was lost is sent again. */
        PLAIN,
        /** Curator with {@code idempotent()} and protection, one operation after the other. */
        CURATOR,
        /** The once client, pipelined. */
        ONCE
    }

    /**
     * What a writer works with.
     *
     * @param connectString with a chroot
     * @param client the number of the client
     * @param depth the most operations under way
     * @param folder the client's own, with what an earlier process left in it
     */
    record Task(String connectString, int client, List<Step> steps, int depth, Path folder) {
        static final int SESSION_MILLIS = 4_000;
    }

    /**
     * Does what an earlier process has not told the outcome of, and tells it.
     *
     * @throws StoppedException if the client will do no more, and says why
     */
    void run(Task task, OutcomeFile outcomes)
            throws IOException, InterruptedException, StoppedException;

    static Writer of(Way way) {
        return switch (way) {
            case PLAIN -> new PlainWriter();
            case CURATOR -> new CuratorWriter();
            case ONCE -> new OnceWriter();
        };
    }

    /** The client has stopped for a reason, which its user is told. */
    final class StoppedException extends Exception {
        StoppedException(String reason) {
            super(reason);
        }
    }
}
