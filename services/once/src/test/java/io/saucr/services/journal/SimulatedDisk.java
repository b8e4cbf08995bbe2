package io.saucr.services.journal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A disk in memory with a page cache. What was written and not forced is on disk in parts at most
 * when the power fails: each sector of 512 bytes for itself, each name for itself. A call can be
 * made to fail: a write may have written a part; a force leaves its pages clean, some of them on
 * disk and some not, and no later force writes those again. From then on every call fails, as the
 * process has to halt, until it is {@link #restarted} or the {@link #powerFails}; unless it is to
 * fail {@link #once}.
 */
public final class SimulatedDisk implements Disk {

    private static final int SECTOR_BYTES = 512;

    private final Random random;

    /** What a running process sees, and what is on disk. */
    private final Map<Path, Inode> names = new TreeMap<>();

    private final Map<Path, Inode> namesOnDisk = new TreeMap<>();
    private final List<NameChange> pendingNames = new ArrayList<>();
    private final Set<Path> folders = new HashSet<>();
    private final Set<Path> locked = new HashSet<>();
    private final List<String> calls = new ArrayList<>();
    private int life;
    private long failAtCall = Long.MAX_VALUE;
    private boolean halted;
    private boolean once;
    private boolean readsToo;
    private String failed = "";
    private String ignored = "";
    private String failAtText = "";
    private long capacity = Long.MAX_VALUE;

    /** For a sector, which of its states the disk has; a file's sectors beyond its size are cut. */
    private static final class Inode {
        byte[] cached = new byte[0];
        byte[] onDisk = new byte[0];
        final Set<Integer> dirty = new HashSet<>();
        boolean sizeIsDirty;
    }

    /** One name that is to be on disk: gone, where the inode is null. */
    private record NameChange(Path gone, Path name, Inode inode) {}

    /** An empty one; the seed says what a failure and a power cut leave. */
    public SimulatedDisk(long seed) {
        this.random = new Random(seed);
    }

    /** Lets a call of the next life fail, counted from 1, and every one after it. */
    public synchronized void failAt(long call) {
        calls.clear();
        failed = "";
        once = false;
        failAtCall = call;
    }

    /** Lets one call of the next life fail, and those after it succeed. */
    public synchronized void failOnceAt(long call) {
        failAt(call);
        once = true;
    }

    /** Opening a file that is there, listing and reading count as calls, too. */
    public synchronized void readsToo() {
        readsToo = true;
    }

    /** Which call was the first to fail since {@link #failAt}; empty for none. */
    public synchronized String failed() {
        return failed;
    }

    /** The process ends: whatever it still calls fails. */
    public synchronized void halt() {
        halted = true;
    }

    /** How many bytes its files may have in all. */
    public synchronized void limit(long bytes) {
        capacity = bytes;
    }

    /** Lets the first such call fail, and every one after it. */
    public synchronized void failAt(String call, Path what) {
        failAtText = call + " " + what;
    }

    /** A call that does nothing and says that it did, to see whether that is noticed. */
    public synchronized void ignore(String call) {
        ignored = call;
    }

    /** What was called since {@link #failAt}. */
    public synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    /** Another process begins; the page cache is as the last one left it. */
    public synchronized void restarted() {
        life++;
        halted = false;
        failAtCall = Long.MAX_VALUE;
        failAtText = "";
        locked.clear();
    }

    /** What was not forced is lost, or a part of it is. */
    public synchronized void powerFails() {
        for (NameChange change : pendingNames) {
            if (random.nextBoolean()) {
                apply(change, namesOnDisk);
            }
        }
        pendingNames.clear();
        names.clear();
        names.putAll(namesOnDisk);
        Set<Inode> inodes = new HashSet<>(names.values());
        for (Inode inode : inodes) {
            writeSome(inode);
            inode.cached = inode.onDisk.clone();
        }
        restarted();
    }

    /** The disk loses a bit of what it had. */
    public synchronized void flip(Path file, int at, int bit) {
        Inode inode = names.get(file);
        inode.cached[at] ^= (byte) (1 << bit);
        inode.onDisk[at] ^= (byte) (1 << bit);
    }

    public synchronized byte[] content(Path file) {
        return names.get(file).cached.clone();
    }

    /** Puts bytes there, on disk, as if they had always been there. */
    public synchronized void put(Path file, byte[] content) {
        Inode inode = new Inode();
        inode.cached = content.clone();
        inode.onDisk = content.clone();
        names.put(file, inode);
        namesOnDisk.put(file, inode);
    }

    private static void apply(NameChange change, Map<Path, Inode> map) {
        if (change.gone() != null) {
            map.remove(change.gone());
        }
        if (change.name() != null) {
            map.put(change.name(), change.inode());
        }
    }

    private void writeSome(Inode inode) {
        int size =
                inode.sizeIsDirty && random.nextBoolean()
                        ? inode.cached.length
                        : inode.onDisk.length;
        byte[] onDisk = Arrays.copyOf(inode.onDisk, size);
        for (int sector : inode.dirty) {
            if (random.nextBoolean()) {
                int from = sector * SECTOR_BYTES;
                int to = Math.min(Math.min(from + SECTOR_BYTES, inode.cached.length), size);
                if (from < to) {
                    System.arraycopy(inode.cached, from, onDisk, from, to - from);
                }
            }
        }
        inode.onDisk = onDisk;
        inode.dirty.clear();
        inode.sizeIsDirty = false;
    }

    private boolean fails(String call, Object what) throws IOException {
        if (halted) {
            throw new IOException("the process is to halt: " + call + " " + what);
        }
        calls.add(call + " " + what);
        if (calls.size() >= failAtCall || failAtText.equals(call + " " + what)) {
            failed = call + " " + what;
            halted = !once;
            failAtCall = once ? Long.MAX_VALUE : failAtCall;
            return true;
        }
        return false;
    }

    private void reads(String call, Object what) throws IOException {
        if (readsToo && fails(call, what)) {
            throw failed(call, what);
        }
    }

    private static IOException failed(String call, Object what) {
        return new IOException("simulated failure: " + call + " " + what);
    }

    private void change(NameChange change) {
        apply(change, names);
        pendingNames.add(change);
    }

    @Override
    public synchronized void makeFolder(Path folder) throws IOException {
        if (!folders.contains(folder)) {
            if (fails("makeFolder", folder)) {
                throw failed("makeFolder", folder);
            }
            folders.add(folder);
        }
    }

    @Override
    public synchronized List<String> list(Path folder) throws IOException {
        reads("list", folder);
        return names.keySet().stream()
                .filter(file -> file.getParent().equals(folder))
                .map(file -> file.getFileName().toString())
                .sorted()
                .toList();
    }

    @Override
    public synchronized boolean exists(Path file) {
        return names.containsKey(file) || folders.contains(file);
    }

    @Override
    public synchronized File open(Path file) throws IOException {
        Inode inode = names.get(file);
        if (inode == null) {
            if (fails("create", file)) {
                throw failed("create", file);
            }
            inode = new Inode();
            change(new NameChange(null, file, inode));
        } else {
            reads("open", file);
        }
        return new Opened(file, inode, life);
    }

    @Override
    public synchronized void rename(Path from, Path to) throws IOException {
        if (fails("rename", from + " " + to)) {
            throw failed("rename", from);
        }
        Inode inode = names.get(from);
        if (inode == null) {
            throw new IOException("there is no " + from);
        }
        change(new NameChange(from, to, inode));
    }

    @Override
    public synchronized void delete(Path file) throws IOException {
        if (names.containsKey(file)) {
            if (fails("delete", file)) {
                throw failed("delete", file);
            }
            change(new NameChange(file, null, null));
        }
    }

    @Override
    public synchronized void forceFolder(Path folder) throws IOException {
        boolean fails = fails("forceFolder", folder);
        if (ignored.equals("forceFolder")) {
            return;
        }
        List<NameChange> here = new ArrayList<>();
        for (NameChange change : pendingNames) {
            Path name = change.name() == null ? change.gone() : change.name();
            if (name.getParent().equals(folder)) {
                here.add(change);
                if (!fails || random.nextBoolean()) {
                    apply(change, namesOnDisk);
                }
            }
        }
        pendingNames.removeAll(here);
        if (fails) {
            throw failed("forceFolder", folder);
        }
    }

    @Override
    public synchronized Closeable lock(Path file, String holder) throws IOException {
        if (!locked.add(file)) {
            throw new LockedException(holder);
        }
        return () -> {
            synchronized (this) {
                locked.remove(file);
            }
        };
    }

    @Override
    public synchronized long usableBytes(Path folder) {
        long used = 0;
        for (Inode inode : new HashSet<>(names.values())) {
            used += inode.cached.length;
        }
        return Math.max(0, capacity - used);
    }

    /** An open file of one life of the process. */
    private final class Opened implements File {

        private final Path path;
        private final Inode inode;
        private final int ofLife;

        Opened(Path path, Inode inode, int ofLife) {
            this.path = path;
            this.inode = inode;
            this.ofLife = ofLife;
        }

        private boolean fails(String call) throws IOException {
            if (ofLife != life) {
                throw new IOException("the process has halted: " + call + " " + path);
            }
            return SimulatedDisk.this.fails(call, path);
        }

        @Override
        public long size() {
            synchronized (SimulatedDisk.this) {
                return inode.cached.length;
            }
        }

        @Override
        public void read(ByteBuffer into, long at) throws IOException {
            synchronized (SimulatedDisk.this) {
                reads("read", path);
                int from = (int) Math.min(at, inode.cached.length);
                int bytes = Math.min(into.remaining(), inode.cached.length - from);
                into.put(inode.cached, from, bytes);
            }
        }

        @Override
        public void write(ByteBuffer from, long at) throws IOException {
            synchronized (SimulatedDisk.this) {
                boolean fails = fails("write");
                int bytes = from.remaining();
                if (fails) {
                    bytes = random.nextInt(bytes + 1);
                }
                int end = (int) at + bytes;
                if (end - inode.cached.length > usableBytes(path)) {
                    throw new IOException("no space is left for " + path);
                }
                if (end > inode.cached.length && bytes > 0) {
                    inode.cached = Arrays.copyOf(inode.cached, end);
                    inode.sizeIsDirty = true;
                }
                from.get(inode.cached, (int) at, bytes);
                from.position(from.limit());
                for (int sector = (int) at / SECTOR_BYTES; sector * SECTOR_BYTES < end; sector++) {
                    inode.dirty.add(sector);
                }
                if (fails) {
                    throw failed("write", path);
                }
            }
        }

        @Override
        public void truncate(long bytes) throws IOException {
            synchronized (SimulatedDisk.this) {
                if (bytes < inode.cached.length) {
                    if (fails("truncate")) {
                        throw failed("truncate", path);
                    }
                    inode.cached = Arrays.copyOf(inode.cached, (int) bytes);
                    inode.sizeIsDirty = true;
                }
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (SimulatedDisk.this) {
                if (fails("force")) {
                    writeSome(inode);
                    throw failed("force", path);
                }
                if (ignored.equals("force")) {
                    return;
                }
                byte[] onDisk = inode.cached.clone();
                // What an earlier force that failed marked clean is not written now.
                for (int at = 0; at < onDisk.length; at += SECTOR_BYTES) {
                    if (!inode.dirty.contains(at / SECTOR_BYTES)) {
                        int to = Math.min(at + SECTOR_BYTES, onDisk.length);
                        for (int index = at; index < to; index++) {
                            onDisk[index] = index < inode.onDisk.length ? inode.onDisk[index] : 0;
                        }
                    }
                }
                inode.onDisk = onDisk;
                inode.dirty.clear();
                inode.sizeIsDirty = false;
            }
        }

        @Override
        public void close() {}
    }
}
