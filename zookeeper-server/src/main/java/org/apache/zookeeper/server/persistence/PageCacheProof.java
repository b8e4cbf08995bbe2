package org.apache.zookeeper.server.persistence;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.core.NamedErrors;
import io.saucr.server.runtime.SmallFile;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves to the next process that the page cache is the one that this process wrote its log to
 * (R25): then nothing that was acknowledged is lost, however this process ends. The proof is a file
 * next to the log that names the machine's boot, the mount, the log's folder, and the newest log
 * file, all of which must be unchanged, and the last entry that was acked without a force, which
 * the log must have: its zxid in the first eight bytes, the rest in lines of text.
 *
 * <p>The zxid changes with every batch, so its bytes are mapped: that costs no call. The file is
 * never forced: it need not outlive the page cache that it describes.
 *
 * <p>It counts only on file systems where an unmount in between can be detected: for each mounted
 * one the kernel has a folder in {@code /sys/fs}, whose inode is new with every mount and which
 * counts its errors. (The numbers of mounts, and of an overlay's device, are used again.) A file
 * system in memory loses its files when it is unmounted.
 *
 * <p>Thread-safe; {@link #withdraw} waits for nobody.
 */
public final class PageCacheProof implements RestartProof {
    private static final Logger LOG = LoggerFactory.getLogger(PageCacheProof.class);

    /** Beside the log. */
    public static final String FILE = "saucr.proof";

    private static final VarHandle ZXID =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final String BOOT = "boot ";
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

    /** Folders in {@code /sys/fs} by file system; one driver serves ext2 to ext4. */
    private static final Map<String, String> FOLDERS =
            Map.of("ext2", "ext4", "ext3", "ext4", "ext4", "ext4", "xfs", "xfs", "f2fs", "f2fs");

    private static final String IN_MEMORY = "tmpfs";

    private final Path directory;
    private final String bootId;
    private final Path mounts;
    private volatile boolean withdrawn;
    private long reached;

    // The first bytes of the file; null while there is none.
    private MappedByteBuffer mapped;

    /** What the file says. */
    private record Content(long reached, List<String> lines) {
        static Content read(Path file) throws IOException {
            ByteBuffer bytes = ByteBuffer.wrap(SmallFile.read(file));
            return new Content(bytes.getLong(), UTF_8.decode(bytes).toString().lines().toList());
        }

        void write(Path file) throws IOException {
            byte[] text = (String.join("\n", lines) + "\n").getBytes(UTF_8);
            ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + text.length);
            bytes.putLong(reached).put(text);
            NamedErrors.in(file, () -> Files.write(file, bytes.array()));
        }
    }

    /**
     * @param directory the directory that holds the transaction log's files
     * @param bootId replaces the machine's own boot id; empty for the machine's
     */
    public PageCacheProof(Path directory, String bootId) {
        this(directory, bootId, MOUNTS);
    }

    PageCacheProof(Path directory, String bootId, Path mounts) {
        this.directory = directory;
        this.bootId = bootId;
        this.mounts = mounts;
    }

    /**
     * What the proof of an earlier process still proves.
     *
     * @return the zxid of the last entry that the log must have, empty if nothing is proven
     */
    public OptionalLong through() {
        try {
            Content content = Content.read(directory.resolve(FILE));
            if (content.lines.isEmpty()) {
                return OptionalLong.empty();
            }
            Path log = directory.resolve(content.lines.get(0)).normalize();
            if (!directory.equals(log.getParent())) {
                return OptionalLong.empty();
            }
            Optional<List<String>> now = describe(log);
            return now.isPresent() && now.get().equals(content.lines)
                    ? OptionalLong.of(content.reached)
                    : OptionalLong.empty();
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        } catch (IOException | RuntimeException e) {
            LOG.info("The proof of an unchanged page cache cannot be read", e);
            return OptionalLong.empty();
        }
    }

    /**
     * Whether pages may look clean although a failed force never wrote them to the disk: there is
     * no proof of the page cache, and no sign either that the machine has started anew since.
     */
    public boolean mayHideFailure() {
        if (through().isPresent()) {
            return false;
        }
        try {
            List<String> lines = Content.read(directory.resolve(FILE)).lines;
            return lines.contains(BOOT + boot())
                    || lines.stream().noneMatch(line -> line.startsWith(BOOT));
        } catch (IOException | RuntimeException e) {
            return true;
        }
    }

    @Override
    public synchronized void logFile(Path newest) throws IOException {
        if (withdrawn) {
            return;
        }
        close();
        Optional<List<String>> proof = describeIfReadable(newest);
        if (proof.isEmpty()) {
            Files.deleteIfExists(directory.resolve(FILE));
            return;
        }
        Path temporary = directory.resolve(FILE + ".tmp");
        new Content(reached, proof.get()).write(temporary);
        try (FileChannel file =
                FileChannel.open(temporary, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES);
        }
        Files.move(temporary, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
        if (withdrawn) {
            Files.deleteIfExists(directory.resolve(FILE));
        }
    }

    /** One store of an aligned word: a kill leaves the old zxid or the new one. */
    @Override
    public synchronized void reached(long zxid) {
        reached = zxid;
        if (mapped != null) {
            ZXID.setRelease(mapped, 0, zxid);
        }
    }

    /**
     * As {@link #withdraw}, before a recovery changes the log: a proof that fits the new log by
     * chance must not count.
     *
     * @throws IOException if the file is still there
     */
    public void remove() throws IOException {
        withdraw();
        if (Files.exists(directory.resolve(FILE))) {
            throw new IOException(directory.resolve(FILE) + " cannot be deleted");
        }
    }

    @Override
    public void withdraw() {
        withdrawn = true;
        try {
            Files.deleteIfExists(directory.resolve(FILE));
        } catch (IOException e) {
            LOG.error("The proof of an unchanged page cache cannot be removed", e);
        }
    }

    @Override
    public synchronized void close() {
        mapped = null;
    }

    private Optional<List<String>> describeIfReadable(Path log) {
        try {
            return describe(log);
        } catch (IOException | RuntimeException e) {
            LOG.info("Nothing proves the page cache here", e);
            return Optional.empty();
        }
    }

    /** Empty if nothing can be proven here. */
    private Optional<List<String>> describe(Path log) throws IOException {
        String boot = boot();
        Optional<String> mount = mount();
        if (boot.isEmpty() || mount.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                List.of(
                        log.getFileName().toString(),
                        "file " + Files.getAttribute(log, "unix:ino"),
                        BOOT + boot,
                        "mount " + mount.get(),
                        "folder "
                                + Files.getAttribute(directory, "unix:dev")
                                + " "
                                + Files.getAttribute(directory, "unix:ino")));
    }

    private String boot() throws IOException {
        return bootId.isEmpty() ? Files.readString(BOOT_ID).trim() : bootId;
    }

    /** The mount that holds the directory, empty if its page cache is not this machine's. */
    private Optional<String> mount() throws IOException {
        String real = directory.toRealPath() + "/";
        String[] found = null;
        int longest = -1;
        // Mount points may have any bytes in their names.
        for (String line : Files.readAllLines(mounts, StandardCharsets.ISO_8859_1)) {
            String[] fields = line.split(" ");
            String point = unescaped(fields[4]);
            String folder = point.endsWith("/") ? point : point + "/";
            // If there are several mounts on one point, the last one counts.
            if (real.startsWith(folder) && folder.length() >= longest) {
                longest = folder.length();
                found = fields;
            }
        }
        if (found == null) {
            return Optional.empty();
        }
        int separator = List.of(found).indexOf("-");
        String type = found[separator + 1];
        String device = found[2];
        if (type.equals(IN_MEMORY)) {
            return Optional.of(type + " " + device);
        }
        return superblock(type, device).map(block -> type + " " + device + " " + block);
    }

    /** Empty if the kernel says nothing of the mounted file system. */
    private static Optional<String> superblock(String type, String device) throws IOException {
        Path block = Path.of("/sys/dev/block", device);
        if (!FOLDERS.containsKey(type) || !Files.exists(block)) {
            return Optional.empty();
        }
        Path folder =
                Path.of("/sys/fs", FOLDERS.get(type), block.toRealPath().getFileName().toString());
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        Path errors = folder.resolve("errors_count");
        return Optional.of(
                "superblock "
                        + Files.getAttribute(folder, "unix:ino")
                        + (Files.isReadable(errors)
                                ? " errors " + Files.readString(errors).trim()
                                : ""));
    }

    /** Spaces and their like are octal in the table of mounts. */
    private static String unescaped(String field) {
        return field.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }
}
