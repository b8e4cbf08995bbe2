package io.saucr.services.journal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The file operations that everything in a folder is made of, so that tests can fail each of them
 * and lose what was not forced. A file's bytes are on disk after {@link File#force}, its name after
 * {@link #forceFolder}; neither brings the other. What a failed force leaves on disk is unknown,
 * even after a later one that succeeds. Any thread.
 */
public interface Disk {

    /** The files of this machine. */
    static Disk local() {
        return LocalDisk.INSTANCE;
    }

    /** The files of this machine, to be looked at: whatever would change one is refused. */
    static Disk readOnly() {
        return ReadOnlyDisk.INSTANCE;
    }

    /** Who holds a lock file of this machine, without taking it; empty where nobody does. */
    static Optional<String> holder(Path lock) throws IOException {
        return LocalDisk.holder(lock);
    }

    /** Makes a folder and what is missing above it; on disk when this returns. */
    void makeFolder(Path folder) throws IOException;

    /** The names of the files in a folder. */
    List<String> list(Path folder) throws IOException;

    /** Whether there is such a file or folder. */
    boolean exists(Path file) throws IOException;

    /** Opens a file for reading and writing, and makes an empty one where there is none. */
    File open(Path file) throws IOException;

    /** Gives a file another name in the same folder, at once; a file of that name is replaced. */
    void rename(Path from, Path to) throws IOException;

    /** Deletes a file, where there is one. */
    void delete(Path file) throws IOException;

    /** Puts the names of a folder's files on disk. */
    void forceFolder(Path folder) throws IOException;

    /**
     * Locks a file against all other processes and against this one.
     *
     * @param holder what a process that is refused is told
     * @return frees it when closed, as does the end of the process
     * @throws LockedException where it is locked
     */
    Closeable lock(Path file, String holder) throws IOException;

    /** The bytes that a file of this folder could still take. */
    long usableBytes(Path folder) throws IOException;

    /** Replaces the content of a small file: all of the old or all of the new is on disk. */
    default void replace(Path file, byte[] content) throws IOException {
        Path beside = file.resolveSibling(file.getFileName() + ".tmp");
        try (File written = open(beside)) {
            written.truncate(0);
            written.write(ByteBuffer.wrap(content), 0);
            written.force();
        }
        rename(beside, file);
        forceFolder(file.toAbsolutePath().getParent());
    }

    /** An open file. One thread writes, another may force. */
    interface File extends Closeable {

        /** How many bytes it has. */
        long size() throws IOException;

        /** Reads to the buffer's limit, or to the end of the file. */
        void read(ByteBuffer into, long at) throws IOException;

        /** Writes all that remains in the buffer; its position moves to the limit. */
        void write(ByteBuffer from, long at) throws IOException;

        /** Cuts the file off; it does not grow. */
        void truncate(long bytes) throws IOException;

        /** Puts what was written before, and the file's size, on disk. */
        void force() throws IOException;
    }

    /** A file is locked by somebody else. */
    final class LockedException extends IOException {

        private static final long serialVersionUID = 1L;

        /**
         * Somebody holds the lock.
         *
         * @param holder who, as far as known
         */
        public LockedException(String holder) {
            super(holder);
        }
    }
}
