package io.saucr.services.journal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The files of this machine, to be looked at: whatever would change one of them, or make one, is
 * refused. Stateless.
 */
final class ReadOnlyDisk implements Disk {

    static final ReadOnlyDisk INSTANCE = new ReadOnlyDisk();

    private ReadOnlyDisk() {}

    private static UnsupportedOperationException onlyRead(Path file) {
        return new UnsupportedOperationException(file + " is only read");
    }

    @Override
    public List<String> list(Path folder) throws IOException {
        return LocalDisk.INSTANCE.list(folder);
    }

    @Override
    public boolean exists(Path file) throws IOException {
        return LocalDisk.INSTANCE.exists(file);
    }

    @Override
    public File open(Path file) throws IOException {
        return LocalDisk.openToRead(file);
    }

    @Override
    public long usableBytes(Path folder) throws IOException {
        return LocalDisk.INSTANCE.usableBytes(folder);
    }

    @Override
    public void makeFolder(Path folder) {
        throw onlyRead(folder);
    }

    @Override
    public void rename(Path from, Path to) {
        throw onlyRead(from);
    }

    @Override
    public void delete(Path file) {
        throw onlyRead(file);
    }

    @Override
    public void forceFolder(Path folder) {
        throw onlyRead(folder);
    }

    @Override
    public Closeable lock(Path file, String holder) {
        throw onlyRead(file);
    }
}
