package io.saucr.services.testkit;

import io.saucr.services.journal.Disk;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * Files in memory. A {@link #crash} leaves of each file what was forced, and a beginning of the
 * rest; of names that were not forced some. Thread of the test.
 */
final class MemoryFiles implements Disk {

    private final RandomGenerator random;
    private final Map<Path, Content> files = new TreeMap<>();

    private static final class Content {
        byte[] bytes = new byte[0];
        byte[] forced = new byte[0];
        boolean named;
    }

    MemoryFiles(RandomGenerator random) {
        this.random = random;
    }

    /** The power goes. */
    void crash() {
        files.values().removeIf(it -> !it.named && random.nextBoolean());
        for (Content content : files.values()) {
            int more = content.bytes.length - content.forced.length;
            int kept = content.forced.length + (more > 0 ? random.nextInt(more + 1) : 0);
            byte[] left = Arrays.copyOf(content.bytes, kept);
            System.arraycopy(content.forced, 0, left, 0, content.forced.length);
            content.bytes = left;
            content.forced = left;
            content.named = true;
        }
    }

    /** All that is forced, to go back to. */
    Map<Path, byte[]> backup() {
        Map<Path, byte[]> backup = new TreeMap<>();
        files.forEach(
                (path, content) -> {
                    if (content.named) {
                        backup.put(path, content.forced.clone());
                    }
                });
        return backup;
    }

    /** In place of all that is there. */
    void restore(Map<Path, byte[]> backup) {
        files.clear();
        backup.forEach(
                (path, bytes) -> {
                    Content content = new Content();
                    content.bytes = bytes.clone();
                    content.forced = bytes.clone();
                    content.named = true;
                    files.put(path, content);
                });
    }

    @Override
    public void makeFolder(Path folder) {}

    @Override
    public List<String> list(Path folder) {
        List<String> names = new ArrayList<>();
        files.keySet().stream()
                .filter(it -> folder.equals(it.getParent()))
                .forEach(it -> names.add(it.getFileName().toString()));
        return names;
    }

    @Override
    public boolean exists(Path file) {
        return files.keySet().stream().anyMatch(it -> it.startsWith(file));
    }

    @Override
    public File open(Path file) {
        return new Open(files.computeIfAbsent(file, it -> new Content()));
    }

    @Override
    public void rename(Path from, Path to) {
        files.put(to, files.remove(from));
    }

    @Override
    public void delete(Path file) {
        files.remove(file);
    }

    @Override
    public void forceFolder(Path folder) {
        files.forEach((path, content) -> content.named |= folder.equals(path.getParent()));
    }

    @Override
    public Closeable lock(Path file, String holder) {
        return () -> {};
    }

    @Override
    public long usableBytes(Path folder) {
        return Long.MAX_VALUE;
    }

    private record Open(Content content) implements File {

        @Override
        public long size() {
            return content.bytes.length;
        }

        @Override
        public void read(ByteBuffer into, long at) {
            int length = (int) Math.min(into.remaining(), content.bytes.length - at);
            if (length > 0) {
                into.put(content.bytes, (int) at, length);
            }
        }

        @Override
        public void write(ByteBuffer from, long at) {
            int end = (int) at + from.remaining();
            if (end > content.bytes.length) {
                content.bytes = Arrays.copyOf(content.bytes, end);
            }
            from.get(content.bytes, (int) at, from.remaining());
        }

        @Override
        public void truncate(long bytes) {
            if (bytes < content.bytes.length) {
                content.bytes = Arrays.copyOf(content.bytes, (int) bytes);
                content.forced =
                        Arrays.copyOf(content.forced, (int) Math.min(bytes, content.forced.length));
            }
        }

        @Override
        public void force() {
            content.forced = content.bytes.clone();
        }

        @Override
        public void close() {}
    }
}
