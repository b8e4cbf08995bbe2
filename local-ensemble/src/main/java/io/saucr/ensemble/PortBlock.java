package io.saucr.ensemble;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * Consecutive TCP ports of loopback that no other block of this user's processes has, held until
 * {@link #close} or the end of this process, also while the servers on them are down. The range, by
 * default 20000-31999 (below the ports that the system gives to clients), can be set by the system
 * property {@value #RANGE}. Thread-safe.
 */
final class PortBlock implements AutoCloseable {
    static final String RANGE = "saucr.crash.ports";
    static final int SIZE = 40;

    private final int first;
    private final FileChannel channel;
    private final FileLock lock;

    private PortBlock(int first, FileChannel channel, FileLock lock) {
        this.first = first;
        this.channel = channel;
        this.lock = lock;
    }

    /** Reserves a block of {@value #SIZE} ports on which nobody listens. */
    static PortBlock reserve() throws IOException {
        String range = System.getProperty(RANGE, "20000-31999");
        String[] ends = range.split("-", -1);
        int low;
        int blocks;
        try {
            low = Integer.parseInt(ends[0]);
            blocks = (Integer.parseInt(ends[1]) + 1 - low) / SIZE;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw new IOException(RANGE + "=" + range + ": expected FIRST-LAST, two ports", e);
        }
        if (blocks < 1) {
            throw new IOException(RANGE + "=" + range + ": needs at least " + SIZE + " ports");
        }
        Path locks = Folders.ofThisUser("ports");
        Files.createDirectories(locks);
        int start = ThreadLocalRandom.current().nextInt(blocks);
        for (int i = 0; i < blocks; i++) {
            int first = low + (start + i) % blocks * SIZE;
            FileChannel channel =
                    FileChannel.open(
                            locks.resolve(first + ".lock"),
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE);
            FileLock lock = tryLock(channel);
            if (lock != null && allFree(first)) {
                return new PortBlock(first, channel, lock);
            }
            channel.close();
        }
        throw new IOException("no free block of " + SIZE + " ports in " + range);
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // another ensemble of this very process
        }
    }

    private static boolean allFree(int first) {
        return IntStream.range(first, first + SIZE).allMatch(Ports::isFree);
    }

    /** The port number {@code index}, 0 to {@value #SIZE} - 1, of this block. */
    int port(int index) {
        if (index < 0 || index >= SIZE) {
            throw new IllegalArgumentException("port " + index + " of a block of " + SIZE);
        }
        return first + index;
    }

    @Override
    public void close() throws IOException {
        lock.release();
        channel.close();
    }
}
