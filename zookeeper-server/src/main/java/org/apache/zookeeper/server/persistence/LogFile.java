package org.apache.zookeeper.server.persistence;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A file of the log that is being written. Writes name their position, so that the order of calls
 * is the only state. An interrupt of the calling thread changes nothing: it stays set, and the file
 * stays open for all others.
 */
interface LogFile extends Closeable {
    /** Creates log files; a test's implementation can make single operations fail. */
    interface Opener {
        /** Creates an empty file; one of that name is replaced. */
        LogFile create(Path path) throws IOException;
    }

    /** Writes all bytes, not durably. */
    void write(ByteBuffer bytes, long position) throws IOException;

    /**
     * Grows the file ahead of what is written, as Apache's log does.
     *
     * @param position where the next entry begins
     * @return the size in bytes that the file has now
     */
    long pad(FilePadding padding, long position) throws IOException;

    /** Makes what was written durable, but not the file's name (H4). */
    void force() throws IOException;

    /** Creates a log file on the disk. */
    static LogFile create(Path path) throws IOException {
        return new UninterruptibleFile(path);
    }
}
