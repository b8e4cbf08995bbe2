package io.saucr.ensemble;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Replays the journal of fsync_shim.c as a disk would have seen it: a file's content changes when
 * the file is forced, names change when their folder is forced or (unless {@code
 * namesNeedTheFolder}) with any later force, as a journaling file system commits its metadata in
 * order. What is left over when the journal ends was never forced and is undone, newest first. What
 * a failed force should have written is zeros, however often the file is forced afterwards, unless
 * its page is written once more.
 *
 * <p>Used by one thread, while no process writes to the folder.
 */
final class PowerLoss {
    private static final int CREATE = 1;
    private static final int RENAME = 2;
    private static final int UNLINK = 3;
    private static final int DATA = 4;
    private static final int ZERO = 5;
    private static final int FORCE = 6;
    private static final int ABORT = 7;
    private static final int KNOWN = 8;
    private static final int FAILED = 9;
    private static final int MOVE = 10;
    private static final int RMDIR = 11;
    private static final int HEADER_BYTES = 48;
    private static final long PAGE_BYTES = 4096;

    /** What stood in a range of a file before it was written. */
    private record Undo(
            long position, long offset, long length, long oldSize, long dataAt, int dataLength) {}

    /** One file, whatever its name. */
    private static final class Inode {
        final long number;
        final Deque<Undo> notForced = new ArrayDeque<>();

        /** What a failed force has left in memory, where it looks clean: from, to. */
        final TreeMap<Long, Long> neverWritten = new TreeMap<>();

        Inode(long number) {
            this.number = number;
        }

        void force(long covered) {
            while (!notForced.isEmpty() && notForced.peekFirst().position() < covered) {
                Undo written = notForced.removeFirst();
                long end = written.offset() + written.length();
                // A page goes to the disk whole.
                rewritten(
                        written.offset() / PAGE_BYTES * PAGE_BYTES,
                        (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
            }
        }

        void forceFailed(long covered) {
            while (!notForced.isEmpty() && notForced.peekFirst().position() < covered) {
                Undo lost = notForced.removeFirst();
                neverWritten.merge(lost.offset(), lost.offset() + lost.length(), Math::max);
            }
        }

        private void rewritten(long from, long to) {
            Map<Long, Long> left = new HashMap<>();
            for (Iterator<Map.Entry<Long, Long>> i = neverWritten.headMap(to).entrySet().iterator();
                    i.hasNext(); ) {
                Map.Entry<Long, Long> range = i.next();
                if (range.getValue() > from) {
                    i.remove();
                    if (range.getKey() < from) {
                        left.put(range.getKey(), from);
                    }
                    if (range.getValue() > to) {
                        left.merge(to, range.getValue(), Math::max);
                    }
                }
            }
            left.forEach((start, end) -> neverWritten.merge(start, end, Math::max));
        }
    }

    /**
     * One folder, where it durably is. Its own name is a change in the folder above; what is in it
     * moves along. That it was made counts as durable, as nothing is lost with an empty folder.
     */
    private static final class Folder {
        Folder above;
        Path last;

        Folder(Folder above, Path last) {
            this.above = above;
            this.last = last;
        }

        Path path() {
            return above == null ? last : above.path().resolve(last);
        }
    }

    private record Name(Folder folder, Path last) {
        Path path() {
            return folder.path().resolve(last);
        }
    }

    /**
     * A change of names that is not durable yet; {@code from} or {@code to} may be null, and {@code
     * moved} is, unless it is a folder.
     */
    private record NameChange(long position, Name from, Name to, Inode inode, Folder moved) {}

    private final boolean namesNeedTheFolder;
    private final Map<Long, Inode> inodes = new HashMap<>();
    private final Map<Name, Inode> durableNames = new HashMap<>();
    private final List<NameChange> pendingNames = new ArrayList<>();

    /** By the names that the process sees, as the operations name them. */
    private TreeMap<Path, Folder> folders = new TreeMap<>();

    private TreeMap<Path, Folder> foldersBefore = folders;
    private long end;

    private PowerLoss(Path journal, boolean namesNeedTheFolder) throws IOException {
        this.namesNeedTheFolder = namesNeedTheFolder;
        if (Files.exists(journal)) {
            try (FileChannel channel = FileChannel.open(journal, StandardOpenOption.READ)) {
                replay(channel);
            }
        }
    }

    /** Notes the files that stand in the folder without the journal knowing them as durable. */
    static void adopt(Path root, Path journal) throws IOException {
        PowerLoss known = new PowerLoss(journal, false);
        try (FileChannel channel =
                FileChannel.open(journal, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.truncate(known.end); // a record that the killed process did not finish
            channel.position(known.end);
            for (Map.Entry<Path, Long> file : files(root).entrySet()) {
                if (!known.inodes.containsKey(file.getValue())) {
                    write(channel, record(KNOWN, file.getValue(), 0, file.getKey()));
                }
            }
        }
    }

    /** Adds to the journal that everything has been forced; the server may be running. */
    static void harden(Path root, Path journal) throws IOException {
        try (FileChannel channel = FileChannel.open(journal, StandardOpenOption.APPEND)) {
            long covered = channel.size();
            try (Stream<Path> paths = Files.walk(root)) {
                for (Path path : paths.toList()) {
                    long number = (Long) Files.getAttribute(path, "unix:ino");
                    Path folder = Files.isDirectory(path) ? path : null;
                    write(channel, record(FORCE, number, covered, folder));
                }
            }
        }
    }

    private static ByteBuffer record(int kind, long number, long offset, Path name) {
        byte[] bytes =
                name == null ? new byte[0] : name.toString().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(HEADER_BYTES + bytes.length)
                .order(ByteOrder.nativeOrder())
                .putInt(kind)
                .putInt(bytes.length)
                .putLong(number)
                .putLong(offset)
                .position(HEADER_BYTES)
                .put(bytes)
                .flip();
    }

    private static void write(FileChannel channel, ByteBuffer record) throws IOException {
        while (record.hasRemaining()) {
            channel.write(record);
        }
    }

    /** Undoes what was not forced and empties journal and graves. */
    static List<String> apply(Path root, Path journal, Path graves, boolean namesNeedTheFolder)
            throws IOException {
        PowerLoss disk = new PowerLoss(journal, namesNeedTheFolder);
        List<String> lost = new ArrayList<>();
        Map<Path, Path> kept = disk.putAside(root, graves, lost);
        for (Map.Entry<Path, Path> file : kept.entrySet()) {
            Files.createDirectories(file.getKey().getParent());
            Files.move(file.getValue(), file.getKey(), StandardCopyOption.ATOMIC_MOVE);
        }
        disk.putFoldersBack();
        try (FileChannel old =
                FileChannel.open(
                        journal,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            for (Map.Entry<Name, Inode> file : disk.durableNames.entrySet()) {
                undo(root, file.getKey().path(), file.getValue(), old, lost);
            }
        }
        forget(root, journal, graves);
        return lost;
    }

    /** What stands in the folder is durable, and nothing is known of what stood there before. */
    static void forget(Path root, Path journal, Path graves) throws IOException {
        for (Path grave : files(graves).keySet()) {
            Files.delete(grave);
        }
        Files.deleteIfExists(journal);
        adopt(root, journal);
    }

    private void replay(FileChannel journal) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 20).order(ByteOrder.nativeOrder()).limit(0);
        long size = journal.size();
        long position = 0;
        while (position + HEADER_BYTES <= size) {
            if (buffer.remaining() < HEADER_BYTES) {
                fill(journal, buffer, position);
            }
            buffer.mark();
            final int kind = buffer.getInt();
            final int nameLength = buffer.getInt();
            final long number = buffer.getLong();
            final long offset = buffer.getLong();
            final long length = buffer.getLong();
            final long oldSize = buffer.getLong();
            final int name2Length = buffer.getInt();
            final int dataLength = buffer.getInt();
            long next = position + HEADER_BYTES + nameLength + name2Length + dataLength;
            if (next > size) {
                break; // the process was killed while it wrote this record
            }
            buffer.reset();
            if (buffer.remaining() < next - position) {
                fill(journal, buffer, position);
            }
            int start = buffer.position();
            Path name = name(buffer, start + HEADER_BYTES, nameLength);
            Path name2 = name(buffer, start + HEADER_BYTES + nameLength, name2Length);
            buffer.position(start + (int) (next - position));
            if (kind != ABORT) {
                foldersBefore = folders;
            }
            switch (kind) {
                case CREATE -> {
                    Inode inode = new Inode(number);
                    inodes.put(number, inode);
                    pendingNames.add(new NameChange(position, null, name(name), inode, null));
                }
                case KNOWN -> {
                    Inode inode = new Inode(number);
                    inodes.put(number, inode);
                    durableNames.put(name(name), inode);
                }
                case RENAME ->
                        pendingNames.add(
                                new NameChange(
                                        position, name(name), name(name2), inode(number), null));
                case MOVE -> move(position, name, name2);
                case RMDIR -> folders.remove(name);
                case UNLINK ->
                        pendingNames.add(new NameChange(position, name(name), null, null, null));
                case DATA, ZERO ->
                        inode(number)
                                .notForced
                                .add(
                                        new Undo(
                                                position,
                                                offset,
                                                length,
                                                oldSize,
                                                next - dataLength,
                                                dataLength));
                case FORCE -> force(number, offset, name);
                case FAILED -> inode(number).forceFailed(offset);
                case ABORT -> {
                    pendingNames.remove(pendingNames.size() - 1);
                    folders = foldersBefore;
                }
                default -> throw new IOException("record " + kind + " at " + position);
            }
            position = next;
        }
        end = position;
    }

    private static void fill(FileChannel journal, ByteBuffer buffer, long position)
            throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (journal.read(buffer, position + buffer.position()) < 0) {
                break;
            }
        }
        buffer.flip();
    }

    private static Path name(ByteBuffer buffer, int at, int length) {
        if (length == 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return Path.of(new String(bytes, StandardCharsets.UTF_8));
    }

    private Folder folder(Path path) {
        Folder known = folders.get(path);
        if (known == null) {
            Path above = path.getParent();
            known =
                    above == null
                            ? new Folder(null, path)
                            : new Folder(folder(above), path.getFileName());
            folders.put(path, known);
        }
        return known;
    }

    private Name name(Path path) {
        return new Name(folder(path.getParent()), path.getFileName());
    }

    /** A folder is renamed: what is in it has another path from now on. */
    private void move(long position, Path from, Path to) {
        pendingNames.add(new NameChange(position, name(from), name(to), null, folder(from)));
        TreeMap<Path, Folder> after = new TreeMap<>();
        folders.forEach(
                (path, folder) -> {
                    if (path.startsWith(from)) {
                        after.put(to.resolve(from.relativize(path)), folder);
                    } else if (!path.equals(to)) {
                        after.put(path, folder);
                    }
                });
        folders = after;
    }

    private Inode inode(long number) {
        return inodes.computeIfAbsent(number, Inode::new);
    }

    private void force(long number, long covered, Path folder) {
        if (folder == null) {
            inode(number).force(covered);
        }
        if (folder == null && namesNeedTheFolder) {
            return;
        }
        Folder forced = folder == null ? null : folder(folder);
        for (Iterator<NameChange> i = pendingNames.iterator(); i.hasNext(); ) {
            NameChange change = i.next();
            if (change.position() < covered && (!namesNeedTheFolder || isIn(change, forced))) {
                become(change);
                i.remove();
            }
        }
    }

    private void become(NameChange change) {
        if (change.moved() != null) {
            change.moved().above = change.to().folder();
            change.moved().last = change.to().last();
            return;
        }
        if (change.from() != null) {
            durableNames.remove(change.from());
        }
        if (change.to() != null) {
            durableNames.put(change.to(), change.inode());
        }
    }

    private static boolean isIn(NameChange change, Folder folder) {
        return (change.from() == null || change.from().folder() == folder)
                && (change.to() == null || change.to().folder() == folder);
    }

    /** Moves every durable file aside and removes the others; returns final name to place aside. */
    private Map<Path, Path> putAside(Path root, Path graves, List<String> lost) throws IOException {
        Map<Path, Long> present = files(root);
        Map<Long, Path> places = new HashMap<>();
        files(graves).forEach((path, number) -> places.put(number, path));
        present.forEach((path, number) -> places.put(number, path));
        Map<Path, Path> aside = new TreeMap<>();
        Map<Path, Inode> durable = new TreeMap<>();
        durableNames.forEach((name, inode) -> durable.put(name.path(), inode));
        for (Map.Entry<Path, Inode> name : durable.entrySet()) {
            if (!name.getKey().startsWith(root)) {
                continue;
            }
            Path place = places.get(name.getValue().number);
            if (place == null) {
                throw new IOException(name.getKey() + " was synced, but its content is lost");
            }
            Path keep = graves.resolve("keep-" + aside.size());
            Files.createLink(keep, place);
            aside.put(name.getKey(), keep);
            Long now = present.get(name.getKey());
            if (now == null) {
                lost.add(root.relativize(name.getKey()) + ": its removal");
            } else if (now != name.getValue().number) {
                lost.add(root.relativize(name.getKey()) + ": its replacement");
            }
        }
        for (Path path : present.keySet()) {
            if (!durable.containsKey(path)) {
                lost.add(root.relativize(path) + ": the file, its name was never synced");
            }
            Files.delete(path);
        }
        return aside;
    }

    /** After the files: a folder whose new name was never forced has its old one again. */
    private void putFoldersBack() throws IOException {
        Set<Path> durable = new HashSet<>();
        folders.values().forEach(folder -> durable.add(folder.path()));
        for (Map.Entry<Path, Folder> folder : folders.descendingMap().entrySet()) {
            Path old = folder.getValue().path();
            if (!old.equals(folder.getKey())) {
                Files.createDirectories(old);
                if (!durable.contains(folder.getKey())) {
                    Files.deleteIfExists(folder.getKey());
                }
            }
        }
    }

    private static void undo(
            Path root, Path path, Inode inode, FileChannel journal, List<String> lost)
            throws IOException {
        boolean whole = inode.notForced.isEmpty() && inode.neverWritten.isEmpty();
        if (whole || !path.startsWith(root)) {
            return;
        }
        long bytes = 0;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            for (Iterator<Undo> i = inode.notForced.descendingIterator(); i.hasNext(); ) {
                Undo undo = i.next();
                bytes += undo.length();
                ByteBuffer old =
                        ByteBuffer.allocate(
                                (int)
                                        Math.max(
                                                0,
                                                Math.min(
                                                        undo.length(),
                                                        undo.oldSize() - undo.offset())));
                if (undo.dataLength() > 0) {
                    old.limit(Math.min(old.capacity(), undo.dataLength()));
                    journal.read(old, undo.dataAt());
                }
                file.seek(undo.offset());
                file.write(old.array());
                file.setLength(undo.oldSize());
            }
            for (Map.Entry<Long, Long> range : inode.neverWritten.entrySet()) {
                long end = Math.min(range.getValue(), file.length());
                bytes += Math.max(0, end - range.getKey());
                file.seek(range.getKey());
                file.write(new byte[(int) Math.max(0, end - range.getKey())]);
            }
        }
        lost.add(
                "%s: %s bytes in %s writes"
                        .formatted(
                                root.relativize(path),
                                bytes,
                                inode.notForced.size() + inode.neverWritten.size()));
    }

    private static Map<Path, Long> files(Path folder) throws IOException {
        Map<Path, Long> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                found.put(path, (Long) Files.getAttribute(path, "unix:ino"));
            }
        }
        return found;
    }
}
