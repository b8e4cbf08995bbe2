package io.saucr.tool;

import io.saucr.core.NamedErrors;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A file, or a folder with files, that appears under its name when it is whole and on the disk, and
 * never in the place of something else. Until then it has a name of its own next to that one; if
 * the process gets a signal to end meanwhile, that is removed. Used by one thread.
 */
final class NewFile implements Closeable {
    private static final int REMOVALS = 10;

    private final Path target;
    private final Path partial;
    private final AtExit remover;
    private boolean named;
    private boolean removed;

    private NewFile(Path target, boolean folder) throws IOException {
        this.target = target.toAbsolutePath();
        requireNone();
        this.partial =
                this.target.resolveSibling(
                        this.target.getFileName() + ".partial-" + ProcessHandle.current().pid());
        // All data of the ensemble: nobody else's to read.
        if (folder) {
            Files.createDirectory(partial, permissions("rwx------"));
        } else {
            Files.createFile(partial, permissions("rw-------"));
        }
        this.remover = new AtExit("remove what is not whole", this::removePartial);
    }

    /**
     * @throws IOException if there is something of that name, or no folder that it could be in
     */
    static NewFile file(Path target) throws IOException {
        return new NewFile(target, false);
    }

    /** The same for a folder. */
    static NewFile folder(Path target) throws IOException {
        return new NewFile(target, true);
    }

    private static FileAttribute<Set<PosixFilePermission>> permissions(String text) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text));
    }

    private void requireNone() throws IOException {
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        if (!Files.isDirectory(target.getParent())) {
            throw new NoSuchFileException(
                    target.getParent().toString(), null, "there is no such folder");
        }
    }

    /** Where it is written meanwhile. */
    Path partial() {
        return partial;
    }

    /** Copies everything into a file that exists or is made now, and forces it to the disk. */
    static long write(InputStream from, Path file) throws IOException {
        try (FileChannel channel =
                        FileChannel.open(
                                file,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.TRUNCATE_EXISTING,
                                StandardOpenOption.WRITE);
                OutputStream out = named(file, Channels.newOutputStream(channel))) {
            long bytes = from.transferTo(out);
            NamedErrors.in(file, () -> channel.force(true));
            return bytes;
        }
    }

    /** Names the file in the errors of writes, and not in those of what is copied. */
    private static OutputStream named(Path file, OutputStream plain) {
        return new FilterOutputStream(plain) {
            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                NamedErrors.in(file, () -> out.write(bytes, from, length));
            }
        };
    }

    /**
     * Gives it its name. Its files must be forced already.
     *
     * @throws IOException if that fails, or if the process is told to end and has begun to remove
     *     it
     */
    synchronized void commit() throws IOException {
        if (removed) {
            throw new IOException("it was removed, for the process is to end");
        }
        if (Files.isDirectory(partial)) {
            force(partial);
            requireNone();
            Files.move(partial, target);
            named = true;
        } else {
            // A rename would replace what has come to that name since; a link does not.
            try {
                Files.createLink(target, partial);
                Files.delete(partial);
            } catch (FileAlreadyExistsException e) {
                throw e;
            } catch (UnsupportedOperationException | FileSystemException e) {
                // This file system has no links.
                requireNone();
                Files.move(partial, target);
            }
        }
        force(target.getParent());
    }

    /** Of a folder: takes the name away again if it has it, as if it had not been committed. */
    synchronized void revoke() throws IOException {
        if (named) {
            Files.move(target, partial);
            named = false;
            force(target.getParent());
        }
    }

    /**
     * Gives two their names, or neither: also if the process is told to end in between.
     *
     * @param first gets its name first; null if there is only the other one
     */
    static void commit(NewFile first, NewFile second) throws IOException {
        synchronized (first == null ? second : first) {
            synchronized (second) {
                try {
                    if (first != null) {
                        first.commit();
                    }
                    second.commit();
                } catch (IOException e) {
                    try {
                        // Half of it would stand in the way of the next try.
                        second.revoke();
                        if (first != null) {
                            first.revoke();
                        }
                    } catch (IOException another) {
                        e.addSuppressed(another);
                    }
                    throw e;
                }
            }
        }
    }

    /** Makes the names in a folder last. */
    static void force(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Removes what is not whole. */
    @Override
    public void close() {
        removePartial();
        remover.close();
    }

    /** Never while it gets its name: that would be the name of what is not whole. */
    private synchronized void removePartial() {
        removed = true;
        for (int i = 0; i < REMOVALS && Files.exists(partial, LinkOption.NOFOLLOW_LINKS); i++) {
            // The caller may continue to write while the process ends, and make another file.
            remove(partial);
        }
    }

    /** Removes a file, or a folder with everything in it, as far as that is possible. */
    static void remove(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            // It stays, under a name that says what it is.
        }
    }

    /** What an error of this class, or of the disk, means to the user. */
    static FailureException failure(Path target, IOException cause) {
        if (cause instanceof FileAlreadyExistsException) {
            return new FailureException(
                    cause.getMessage() + " is there already; it is not replaced", cause);
        }
        return FailureException.of("cannot write " + target, cause);
    }
}
