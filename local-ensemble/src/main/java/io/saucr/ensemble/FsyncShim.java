package io.saucr.ensemble;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A native library, built by the C compiler of the machine, between one server and its disk. It
 * delays the forces of files and folders below the server's data folder, counts them, lets them
 * fail or hang and refuses writes, shifts the server's clock, and sends its connections on detours;
 * all of it can be changed while the server runs and outlives its restarts. With a journal it
 * remembers, too, what was forced, and {@link #losePower} takes the rest away; the real disk is
 * then not forced at all.
 *
 * <p>A delay is the least time that a force takes. A force that fails (EIO) has an undefined effect
 * on a real disk; here the data counts as not forced. Writes through memory maps are not seen;
 * folders count as forced when made. Thread-safe: every switch and counter is one aligned word of a
 * page that both sides map.
 */
public final class FsyncShim {
    /** Successful forces since the shim was made, by what was forced. */
    public record Forces(long transactionLog, long snapshot, long other, long directory) {
        public long total() {
            return transactionLog + snapshot + other + directory;
        }

        /** The forces since an earlier reading. */
        public Forces since(Forces earlier) {
            return new Forces(
                    transactionLog - earlier.transactionLog,
                    snapshot - earlier.snapshot,
                    other - earlier.other,
                    directory - earlier.directory);
        }
    }

    /** Why a disk refuses a write. */
    public enum WriteError {
        /** ENOSPC. */
        NO_SPACE(28),
        /** EIO. */
        IO(5);

        private final int errno;

        WriteError(int errno) {
            this.errno = errno;
        }
    }

    private static final long MAGIC = 0x53415543525348L;
    private static final int PAGE_BYTES = 4096;

    // Offsets into the page; struct control in fsync_shim.c.
    private static final int DELAY_MICROS = 8;
    private static final int FAIL_FORCES = 16;
    private static final int FULL_DISK = 24;
    private static final int JOURNAL_ON = 32;
    private static final int READ_ONLY = 40;
    private static final int CLOCK_SHIFT = 48;
    private static final int REFUSE_NEXT = 56;
    private static final int REFUSE_ERRNO = 64;
    private static final int HUNG = 72;
    private static final int FORCES = 128;
    private static final int FAILED_FORCES = 160;
    private static final int REFUSED_WRITES = 168;
    private static final int FORCE_NANOS = 176;
    private static final int PID = 184;
    private static final int DETOURS = 512;
    private static final int MOST_DETOURS = 63;

    private final Path sharedObject;
    private final Path root;
    private final Path folder;
    private final boolean journaled;
    private final MappedByteBuffer page;
    private final AtomicInteger powerLosses = new AtomicInteger();

    private FsyncShim(
            Path sharedObject, Path root, Path folder, boolean journaled, MappedByteBuffer page) {
        this.sharedObject = sharedObject;
        this.root = root;
        this.folder = folder;
        this.journaled = journaled;
        this.page = page;
    }

    /**
     * Makes a shim for one server.
     *
     * @param root the server's data folder; exists
     * @param folder where the shim keeps its files: on the same file system, not below {@code root}
     * @param journaled whether {@link #losePower} will be used; costs a read for each write
     * @throws IOException if no C compiler is found, or the library cannot be built
     */
    public static FsyncShim create(Path root, Path folder, boolean journaled) throws IOException {
        Files.createDirectories(folder);
        Path sharedObject = buildOnce(folder.resolve("fsync_shim.so"));
        MappedByteBuffer page;
        try (FileChannel channel =
                FileChannel.open(
                        folder.resolve("control"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            page = channel.map(FileChannel.MapMode.READ_WRITE, 0, PAGE_BYTES);
        }
        page.order(ByteOrder.nativeOrder());
        page.putLong(JOURNAL_ON, journaled ? 1 : 0);
        page.putLong(0, MAGIC);
        FsyncShim shim =
                new FsyncShim(
                        sharedObject, root.toRealPath(), folder.toRealPath(), journaled, page);
        if (journaled) {
            Files.createDirectories(shim.graves());
        }
        return shim;
    }

    /** Whether this machine can build the shim. */
    public static boolean available() {
        try {
            return CCompiler.find() != null;
        } catch (IOException e) {
            return false;
        }
    }

    private static Path buildOnce(Path target) throws IOException {
        if (!Files.exists(target)) {
            Path source = target.resolveSibling("fsync_shim.c");
            try (InputStream resource =
                    FsyncShim.class.getResourceAsStream("/io/saucr/ensemble/fsync_shim.c")) {
                Files.copy(resource, source, StandardCopyOption.REPLACE_EXISTING);
            }
            CCompiler.find().compile(source, target, List.of("-shared", "-fPIC"), List.of("-ldl"));
        }
        return target.toRealPath();
    }

    /** What the server's process must have in its environment. */
    public Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("LD_PRELOAD", sharedObject.toString());
        variables.put("SAUCR_SHIM_ROOT", root.toString());
        variables.put("SAUCR_SHIM_CONTROL", folder.resolve("control").toString());
        variables.put("SAUCR_SHIM_JOURNAL", journal().toString());
        variables.put("SAUCR_SHIM_GRAVES", graves().toString());
        return variables;
    }

    /** From now on every force takes at least this long. */
    public void delay(Duration delay) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("delay " + delay);
        }
        page.putLong(DELAY_MICROS, delay.toNanos() / 1000);
    }

    /** Whether forces fail with EIO from now on. */
    public void failForces(boolean fail) {
        page.putLong(FAIL_FORCES, fail ? 1 : 0);
    }

    /** Whether writes to files below the data folder fail with ENOSPC from now on. */
    public void fullDisk(boolean full) {
        page.putLong(FULL_DISK, full ? 1 : 0);
    }

    /**
     * Refuses the next writes to files below the data folder, and the creation of files there, and
     * then no more: a disk that fails for a moment only. Replaces what was left of an earlier call.
     *
     * @param count how many, 0 for none from now on
     */
    public void refuseWrites(int count, WriteError error) {
        page.putLong(REFUSE_NEXT, 0);
        page.putLong(REFUSE_ERRNO, error.errno);
        page.putLong(REFUSE_NEXT, count);
    }

    /**
     * Whether the disk hangs: nothing that changes or forces a file or a name below the data folder
     * returns until this ends. Reading continues.
     */
    public void hang(boolean hang) {
        page.putLong(HUNG, hang ? 1 : 0);
    }

    /**
     * Whether everything that changes a file or a name below the data folder fails with EROFS from
     * now on.
     */
    public void readOnlyDisk(boolean readOnly) {
        page.putLong(READ_ONLY, readOnly ? 1 : 0);
    }

    /**
     * From now on the server's wall clock shows this much more than the machine's, or less; the
     * clocks that measure time do not jump.
     */
    public void shiftClock(Duration shift) {
        page.putLong(CLOCK_SHIFT, shift.toMillis());
    }

    /** Successful forces so far, of all processes that ran with this shim. */
    public Forces forces() {
        return new Forces(
                page.getLong(FORCES),
                page.getLong(FORCES + 8),
                page.getLong(FORCES + 16),
                page.getLong(FORCES + 24));
    }

    /** Forces that failed, whether by {@link #failForces} or by themselves. */
    public long failedForces() {
        return page.getLong(FAILED_FORCES);
    }

    /**
     * Writes and creations refused by {@link #fullDisk}, {@link #refuseWrites} and {@link
     * #readOnlyDisk}.
     */
    public long refusedWrites() {
        return page.getLong(REFUSED_WRITES);
    }

    /** Time that successful forces took, delay included, summed over threads. */
    public Duration timeInForces() {
        return Duration.ofNanos(page.getLong(FORCE_NANOS));
    }

    /** The process that loaded the shim last, 0 if none has. */
    public long pid() {
        return page.getLong(PID);
    }

    /** Whether a process runs behind this shim; false where the system does not tell. */
    boolean isLoadedBy(long process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process), "maps"))
                    .contains(sharedObject.toString());
        } catch (IOException e) {
            return false; // it has ended, or there is no /proc
        }
    }

    /**
     * Where connections that the server opens to ports of loopback go instead, from now on;
     * replaces what was set before. Called by one thread.
     *
     * @param ports port that the server asks for, port that it gets; at most 63
     */
    public void detours(Map<Integer, Integer> ports) {
        if (ports.size() > MOST_DETOURS) {
            throw new IllegalArgumentException(ports.size() + " detours");
        }
        int at = DETOURS;
        for (Map.Entry<Integer, Integer> entry : ports.entrySet()) {
            page.putLong(at, ((long) entry.getKey() << 32) | entry.getValue());
            at += 8;
        }
        page.putLong(at, 0);
    }

    /** To be called before each start of the process by its host. */
    public void beforeStart() throws IOException {
        if (journaled) {
            PowerLoss.adopt(root, journal());
        }
    }

    /**
     * Puts the data folder into the state of a disk that lost power: what was written but not
     * synced is lost. The server's process must have been killed. A forced file keeps its newest
     * name; with {@code namesNeedTheFolder} a new or changed name survives only if its folder was
     * forced, too (POSIX promises no more; ext4 does, and stock ZooKeeper relies on it).
     *
     * @return what was taken away, one line each
     */
    public List<String> losePower(boolean namesNeedTheFolder) throws IOException {
        if (!journaled) {
            throw new IllegalStateException("the shim was made without a journal");
        }
        powerLosses.incrementAndGet();
        return PowerLoss.apply(root, journal(), graves(), namesNeedTheFolder);
    }

    /** How often {@link #losePower} was called. */
    public int powerLosses() {
        return powerLosses.get();
    }

    /**
     * From now on everything that stands in the data folder counts as forced. The server may run.
     */
    public void harden() throws IOException {
        if (!journaled) {
            throw new IllegalStateException("the shim was made without a journal");
        }
        PowerLoss.harden(root, journal());
    }

    /**
     * To be called after files of the data folder were replaced or removed by somebody else than
     * the server, whose process must have ended: what stands there now counts as forced, and
     * nothing else comes back with a loss of power.
     */
    public void replaced() throws IOException {
        if (journaled) {
            PowerLoss.forget(root, journal(), graves());
        }
    }

    private Path journal() {
        return folder.resolve("journal");
    }

    private Path graves() {
        return folder.resolve("graves");
    }
}
