package io.saucr.services.tests.crash;

import io.saucr.services.journal.Disk;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * The disk of this machine, where everything that changes it passes a point before it and another
 * one, of the same name with {@code -done}, behind it. The names: {@code journal}, {@code base},
 * {@code segments}, {@code bases} (these two of a member of a service with standbys), {@code
 * identity} or {@code other}, for where it happens, a dash, and one of {@code write}, {@code
 * force}, {@code truncate}, {@code name} (a file gets its name), {@code retire} (it loses it),
 * {@code delete} and {@code names} (a folder is forced). What the journal prepares ahead, on a
 * thread that no turn waits for, happens at {@code spare}. Any thread.
 */
public final class PointDisk implements Disk {

    private static final Set<String> FOLDERS = Set.of("journal", "base", "segments", "bases");

    private final Disk disk = Disk.local();
    private final Path folder;
    private final Points points;

    /**
     * A disk with points.
     *
     * @param folder of the service
     */
    public PointDisk(Path folder, Points points) {
        this.folder = folder;
        this.points = points;
    }

    /** What may fail. */
    private interface Step {
        void run() throws IOException;
    }

    private void at(Path file, String what, Step step) throws IOException {
        String point = where(file) + "-" + what;
        points.pass(point);
        step.run();
        points.pass(point + "-done");
    }

    private String where(Path file) {
        if (Thread.currentThread().getName().startsWith("journal-tidy")
                && file.getFileName().toString().endsWith(".tmp")) {
            return "spare";
        }
        Path below = folder.relativize(file);
        String first = below.getName(0).toString();
        if (FOLDERS.contains(first)) {
            return first;
        }
        return first.isEmpty() || first.startsWith("identity") ? "identity" : "other";
    }

    @Override
    public void makeFolder(Path made) throws IOException {
        disk.makeFolder(made);
    }

    @Override
    public List<String> list(Path listed) throws IOException {
        return disk.list(listed);
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
            public void read(ByteBuffer into, long from) throws IOException {
                opened.read(into, from);
            }

            @Override
            public void write(ByteBuffer from, long to) throws IOException {
                at(file, "write", () -> opened.write(from, to));
            }

            @Override
            public void truncate(long bytes) throws IOException {
                at(file, "truncate", () -> opened.truncate(bytes));
            }

            @Override
            public void force() throws IOException {
                at(file, "force", opened::force);
            }

            @Override
            public void close() throws IOException {
                opened.close();
            }
        };
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        boolean retired = to.getFileName().toString().endsWith(".tmp");
        at(retired ? from : to, retired ? "retire" : "name", () -> disk.rename(from, to));
    }

    @Override
    public void delete(Path file) throws IOException {
        at(file, "delete", () -> disk.delete(file));
    }

    @Override
    public void forceFolder(Path forced) throws IOException {
        at(forced, "names", () -> disk.forceFolder(forced));
    }

    @Override
    public Closeable lock(Path file, String holder) throws IOException {
        return disk.lock(file, holder);
    }

    @Override
    public long usableBytes(Path of) throws IOException {
        return disk.usableBytes(of);
    }
}
