package io.saucr.services.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Bytes of the disk that are kept for what must continue when the disk is full: acknowledgements
 * and folding, which make room again (K13). They lie in a file of zeros. Who finds less room than
 * that on the disk takes no inputs any more and lets the reserve go; once there is room, it holds
 * it again. A start on a full disk lets it go, too. Any thread.
 */
public final class Reserve {

    static final String FILE = "reserve";
    private static final int PART_BYTES = 1 << 20;

    private final Disk disk;
    private final Path folder;
    private final long bytes;

    Reserve(Disk disk, Path folder, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a reserve has at least 1 byte, not " + bytes);
        }
        this.disk = disk;
        this.folder = folder;
        this.bytes = bytes;
    }

    /** Makes room for a start that needs so many bytes, where the disk lacks them. */
    static void releaseIfBelow(Disk disk, Path folder, long neededBytes) throws IOException {
        Path file = folder.resolve(FILE);
        if (disk.usableBytes(folder) < neededBytes && disk.exists(file)) {
            disk.delete(file);
            disk.forceFolder(folder);
        }
    }

    /** Whether the reserve is there, whole. */
    public synchronized boolean isHeld() throws IOException {
        Path path = folder.resolve(FILE);
        if (!disk.exists(path)) {
            return false;
        }
        try (Disk.File file = disk.open(path)) {
            return file.size() >= bytes;
        }
    }

    /** Whether the disk has less room left than the reserve has bytes: take no inputs. */
    public synchronized boolean isLow() throws IOException {
        return disk.usableBytes(folder) < bytes;
    }

    /**
     * Whether there is room for more than what the reserve is for; where there is none, it is let
     * go.
     */
    public synchronized boolean hasRoom() throws IOException {
        if (isLow() && isHeld()) {
            release();
            return false;
        }
        return hold();
    }

    /** Whether the disk has less room left than three times the reserve: let clients wait. */
    public synchronized boolean isScarce() throws IOException {
        return disk.usableBytes(folder) / 3 < bytes;
    }

    /**
     * Takes the bytes from the disk, where they are not held and there is room for twice as many,
     * so that holding them is not what fills the disk.
     *
     * @return whether they are held now
     * @throws IOException where the disk fails
     */
    public synchronized boolean hold() throws IOException {
        if (isHeld()) {
            return true;
        }
        if (disk.usableBytes(folder) / 2 < bytes) {
            return false;
        }
        try (Disk.File file = disk.open(folder.resolve(FILE))) {
            byte[] zeros = new byte[(int) Math.min(PART_BYTES, bytes)];
            for (long at = 0; at < bytes; at += zeros.length) {
                int part = (int) Math.min(zeros.length, bytes - at);
                file.write(ByteBuffer.wrap(zeros, 0, part), at);
                file.force();
            }
        }
        return true;
    }

    /** Gives the bytes back to the disk; on disk when this returns. */
    public synchronized void release() throws IOException {
        disk.delete(folder.resolve(FILE));
        disk.forceFolder(folder);
    }
}
