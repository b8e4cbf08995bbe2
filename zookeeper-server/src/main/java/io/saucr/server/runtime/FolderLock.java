package io.saucr.server.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a second process off a server's folder: it would take the running server's log for one that
 * a dead process left, and write to it. The kernel releases the lock when the process ends, however
 * it ends.
 *
 * <p>It does not keep two servers of one process apart, as they share its locks. On file systems
 * without locks it has no effect.
 *
 * <p>Thread-safe.
 */
public final class FolderLock implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(FolderLock.class);

    /** In the folder; it stays there, and is empty. */
    public static final String FILE = "saucr.lock";

    /**
     * How long an earlier process, just stopped, may take for its last flush: 10 s, or what a test
     * gives whose other process does not end.
     */
    public static final Duration PATIENCE =
            Duration.ofMillis(Long.getLong("saucr.folderLock.patienceMillis", 10_000));

    private static final long POLL_MILLIS = 100;

    private final FileChannel channel;

    /** Another process has the lock. */
    public static final class InUseException extends IOException {
        private static final long serialVersionUID = 1;

        private InUseException(Path folder) {
            super(
                    "Another process uses "
                            + folder
                            + ": a server runs there already, or has not ended yet. Stop it, or give"
                            + " this server folders of its own");
        }
    }

    private FolderLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Takes the lock until it is closed or the process ends.
     *
     * @param folder exists
     * @param patience how long another process that has it may take to end
     * @throws InUseException if it does not end
     * @throws IOException if the file cannot be made
     */
    public static FolderLock take(Path folder, Duration patience) throws IOException {
        Path file = folder.resolve(FILE);
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean taken = true;
        try {
            taken = await(channel, folder, patience);
        } catch (OverlappingFileLockException e) {
            LOG.debug("Another server of this process has {}", file);
        } catch (IOException e) {
            LOG.warn("Nothing keeps a second process off {}", folder, e);
        }
        if (!taken) {
            channel.close();
            throw new InUseException(folder);
        }
        return new FolderLock(channel);
    }

    private static boolean await(FileChannel channel, Path folder, Duration patience)
            throws IOException {
        long deadline = System.nanoTime() + patience.toNanos();
        boolean said = false;
        while (channel.tryLock() == null) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            if (!said) {
                LOG.info("Another process still uses {}: waiting for its end", folder);
                said = true;
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    /**
     * Whether another process has the lock of a folder. Changes nothing.
     *
     * @throws IOException if the file is there and cannot be opened
     */
    public static boolean isTaken(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            // Nothing that a server has locked; to open a pipe would wait for its other end.
            return false;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            FileLock shared = channel.tryLock(0, Long.MAX_VALUE, true);
            return shared == null;
        } catch (NoSuchFileException e) {
            return false;
        } catch (OverlappingFileLockException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
