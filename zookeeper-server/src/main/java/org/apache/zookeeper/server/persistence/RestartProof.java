package org.apache.zookeeper.server.persistence;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Proves to the next process of this server that the page cache is still the one that this process
 * wrote to (R25). If only the process died, nothing that it acknowledged is missing.
 */
public interface RestartProof {
    /** Proves nothing: every death of the process counts as a loss of power. */
    RestartProof NONE =
            new RestartProof() {
                @Override
                public void logFile(Path newest) {}

                @Override
                public void reached(long zxid) {}

                @Override
                public void withdraw() {}

                @Override
                public void close() {}
            };

    /**
     * From now on the log ends in this file. Called by the thread that appends, when the file has
     * been created, and before the first fast ack after a time of "everything on disk".
     *
     * @throws IOException ends the process, as any failed write of the log does
     */
    void logFile(Path newest) throws IOException;

    /**
     * Everything through this entry is in the page cache, and is about to be acked although it is
     * not forced: a log that ends before it later has lost something. Called by the thread that
     * acks, for every batch.
     */
    void reached(long zxid);

    /**
     * A write or a force failed: the page cache may lack what was written. Called before anything
     * else is done about it, perhaps under locks of the log and more than once; must not throw.
     */
    void withdraw();

    /** The log is closed. The proof stays valid, unless {@link #withdraw} was called. */
    void close();
}
