package io.saucr.services.checkpoint;

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
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

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
 * <p>After a write or fsync that failed the folder is dead, and takes nothing any more. Any thread;
 * meant are one that appends and drops, one that syncs, and one that writes or receives bases. The
 * locks are those of {@link SegmentChain} and {@link FolderState}, in this order.
 */
public final class MemberFolder implements SegmentStore {

    static final String IDENTITY = "member";
    static final String SEGMENTS = "segments";
    static final String BASES = "bases";
    static final String LOCK = "lock";

    /** The newest file is read and written again at each start; large enough to be few. */
    private static final long LOG_BYTES = 16L << 20;

    private final FolderState state;
    private final SegmentChain chain;
    private final Snapshots snapshots;
    private final Truncation truncation;
    private final Closeable lock;

    private MemberFolder(FolderState state, Closeable lock, long logBytes) {
        this.state = state;
        this.chain = new SegmentChain(state, state.path.resolve(SEGMENTS), logBytes);
        this.snapshots = new Snapshots(state, chain, state.path.resolve(BASES));
        this.truncation = new Truncation(state, chain, snapshots);
        this.lock = lock;
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
            FolderState state = new FolderState(disk, path, identity(disk, path, service, random));
            MemberFolder folder = new MemberFolder(state, lock, logBytes);
            folder.recover();
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
        boolean hasSegments = chain.find();
        boolean hasSnapshots = snapshots.find();
        if (birth().isEmpty()) {
            if (hasSegments || hasSnapshots) {
                throw new RefusedFolderException(
                        state.path.resolve(IDENTITY),
                        -1,
                        "it says that this member never met its service, but there are segments or"
                                + " bases. Put back the file that belongs to them");
            }
            return;
        }
        snapshots.recover();
        SegmentId base = newestBase();
        chain.recover(base.number());
        state.named(base.number());
        if (base.number() > last().number()) {
            state.last(base);
        } else if (!at(base.number()).equals(Optional.of(base))) {
            throw new RefusedFolderException(
                    snapshots.all().get(0).file(),
                    -1,
                    "this base is as of segment "
                            + base
                            + ", and the log files hold "
                            + at(base.number()).orElseThrow()
                            + ": they do not belong together. Put back the files of this folder");
        }
        snapshots.countBytes();
    }

    /** This member: 16 hex digits, drawn when the folder was made. */
    public String member() {
        return state.member;
    }

    /** The birth of the service; empty until {@link #birth(Birth)}. */
    public Optional<Birth> birth() {
        return state.identity().birth();
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
        synchronized (state) {
            state.throwIfDead();
            MemberIdentity identity = state.identity();
            Optional<Birth> bound = identity.birth();
            if (bound.isPresent() && !bound.get().equals(birth)) {
                throw new RefusedFolderException(
                        state.path.resolve(IDENTITY),
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
                state.identity(identity.of(birth, former.stream().toList()));
            }
        }
    }

    /**
     * The newest segment that was appended, or as of which there is a base; {@link SegmentId#NONE}
     * where there is none.
     */
    public SegmentId last() {
        return state.last();
    }

    /** Number of the newest segment of which this folder knows that the head named it; 0: none. */
    public long known() {
        return state.known();
    }

    /** The segment of a number, where it is held, or a base is as of it. */
    public Optional<SegmentId> at(long number) {
        return snapshots.at(number);
    }

    /** Number of the oldest segment from which all up to the last are held; else the one after. */
    public long oldest() {
        return chain.oldest();
    }

    /** As of which segment the newest base is; {@link SegmentId#NONE} where there is none. */
    public SegmentId newestBase() {
        return snapshots.newest();
    }

    /** Bytes of the segments above the newest base, for deciding when to write another. */
    public long bytesAboveBase() {
        return chain.bytesAboveBase();
    }

    /** Bytes of the segments above one and up to another, as far as they are held. */
    public long bytesBetween(long above, long upTo) {
        return chain.bytesBetween(above, upTo);
    }

    /** Bytes of the newest base's file; 0 where there is none. */
    public long baseBytes() {
        return snapshots.bytes();
    }

    /** What was found damaged since the folder was opened, and left as it is. */
    public List<Damage> damages() {
        return state.damages();
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
        chain.append(segment);
    }

    /**
     * Returns when all segments that were appended before this call are on disk.
     *
     * @throws DeadJournalException where the folder is dead, or dies of this
     */
    @Override
    public void force() {
        chain.force();
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
        truncation.dropAfter(number);
    }

    /**
     * Number of the newest segment that members of this birth do not take, as it is of a birth
     * before that which theirs replaced; 0 for none.
     */
    public long untold() {
        List<Replaced> formers = state.identity().formers();
        return formers.size() < 2 ? 0 : formers.get(formers.size() - 2).upTo().number();
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
        return truncation.bearAnew(now, former);
    }

    /**
     * Reads a segment and checks its bytes.
     *
     * @throws MissingSegmentException where it is not held
     * @throws RefusedSegmentException where it is damaged
     * @throws IOException where the disk fails
     */
    public Segment read(long number) throws IOException {
        return chain.read(number);
    }

    @Override
    public Segment read(SegmentId id) throws IOException {
        Segment segment = read(id.number());
        if (!segment.id().equals(id)) {
            throw new MissingSegmentException(
                    "segment " + id + " is not in " + state.path + ", but " + segment.id() + " is");
        }
        return segment;
    }

    /**
     * Writes a base: next to it, forced, renamed, the folder forced. Then all but two bases go, and
     * log files with segments up to the older of these (C14). One at a time; waits for the disk,
     * while segments continue.
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
        snapshots.write(at, epochs, sections);
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
        synchronized (state) {
            if (at.number() < 2
                    || last().number() > 0
                    || chain.hasFiles()
                    || !snapshots.all().isEmpty()) {
                throw new IllegalArgumentException(
                        state.path + " is empty where it begins, and not up to segment " + last());
            }
            // Its base may be as of this one, and as of no other.
            state.last(at);
        }
        base(at, epochs, sections);
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
        return Restored.of(state, chain, snapshots, upTo);
    }

    /**
     * Opens the newest base that is whole, for another member; its bytes were all checked. It may
     * be let go meanwhile, and can be read to its end all the same.
     *
     * @return empty where there is none
     * @throws IOException where the disk fails
     */
    public Optional<ShippedBase> ship() throws IOException {
        return snapshots.ship();
    }

    /**
     * Begins to take a base from another member: it is written next to it, and becomes the newest
     * base once it is complete and checked. No other base is written meanwhile; segments continue.
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
        return snapshots.receive(number, length, digest);
    }

    /**
     * Begins to take a base from another member, as of a segment that is held, in place of what
     * this member's own state would be there. Segments stay, and continue.
     *
     * @param number of the segment as of which it is: held, and above the newest base's
     * @param length of all its bytes
     * @param digest SHA-256 of them: 64 hex digits
     * @return to be closed in any case
     * @throws IllegalArgumentException where the segment is not such
     * @throws IllegalStateException as {@link #receive}
     * @throws DeadJournalException where the folder is dead
     * @throws IOException where the disk has no room for it, or fails
     */
    public BaseReceipt receiveHeld(long number, long length, String digest) throws IOException {
        return snapshots.receiveHeld(number, length, digest);
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

    /** Lets other processes open the folder. What was not forced may be lost. */
    @Override
    public void close() throws IOException {
        try {
            chain.close();
        } finally {
            lock.close();
        }
    }
}
