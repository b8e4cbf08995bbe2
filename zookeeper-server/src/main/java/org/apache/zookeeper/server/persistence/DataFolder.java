package org.apache.zookeeper.server.persistence;

import io.saucr.core.Zxid;
import io.saucr.server.runtime.FolderLock;
import io.saucr.server.runtime.ObstacleException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Decides what in a server's data folders is a log file or a snapshot. The start's check, the
 * loaders, truncation, recovery, the sync of learners, the purge and the offline tools all ask
 * here, ZooKeeper's own classes by way of {@code SaucrPatch}.
 *
 * <p>Data are files whose names ZooKeeper writes: {@code log.ZXID}, and {@code snapshot.ZXID}
 * perhaps with the suffix of a compression; the zxid in hexadecimal digits, lower case, without
 * leading zeros. So a name maps back to itself, and a copy next to a log never shares its zxid.
 * Everything else belongs to somebody else: it is never read, never removed and never a reason to
 * stop. Folders, devices and pipes are somebody else's whatever their names, and so is a file that
 * cannot be what its name says ({@link DataContent}).
 *
 * <p>A file that may be the server's own under a name that was changed is no data either. But
 * {@link #requireClear} refuses a start next to it, because what it holds would be overlooked.
 *
 * <p>Holds no state. Safe next to a server that runs.
 */
public final class DataFolder {
    private static final int HEX = 16;
    private static final int BITS_OF_DIGIT = 4;
    private static final int MOST_DIGITS = 16;

    private static final Comparator<Path> OLDEST_FIRST =
            Comparator.<Path>comparingLong(DataFolder::zxidOf).thenComparing(DataFolder::name);
    private static final Comparator<Path> NEWEST_FIRST =
            Comparator.<Path>comparingLong(DataFolder::zxidOf)
                    .reversed()
                    .thenComparing(DataFolder::name);

    /** What is written here is renamed then. */
    static final String TEMPORARY = ".tmp";

    /** What a link says that zkServer-initialize.sh puts where a deletion is not finished. */
    private static final String UNFINISHED_DELETION = "run-zkServer-initialize.sh--force-again";

    private static final Kind LOG = new Kind(FileTxnLog.LOG_FILE_PREFIX + ".", List.of(""));
    private static final Kind SNAPSHOT =
            new Kind(FileSnap.SNAPSHOT_FILE_PREFIX + ".", List.of(".gz", ".snappy", ""));

    /**
     * A kind of data.
     *
     * @param prefix with its dot
     * @param suffixes those that ZooKeeper reads; the empty one last
     */
    private record Kind(String prefix, List<String> suffixes) {
        /**
         * What stands between prefix and suffix; null if the name does not begin as this kind's.
         */
        private String middle(String name) {
            if (!name.startsWith(prefix)) {
                return null;
            }
            String rest = name.substring(prefix.length());
            for (String suffix : suffixes) {
                if (rest.endsWith(suffix)) {
                    return rest.substring(0, rest.length() - suffix.length());
                }
            }
            return rest;
        }

        /** The zxid of an exact name, -1 of any other one. */
        long zxid(String name) {
            String digits = middle(name);
            if (digits == null) {
                return -1;
            }
            long zxid = parse(digits);
            return zxid >= 0 && Long.toHexString(zxid).equals(digits) ? zxid : -1;
        }

        /**
         * The name that ZooKeeper would have given to a file of this name, were it not for upper
         * case and leading zeros; null if it is no such name, or is exact.
         */
        String meant(String name) {
            String lower = name.toLowerCase(Locale.ROOT);
            String digits = middle(lower);
            if (digits == null || zxid(name) >= 0) {
                return null;
            }
            long zxid = parse(digits);
            return zxid < 0
                    ? null
                    : prefix
                            + Long.toHexString(zxid)
                            + lower.substring(prefix.length() + digits.length());
        }

        /** -1 if it is no zxid in hexadecimal digits. */
        private static long parse(String digits) {
            int first = 0;
            while (first < digits.length() - 1 && digits.charAt(first) == '0') {
                first++;
            }
            int count = digits.length() - first;
            if (count == 0 || count > MOST_DIGITS) {
                return -1;
            }
            long zxid = 0;
            for (int i = first; i < digits.length(); i++) {
                char digit = digits.charAt(i);
                boolean hex = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
                if (!hex) {
                    return -1;
                }
                zxid = (zxid << BITS_OF_DIGIT) | Character.digit(digit, HEX);
            }
            return zxid;
        }

        /** Null if it is no kind of data. */
        static Kind of(String prefix) {
            String dotted = prefix + ".";
            return dotted.equals(LOG.prefix)
                    ? LOG
                    : dotted.equals(SNAPSHOT.prefix) ? SNAPSHOT : null;
        }
    }

    private DataFolder() {}

    /** The log files of a folder, oldest first. */
    static List<Path> logs(Path folder) throws IOException {
        return data(folder, LOG, OLDEST_FIRST);
    }

    /** The snapshots of a folder, newest first. */
    static List<Path> snapshots(Path folder) throws IOException {
        List<Path> found = data(folder, SNAPSHOT, NEWEST_FIRST);
        return found.subList(newestCopies(found).size(), found.size());
    }

    private static List<Path> data(Path folder, Kind kind, Comparator<Path> order)
            throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> isData(file, kind.zxid(name(file)))).sorted(order).toList();
        }
    }

    /**
     * Compressed snapshots that cannot show what their names say, down to the first one that can:
     * that one is loaded.
     *
     * @param snapshots newest first
     */
    private static List<Path> newestCopies(List<Path> snapshots) {
        return snapshots.stream()
                .takeWhile(file -> DataContent.showsLess(file, zxidOf(file)))
                .toList();
    }

    /** Whether the file is a log file or a snapshot. */
    public static boolean isData(File file) {
        return isData(file.toPath(), zxidOf(file.getName()));
    }

    private static boolean isData(Path file, long zxid) {
        return zxid >= 0 && isFile(file) && DataContent.mayBe(file, zxid);
    }

    /** The zxid that a log file or a snapshot is named after. */
    static long zxidOf(Path file) {
        return zxidOf(name(file));
    }

    private static long zxidOf(String name) {
        return Math.max(LOG.zxid(name), SNAPSHOT.zxid(name));
    }

    /**
     * What is data among the files that ZooKeeper has found.
     *
     * @param files null if the folder cannot be read
     * @param prefix of the kind that it looks for; what has another one stays in the list
     */
    public static File[] only(File[] files, String prefix) {
        Kind kind = Kind.of(prefix);
        if (files == null || kind == null) {
            return files;
        }
        List<File> found =
                Arrays.stream(files)
                        .filter(file -> isData(file.toPath(), kind.zxid(file.getName())))
                        .toList();
        List<Path> newestFirst = found.stream().map(File::toPath).sorted(NEWEST_FIRST).toList();
        List<Path> copies = kind.equals(LOG) ? List.of() : newestCopies(newestFirst);
        return found.stream().filter(file -> !copies.contains(file.toPath())).toArray(File[]::new);
    }

    /**
     * Whether it is a regular file, or a link to one. A file that was removed since its folder was
     * read counts as one: who opens it finds out.
     */
    private static boolean isFile(Path file) {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).isRegularFile();
        } catch (IOException e) {
            return !Files.isSymbolicLink(file);
        }
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    /**
     * Before a server uses its folders: everything that may be its log or a snapshot can be read
     * under the right name, and nothing is in the way of the files next to them. Folders that are
     * not there are none to look at. Changes nothing.
     *
     * @throws IOException with the path of the first file that may be the server's own and would be
     *     overlooked or taken for another one, or that is in the way
     */
    static void requireClear(Path logs, Path snapshots) throws IOException {
        requireOwnNames(logs, snapshots);
        requireNoDoubt(logs);
        if (!snapshots.equals(logs)) {
            requireNoDoubt(snapshots);
        }
    }

    /** What the server keeps next to its data under fixed names. */
    private static void requireOwnNames(Path logs, Path snapshots) throws IOException {
        Path initialize = logs.resolveSibling(SaucrTxnSnapLog.INITIALIZE_FILE);
        if (Files.isSymbolicLink(initialize)
                && Files.readSymbolicLink(initialize).endsWith(UNFINISHED_DELETION)) {
            throw ObstacleException.unfinishedDeletion(initialize);
        }
        requireFileOrNothing(initialize);
        for (Path folder : List.of(logs, snapshots)) {
            requireFileOrNothing(folder.resolve(FolderLock.FILE));
            requireFreeOfLinks(folder.resolve(CopiedHistory.PLACING));
        }
        for (String name : List.of(RecoveryStore.ACCEPTED_EPOCH, RecoveryStore.CURRENT_EPOCH)) {
            requireReplaceable(snapshots, name);
        }
        for (String name : MarkerStore.NAMES) {
            requireReplaceable(logs, name);
        }
        requireReplaceable(logs, PageCacheProof.FILE);
        Path staging = logs.resolve(CopiedHistory.STAGING);
        if (Files.isDirectory(staging, LinkOption.NOFOLLOW_LINKS)) {
            CopiedHistory.requireCopied(staging);
        } else if (Files.exists(staging, LinkOption.NOFOLLOW_LINKS)) {
            throw ObstacleException.noFolder(staging);
        }
        CopiedHistory.pending(logs);
    }

    /** A file that is replaced by renaming another one, which is written before. */
    private static void requireReplaceable(Path folder, String name) throws IOException {
        requireFileOrNothing(folder.resolve(name));
        requireFreeOfLinks(folder.resolve(name + TEMPORARY));
    }

    private static void requireFileOrNothing(Path file) throws IOException {
        ObstacleException.requireNoDanglingLink(file);
        requireFree(file);
    }

    private static void requireNoDoubt(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> files = Files.list(folder)) {
            all = files.sorted().toList();
        } catch (IOException e) {
            throw ObstacleException.unreadable(folder, e);
        }
        for (Path file : all) {
            if (LOG.meant(name(file)) != null) {
                refuseRenamed(file, LOG.meant(name(file)));
            } else if (SNAPSHOT.meant(name(file)) != null) {
                refuseRenamed(file, SNAPSHOT.meant(name(file)));
            } else if (zxidOf(file) >= 0) {
                requireReadable(file);
            }
        }
        requireNoOverlap(data(folder, LOG, OLDEST_FIRST));
        List<Path> copies = newestCopies(data(folder, SNAPSHOT, NEWEST_FIRST));
        if (!copies.isEmpty()) {
            throw copiedSnapshot(copies.get(0));
        }
    }

    /**
     * No log file without an entry is within the range of the file before it. A reader that begins
     * at such a file would pass over the entries that are there, and the rest of the log would seem
     * to be damaged.
     *
     * @param logs oldest first
     */
    private static void requireNoOverlap(List<Path> logs) throws IOException {
        for (int i = 1; i < logs.size(); i++) {
            long last = holdsEntry(logs.get(i)) ? -1 : lastEntry(logs.get(i - 1));
            if (last >= zxidOf(logs.get(i))) {
                throw new IOException(
                        logs.get(i)
                                + " holds no entry that can be read, and "
                                + name(logs.get(i - 1))
                                + " has the entries through "
                                + Zxid.toString(last)
                                + ", so it is no file of this log: perhaps a copy that was not"
                                + " finished. Move it out of this folder");
            }
        }
    }

    private static boolean holdsEntry(Path log) throws IOException {
        try (RawLog.Reader reader = RawLog.readFile(log)) {
            return reader.next() != null;
        }
    }

    /** -1 if there is none that can be read. */
    private static long lastEntry(Path log) throws IOException {
        long last = -1;
        try (RawLog.Reader reader = RawLog.readFile(log)) {
            for (RawLog.Entry entry = reader.next(); entry != null; entry = reader.next()) {
                last = entry.zxid();
            }
        }
        return last;
    }

    private static void refuseRenamed(Path file, String meant) throws IOException {
        if (isFile(file) || (Files.isSymbolicLink(file) && !Files.exists(file))) {
            throw new IOException(
                    file
                            + " may be a file of this server under another name: ZooKeeper would"
                            + " write "
                            + meant
                            + ". Rename it if it is, else move it out of this folder");
        }
    }

    private static void requireReadable(Path file) throws IOException {
        ObstacleException.requireNoDanglingLink(file);
        if (!isFile(file)) {
            return;
        }
        try (var in = Files.newInputStream(file)) {
            in.read();
        } catch (IOException e) {
            throw ObstacleException.unreadable(file, e);
        }
        if (LOG.zxid(name(file)) >= 0) {
            requireOwnName(file);
        } else if (!DataContent.isCompressed(file) && DataContent.showsLess(file, zxidOf(file))) {
            throw copiedSnapshot(file);
        }
    }

    private static IOException copiedSnapshot(Path file) {
        return new IOException(
                file
                        + " shows the tree of "
                        + Zxid.toString(DataContent.lastZxid(file))
                        + " and nothing later, so it is a copy or was renamed: a snapshot shows at"
                        + " least the entry that it is named after. Move it out of this folder if"
                        + " the snapshot that it is a copy of is there, else give it back its name");
    }

    /** A log file is named after its first entry, so a copy under another zxid shows. */
    private static void requireOwnName(Path log) throws IOException {
        try (RawLog.Reader reader = RawLog.readFile(log)) {
            RawLog.Entry first = reader.next();
            if (first != null && first.zxid() != zxidOf(log)) {
                throw new IOException(
                        log
                                + " begins with the entry "
                                + Zxid.toString(first.zxid())
                                + ", so it is a copy of "
                                + TxnLogFormat.fileName(first.zxid())
                                + " or was renamed: a log file is named after its first entry."
                                + " Move it out of this folder if that file is there, else give it"
                                + " this name");
            }
        }
    }

    /**
     * Before a file of this name is written: nothing of somebody else's is in its place.
     *
     * @throws IOException with the path, and what is there
     */
    static void requireFree(Path file) throws IOException {
        boolean there = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
        if (there
                && (!Files.isRegularFile(file)
                        || (zxidOf(file) >= 0 && !DataContent.mayBe(file, zxidOf(file))))) {
            throw ObstacleException.inTheWay(file);
        }
    }

    /** The same before a file is opened for writing, which would go through a link. */
    static void requireFreeOfLinks(Path file) throws IOException {
        if (Files.isSymbolicLink(file)) {
            throw ObstacleException.inTheWay(file);
        }
        requireFree(file);
    }
}
