package io.saucr.server;

import io.saucr.core.LleMap;
import io.saucr.core.MalformedMarkerException;
import io.saucr.core.MarkerFile;
import io.saucr.core.Markers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The two marker files of a server, beside its log (R12, R13, R14). A write that returns is on
 * disk: the file is forced, renamed over the old one, and the directory is forced.
 *
 * <p>Not thread-safe: the log's marker lock owns it.
 */
public final class MarkerStore {
    /** File names, in the directory that holds the transaction log. */
    static final String FAST_SWITCH = "saucr.fastSwitch";

    static final String LATEST_ON_DISK = "saucr.latestOnDisk";

    private final Path directory;

    /**
     * @param directory the directory that holds the transaction log's files
     */
    public MarkerStore(Path directory) {
        this.directory = directory;
    }

    /**
     * Reads both markers; a file that does not exist was never written.
     *
     * @throws IOException if a file cannot be read or is corrupt; the message names it
     */
    public Markers read() throws IOException {
        Path fast = directory.resolve(FAST_SWITCH);
        Path disk = directory.resolve(LATEST_ON_DISK);
        long fastSwitch = 0;
        MarkerFile.LatestOnDisk latest = new MarkerFile.LatestOnDisk(0, LleMap.empty());
        try {
            fastSwitch = MarkerFile.decodeFastSwitch(Files.readAllBytes(fast));
        } catch (NoSuchFileException e) {
            fastSwitch = 0;
        } catch (MalformedMarkerException | IOException e) {
            throw unreadable(fast, e);
        }
        try {
            latest = MarkerFile.decodeLatestOnDisk(Files.readAllBytes(disk));
        } catch (NoSuchFileException e) {
            // Never written: nothing is claimed.
            return new Markers(fastSwitch, 0, LleMap.empty());
        } catch (MalformedMarkerException | IOException e) {
            throw unreadable(disk, e);
        }
        return new Markers(fastSwitch, latest.zxid(), latest.lleMap());
    }

    /** Everything from this zxid on may be in memory alone (R12). */
    public void writeFastSwitch(long zxid) throws IOException {
        replace(FAST_SWITCH, MarkerFile.encodeFastSwitch(zxid));
    }

    /** Everything up to this zxid, and everything acked after it, is on disk (R13). */
    public void writeLatestOnDisk(long zxid, LleMap map) throws IOException {
        replace(LATEST_ON_DISK, MarkerFile.encodeLatestOnDisk(zxid, map));
    }

    private void replace(String name, byte[] content) throws IOException {
        Path temporary = directory.resolve(name + ".tmp");
        try (FileChannel channel =
                FileChannel.open(
                        temporary,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(true);
        }
        Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        forceDirectory(directory);
    }

    /** Makes creations, renames and deletions in a directory durable (H4). */
    public static void forceDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    private static IOException unreadable(Path file, Exception cause) {
        return new IOException(
                "The marker file "
                        + file
                        + " cannot be used: "
                        + cause.getMessage()
                        + ". Without it nobody knows whether this server's log is complete, so it must not vote."
                        + " Restore the file from a copy; or, only while a majority of the other servers is"
                        + " serving, empty this server's data directory but for myid, so that it copies"
                        + " everything from them.",
                cause);
    }
}
