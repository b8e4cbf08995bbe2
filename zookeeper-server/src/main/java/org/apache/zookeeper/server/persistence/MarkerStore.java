package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MalformedMarkerException;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.server.runtime.ObstacleException;
import io.saucr.server.runtime.SmallFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The marker files of a server, next to its log (R12, R13, R14, R26). A write that returns is on
 * disk: the file is forced, renamed over the old one, and the directory is forced.
 *
 * <p>The two markers are owned by the log's marker lock, or by the only thread while the log is not
 * open. The identity is changed by several threads (the log's and the one of the peer), so what
 * changes it excludes each other here.
 */
public final class MarkerStore {
    /** File names, in the directory that holds the transaction log. */
    private static final String FAST_SWITCH = "saucr.fastSwitch";

    private static final String LATEST_ON_DISK = "saucr.latestOnDisk";
    private static final String IDENTITY = "saucr.identity";

    static final List<String> NAMES = List.of(FAST_SWITCH, LATEST_ON_DISK, IDENTITY);

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
        MarkerFile.LatestOnDisk latest = new MarkerFile.LatestOnDisk(0, LleMap.empty(), View.FIRST);
        try {
            fastSwitch = MarkerFile.decodeFastSwitch(SmallFile.read(fast));
        } catch (NoSuchFileException e) {
            fastSwitch = 0;
        } catch (ObstacleException e) {
            throw e;
        } catch (MalformedMarkerException | IOException e) {
            throw unreadable(fast, e);
        }
        try {
            latest = MarkerFile.decodeLatestOnDisk(SmallFile.read(disk));
        } catch (NoSuchFileException e) {
            // Never written: nothing is claimed.
            return new Markers(fastSwitch, 0, LleMap.empty());
        } catch (ObstacleException e) {
            throw e;
        } catch (MalformedMarkerException | IOException e) {
            throw unreadable(disk, e);
        }
        return new Markers(fastSwitch, latest.zxid(), latest.lleMap(), latest.view());
    }

    /** Whether the fast-switch marker is there. */
    public boolean hasFastSwitch() {
        return Files.exists(directory.resolve(FAST_SWITCH));
    }

    /** Whether the latest-on-disk marker is there. */
    public boolean hasLatestOnDisk() {
        return Files.exists(directory.resolve(LATEST_ON_DISK));
    }

    /**
     * What the log folder records about itself (R26).
     *
     * @throws IOException if the file is there and cannot be read or is corrupt
     */
    public Optional<LogIdentity> identity() throws IOException {
        Path file = directory.resolve(IDENTITY);
        try {
            return Optional.of(MarkerFile.decodeIdentity(SmallFile.read(file)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (ObstacleException e) {
            throw e;
        } catch (MalformedMarkerException | IOException e) {
            throw unreadable(file, e);
        }
    }

    /** Says whose log this is and how far it reaches at least (R26). */
    public synchronized void writeIdentity(LogIdentity identity) throws IOException {
        replace(IDENTITY, MarkerFile.encodeIdentity(identity));
    }

    /**
     * The log is about to be cut after this entry, or to be replaced by one that ends there: from
     * now on that is no loss (R26). Does nothing for a log without an identity.
     */
    synchronized void lowerExtent(long zxid) throws IOException {
        Optional<LogIdentity> now = identity();
        if (now.isPresent()) {
            LogIdentity is = now.get();
            Markers markers = read();
            long marker = markers.latestOnDisk();
            long least = Math.min(is.leastEnd(marker), zxid);
            writeIdentity(is.withExtent(least, marker));
            // The fast-switch marker, too, says how far the log reaches. Lowered, it stays ahead of
            // the other one.
            long ahead = Math.max(marker, zxid) + 1;
            if (markers.crashedInFastMode() && ahead < markers.fastSwitch()) {
                writeFastSwitch(ahead);
            }
        }
    }

    /**
     * Everything through this entry is on disk: a log that is shorter later has lost something
     * (R26). Does nothing for a log without an identity, or one that is lost already.
     *
     * @param onDisk gives the zxid; called when no other thread can lower the extent, and never
     *     more than what it was lowered to
     */
    synchronized void raiseExtent(LongSupplier onDisk) throws IOException {
        Optional<LogIdentity> now = identity();
        if (now.isPresent() && hasLatestOnDisk()) {
            long zxid = onDisk.getAsLong();
            long marker = read().latestOnDisk();
            if (zxid > now.get().leastEnd(marker)) {
                writeIdentity(now.get().withExtent(zxid, marker));
            }
        }
    }

    /**
     * Before the epoch file is replaced, both epochs; when it has been, the new one twice. An epoch
     * file that says anything else later is another one, or the log folder is (R26). Does nothing
     * for a log without an identity.
     */
    public synchronized void writeEpochs(long one, long other) throws IOException {
        Optional<LogIdentity> now = identity();
        if (now.isPresent() && !now.get().equals(now.get().withEpochs(one, other))) {
            writeIdentity(now.get().withEpochs(one, other));
        }
    }

    /**
     * What is on this disk is not all that the server had, and stays so, whatever happens, until
     * the latest-on-disk marker is written again (R26).
     *
     * @param owner whose disk it is
     */
    public synchronized void markLost(LogIdentity owner) throws IOException {
        writeIdentity(owner);
        if (Files.deleteIfExists(directory.resolve(LATEST_ON_DISK))) {
            forceDirectory(directory);
        }
    }

    /** Everything from this zxid on may be in memory alone (R12). */
    public void writeFastSwitch(long zxid) throws IOException {
        replace(FAST_SWITCH, MarkerFile.encodeFastSwitch(zxid));
    }

    /**
     * Everything up to this zxid, and everything acked after it, is on disk (R13).
     *
     * @param view the own view, which a seal among these entries may have made (R23)
     */
    public void writeLatestOnDisk(long zxid, LleMap map, View view) throws IOException {
        replace(LATEST_ON_DISK, MarkerFile.encodeLatestOnDisk(zxid, map, view));
    }

    private void replace(String name, byte[] content) throws IOException {
        Path temporary = directory.resolve(name + DataFolder.TEMPORARY);
        NamedErrors.in(temporary, () -> write(temporary, content));
        Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        forceDirectory(directory);
    }

    private static void write(Path file, byte[] content) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(content);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(true);
        }
    }

    /** Makes creations, renames and deletions in a directory durable (H4). */
    public static void forceDirectory(Path directory) throws IOException {
        forceFile(directory);
    }

    /** Makes what others have written to the file durable. */
    static void forceFile(Path file) throws IOException {
        NamedErrors.in(
                file,
                () -> {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                        channel.force(true);
                    }
                });
    }

    private static IOException unreadable(Path file, Exception cause) {
        return new IOException(
                ("The marker file %s cannot be used: %s. Without it nobody knows"
                                + " whether this server's log is complete, so it must not vote. Delete"
                                + " the file, and never put an older one in its place: the server then"
                                + " gets what it may lack from the others before it takes part again.")
                        .formatted(file, cause.getMessage()),
                cause);
    }
}
