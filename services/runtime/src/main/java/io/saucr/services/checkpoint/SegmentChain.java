package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.SegmentLog.Entry;
import io.saucr.services.checkpoint.SegmentLog.Scan;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments that a member's folder holds, and the log files that they are in: appends, syncs and
 * reads them, and recovers them after a crash. Each continues the one before (C2, C4).
 *
 * <p>Two locks of its own, taken in this order and before that of the {@link FolderState}: of the
 * thread that appends, and of the one that syncs. The file that is written changes under the first
 * one, too.
 */
final class SegmentChain {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentChain.class);

    private static final String UNFINISHED = "new.tmp";

    final Path folder;
    private final FolderState state;
    private final Disk disk;
    private final long logBytes;

    private final Object appending = new Object();
    private final Object forcing = new Object();

    // All guarded by the lock of the state; entries are numbered without gaps, up to the newest.
    private final List<Entry> entries = new ArrayList<>();
    private final List<Long> logs = new ArrayList<>();
    private Disk.File current;
    private Path currentPath;
    private long end;
    private boolean unnamed;
    private boolean closed;

    /** Members that follow read one after the other. */
    private final SegmentLog.Reader reader;

    /** Written under the lock, read anywhere. */
    private volatile long bytesAboveBase;

    SegmentChain(FolderState state, Path folder, long logBytes) {
        this.state = state;
        this.disk = state.disk;
        this.folder = folder;
        this.logBytes = logBytes;
        this.reader = new SegmentLog.Reader(disk);
    }

    /** Work that may change everything: of the disk, under all locks. */
    interface Exclusive<T> {
        T work() throws IOException;
    }

    /**
     * Works while nothing is appended, synced or read.
     *
     * @throws io.saucr.services.journal.DeadJournalException where the folder is dead, or dies of
     *     this
     */
    <T> T exclusively(Exclusive<T> work) throws RefusedFolderException {
        synchronized (appending) {
            synchronized (forcing) {
                synchronized (state) {
                    state.throwIfDead();
                    try {
                        return work.work();
                    } catch (RefusedFolderException e) {
                        throw e;
                    } catch (IOException e) {
                        throw state.died(e);
                    }
                }
            }
        }
    }

    /** Works while nothing is appended. */
    void withoutAppends(Exclusive<?> work) throws IOException {
        synchronized (appending) {
            state.throwIfDead();
            work.work();
        }
    }

    // ---- a start

    /** Whether there are log files, after those that were never finished were deleted. */
    boolean find() throws IOException {
        state.deleteUnfinished(folder);
        logs.addAll(SegmentLog.firstNumbers(disk, folder));
        return !logs.isEmpty();
    }

    /**
     * Reads what the log files hold. What a crash tore at their end is cut off.
     *
     * @param base number of the segment as of which the newest base is; 0 for none
     */
    void recover(long base) throws IOException {
        for (int index = 0; index < logs.size() - 1; index++) {
            Scan scan = scan(logs.get(index), false);
            // Only the newest file may be torn: what is not whole in this one was, so it is
            // damaged.
            scan.damage()
                    .ifPresent(
                            damage -> {
                                LOG.warn("Segments cannot be read: {}", damage);
                                state.damaged(damage);
                            });
            scan.entries().forEach(this::add);
        }
        if (!logs.isEmpty()) {
            newest(base);
        }
    }

    private Scan scan(long first, boolean whole) throws IOException {
        return SegmentLog.scan(
                disk, SegmentLog.file(folder, first), first, state.service, state::birthOf, whole);
    }

    /** Only what leads to the newest without a gap is of use. */
    private void add(Entry entry) {
        if (!entries.isEmpty()) {
            SegmentId before = entries.get(entries.size() - 1).id();
            if (entry.number() != before.number() + 1
                    || !entry.previous().equals(before.digest())) {
                entries.clear();
            }
        }
        entries.add(entry);
        state.last(entry.id());
        state.named(entry.named());
    }

    /**
     * The newest log file, which a crash may have torn, and what is read of it may be in memory.
     */
    private void newest(long base) throws IOException {
        long first = logs.get(logs.size() - 1);
        Path file = SegmentLog.file(folder, first);
        Scan scan = scan(first, true);
        throwUnlessCrash(scan);
        long before = Math.max(state.last().number(), base);
        if (scan.entries().isEmpty() && before < first - 1) {
            // Without this check the member would continue at a number that it had taken already.
            List<Damage> damages = state.damages();
            Damage where =
                    damages.isEmpty() ? new Damage(file, -1, "") : damages.get(damages.size() - 1);
            throw new RefusedFolderException(
                    where.file(),
                    where.offset(),
                    "segments "
                            + (before + 1)
                            + " to "
                            + (first - 1)
                            + " were here and are not any more, or are damaged, and no base covers"
                            + " them. The folder was left as it is. Put the files back, or let this"
                            + " member begin with an empty folder and take all from the others");
        }
        Path beside = folder.resolve(UNFINISHED);
        try (Disk.File old = disk.open(file)) {
            if (scan.problem().isPresent()) {
                keepCut(scan, old, first + scan.entries().size());
            }
            // What is read may be in memory only, as may the name, if a force failed before.
            SegmentLog.copy(disk, old, 0, scan.end(), beside);
        }
        disk.rename(beside, file);
        disk.forceFolder(folder);
        scan.entries().forEach(this::add);
        if (before <= first - 1 + scan.entries().size()) {
            // Else a base is newer: what follows it begins a file of its own.
            current = disk.open(file);
            currentPath = file;
            end = scan.end();
        }
    }

    /** What no crash leaves at the end of a file is not cut off. */
    private static void throwUnlessCrash(Scan scan) throws RefusedFolderException {
        if (scan.problem().isPresent() && !isOfCrash(scan.problem().get())) {
            RefusedSegmentException problem = scan.problem().get();
            throw new RefusedFolderException(
                    scan.file(), scan.end() + problem.offset(), problem.getMessage());
        }
    }

    static boolean isOfCrash(RefusedSegmentException problem) {
        return switch (problem.reason()) {
            case TORN, GARBLED, LENGTH -> true;
            case NEWER, TRAILING, FOREIGN_SERVICE, FOREIGN_BIRTH, OUT_OF_PLACE -> false;
        };
    }

    /** Looks at what is cut off the newest file, and keeps it where it may be more than torn. */
    private void keepCut(Scan scan, Disk.File file, long lost) throws IOException {
        if (!SegmentLog.beginsAfter(file, scan.end())) {
            LOG.info("Segment {} is torn: {} bytes are cut", lost, scan.size() - scan.end());
            return;
        }
        // Several appends were under way, or this was damaged after its force: nobody can tell.
        Path kept = cut(lost);
        SegmentLog.copy(disk, file, scan.end(), scan.size(), kept);
        disk.forceFolder(folder);
        LOG.warn(
                "Segment {} is torn, and others follow it, in {}: what is cut off is kept in {}",
                lost,
                scan.file(),
                kept);
    }

    private Path cut(long lost) {
        return folder.resolve(String.format(Locale.ROOT, "%019d.cut", lost));
    }

    // ---- what is held

    Optional<Entry> entry(long number) {
        synchronized (state) {
            if (entries.isEmpty()) {
                return Optional.empty();
            }
            long index = number - entries.get(0).number();
            return index < 0 || index >= entries.size()
                    ? Optional.empty()
                    : Optional.of(entries.get((int) index));
        }
    }

    /** The number of the first segment that is held, whatever is behind it; empty for none. */
    Optional<Long> first() {
        synchronized (state) {
            return entries.stream().findFirst().map(Entry::number);
        }
    }

    boolean hasFiles() {
        synchronized (state) {
            return !logs.isEmpty();
        }
    }

    long oldest() {
        synchronized (state) {
            return entries.isEmpty() || isBehindBase()
                    ? state.last().number() + 1
                    : entries.get(0).number();
        }
    }

    /** Whether the newest base is as of a segment behind all that the log files hold. */
    private boolean isBehindBase() {
        return entries.get(entries.size() - 1).number() < state.last().number();
    }

    long bytesAboveBase() {
        return bytesAboveBase;
    }

    long bytesBetween(long above, long upTo) {
        synchronized (state) {
            if (entries.isEmpty()) {
                return 0;
            }
            long first = entries.get(0).number();
            long from = Math.max(above + 1, first);
            long to = Math.min(upTo, entries.get(entries.size() - 1).number());
            long bytes = 0;
            for (long number = from; number <= to; number++) {
                bytes += entries.get((int) (number - first)).bytes();
            }
            return bytes;
        }
    }

    /** Counts anew, as the newest base or the entries changed. */
    void countBytes(long base) {
        synchronized (state) {
            bytesAboveBase = bytesBetween(base, Long.MAX_VALUE);
        }
    }

    // ---- writing

    void append(Segment segment) {
        synchronized (appending) {
            state.throwIfDead();
            throwUnlessNext(segment);
            if (end > 0 && end + segment.bytes() > logBytes) {
                roll();
            }
            write(segment);
        }
    }

    /**
     * Holds the lock of what appends. Nobody who only asks waits for the disk, however long that
     * takes: turns would wait that are final by others' copies, and nothing would tell of it (R24).
     */
    private void write(Segment segment) {
        Disk.File file = current;
        Path path = currentPath;
        long at = end;
        boolean begins = file == null;
        try {
            if (begins) {
                path = SegmentLog.file(folder, segment.id().number());
                file = disk.open(path);
                file.truncate(0);
                at = 0;
            }
            file.write(segment.toWrite(), at);
        } catch (IOException e) {
            throw state.died(e);
        }
        synchronized (state) {
            if (begins) {
                current = file;
                currentPath = path;
                unnamed = true;
                logs.add(segment.id().number());
            }
            SegmentHeader header = segment.header();
            if (!entries.isEmpty() && isBehindBase()) {
                entries.clear();
            }
            String before = state.last().digest();
            entries.add(
                    new Entry(
                            segment.id(),
                            // The same text: there may be a million of these.
                            header.previous().equals(before) ? before : header.previous(),
                            header.firstTurn(),
                            header.lastTurn(),
                            header.named(),
                            path,
                            at,
                            segment.bytes()));
            end = at + segment.bytes();
            long above = bytesAboveBase;
            bytesAboveBase = above + segment.bytes();
            state.last(segment.id());
            state.named(header.named());
        }
    }

    private void throwUnlessNext(Segment segment) {
        SegmentHeader header = segment.header();
        synchronized (state) {
            MemberIdentity identity = state.identity();
            if (identity.birth().isEmpty()) {
                throw new IllegalStateException("the generation of the service comes first");
            }
            try {
                header.throwUnlessOf(identity.service(), identity.birthOf(header.number()));
            } catch (RefusedSegmentException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
            SegmentId last = state.last();
            Optional<Entry> before = entry(last.number());
            if (header.number() != last.number() + 1
                    || !header.previous().equals(last.digest())
                    || header.by().number() < last.epoch()
                    || (before.isPresent() && header.firstTurn() != before.get().lastTurn() + 1)) {
                throw new IllegalArgumentException(
                        "segment "
                                + segment.id()
                                + " with turns from "
                                + header.firstTurn()
                                + ", after "
                                + header.previous().substring(0, 8)
                                + ", does not continue "
                                + last
                                + before.map(it -> " with turns to " + it.lastTurn()).orElse(""));
            }
        }
    }

    /** Only the newest file may be torn: it is on disk before there is a newer one. */
    void roll() {
        synchronized (forcing) {
            force();
            try {
                closeCurrent();
            } catch (IOException e) {
                throw state.died(e);
            }
        }
    }

    /** The next segment begins a file of its own. Holds the lock of what forces. */
    private void closeCurrent() throws IOException {
        synchronized (state) {
            if (current != null) {
                current.close();
                current = null;
                end = 0;
            }
        }
    }

    void force() {
        synchronized (forcing) {
            Disk.File file;
            boolean name;
            synchronized (state) {
                state.throwIfDead();
                file = current;
                name = unnamed;
            }
            if (file == null) {
                // All of the last file is on disk, and there is no newer one.
                return;
            }
            try {
                file.force();
                if (name) {
                    disk.forceFolder(folder);
                    synchronized (state) {
                        unnamed = false;
                    }
                }
            } catch (IOException e) {
                throw state.died(e);
            }
        }
    }

    // ---- reading

    Segment read(long number) throws IOException {
        return read(reader, number);
    }

    private Segment read(SegmentLog.Reader from, long number) throws IOException {
        synchronized (state) {
            if (closed) {
                throw new IOException(state.path + " is closed");
            }
            Optional<Entry> entry = entry(number);
            if (entry.isEmpty()) {
                throw new MissingSegmentException(
                        "segment "
                                + number
                                + " is not in "
                                + state.path
                                + ", which holds "
                                + oldest()
                                + " to "
                                + state.last().number());
            }
            return from.read(entry.get());
        }
    }

    /** Reads the segments above one up to another, digest by digest. */
    void read(SegmentId above, SegmentId upTo, Restored.Reader takes) throws IOException {
        try (SegmentLog.Reader own = new SegmentLog.Reader(disk)) {
            SegmentId before = above;
            for (long number = before.number() + 1; number <= upTo.number(); number++) {
                Segment segment = read(own, number, before, upTo);
                if (!segment.header().previous().equals(before.digest())) {
                    throw new MissingSegmentException(
                            "segment " + segment.id() + " does not continue " + before);
                }
                before = segment.id();
                if (number == upTo.number() && !before.equals(upTo)) {
                    break;
                }
                takes.segment(segment);
            }
            if (!before.equals(upTo)) {
                throw new MissingSegmentException("here is " + before + " in place of " + upTo);
            }
        }
    }

    private Segment read(SegmentLog.Reader own, long number, SegmentId before, SegmentId upTo)
            throws IOException {
        try {
            return read(own, number);
        } catch (MissingSegmentException e) {
            // The first that is held from there on.
            long next = first().filter(it -> it >= number).orElse(Long.MAX_VALUE);
            throw new MissingSegmentException(
                    "above "
                            + (before.number() == 0 ? "nothing" : "segment " + before)
                            + " segments "
                            + number
                            + " to "
                            + Math.min(upTo.number(), next - 1)
                            + " are missing");
        } catch (RefusedSegmentException e) {
            Entry place = entry(number).orElseThrow();
            throw new RefusedFolderException(
                    place.file(),
                    place.offset() + e.offset(),
                    "segment " + number + " is damaged: " + e.getMessage());
        }
    }

    // ---- letting go

    /** What is below a base is not here any more. Holds the lock of the state. */
    void forgetBefore(long base) throws IOException {
        reader.close();
        while (logs.size() > 1 && logs.get(1) <= base + 1) {
            logs.remove(0);
        }
        if (!logs.isEmpty()) {
            long oldest = logs.get(0);
            entries.removeIf(it -> it.number() < oldest);
        }
    }

    /** Deletes what was forgotten, now or before. */
    void deleteBefore(long base) throws IOException {
        long oldest;
        synchronized (state) {
            oldest = logs.isEmpty() ? 0 : logs.get(0);
        }
        for (long number : SegmentLog.firstNumbers(disk, folder)) {
            if (number < oldest) {
                disk.delete(SegmentLog.file(folder, number));
            }
        }
        for (String name : disk.list(folder)) {
            Path file = folder.resolve(name);
            if (name.endsWith(".cut") && file.compareTo(cut(base + 1)) < 0) {
                disk.delete(file);
            }
        }
    }

    /** Deletes all segments from one on, the newest files first, so that there is never a gap. */
    void drop(Entry first) throws IOException {
        stopUsingFiles();
        while (!logs.isEmpty() && logs.get(logs.size() - 1) >= first.number()) {
            disk.delete(SegmentLog.file(folder, logs.get(logs.size() - 1)));
            disk.forceFolder(folder);
            logs.remove(logs.size() - 1);
            unnamed = false;
        }
        if (first.offset() > 0) {
            currentPath = first.file();
            current = disk.open(currentPath);
            current.truncate(first.offset());
            end = first.offset();
            force();
        }
        forgetAfter(first.number() - 1);
    }

    /** Before files are renamed or deleted. Holds all locks. */
    void stopUsingFiles() throws IOException {
        reader.close();
        closeCurrent();
    }

    private void forgetAfter(long stays) {
        entries.removeIf(it -> it.number() > stays);
    }

    /**
     * Puts files and the end of one aside, so that no segment behind one is left; the newest first,
     * so that there is never a gap. Holds all locks; all of it is on disk when this returns.
     */
    List<Path> putAside(long stays) throws IOException {
        List<Path> aside = new ArrayList<>();
        while (!logs.isEmpty() && logs.get(logs.size() - 1) > stays) {
            aside.add(state.putAside(SegmentLog.file(folder, logs.get(logs.size() - 1))));
            disk.forceFolder(folder);
            logs.remove(logs.size() - 1);
        }
        putEndAside(stays).ifPresent(aside::add);
        forgetAfter(stays);
        unnamed = false;
        return aside;
    }

    /** Puts the end of the newest log file aside that is behind what stays. */
    private Optional<Path> putEndAside(long stays) throws IOException {
        if (logs.isEmpty()) {
            return Optional.empty();
        }
        long number = logs.get(logs.size() - 1);
        Optional<Entry> first =
                scan(number, false).entries().stream()
                        .filter(it -> it.number() == stays + 1)
                        .findFirst();
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Path kept = state.aside(SegmentLog.file(folder, stays + 1));
        try (Disk.File old = disk.open(SegmentLog.file(folder, number))) {
            SegmentLog.copy(disk, old, first.get().offset(), old.size(), kept);
            disk.forceFolder(folder);
            old.truncate(first.get().offset());
            old.force();
        }
        return Optional.of(kept);
    }

    /** Ends all writing and reading: what is under way comes first. */
    void close() throws IOException {
        synchronized (appending) {
            synchronized (forcing) {
                state.end(new IOException(state.path + " is closed"));
                closeCurrent();
                synchronized (state) {
                    closed = true;
                    reader.close();
                }
            }
        }
    }
}
