package io.saucr.services.journal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A disk that hands everything on, for tests that watch or hold up a call. */
public class ForwardingDisk implements Disk {

    private final Disk disk;

    protected ForwardingDisk(Disk disk) {
        this.disk = disk;
    }

    protected void beforeForce() {}

    protected void beforeRead(int bytes) {}

    @Override
    public void makeFolder(Path folder) throws IOException {
        disk.makeFolder(folder);
    }

    @Override
    public List<String> list(Path folder) throws IOException {
        return disk.list(folder);
    }

    @Override
    public boolean exists(Path file) throws IOException {
        return disk.exists(file);
    }

    @Override
    public File open(Path file) throws IOException {
        File opened = disk.open(file);
        return new File() {
            @Override
            public long size() throws IOException {
                return opened.size();
            }

            @Override
            public void read(ByteBuffer into, long at) throws IOException {
                beforeRead(into.remaining());
                opened.read(into, at);
            }

            @Override
            public void write(ByteBuffer from, long at) throws IOException {
                opened.write(from, at);
            }

            @Override
            public void truncate(long bytes) throws IOException {
                opened.truncate(bytes);
            }

            @Override
            public void force() throws IOException {
                beforeForce();
                opened.force();
            }

            @Override
            public void close() throws IOException {
                opened.close();
            }
        };
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        disk.rename(from, to);
    }

    @Override
    public void delete(Path file) throws IOException {
        disk.delete(file);
    }

    @Override
    public void forceFolder(Path folder) throws IOException {
        disk.forceFolder(folder);
    }

    @Override
    public Closeable lock(Path file, String holder) throws IOException {
        return disk.lock(file, holder);
    }

    @Override
    public long usableBytes(Path folder) throws IOException {
        return disk.usableBytes(folder);
    }
}
