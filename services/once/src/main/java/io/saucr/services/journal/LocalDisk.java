package io.saucr.services.journal;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** The files of this machine. Stateless but for the locks that this process holds. */
final class LocalDisk implements Disk {

    static final LocalDisk INSTANCE = new LocalDisk();

    /** Of bytes that may only be read, copied on the way to a file. */
    private static final int PART_BYTES = 64 << 10;

    private static final int LONGEST_HOLDER_BYTES = 200;
    private static final int LOCK_TRIES = 20;
    private static final long LOCK_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /**
     * What this process holds. The system's locks are those of a process, and closing any channel
     * of a file frees them: a second attempt of this process must not open the file at all.
     */
    private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

    private LocalDisk() {}

    @Override
    public void makeFolder(Path folder) throws IOException {
        Path absolute = folder.toAbsolutePath().normalize();
        if (Files.isDirectory(absolute)) {
            return;
        }
        Path parent = absolute.getParent();
        if (parent != null) {
            makeFolder(parent);
        }
        try {
            Files.createDirectory(absolute);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(absolute)) {
                throw new IOException(
                        absolute
                                + " is no folder, and one is to be there: move it away, or name"
                                + " another folder",
                        e);
            }
            // Somebody else made it meanwhile, as folders next to each other are often made at
            // once.
        }
        if (parent != null) {
            forceFolder(parent);
        }
    }

    @Override
    public List<String> list(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public boolean exists(Path file) throws IOException {
        if (Files.exists(file)) {
            return true;
        }
        if (!Files.notExists(file)) {
            // Neither is known: the folder may not be looked into, or its disk fails.
            Files.readAttributes(file, BasicFileAttributes.class);
        }
        return false;
    }

    @Override
    public File open(Path file) throws IOException {
        return open(file, "rw", StandardOpenOption.WRITE);
    }

    /** Opens a file that is there, for reading alone. */
    static File openToRead(Path file) throws IOException {
        return open(file, "r", StandardOpenOption.READ);
    }

    private static File open(Path file, String mode, StandardOpenOption forced) throws IOException {
        RandomAccessFile plain = new RandomAccessFile(file.toFile(), mode);
        boolean opened = false;
        try {
            LocalFile both = new LocalFile(file, plain, AsynchronousFileChannel.open(file, forced));
            opened = true;
            return both;
        } finally {
            if (!opened) {
                plain.close();
            }
        }
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public void forceFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public Closeable lock(Path file, String holder) throws IOException {
        Path real = file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
        if (!HELD.add(real)) {
            throw new LockedException("this process, " + ProcessHandle.current().pid());
        }
        FileChannel channel = null;
        boolean locked = false;
        try {
            channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            if (!isLocked(channel)) {
                throw new LockedException(holder(channel));
            }
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(holder.getBytes(StandardCharsets.UTF_8)), 0);
            locked = true;
        } finally {
            if (!locked) {
                if (channel != null) {
                    channel.close();
                }
                HELD.remove(real);
            }
        }
        FileChannel held = channel;
        return () -> {
            held.close();
            HELD.remove(real);
        };
    }

    /** Who only looks whether it is locked holds the lock for an instant: that is waited out. */
    private static boolean isLocked(FileChannel channel) throws IOException {
        for (int tries = 0; tries < LOCK_TRIES; tries++) {
            if (channel.tryLock() != null) {
                return true;
            }
            LockSupport.parkNanos(LOCK_PAUSE_NANOS);
        }
        return false;
    }

    private static String holder(FileChannel channel) throws IOException {
        ByteBuffer other = ByteBuffer.allocate(LONGEST_HOLDER_BYTES);
        channel.read(other, 0);
        String text = new String(other.array(), 0, other.position(), StandardCharsets.UTF_8);
        return text.isEmpty() ? "another process" : text;
    }

    /**
     * Who holds the lock of a file, without taking it or making the file.
     *
     * @return empty where nobody does
     */
    static Optional<String> holder(Path file) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        Path real = file.toRealPath();
        if (!HELD.add(real)) {
            return Optional.of("this process, " + ProcessHandle.current().pid());
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            try (FileLock shared = channel.tryLock(0, Long.MAX_VALUE, true)) {
                return shared == null ? Optional.of(holder(channel)) : Optional.empty();
            }
        } finally {
            HELD.remove(real);
        }
    }

    @Override
    public long usableBytes(Path folder) throws IOException {
        // A file store is looked up in the table of mounts, which has no line for a root that was
        // changed.
        long usable = folder.toFile().getUsableSpace();
        if (usable == 0 && Files.notExists(folder)) {
            throw new NoSuchFileException(folder.toString());
        }
        return usable;
    }

    /**
     * Written through a stream's calls, and forced through an asynchronous channel's: an interrupt
     * of the turn thread does not turn these into a closed file, as it does another channel's. A
     * stream's own force writes times of the file, too. The errors of both do not name the file.
     */
    private static final class LocalFile implements File {

        private final Path path;
        private final RandomAccessFile file;
        private final AsynchronousFileChannel forced;

        LocalFile(Path path, RandomAccessFile file, AsynchronousFileChannel forced) {
            this.path = path;
            this.file = file;
            this.forced = forced;
        }

        @Override
        public long size() throws IOException {
            return file.length();
        }

        @Override
        public void read(ByteBuffer into, long at) throws IOException {
            try {
                readAll(into, at);
            } catch (IOException e) {
                throw named(e);
            }
        }

        private void readAll(ByteBuffer into, long at) throws IOException {
            file.seek(at);
            byte[] bytes = into.array();
            while (into.hasRemaining()) {
                int read = file.read(bytes, into.arrayOffset() + into.position(), into.remaining());
                if (read < 0) {
                    return;
                }
                into.position(into.position() + read);
            }
        }

        @Override
        public void write(ByteBuffer from, long at) throws IOException {
            try {
                writeAll(from, at);
            } catch (IOException e) {
                throw named(e);
            }
        }

        private void writeAll(ByteBuffer from, long at) throws IOException {
            file.seek(at);
            if (from.hasArray()) {
                file.write(from.array(), from.arrayOffset() + from.position(), from.remaining());
                from.position(from.limit());
                return;
            }
            byte[] part = new byte[Math.min(from.remaining(), PART_BYTES)];
            while (from.hasRemaining()) {
                int length = Math.min(from.remaining(), part.length);
                from.get(part, 0, length);
                file.write(part, 0, length);
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            if (bytes < file.length()) {
                file.setLength(bytes);
            }
        }

        @Override
        public void force() throws IOException {
            try {
                forced.force(false);
            } catch (IOException e) {
                throw named(e);
            }
        }

        private IOException named(IOException cause) {
            FileSystemException named =
                    new FileSystemException(path.toString(), null, cause.getMessage());
            named.initCause(cause);
            return named;
        }

        @Override
        public void close() throws IOException {
            try {
                forced.close();
            } finally {
                file.close();
            }
        }
    }
}
