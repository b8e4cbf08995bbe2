package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.Zxid;
import io.saucr.core.recovery.EpochEnds;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Adler32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entries in a server's log files after its newest snapshot, read and changed as raw bytes:
 * what a recovering server compares, cuts and completes (R17, H2), and what another one reads to
 * answer it.
 *
 * <p>Reading is safe next to a running log; code that changes files must be the only one that
 * writes to the directory.
 */
public final class RawLog {
    private static final Logger LOG = LoggerFactory.getLogger(RawLog.class);

    private static final int PAGE_BYTES = 4096;
    private static final long FIRST_COUNTER = 1;
    private static final long ZEROS_OF_FORCED_BYTES = 1 << 20;

    private final Path logs;
    private final long snapshotZxid;

    /**
     * Where a log stops making sense.
     *
     * @param file the file with the damage
     * @param offset bytes from the file's start that are sound
     * @param what what is wrong there
     */
    public record Damage(Path file, long offset, String what) {}

    /**
     * What a scan found.
     *
     * @param epochEnds of everything after the newest usable snapshot
     * @param damage null if the log is sound to its end
     * @param before the last entry that the newest snapshot covers and that was read from the log,
     *     -1 if there was none
     */
    public record Scan(EpochEnds epochEnds, Damage damage, long before) {}

    /** One entry: its zxid and its bytes as they are in the log, without checksum and length. */
    @SuppressWarnings("ArrayRecordComponent") // the bytes are handed on, never compared or kept
    public record Entry(long zxid, byte[] bytes) {}

    /**
     * @param logs the directory with the log files
     * @param snapshots the directory with the snapshots
     */
    public RawLog(Path logs, Path snapshots) {
        this(logs, newestSnapshot(snapshots));
    }

    private RawLog(Path logs, long snapshotZxid) {
        this.logs = logs;
        this.snapshotZxid = snapshotZxid;
    }

    private static long newestSnapshot(Path snapshots) {
        File newest = new FileSnap(snapshots.toFile()).findMostRecentSnapshot();
        return newest == null ? -1 : DataFolder.zxidOf(newest.toPath());
    }

    /**
     * The entries after the newest usable snapshot whose zxid is not after the given one.
     *
     * <p>A snapshot that was taken while transactions were applied shows some that are later than
     * its name. A server applies what is committed, and what is committed is in the history of the
     * caller that has this one cut: it comes again, and puts right what the snapshot shows too
     * early.
     */
    static RawLog upTo(Path logs, Path snapshots, long zxid) throws IOException {
        for (Path each : DataFolder.snapshots(snapshots)) {
            if (DataFolder.zxidOf(each) <= zxid && isUsable(each)) {
                return new RawLog(logs, DataFolder.zxidOf(each));
            }
        }
        return new RawLog(logs, -1);
    }

    /** One that cannot be read is as good as none: an older one may do, with more of the log. */
    private static boolean isUsable(Path snapshot) {
        try {
            return SnapStream.isValidSnapshot(snapshot.toFile());
        } catch (IOException e) {
            LOG.warn("The snapshot {} is passed over, as it cannot be read", snapshot, e);
            return false;
        }
    }

    /** Whether there is a snapshot before the entries, or they are all that there ever were. */
    boolean isComplete() throws IOException {
        List<Path> files = files();
        return snapshotZxid >= 0
                || (!files.isEmpty()
                        && DataFolder.zxidOf(files.get(0)) == TxnLogFormat.FIRST_ZXID_EVER);
    }

    /** Removes, durably, every snapshot that shows more than the zxid; the newest first. */
    static void removeSnapshotsAfter(Path snapshots, long zxid) throws IOException {
        removeSnapshots(snapshots, zxid + 1, Long.MAX_VALUE);
    }

    /** Removes, durably, every snapshot that is older than the zxid. */
    static void removeSnapshotsBefore(Path snapshots, long zxid) throws IOException {
        removeSnapshots(snapshots, 0, zxid - 1);
    }

    private static void removeSnapshots(Path snapshots, long from, long through)
            throws IOException {
        for (Path each : DataFolder.snapshots(snapshots)) {
            if (DataFolder.zxidOf(each) >= from && DataFolder.zxidOf(each) <= through) {
                Files.delete(each);
                MarkerStore.forceDirectory(snapshots);
            }
        }
    }

    /** Removes, durably, every log file; the newest first. */
    static void removeLogs(Path logs) throws IOException {
        new RawLog(logs, -1).deleteNewestFirst(DataFolder.logs(logs));
    }

    /** Removes, durably, every entry after the zxid, whatever the snapshots are. */
    static void truncateAfter(Path logs, long zxid) throws IOException {
        new RawLog(logs, -1).truncateAfter(zxid);
    }

    /** The newest usable snapshot's zxid, or -1 if there is none. */
    public long snapshotZxid() {
        return snapshotZxid;
    }

    /**
     * Reads everything after the snapshot and says where it ends. Behind its last entry a file is
     * filled with tens of megabytes of zeros. Of a file that a power cut may have damaged all of
     * them are looked at, of others the first megabyte.
     *
     * @param onDisk the latest-on-disk marker: files that end before it were forced whole
     */
    public Scan scan(long onDisk) throws IOException {
        EpochEnds epochEnds = EpochEnds.startingAt(Math.max(snapshotZxid, 0));
        long last = epochEnds.last();
        try (Reader reader = new Reader(files(), last, onDisk)) {
            for (Entry entry = reader.next(); entry != null; entry = reader.next()) {
                if (Zxid.epoch(entry.zxid()) != Zxid.epoch(last)) {
                    epochEnds = epochEnds.through(last).append(entry.zxid());
                }
                last = entry.zxid();
            }
            return new Scan(epochEnds.through(last), reader.damage, reader.before);
        }
    }

    /**
     * Removes, durably, everything from the damage on. Does nothing to a sound log. Wherever a
     * crash interrupts it, what is left begins with the sound part and is damaged or ends there:
     * later files go first, because a file of Apache's that begins with an epoch does not tell of a
     * gap before it.
     */
    public void cut(Damage damage) throws IOException {
        if (damage == null) {
            return;
        }
        List<Path> files = files();
        int damaged = files.indexOf(damage.file);
        if (damage.offset <= TxnLogFormat.FILE_HEADER_BYTES) {
            deleteNewestFirst(files.subList(damaged, files.size()));
        } else {
            deleteNewestFirst(files.subList(damaged + 1, files.size()));
            shorten(damage.file, damage.offset);
        }
    }

    /**
     * Removes, durably, every entry after the zxid. Wherever a crash interrupts it, a prefix of the
     * log is left.
     */
    public void truncateAfter(long zxid) throws IOException {
        List<Path> files = files();
        int kept = 0;
        while (kept < files.size() && DataFolder.zxidOf(files.get(kept)) <= zxid) {
            kept++;
        }
        deleteNewestFirst(files.subList(kept, files.size()));
        for (int i = kept - 1; i >= 0; i--) {
            shortenAfter(files.get(i), zxid);
        }
    }

    private static void shortenAfter(Path file, long zxid) throws IOException {
        long keep = TxnLogFormat.FILE_HEADER_BYTES;
        try (Reader reader = readFile(file)) {
            for (Entry entry = reader.next(); entry != null; entry = reader.next()) {
                if (entry.zxid > zxid) {
                    shorten(file, keep);
                    return;
                }
                keep = reader.offset;
            }
        }
    }

    private void deleteNewestFirst(List<Path> files) throws IOException {
        for (int i = files.size() - 1; i >= 0; i--) {
            Files.delete(files.get(i));
            MarkerStore.forceDirectory(logs);
        }
    }

    private static void shorten(Path file, long bytes) throws IOException {
        NamedErrors.in(
                file,
                () -> {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.truncate(bytes);
                        channel.force(true);
                    }
                });
    }

    /** The entries after the zxid, in order. */
    public Reader read(long afterZxid) throws IOException {
        return new Reader(files(), afterZxid, Long.MAX_VALUE);
    }

    private List<Path> files() throws IOException {
        return DataFolder.logs(logs);
    }

    /** The entries of one file, whatever is before it. */
    static Reader readFile(Path log) {
        return new Reader(List.of(log), -1, Long.MAX_VALUE);
    }

    /** Reads entries in order, across files, until the log ends or stops making sense. */
    public static final class Reader implements Closeable {
        private final List<Path> files;
        private final long after;
        private final long forced;
        private int nextFile;
        private Path file;
        private DataInputStream in;
        private long offset;
        private long previous;
        private long before = -1;
        private Damage damage;
        private final Adler32 checksum = new Adler32();

        /**
         * @param forced files that end before it were forced whole; {@link Long#MAX_VALUE} if all
         *     files were
         */
        private Reader(List<Path> all, long after, long forced) {
            this.after = after;
            this.forced = forced;
            this.previous = after;
            int first = 0;
            for (int i = 0; i < all.size(); i++) {
                if (DataFolder.zxidOf(all.get(i)) <= after + 1) {
                    first = i;
                }
            }
            this.files = all.subList(first, all.size());
        }

        /** The next entry after the zxid that was asked for, or null at the end or at damage. */
        public Entry next() throws IOException {
            while (damage == null) {
                Entry entry;
                try {
                    if (in == null && !openNext()) {
                        return null;
                    }
                    entry = readEntry();
                } catch (IOException e) {
                    throw unreadable(e);
                }
                if (entry == null) {
                    continue;
                }
                if (entry.zxid <= after) {
                    before = Math.max(before, entry.zxid);
                    continue;
                }
                if (after >= 0 && !follows(entry.zxid)) {
                    damage(
                            offset - entry.bytes.length - TxnLogFormat.ENTRY_OVERHEAD_BYTES,
                            "entry "
                                    + Zxid.toString(entry.zxid)
                                    + " does not follow "
                                    + Zxid.toString(previous));
                    return null;
                }
                previous = entry.zxid;
                return entry;
            }
            return null;
        }

        private IOException unreadable(IOException cause) {
            return new IOException(
                    ("The log file %s cannot be read: %s. If its disk is lost, give"
                                    + " this server an empty one: it gets everything from the others"
                                    + " before it takes part")
                            .formatted(file, cause.getMessage()),
                    cause);
        }

        /** What stopped the reading, or null. */
        public Damage damage() {
            return damage;
        }

        /**
         * The next of the same epoch, or the first of a later one. Before a snapshot anything may
         * be missing.
         */
        private boolean follows(long zxid) {
            return Zxid.epoch(zxid) == Zxid.epoch(previous)
                    ? zxid == previous + 1
                    : zxid > previous && Zxid.counter(zxid) == FIRST_COUNTER;
        }

        private boolean openNext() throws IOException {
            if (nextFile == files.size()) {
                return false;
            }
            file = files.get(nextFile++);
            in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16));
            offset = 0;
            try {
                int magic = in.readInt();
                int version = in.readInt();
                long comesAfter = in.readLong();
                offset = TxnLogFormat.FILE_HEADER_BYTES;
                if (!TxnLogFormat.isFileHeader(magic, version)) {
                    damage(0, "the file's header is not that of a log");
                } else if (after >= 0 && comesAfter > previous) {
                    damage(
                            0,
                            "the file comes after "
                                    + Zxid.toString(comesAfter)
                                    + ", and what is before it ends at "
                                    + Zxid.toString(previous)
                                    + ": a log file is missing");
                }
            } catch (EOFException e) {
                damage(0, "the file ends within its header");
            }
            return damage == null;
        }

        /** Null at the end of a file, or at damage. */
        private Entry readEntry() throws IOException {
            long start = offset;
            try {
                int firstByte = in.read();
                if (firstByte < 0) {
                    endFile();
                    return null;
                }
                long crc = (long) firstByte << 56 | readSevenBytes();
                int length = in.readInt();
                if (length == 0 && crc == 0) {
                    if (zeros(in, wasForced() ? ZEROS_OF_FORCED_BYTES : Long.MAX_VALUE)) {
                        endFile();
                    } else {
                        damage(start, "a hole of zeros lies before more data");
                    }
                    return null;
                }
                if (length < TxnLogFormat.LEAST_ENTRY_BYTES
                        || length > TxnLogFormat.LARGEST_ENTRY_BYTES) {
                    damage(start, "an entry claims to have " + length + " bytes");
                    return null;
                }
                byte[] bytes = in.readNBytes(length);
                if (bytes.length < length) {
                    throw new EOFException();
                }
                if (in.readByte() != TxnLogFormat.END_OF_RECORD
                        || TxnLogFormat.checksum(checksum, bytes) != crc) {
                    damage(start, "an entry's checksum is wrong");
                    return null;
                }
                offset += TxnLogFormat.ENTRY_OVERHEAD_BYTES + length;
                return new Entry(ByteBuffer.wrap(bytes).getLong(TxnLogFormat.ZXID_OFFSET), bytes);
            } catch (EOFException e) {
                damage(start, "the file ends within an entry");
                return null;
            }
        }

        /** Whether the whole file was on disk before a power cut could damage it. */
        private boolean wasForced() {
            return forced == Long.MAX_VALUE
                    || (nextFile < files.size()
                            && DataFolder.zxidOf(files.get(nextFile)) <= forced);
        }

        private long readSevenBytes() throws IOException {
            long high = in.readUnsignedByte();
            long middle = in.readUnsignedShort();
            long low = Integer.toUnsignedLong(in.readInt());
            return high << 48 | middle << 32 | low;
        }

        private void damage(long soundBytes, String what) {
            damage = new Damage(file, soundBytes, what);
        }

        private void endFile() throws IOException {
            in.close();
            in = null;
        }

        @Override
        public void close() throws IOException {
            if (in != null) {
                in.close();
            }
        }
    }

    /** Whether there is nothing but zeros in the rest, or in so many bytes of it. */
    private static boolean zeros(InputStream in, long most) throws IOException {
        byte[] block = new byte[1 << 18];
        byte[] zeros = new byte[block.length];
        long looked = 0;
        for (int n = in.read(block); n >= 0 && looked < most; n = in.read(block)) {
            if (!Arrays.equals(block, 0, n, zeros, 0, n)) {
                return false;
            }
            looked += n;
        }
        return true;
    }

    /**
     * Writes every page of the files that may hold entries after the zxid once more, in its place:
     * pages whose write-back failed unnoticed look clean, and a force alone would pass them over.
     * Pages of zeros are passed over, because a page that was never written reads the same: the
     * padding at the end stays a hole, and no space is needed.
     */
    void rewriteAfter(long zxid) throws IOException {
        List<Path> files = files();
        int first = 0;
        while (first + 1 < files.size() && DataFolder.zxidOf(files.get(first + 1)) <= zxid) {
            first++;
        }
        rewrite(files.subList(first, files.size()));
    }

    /** As {@link #rewriteAfter}, the newest files. */
    void rewriteNewest(int count) throws IOException {
        List<Path> files = files();
        rewrite(files.subList(Math.max(0, files.size() - count), files.size()));
    }

    private static void rewrite(List<Path> files) throws IOException {
        ByteBuffer block = ByteBuffer.allocateDirect(1 << 20);
        ByteBuffer zeros = ByteBuffer.allocateDirect(PAGE_BYTES);
        for (Path file : files) {
            NamedErrors.in(file, () -> rewrite(file, block, zeros));
        }
    }

    private static void rewrite(Path file, ByteBuffer block, ByteBuffer zeros) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long at = 0;
            for (int read; (read = channel.read(block.clear(), at)) > 0; at += read) {
                for (int from = 0; from < read; from += PAGE_BYTES) {
                    int length = Math.min(PAGE_BYTES, read - from);
                    ByteBuffer page = block.slice(from, length);
                    if (!page.equals(zeros.slice(0, length))) {
                        rewrite(channel, page, at + from);
                    }
                }
            }
        }
    }

    private static void rewrite(FileChannel channel, ByteBuffer page, long at) throws IOException {
        while (page.hasRemaining()) {
            channel.write(page, at + page.position());
        }
    }

    /**
     * Forces every file of the log and the directory: what a killed process left may be in memory
     * alone (H1).
     */
    public void forceAll() throws IOException {
        for (Path file : files()) {
            MarkerStore.forceFile(file);
        }
        MarkerStore.forceDirectory(logs);
    }

    /** Writes entries into a log file of their own; nothing is durable before {@link #force()}. */
    public static final class Writer implements Closeable {
        private final Path directory;
        private final long last;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 18);
        private final Adler32 checksum = new Adler32();
        private Path file;
        private FileChannel channel;

        /**
         * A writer to a new file in the directory, named after its first entry.
         *
         * @param last where the history before that entry ends
         */
        public Writer(Path directory, long last) {
            this.directory = directory;
            this.last = last;
        }

        /** Appends one entry; the caller keeps the order. */
        public void write(long zxid, ByteBuffer transaction) throws IOException {
            if (channel == null) {
                file = directory.resolve(TxnLogFormat.fileName(zxid));
                DataFolder.requireFreeOfLinks(file);
                channel =
                        FileChannel.open(
                                file,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.TRUNCATE_EXISTING,
                                StandardOpenOption.WRITE);
                TxnLogFormat.putFileHeader(buffer, last, zxid);
            }
            ByteBuffer prefix = ByteBuffer.allocate(TxnLogFormat.ENTRY_PREFIX_BYTES);
            TxnLogFormat.putEntryPrefix(
                    prefix,
                    TxnLogFormat.checksum(checksum, transaction.duplicate()),
                    transaction.remaining());
            put(prefix.flip());
            put(transaction);
            put(ByteBuffer.wrap(new byte[] {TxnLogFormat.END_OF_RECORD}));
        }

        private void put(ByteBuffer source) throws IOException {
            while (source.hasRemaining()) {
                if (!buffer.hasRemaining()) {
                    drain();
                }
                int part = Math.min(buffer.remaining(), source.remaining());
                buffer.put(source.slice(source.position(), part));
                source.position(source.position() + part);
            }
        }

        private void drain() throws IOException {
            buffer.flip();
            try {
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
            } catch (IOException e) {
                throw NamedErrors.of(file, e);
            }
            buffer.clear();
        }

        /** Makes what was written durable, the file's name included (H4). */
        public void force() throws IOException {
            if (channel != null) {
                drain();
                NamedErrors.in(file, () -> channel.force(true));
                MarkerStore.forceDirectory(directory);
            }
        }

        /** Hands what was written to the file system, not durably. */
        @Override
        public void close() throws IOException {
            if (channel != null) {
                drain();
                NamedErrors.in(file, channel::close);
                channel = null;
            }
        }
    }
}
