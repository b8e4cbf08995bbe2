package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.SegmentLog.Entry;
import io.saucr.services.checkpoint.SegmentLog.Scan;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's own disk: `member`, which says whose it is, `segments`, whose log files grow at their
 * end, and `bases`. One process holds it at a time. It guarantees, at every crash:
 *
 * <ul>
 *   <li>What was forced is there, and what is read is the chain that was appended, digest by digest
 *       (C2, C4). Only the end of the newest log file, which a crash may have torn, is ever cut;
 *       what is damaged elsewhere is told, and left as it is.
 *   <li>Two bases are kept, and all segments above the older one, so that a damaged base falls back
 *       (C14).
 *   <li>Nothing that the head is known to have named is dropped (C16).
 * </ul>
 *
 * <p>After a write or force that failed the folder is dead, and takes nothing any more. Any thread;
 * meant are one that appends and drops, one that forces, and one that writes or receives bases.
 * Three locks, taken in this order: of what appends, of what forces, of what all of them share. The
 * last one is held while a log file is written or read, and while segments are dropped, but not
 * while anything else is forced.
 */
public final class MemberFolder implements SegmentStore {

    static final String IDENTITY = "member";
    static final String SEGMENTS = "segments";
    static final String BASES = "bases";
    static final String LOCK = "lock";
    static final String UNFINISHED = "new.tmp";

    /** The newest file is read and written again at each start; large enough to be few. */
    private static final long LOG_BYTES = 16L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(MemberFolder.class);

    private final Disk disk;
    private final Path path;
    private final Path segments;
    private final Path bases;
    private final Closeable lock;
    private final long logBytes;
    private final Semaphore writingBase = new Semaphore(1);

    private final ReentrantLock appending = new ReentrantLock();
    private final ReentrantLock forcing = new ReentrantLock();
    private final ReentrantLock state = new ReentrantLock();

    // All guarded by the lock of the state; entries are numbered without gaps, up to the newest.
    // The file that is written changes under the lock of what appends, too.
    private final List<Entry> entries = new ArrayList<>();
    private final List<Long> logs = new ArrayList<>();
    private final List<MemberBase> found = new ArrayList<>();
    private final List<Damage> damages = new ArrayList<>();
    private MemberIdentity identity;
    private Disk.File current;
    private Path currentPath;
    private long end;
    private boolean unnamed;
    private boolean closed;

    /** Members that follow read one after the other. */
    private final SegmentLog.Reader reader;

    // Written under the lock, read anywhere: turns, which ask, wait for no disk.
    private volatile long bytesAboveBase;
    private volatile long baseBytes;
    private volatile SegmentId last = SegmentId.NONE;
    private volatile long known;
    private volatile IOException dead;

    private MemberFolder(
            Disk disk, Path path, Closeable lock, MemberIdentity identity, long logBytes) {
        this.disk = disk;
        this.path = path;
        this.segments = path.resolve(SEGMENTS);
        this.bases = path.resolve(BASES);
        this.lock = lock;
        this.identity = identity;
        this.logBytes = logBytes;
        this.reader = new SegmentLog.Reader(disk);
    }

    /**
     * Opens a folder, or makes it where there is none. What a crash tore is cut off.
     *
     * @param service 1 to 255 characters on one line; that with which the folder was made
     * @param random for the member's name
     * @throws RefusedFolderException where another process holds it, or it is another's, damaged
     *     where no crash can, of a newer format or incomplete; says what to do
     * @throws IOException where the disk fails
     */
    public static MemberFolder open(Disk disk, Path path, String service, SecureRandom random)
            throws IOException {
        return open(disk, path, service, random, LOG_BYTES);
    }

    static MemberFolder open(
            Disk disk, Path path, String service, SecureRandom random, long logBytes)
            throws IOException {
        SegmentHeader.checkService(service);
        disk.makeFolder(path);
        Closeable lock = ServiceFolder.lock(disk, path);
        boolean opened = false;
        try {
            MemberFolder folder =
                    new MemberFolder(
                            disk, path, lock, identity(disk, path, service, random), logBytes);
            folder.recover();
            folder.countBytes();
            opened = true;
            return folder;
        } finally {
            if (!opened) {
                lock.close();
            }
        }
    }

    private static MemberIdentity identity(
            Disk disk, Path path, String service, SecureRandom random) throws IOException {
        Path file = path.resolve(IDENTITY);
        List<Path> folders = List.of(path.resolve(SEGMENTS), path.resolve(BASES));
        if (!disk.exists(file)) {
            // These come before the identity, and their content after it.
            for (Path folder : folders) {
                disk.makeFolder(folder);
                if (!disk.list(folder).isEmpty()) {
                    throw new RefusedFolderException(
                            file,
                            -1,
                            "it is missing, but "
                                    + folder
                                    + " is not empty. Put the file back, or use another folder");
                }
            }
            MemberIdentity fresh =
                    new MemberIdentity(
                            HexFormat.of().toHexDigits(random.nextLong()),
                            service,
                            Optional.empty(),
                            0,
                            List.of());
            disk.replace(file, fresh.encode());
            return fresh;
        }
        MemberIdentity identity = read(disk, file);
        if (!identity.service().equals(service)) {
            throw new RefusedFolderException(
                    file,
                    -1,
                    "this folder is that of a member of \""
                            + identity.service()
                            + "\", not of \""
                            + service
                            + "\". Use the folder of that name");
        }
        for (Path folder : folders) {
            if (!disk.exists(folder)) {
                throw new RefusedFolderException(
                        folder,
                        -1,
                        "it is missing, with what was in it. Put it back, or let this member begin"
                                + " with an empty folder and take all from the others");
            }
        }
        // A process before this one may have failed to force what is read here.
        disk.replace(file, identity.encode());
        return identity;
    }

    static MemberIdentity read(Disk disk, Path file) throws IOException {
        try (Disk.File opened = disk.open(file)) {
            if (opened.size() > MemberIdentity.LARGEST_BYTES) {
                throw new IllegalArgumentException(
                        "it has "
                                + opened.size()
                                + " bytes, and at most "
                                + MemberIdentity.LARGEST_BYTES
                                + " are allowed");
            }
            ByteBuffer content = ByteBuffer.allocate((int) opened.size());
            opened.read(content, 0);
            return MemberIdentity.decode(content.array());
        } catch (IllegalArgumentException e) {
            throw new RefusedFolderException(
                    file,
                    0,
                    e.getMessage()
                            + ". Put the file back, or let this member begin with an empty folder"
                            + " and take all from the others");
        }
    }

    private void recover() throws IOException {
        known = identity.known();
        deleteUnfinished(segments);
        deleteUnfinished(bases);
        MemberBase.nameAgain(disk, bases);
        logs.addAll(SegmentLog.firstNumbers(disk, segments));
        List<Long> baseNumbers = MemberBase.numbers(disk, bases);
        if (identity.birth().isEmpty()) {
            if (!logs.isEmpty() || !baseNumbers.isEmpty()) {
                throw new RefusedFolderException(
                        path.resolve(IDENTITY),
                        -1,
                        "it says that this member never met its service, but there are segments or"
                                + " bases. Put back the file that belongs to them");
            }
            return;
        }
        for (long number : baseNumbers) {
            Path file = MemberBase.file(bases, number);
            try (Disk.File opened = disk.open(file)) {
                found.add(
                        MemberBase.about(
                                opened,
                                file,
                                number,
                                identity.service(),
                                identity.birthOf(number)));
            } catch (RefusedFolderException e) {
                LOG.warn("A base cannot be used: {}", e.getMessage());
                damages.add(new Damage(file, e.offset(), e.reason()));
            }
        }
        for (int index = 0; index < logs.size() - 1; index++) {
            scanned(
                    SegmentLog.scan(
                            disk,
                            SegmentLog.file(segments, logs.get(index)),
                            logs.get(index),
                            identity.service(),
                            identity::birthOf,
                            false));
        }
        if (!logs.isEmpty()) {
            newest();
        }
        if (!found.isEmpty()) {
            SegmentId base = found.get(0).at();
            known = Math.max(known, base.number());
            if (base.number() > last.number()) {
                last = base;
            } else if (!at(base.number()).orElse(base).equals(base)) {
                throw new RefusedFolderException(
                        found.get(0).file(),
                        -1,
                        "this base is as of segment "
                                + base
                                + ", and the log files hold "
                                + at(base.number()).orElseThrow()
                                + ": they do not belong together. Put back the files of this"
                                + " folder");
            }
        }
    }

    private void deleteUnfinished(Path folder) throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(".tmp")) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    /** Takes what an older log file holds; what is not whole in it was, so it is damaged. */
    private void scanned(Scan scan) {
        scan.damage()
                .ifPresent(
                        damage -> {
                            LOG.warn("Segments cannot be read: {}", damage);
                            damages.add(damage);
                        });
        for (Entry entry : scan.entries()) {
            add(entry);
        }
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
        last = entry.id();
        known = Math.max(known, entry.named());
    }

    /**
     * The newest log file, which a crash may have torn, and what is read of it may be in memory.
     */
    private void newest() throws IOException {
        long first = logs.get(logs.size() - 1);
        Path file = SegmentLog.file(segments, first);
        Scan scan = SegmentLog.scan(disk, file, first, identity.service(), identity::birthOf, true);
        throwUnlessCrash(scan);
        long before = Math.max(last.number(), found.isEmpty() ? 0 : found.get(0).at().number());
        if (scan.entries().isEmpty() && before < first - 1) {
            // Without this check the member would go on at a number that it had taken already.
            throw new RefusedFolderException(
                    damages.isEmpty() ? file : damages.get(damages.size() - 1).file(),
                    damages.isEmpty() ? -1 : damages.get(damages.size() - 1).offset(),
                    "segments "
                            + (before + 1)
                            + " to "
                            + (first - 1)
                            + " were here and are not any more, or are damaged, and no base covers"
                            + " them. The folder was left as it is. Put the files back, or let this"
                            + " member begin with an empty folder and take all from the others");
        }
        Path beside = segments.resolve(UNFINISHED);
        try (Disk.File old = disk.open(file)) {
            if (scan.problem().isPresent()) {
                keepCut(scan, old, first + scan.entries().size());
            }
            // What is read may be in memory only, as may the name, if a force failed before.
            SegmentLog.copy(disk, old, 0, scan.end(), beside);
        }
        disk.rename(beside, file);
        disk.forceFolder(segments);
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
        disk.forceFolder(segments);
        LOG.warn(
                "Segment {} is torn, and others follow it, in {}: what is cut off is kept in {}",
                lost,
                scan.file(),
                kept);
    }

    private Path cut(long lost) {
        return segments.resolve(String.format(Locale.ROOT, "%019d.cut", lost));
    }

    /** This member: 16 hex digits, drawn when the folder was made. */
    public String member() {
        return identity.member();
    }

    /** The birth of the service; empty until {@link #birth(Birth)}. */
    public Optional<Birth> birth() {
        state.lock();
        try {
            return identity.birth();
        } finally {
            state.unlock();
        }
    }

    /** The same of a birth that replaced none. */
    public void birth(Birth birth) throws IOException {
        birth(birth, Optional.empty());
    }

    /**
     * Notes the birth of the service; returns when that is forced.
     *
     * @param former that it replaced, whose segments count up to there (C17)
     * @throws RefusedFolderException where the folder belongs to another birth (K11, C17)
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    public void birth(Birth birth, Optional<Replaced> former) throws IOException {
        state.lock();
        try {
            throwIfDead();
            Optional<Birth> bound = identity.birth();
            if (bound.isPresent() && !bound.get().equals(birth)) {
                throw new RefusedFolderException(
                        path.resolve(IDENTITY),
                        -1,
                        "this folder belongs to generation "
                                + bound.get()
                                + " of \""
                                + identity.service()
                                + "\", and the service is of generation "
                                + birth
                                + " now. Move the folder away, and begin with an empty one");
            }
            if (bound.isEmpty()) {
                replace(identity.of(birth, former.stream().toList()));
            }
        } finally {
            state.unlock();
        }
    }

    private void replace(MemberIdentity next) {
        try {
            disk.replace(path.resolve(IDENTITY), next.encode());
        } catch (IOException e) {
            throw died(e);
        }
        identity = next;
    }

    private DeadJournalException died(IOException cause) {
        if (dead == null) {
            dead = cause;
        }
        return new DeadJournalException(cause);
    }

    private void throwIfDead() {
        IOException cause = dead;
        if (cause != null) {
            throw new DeadJournalException(cause);
        }
    }

    /**
     * The newest segment that was appended, or as of which there is a base; {@link SegmentId#NONE}
     * where there is none.
     */
    public SegmentId last() {
        return last;
    }

    /** Number of the newest segment of which this folder knows that the head named it; 0: none. */
    public long known() {
        return known;
    }

    /** The segment of a number, where it is held, or a base is as of it. */
    public Optional<SegmentId> at(long number) {
        state.lock();
        try {
            if (number == 0) {
                return Optional.of(SegmentId.NONE);
            }
            Optional<SegmentId> held = entry(number).map(Entry::id);
            return held.isPresent()
                    ? held
                    : found.stream()
                            .map(MemberBase::at)
                            .filter(it -> it.number() == number)
                            .findFirst();
        } finally {
            state.unlock();
        }
    }

    /** Number of the oldest segment from which all up to the last are held; else the one after. */
    public long oldest() {
        state.lock();
        try {
            return entries.isEmpty() || isBehindBase()
                    ? last.number() + 1
                    : entries.get(0).number();
        } finally {
            state.unlock();
        }
    }

    /** As of which segment the newest base is; {@link SegmentId#NONE} where there is none. */
    public SegmentId newestBase() {
        state.lock();
        try {
            return found.isEmpty() ? SegmentId.NONE : found.get(0).at();
        } finally {
            state.unlock();
        }
    }

    /** Bytes of the segments above the newest base, for deciding when to write another. */
    public long bytesAboveBase() {
        return bytesAboveBase;
    }

    /** Bytes of the segments above one and up to another, as far as they are held. */
    public long bytesBetween(long above, long upTo) {
        state.lock();
        try {
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
        } finally {
            state.unlock();
        }
    }

    /** Bytes of the newest base's file; 0 where there is none. */
    public long baseBytes() {
        return baseBytes;
    }

    private void countBytes() {
        long base = found.isEmpty() ? 0 : found.get(0).at().number();
        long bytes = 0;
        for (Entry entry : entries) {
            bytes += entry.number() > base ? entry.bytes() : 0;
        }
        bytesAboveBase = bytes;
        baseBytes = found.isEmpty() ? 0 : found.get(0).bytes();
    }

    /** What was found damaged since the folder was opened, and left as it is. */
    public List<Damage> damages() {
        state.lock();
        try {
            return List.copyOf(damages);
        } finally {
            state.unlock();
        }
    }

    /** Whether the newest base is as of a segment behind all that the log files hold. */
    private boolean isBehindBase() {
        return entries.get(entries.size() - 1).number() < last.number();
    }

    private Optional<Entry> entry(long number) {
        if (entries.isEmpty()) {
            return Optional.empty();
        }
        long index = number - entries.get(0).number();
        return index < 0 || index >= entries.size()
                ? Optional.empty()
                : Optional.of(entries.get((int) index));
    }

    /**
     * Writes a segment behind the last one; {@link #force} puts it on disk.
     *
     * @throws IllegalArgumentException where it does not continue the chain exactly, or is of
     *     another service or birth; nothing was written
     * @throws IllegalStateException where the birth of the service is not known yet
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    @Override
    public void append(Segment segment) {
        appending.lock();
        try {
            throwIfDead();
            throwUnlessNext(segment);
            if (end > 0 && end + segment.bytes() > logBytes) {
                roll();
            }
            write(segment);
        } finally {
            appending.unlock();
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
                path = SegmentLog.file(segments, segment.id().number());
                file = disk.open(path);
                file.truncate(0);
                at = 0;
            }
            file.write(segment.toWrite(), at);
        } catch (IOException e) {
            throw died(e);
        }
        state.lock();
        try {
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
            entries.add(
                    new Entry(
                            segment.id(),
                            // The same text: there may be a million of these.
                            header.previous().equals(last.digest())
                                    ? last.digest()
                                    : header.previous(),
                            header.firstTurn(),
                            header.lastTurn(),
                            header.named(),
                            path,
                            at,
                            segment.bytes()));
            end = at + segment.bytes();
            long above = bytesAboveBase;
            bytesAboveBase = above + segment.bytes();
            last = segment.id();
            known = Math.max(known, header.named());
        } finally {
            state.unlock();
        }
    }

    private void throwUnlessNext(Segment segment) {
        SegmentHeader header = segment.header();
        state.lock();
        try {
            if (identity.birth().isEmpty()) {
                throw new IllegalStateException("the generation of the service comes first");
            }
            try {
                header.throwUnlessOf(identity.service(), identity.birthOf(header.number()));
            } catch (RefusedSegmentException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
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
        } finally {
            state.unlock();
        }
    }

    /** Only the newest file may be torn: it is on disk before there is a newer one. */
    private void roll() {
        forcing.lock();
        try {
            force();
            closeCurrent();
        } catch (IOException e) {
            throw died(e);
        } finally {
            forcing.unlock();
        }
    }

    /** The next segment begins a file of its own. Holds the lock of what forces. */
    private void closeCurrent() throws IOException {
        state.lock();
        try {
            if (current != null) {
                current.close();
                current = null;
                end = 0;
            }
        } finally {
            state.unlock();
        }
    }

    /**
     * Returns when all segments that were appended before this call are on disk.
     *
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    @Override
    public void force() {
        forcing.lock();
        try {
            Disk.File file;
            boolean name;
            state.lock();
            try {
                throwIfDead();
                file = current;
                name = unnamed;
            } finally {
                state.unlock();
            }
            if (file == null) {
                // All of the last file is on disk, and there is no newer one.
                return;
            }
            file.force();
            if (name) {
                disk.forceFolder(segments);
                state.lock();
                try {
                    unnamed = false;
                } finally {
                    state.unlock();
                }
            }
        } catch (IOException e) {
            throw died(e);
        } finally {
            forcing.unlock();
        }
    }

    /**
     * Drops all segments above one, which the head never named (C16); that is on disk when this
     * returns.
     *
     * @param number of the last that stays; 0 for none
     * @throws IllegalArgumentException where the head is known to have named a later one, or this
     *     one is not held; nothing was dropped
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    public void dropAfter(long number) {
        appending.lock();
        forcing.lock();
        state.lock();
        try {
            throwIfDead();
            if (number >= last.number()) {
                return;
            }
            if (number < known) {
                throw new IllegalArgumentException(
                        "segments after "
                                + number
                                + " are to be dropped, but the head named "
                                + known);
            }
            Optional<SegmentId> stays = at(number);
            Optional<Entry> first = entry(number + 1);
            if (stays.isEmpty() || first.isEmpty()) {
                throw new IllegalArgumentException(
                        "segment " + number + " is not held, only those from " + oldest());
            }
            if (known > identity.known()) {
                // What told of it may be among the dropped ones.
                replace(identity.knowing(known));
            }
            drop(first.get());
            entries.subList((int) (number + 1 - entries.get(0).number()), entries.size()).clear();
            last = stays.get();
            countBytes();
        } catch (IOException e) {
            throw died(e);
        } finally {
            state.unlock();
            forcing.unlock();
            appending.unlock();
        }
    }

    /**
     * Number of the newest segment that members of this birth do not take, as it is of a birth
     * before that which theirs replaced; 0 for none.
     */
    public long untold() {
        state.lock();
        try {
            List<Replaced> formers = identity.formers();
            return formers.size() < 2 ? 0 : formers.get(formers.size() - 2).upTo().number();
        } finally {
            state.unlock();
        }
    }

    /**
     * What was put aside as a loss was accepted.
     *
     * @param from number of the first segment
     * @param to the newest
     * @param files where they are now, with bases behind what counts
     */
    public record GivenUp(long from, SegmentId to, List<Path> files) {
        public GivenUp {
            files = List.copyOf(files);
        }
    }

    /**
     * Takes the birth that replaced that of this folder, as the head says (C17). Segments and bases
     * behind what counts are put aside, under names that end in ".given-up"; where the folder does
     * not hold that segment, and has a base behind it, all is put aside. Whatever crashes, the
     * folder has the old birth, and this may be tried again, or the new one.
     *
     * @param now the birth of the service
     * @param former that it replaced, which is this folder's, and up to where it counts
     * @return what was put aside; empty where nothing was behind
     * @throws RefusedFolderException where the folder knows that the head named another segment of
     *     that number; nothing was changed
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    public Optional<GivenUp> bearAnew(Birth now, Replaced former) throws IOException {
        // A base that is being written may be behind what counts.
        writingBase.acquireUninterruptibly();
        appending.lock();
        forcing.lock();
        state.lock();
        try {
            throwIfDead();
            if (!identity.birth().equals(Optional.of(former.birth()))) {
                throw new IllegalArgumentException(
                        "generation "
                                + now
                                + " replaced "
                                + former.birth()
                                + ", and this folder is of generation "
                                + identity.birth());
            }
            force();
            long stays = stays(former.upTo());
            Optional<GivenUp> givenUp =
                    stays < last.number() ? Optional.of(putAside(stays)) : Optional.empty();
            // The order itself had the head name that segment.
            known = stays == former.upTo().number() ? stays : Math.min(known, stays);
            List<Replaced> formers = new ArrayList<>(identity.formers());
            // What is below all that is held needs no birth.
            long oldest =
                    Math.min(
                            entries.isEmpty() ? Long.MAX_VALUE : entries.get(0).number(),
                            found.isEmpty()
                                    ? Long.MAX_VALUE
                                    : found.get(found.size() - 1).at().number());
            formers.removeIf(it -> it.upTo().number() < oldest);
            formers.add(former);
            replace(identity.knowing(known).of(now, formers));
            return givenUp;
        } catch (RefusedFolderException e) {
            throw e;
        } catch (IOException e) {
            throw died(e);
        } finally {
            state.unlock();
            forcing.unlock();
            appending.unlock();
            writingBase.release();
        }
    }

    /** The newest segment that counts on, of those that are held; 0 for none. */
    private long stays(SegmentId upTo) throws RefusedFolderException {
        Optional<SegmentId> mine = at(upTo.number());
        if (mine.equals(Optional.of(upTo))) {
            return upTo.number();
        }
        if (mine.isEmpty()) {
            return last.number() < upTo.number() ? last.number() : 0;
        }
        if (upTo.number() > known) {
            // Orphans of a primary that was deposed.
            return at(known).isPresent() ? known : 0;
        }
        throw new RefusedFolderException(
                path,
                -1,
                "a loss was accepted behind segment "
                        + upTo
                        + ", and this folder knows that the head named "
                        + mine.get()
                        + " in its place. Begin with an empty folder; this one was left as it is");
    }

    /** The newest first, so that there is never a gap; all of it is on disk when this returns. */
    private GivenUp putAside(long stays) throws IOException {
        List<Path> aside = new ArrayList<>();
        SegmentId newest = last;
        reader.close();
        closeCurrent();
        for (long number : MemberBase.numbers(disk, bases)) {
            if (number > stays) {
                aside.add(putAside(MemberBase.file(bases, number)));
            }
        }
        disk.forceFolder(bases);
        found.removeIf(it -> it.at().number() > stays);
        while (!logs.isEmpty() && logs.get(logs.size() - 1) > stays) {
            aside.add(putAside(SegmentLog.file(segments, logs.get(logs.size() - 1))));
            disk.forceFolder(segments);
            logs.remove(logs.size() - 1);
        }
        putEndAside(stays).ifPresent(aside::add);
        SegmentId now = stays == 0 ? SegmentId.NONE : at(stays).orElseThrow();
        entries.removeIf(it -> it.number() > stays);
        damages.removeIf(it -> !hasFile(it));
        last = now;
        unnamed = false;
        countBytes();
        return new GivenUp(stays + 1, newest, aside);
    }

    /** Puts the end of the newest log file aside that is behind what stays. */
    private Optional<Path> putEndAside(long stays) throws IOException {
        if (logs.isEmpty()) {
            return Optional.empty();
        }
        long number = logs.get(logs.size() - 1);
        Path file = SegmentLog.file(segments, number);
        Optional<Entry> first =
                SegmentLog.scan(disk, file, number, identity.service(), identity::birthOf, false)
                        .entries()
                        .stream()
                        .filter(it -> it.number() == stays + 1)
                        .findFirst();
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Path kept = aside(SegmentLog.file(segments, stays + 1));
        try (Disk.File old = disk.open(file)) {
            SegmentLog.copy(disk, old, first.get().offset(), old.size(), kept);
            disk.forceFolder(segments);
            old.truncate(first.get().offset());
            old.force();
        }
        return Optional.of(kept);
    }

    private Path putAside(Path file) throws IOException {
        Path aside = aside(file);
        disk.rename(file, aside);
        return aside;
    }

    private Path aside(Path file) {
        return file.resolveSibling(
                file.getFileName() + "." + identity.birth().orElseThrow() + ".given-up");
    }

    /** The newest files first, so that there is never a gap. */
    private void drop(Entry first) throws IOException {
        reader.close();
        closeCurrent();
        while (!logs.isEmpty() && logs.get(logs.size() - 1) >= first.number()) {
            disk.delete(SegmentLog.file(segments, logs.get(logs.size() - 1)));
            disk.forceFolder(segments);
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
    }

    /**
     * Reads a segment and checks its bytes.
     *
     * @throws MissingSegmentException where it is not held
     * @throws RefusedSegmentException where it is damaged
     * @throws IOException where the disk fails
     */
    public Segment read(long number) throws IOException {
        return read(reader, number);
    }

    private Segment read(SegmentLog.Reader from, long number) throws IOException {
        state.lock();
        try {
            if (closed) {
                throw new IOException(path + " is closed");
            }
            Optional<Entry> entry = entry(number);
            if (entry.isEmpty()) {
                throw new MissingSegmentException(
                        "segment "
                                + number
                                + " is not in "
                                + path
                                + ", which holds "
                                + oldest()
                                + " to "
                                + last.number());
            }
            return from.read(entry.get());
        } finally {
            state.unlock();
        }
    }

    @Override
    public Segment read(SegmentId id) throws IOException {
        Segment segment = read(id.number());
        if (!segment.id().equals(id)) {
            throw new MissingSegmentException(
                    "segment " + id + " is not in " + path + ", but " + segment.id() + " is");
        }
        return segment;
    }

    /**
     * Writes a base: beside, forced, renamed, the folder forced. Then all but two bases go, and log
     * files with segments up to the older of these (C14). One at a time; waits for the disk, while
     * segments go on.
     *
     * @param at the segment as of which it is; held, and newer than that of the newest base. The
     *     head named it, as the caller knows
     * @param epochs up to that segment, in order; the state's own
     * @param sections writes the state
     * @throws IllegalArgumentException where the segment or the epochs are not such
     * @throws IllegalStateException where another base is written or received
     * @throws DeadJournalException where the folder is dead
     * @throws IOException where the disk or the sections fail: the older bases stand, and another
     *     may be tried
     */
    public void base(SegmentId at, List<Incarnation> epochs, Base.Sections sections)
            throws IOException {
        throwIfDead();
        if (!writingBase.tryAcquire()) {
            throw new IllegalStateException("one base at a time: another is written or received");
        }
        try {
            throwUnlessBase(at, epochs);
            Path beside = bases.resolve(UNFINISHED);
            boolean written = false;
            long bytes;
            try (Disk.File file = disk.open(beside)) {
                file.truncate(0);
                MemberBase.write(file, identity.service(), at, epochs, sections);
                file.force();
                bytes = file.size();
                written = true;
            } finally {
                if (!written) {
                    deleteQuietly(beside);
                }
            }
            named(beside, at, epochs, bytes);
        } finally {
            writingBase.release();
        }
    }

    /**
     * Begins an empty folder with a base of a state that comes from elsewhere: as of a segment that
     * nobody has, so that nothing but this base leads to what follows.
     *
     * @param at number 2 or more, as a chain could begin with 1
     * @throws IllegalArgumentException where the folder holds anything
     * @throws IOException as {@link #base}
     */
    public void begin(SegmentId at, List<Incarnation> epochs, Base.Sections sections)
            throws IOException {
        state.lock();
        try {
            if (at.number() < 2 || last.number() > 0 || !logs.isEmpty() || !found.isEmpty()) {
                throw new IllegalArgumentException(
                        path + " is empty where it begins, and not up to segment " + last);
            }
            // Its base may be as of this one, and as of no other.
            last = at;
        } finally {
            state.unlock();
        }
        base(at, epochs, sections);
    }

    private void throwUnlessBase(SegmentId at, List<Incarnation> epochs) {
        boolean held = at(at.number()).or(() -> Optional.of(last)).equals(Optional.of(at));
        if (at.number() <= newestBase().number() || !held) {
            throw new IllegalArgumentException(
                    "a base is as of a segment that is held and newer than that of the newest base, "
                            + newestBase()
                            + ", not as of "
                            + at);
        }
        Birth birth = birthOf(at.number());
        if (epochs.stream().noneMatch(it -> it.number() == at.epoch())
                || !epochs.stream().allMatch(it -> it.birth().equals(birth))) {
            throw new IllegalArgumentException(
                    "the epochs up to "
                            + at
                            + " hold its own, and are of generation "
                            + birth
                            + ": not "
                            + epochs);
        }
    }

    private Birth birthOf(long number) {
        state.lock();
        try {
            return identity.birthOf(number);
        } finally {
            state.unlock();
        }
    }

    /** Gives a base that is on disk its name, and lets go what two bases do not need. */
    private void named(Path beside, SegmentId at, List<Incarnation> epochs, long bytes)
            throws IOException {
        Path file = MemberBase.file(bases, at.number());
        disk.rename(beside, file);
        disk.forceFolder(bases);
        long older;
        state.lock();
        try {
            found.add(0, new MemberBase(file, at, epochs, bytes));
            known = Math.max(known, at.number());
            if (at.number() > last.number()) {
                last = at;
            }
            countBytes();
            if (found.size() < 2) {
                return;
            }
            older = found.get(1).at().number();
            forgetBefore(older);
        } catch (IOException e) {
            LOG.warn("Older files in {} could not be closed: the next base tries again", path, e);
            return;
        } finally {
            state.unlock();
        }
        // Nobody waits for that: a file of a gigabyte takes its time.
        try {
            deleteBefore(older);
        } catch (IOException e) {
            LOG.warn("Older files in {} could not be deleted: the next base tries again", path, e);
        }
    }

    /** What is below a base is not here any more, older bases included. Holds the lock. */
    private void forgetBefore(long base) throws IOException {
        reader.close();
        found.removeIf(it -> it.at().number() < base);
        while (logs.size() > 1 && logs.get(1) <= base + 1) {
            logs.remove(0);
        }
        if (!logs.isEmpty()) {
            long oldest = logs.get(0);
            entries.removeIf(it -> it.number() < oldest);
        }
    }

    /** Deletes what was forgotten, now or before; while no other base is written or received. */
    private void deleteBefore(long base) throws IOException {
        for (long number : MemberBase.numbers(disk, bases)) {
            if (number < base) {
                disk.delete(MemberBase.file(bases, number));
            }
        }
        long oldest;
        state.lock();
        try {
            oldest = logs.isEmpty() ? 0 : logs.get(0);
        } finally {
            state.unlock();
        }
        for (long number : SegmentLog.firstNumbers(disk, segments)) {
            if (number < oldest) {
                disk.delete(SegmentLog.file(segments, number));
            }
        }
        for (String name : disk.list(segments)) {
            Path file = segments.resolve(name);
            if (name.endsWith(".cut") && file.compareTo(cut(base + 1)) < 0) {
                disk.delete(file);
            }
        }
        state.lock();
        try {
            damages.removeIf(it -> !hasFile(it));
        } finally {
            state.unlock();
        }
    }

    private boolean hasFile(Damage damage) {
        try {
            return disk.exists(damage.file());
        } catch (IOException e) {
            return true;
        }
    }

    private static void closeQuietly(Disk.File file) {
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                LOG.warn("A base could not be closed", e);
            }
        }
    }

    private void deleteQuietly(Path file) {
        try {
            disk.delete(file);
        } catch (IOException e) {
            LOG.warn("{} could not be deleted: the next base replaces it", file, e);
        }
    }

    /**
     * Checks what the folder gives up to a segment: the newest base and the chain above it, digest
     * by digest; where that is damaged the older base and its chain (C14), then the chain from
     * segment 1. Never anything beyond that segment.
     *
     * @param upTo that the head names
     * @throws RefusedFolderException where nothing leads to that segment: says what is missing or
     *     damaged, and what to do; everything was left as it is
     * @throws IOException where the disk fails
     */
    public Restored restore(SegmentId upTo) throws IOException {
        List<String> problems = new ArrayList<>();
        for (MemberBase base : candidates(upTo)) {
            try {
                check(base, upTo);
                for (String problem : problems) {
                    LOG.warn("Restored in spite of this: {}", problem);
                }
                return new Restored(this, base.at(), base.epochs(), upTo);
            } catch (RefusedFolderException e) {
                problems.add(e.getMessage());
                damaged(e);
            } catch (RefusedSegmentException | MissingSegmentException e) {
                problems.add(e.getMessage());
            }
        }
        for (Damage damage : damages()) {
            problems.add(damage.toString());
        }
        throw new RefusedFolderException(
                path,
                -1,
                "nothing in it leads to segment "
                        + upTo
                        + ". "
                        + String.join("; ", problems.stream().distinct().toList())
                        + ". All was left as it is. Take the base or segments from another member,"
                        + " or put the files back");
    }

    /** A base that is damaged is none of the two that are kept. */
    private void damaged(RefusedFolderException e) {
        state.lock();
        try {
            Damage damage = new Damage(e.file(), e.offset(), e.reason());
            if (!damages.contains(damage)) {
                damages.add(damage);
            }
            if (found.removeIf(it -> it.file().equals(e.file()))) {
                countBytes();
            }
        } finally {
            state.unlock();
        }
    }

    /** Bases up to a segment, the newest first, and at last the beginning. */
    private List<MemberBase> candidates(SegmentId upTo) {
        state.lock();
        try {
            List<MemberBase> candidates = new ArrayList<>();
            for (MemberBase base : found) {
                if (base.at().number() <= upTo.number()) {
                    candidates.add(base);
                }
            }
            candidates.add(new MemberBase(path, SegmentId.NONE, List.of(), 0));
            return candidates;
        } finally {
            state.unlock();
        }
    }

    private void check(MemberBase base, SegmentId upTo) throws IOException {
        if (base.at().number() > 0) {
            sections(base.at().number(), (name, content) -> {});
        }
        chain(base.at(), upTo, segment -> {});
    }

    /** Reads the chain above one segment up to another, digest by digest. */
    void chain(SegmentId above, SegmentId upTo, Restored.Reader takes) throws IOException {
        try (SegmentLog.Reader own = new SegmentLog.Reader(disk)) {
            chain(own, above, upTo, takes);
        }
    }

    private void chain(
            SegmentLog.Reader own, SegmentId above, SegmentId upTo, Restored.Reader takes)
            throws IOException {
        SegmentId before = above;
        for (long number = before.number() + 1; number <= upTo.number(); number++) {
            Segment segment;
            try {
                segment = read(own, number);
            } catch (MissingSegmentException e) {
                throw new MissingSegmentException(
                        "above "
                                + (before.number() == 0 ? "nothing" : "segment " + before)
                                + " segments "
                                + number
                                + " to "
                                + Math.min(upTo.number(), nextHeld(number) - 1)
                                + " are missing");
            } catch (RefusedSegmentException e) {
                throw new RefusedFolderException(
                        place(number).file(),
                        place(number).offset() + e.offset(),
                        "segment " + number + " is damaged: " + e.getMessage());
            }
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

    private Entry place(long number) {
        state.lock();
        try {
            return entry(number).orElseThrow();
        } finally {
            state.unlock();
        }
    }

    /** The first that is held from a number on. */
    private long nextHeld(long number) {
        state.lock();
        try {
            return entries.isEmpty() || entries.get(0).number() < number
                    ? Long.MAX_VALUE
                    : entries.get(0).number();
        } finally {
            state.unlock();
        }
    }

    /** Reads a base, all of it. */
    void sections(long number, Base.SectionReader reader) throws IOException {
        try (Disk.File file = openBase(number)) {
            whole(file, number, reader);
        }
    }

    private void whole(Disk.File file, long number, Base.SectionReader reader) throws IOException {
        MemberBase.whole(
                file,
                MemberBase.file(bases, number),
                number,
                identity.service(),
                birthOf(number),
                reader);
    }

    /** Opens a base, unless it was let go meanwhile: then to open it would make an empty file. */
    private Disk.File openBase(long number) throws IOException {
        Path file = MemberBase.file(bases, number);
        state.lock();
        try {
            // Before it is deleted, beside this lock, it is not found any more.
            if (found.stream().noneMatch(it -> it.at().number() == number) || !disk.exists(file)) {
                throw MemberBase.gone(file);
            }
            return disk.open(file);
        } finally {
            state.unlock();
        }
    }

    /**
     * Opens the newest base that is whole, for another member; its bytes were all checked. It may
     * be let go meanwhile, and can be read to its end all the same.
     *
     * @return empty where there is none
     * @throws IOException where the disk fails
     */
    public Optional<ShippedBase> ship() throws IOException {
        for (MemberBase base : bases()) {
            Disk.File file = null;
            boolean opened = false;
            try {
                file = openBase(base.at().number());
                DigestedFile read = new DigestedFile(file);
                whole(read, base.at().number(), (name, content) -> {});
                ShippedBase shipped = new ShippedBase(base.at(), file, read.digest());
                opened = true;
                return Optional.of(shipped);
            } catch (RefusedFolderException e) {
                LOG.warn("A base cannot be sent to another member: {}", e.getMessage());
                damaged(e);
            } finally {
                if (!opened) {
                    closeQuietly(file);
                }
            }
        }
        return Optional.empty();
    }

    private List<MemberBase> bases() {
        state.lock();
        try {
            return List.copyOf(found);
        } finally {
            state.unlock();
        }
    }

    /**
     * Begins to take a base from another member: it is written beside, and becomes the newest base
     * once it is complete and checked. No other base is written meanwhile; segments go on.
     *
     * @param number of the segment as of which it is, above the last that is held
     * @param length of all its bytes
     * @param digest SHA-256 of them: 64 hex digits
     * @return to be closed in any case
     * @throws IllegalArgumentException where the base is not above what is held
     * @throws IllegalStateException where another base is written or received, or the birth of the
     *     service is not known yet
     * @throws DeadJournalException where the folder is dead
     * @throws IOException where the disk has no room for it, or fails
     */
    public BaseReceipt receive(long number, long length, String digest) throws IOException {
        throwIfDead();
        if (birth().isEmpty()) {
            throw new IllegalStateException("the generation of the service comes first");
        }
        throwUnlessAbove(number);
        long room = disk.usableBytes(bases);
        if (length < 0 || length > room) {
            throw new IOException(
                    "a base of "
                            + length
                            + " bytes was announced, and the disk of "
                            + bases
                            + " has room for "
                            + room
                            + ". Make room there");
        }
        if (!writingBase.tryAcquire()) {
            throw new IllegalStateException("one base at a time: another is written or received");
        }
        Disk.File file = null;
        boolean begun = false;
        try {
            file = disk.open(bases.resolve(UNFINISHED));
            file.truncate(0);
            begun = true;
            return new BaseReceipt(this, file, number, length, digest);
        } finally {
            if (!begun) {
                closeQuietly(file);
                writingBase.release();
            }
        }
    }

    private void throwUnlessAbove(long number) {
        if (number <= last.number()) {
            throw new IllegalArgumentException(
                    "a base as of segment "
                            + number
                            + " is of no use: segments up to "
                            + last
                            + " are held");
        }
    }

    /** Takes a base that was received into its file beside, which is forced. */
    SegmentId received(Disk.File file, long number) throws IOException {
        Path beside = bases.resolve(UNFINISHED);
        MemberBase base =
                MemberBase.whole(
                        file,
                        beside,
                        number,
                        identity.service(),
                        birthOf(number),
                        (name, content) -> {});
        appending.lock();
        try {
            throwIfDead();
            throwUnlessAbove(number);
            // What follows it begins a file of its own, and only the newest may be torn.
            roll();
            named(beside, base.at(), base.epochs(), base.bytes());
        } finally {
            appending.unlock();
        }
        return base.at();
    }

    RefusedFolderException refusedReceipt(String reason) {
        return new RefusedFolderException(
                bases.resolve(UNFINISHED), -1, reason + ". It is not taken; ask another member");
    }

    /** A base is not being received any more. */
    void receiptClosed(boolean finished) {
        if (!finished && dead == null) {
            deleteQuietly(bases.resolve(UNFINISHED));
        }
        writingBase.release();
    }

    /**
     * Looks at a folder, and checks every byte of it, without changing any, and without its lock:
     * also one that {@link #open} would refuse. A process that runs on it changes it meanwhile;
     * then what is found may be of several moments.
     *
     * @param disk {@link Disk#readOnly} will do
     * @throws RefusedFolderException where it is not a member's folder at all
     * @throws IOException where the disk fails
     */
    public static MemberReport verify(Disk disk, Path path) throws IOException {
        return MemberReport.of(disk, path);
    }

    /**
     * Whether that is a member's folder, or what is left of one; else it may be a service's own.
     */
    public static boolean isOne(Disk disk, Path path) throws IOException {
        return disk.exists(path.resolve(IDENTITY))
                || disk.exists(path.resolve(SEGMENTS))
                || disk.exists(path.resolve(BASES));
    }

    /** The process that runs on it, as it calls itself; empty where none does. */
    public static Optional<String> inUseBy(Path path) throws IOException {
        return Disk.holder(path.resolve(LOCK));
    }

    private void closeReader() throws IOException {
        state.lock();
        try {
            closed = true;
            reader.close();
        } finally {
            state.unlock();
        }
    }

    /** Lets other processes open the folder. What was not forced may be lost. */
    @Override
    public void close() throws IOException {
        // Whatever is being written comes first: the folder is another's then.
        appending.lock();
        forcing.lock();
        try {
            dead = dead == null ? new IOException(path + " is closed") : dead;
            closeCurrent();
            closeReader();
        } finally {
            forcing.unlock();
            appending.unlock();
            lock.close();
        }
    }
}
