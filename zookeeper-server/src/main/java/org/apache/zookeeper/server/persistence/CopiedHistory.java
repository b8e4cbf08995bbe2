package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MalformedMarkerException;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.log.MarkerFile.Replacement;
import io.saucr.server.runtime.ObstacleException;
import io.saucr.server.runtime.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A history that a recovery has copied from another server, in a folder next to the log (R17).
 * Renaming that folder decides that the history replaces log and snapshots; {@link #complete} does
 * that, also after a crash.
 *
 * <p>The folder removes what a server has, so it is believed only if it is the work of a recovery
 * of this very server: a list with a checksum names the log folder's identity and each file with
 * its size, and nothing else is there. Anything else under this name is refused by its path, and
 * nothing has changed then.
 */
final class CopiedHistory {
    private static final Logger LOG = LoggerFactory.getLogger(CopiedHistory.class);

    /** Folders next to the log. */
    static final String STAGING = "saucr.staging";

    static final String REPLACEMENT = "saucr.replacement";

    /** A file that is about to be renamed. */
    static final String PLACING = "saucr.placing" + DataFolder.TEMPORARY;

    /** In the folder: the list of what else is there, and the epoch that it needs. */
    private static final String LIST = "saucr.epoch";

    private final Path logs;
    private final Path folder;
    private final Replacement list;

    private CopiedHistory(Path logs, Path folder, Replacement list) {
        this.logs = logs;
        this.folder = folder;
        this.list = list;
    }

    /**
     * Decides that what is staged replaces log and snapshots. It is durable then.
     *
     * @param epoch the least epoch that the server needs to load it
     */
    static void decide(Path logs, long epoch) throws IOException {
        Path staging = logs.resolve(STAGING);
        Path list = staging.resolve(LIST);
        Files.deleteIfExists(list);
        SortedMap<String, Long> files = sizes(staging);
        byte[] content =
                MarkerFile.encodeReplacement(new Replacement(identity(logs), epoch, files));
        NamedErrors.in(list, () -> Files.write(list, content));
        for (String name : files.keySet()) {
            MarkerStore.forceFile(staging.resolve(name));
        }
        MarkerStore.forceFile(list);
        MarkerStore.forceDirectory(staging);
        Files.move(staging, logs.resolve(REPLACEMENT), StandardCopyOption.ATOMIC_MOVE);
        MarkerStore.forceDirectory(logs);
    }

    /**
     * The history that is about to replace the one in the log folder, if a recovery has decided so.
     * Changes nothing.
     *
     * @throws ObstacleException if what has its name is not this server's work
     */
    static Optional<CopiedHistory> pending(Path logs) throws IOException {
        Path folder = logs.resolve(REPLACEMENT);
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            throw ObstacleException.noFolder(folder);
        }
        Replacement list;
        try {
            list = MarkerFile.decodeReplacement(SmallFile.read(folder.resolve(LIST)));
        } catch (NoSuchFileException e) {
            throw ObstacleException.notCopied(folder, "it has no file " + LIST);
        } catch (MalformedMarkerException | SmallFile.TooLargeException e) {
            throw ObstacleException.notCopied(folder, LIST + " is not its list of files");
        }
        if (!list.log().equals(identity(logs))) {
            throw ObstacleException.notCopied(folder, LIST + " names the log of another folder");
        }
        SortedMap<String, Long> found = sizes(folder);
        found.remove(LIST);
        if (!list.files().equals(found)) {
            throw ObstacleException.notCopied(
                    folder, LIST + " lists " + list.files() + ", and there is " + found);
        }
        return Optional.of(new CopiedHistory(logs, folder, list));
    }

    /** The sizes of files by their names; of anything else -1. */
    private static SortedMap<String, Long> sizes(Path folder) throws IOException {
        SortedMap<String, Long> sizes = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                sizes.put(
                        file.getFileName().toString(),
                        Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                                ? Files.size(file)
                                : -1);
            }
        }
        return sizes;
    }

    private static OptionalLong identity(Path logs) throws IOException {
        Optional<LogIdentity> identity = new MarkerStore(logs).identity();
        return identity.isPresent() ? OptionalLong.of(identity.get().log()) : OptionalLong.empty();
    }

    /** What was copied, to be read; whole as long as it is pending. */
    RawLog history() {
        return new RawLog(folder, folder);
    }

    /** The least epoch that the server needs to load it. */
    long epoch() {
        return list.epoch();
    }

    /**
     * Replaces log and snapshots, and raises the epochs as it needs: ZooKeeper does not load a
     * history that is newer than its current epoch. To be called before they are read.
     */
    void complete(Path snapshots) throws IOException {
        LOG.info(
                "Replacing log and snapshots in {} and {} by those of {}", logs, snapshots, folder);
        Path done = logs.resolve(STAGING);
        if (Files.exists(done, LinkOption.NOFOLLOW_LINKS)) {
            throw ObstacleException.inTheWay(done);
        }
        List<Path> newLogs = DataFolder.logs(folder);
        List<Path> newSnapshots = DataFolder.snapshots(folder);
        requireFree(newLogs, logs);
        requireFree(newSnapshots, snapshots);
        for (Path log : DataFolder.logs(logs)) {
            Files.delete(log);
        }
        for (Path snapshot : DataFolder.snapshots(snapshots)) {
            Files.delete(snapshot);
        }
        for (Path log : newLogs) {
            place(log, logs);
        }
        for (Path snapshot : newSnapshots) {
            place(snapshot, snapshots);
        }
        raise(RecoveryStore.ACCEPTED_EPOCH, snapshots);
        raise(RecoveryStore.CURRENT_EPOCH, snapshots);
        MarkerStore.forceDirectory(logs);
        MarkerStore.forceDirectory(snapshots);
        // It must not be deleted under its name: what was left of it would be refused.
        Files.move(folder, done, StandardCopyOption.ATOMIC_MOVE);
        MarkerStore.forceDirectory(logs);
        discard(done);
    }

    private static void requireFree(List<Path> files, Path directory) throws IOException {
        for (Path file : files) {
            DataFolder.requireFree(directory.resolve(file.getFileName()));
        }
    }

    private void raise(String name, Path directory) throws IOException {
        if (RecoveryStore.epochIn(directory, name) < epoch()) {
            writeEpoch(directory, name, epoch());
        }
    }

    /** Writes a file of an epoch; forcing the directory is the caller's. */
    static void writeEpoch(Path directory, String name, long epoch) throws IOException {
        Path temporary = directory.resolve(PLACING);
        NamedErrors.in(temporary, () -> Files.writeString(temporary, Long.toString(epoch)));
        rename(temporary, directory.resolve(name));
    }

    /** Copies, because the original must stay until every file is in its place. */
    private static void place(Path file, Path directory) throws IOException {
        Path temporary = directory.resolve(PLACING);
        NamedErrors.in(
                temporary, () -> Files.copy(file, temporary, StandardCopyOption.REPLACE_EXISTING));
        rename(temporary, directory.resolve(file.getFileName()));
    }

    private static void rename(Path temporary, Path file) throws IOException {
        MarkerStore.forceFile(temporary);
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Only what recoveries put there: a file of somebody else stays, and is named. */
    static void discard(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        requireCopied(directory);
        for (Path log : DataFolder.logs(directory)) {
            Files.delete(log);
        }
        for (Path snapshot : DataFolder.snapshots(directory)) {
            Files.delete(snapshot);
        }
        Files.deleteIfExists(directory.resolve(LIST));
        Files.delete(directory);
    }

    /**
     * @throws ObstacleException with the path of a file in the folder that no recovery put there
     */
    static void requireCopied(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                if (!DataFolder.isData(file.toFile())
                        && !file.getFileName().toString().equals(LIST)) {
                    throw ObstacleException.foreign(file);
                }
            }
        }
    }
}
