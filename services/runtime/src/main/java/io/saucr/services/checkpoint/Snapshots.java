package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots of a member's folder: writes, receives, reads and ships them. Two are kept, and all
 * segments above the older one, so that a damaged snapshot falls back (C14). One at a time is
 * written or received; segments continue meanwhile.
 */
final class Snapshots {

    private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

    private static final String UNFINISHED = "new.tmp";

    private final FolderState state;
    private final SegmentChain chain;
    private final Disk disk;
    private final Path folder;
    private final Semaphore writing = new Semaphore(1);

    /** The newest first; guarded by the lock of the state. */
    private final List<MemberBase> found = new ArrayList<>();

    /** Numbers of the files that were there at the start. */
    private List<Long> numbers = List.of();

    /** Written under the lock, read anywhere. */
    private volatile long bytes;

    Snapshots(FolderState state, SegmentChain chain, Path folder) {
        this.state = state;
        this.chain = chain;
        this.disk = state.disk;
        this.folder = folder;
    }

    // ---- a start

    /** Whether there are snapshots, after those that were never finished were deleted. */
    boolean find() throws IOException {
        state.deleteUnfinished(folder);
        MemberBase.nameAgain(disk, folder);
        numbers = MemberBase.numbers(disk, folder);
        return !numbers.isEmpty();
    }

    void recover() throws IOException {
        for (long number : numbers) {
            Path file = MemberBase.file(folder, number);
            try (Disk.File opened = disk.open(file)) {
                found.add(
                        MemberBase.about(
                                opened, file, number, state.service, state.birthOf(number)));
            } catch (RefusedFolderException e) {
                LOG.warn("A base cannot be used: {}", e.getMessage());
                state.damaged(new Damage(file, e.offset(), e.reason()));
            }
        }
    }

    // ---- what is held

    /** The newest first. */
    List<MemberBase> all() {
        synchronized (state) {
            return List.copyOf(found);
        }
    }

    SegmentId newest() {
        synchronized (state) {
            return found.isEmpty() ? SegmentId.NONE : found.get(0).at();
        }
    }

    /** Bytes of the newest one's file. */
    long bytes() {
        return bytes;
    }

    /** Counts anew, as the newest one or the segments changed. */
    void countBytes() {
        synchronized (state) {
            chain.countBytes(newest().number());
            bytes = found.isEmpty() ? 0 : found.get(0).bytes();
        }
    }

    /** A snapshot that is damaged is none of the two that are kept. */
    void damaged(RefusedFolderException e) {
        synchronized (state) {
            state.damaged(new Damage(e.file(), e.offset(), e.reason()));
            if (found.removeIf(it -> it.file().equals(e.file()))) {
                countBytes();
            }
        }
    }

    // ---- writing

    void write(SegmentId at, List<Incarnation> epochs, Base.Sections sections) throws IOException {
        begin();
        try {
            throwUnlessBase(at, epochs);
            Path beside = folder.resolve(UNFINISHED);
            boolean written = false;
            long length;
            try (Disk.File file = disk.open(beside)) {
                file.truncate(0);
                MemberBase.write(file, state.service, at, epochs, sections);
                file.force();
                length = file.size();
                written = true;
            } finally {
                if (!written) {
                    state.deleteQuietly(beside);
                }
            }
            named(at, epochs, length);
        } finally {
            writing.release();
        }
    }

    private void begin() {
        state.throwIfDead();
        if (!writing.tryAcquire()) {
            throw new IllegalStateException("one base at a time: another is written or received");
        }
    }

    private void throwUnlessBase(SegmentId at, List<Incarnation> epochs) {
        synchronized (state) {
            boolean held = at(at.number()).orElse(state.last()).equals(at);
            if (at.number() <= newest().number() || !held) {
                throw new IllegalArgumentException(
                        "a base is as of a segment that is held and newer than that of the newest base, "
                                + newest()
                                + ", not as of "
                                + at);
            }
        }
        Birth birth = state.birthOf(at.number());
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

    /** The segment of a number, where it is held, or a snapshot is as of it. */
    Optional<SegmentId> at(long number) {
        synchronized (state) {
            return number == 0
                    ? Optional.of(SegmentId.NONE)
                    : chain.entry(number)
                            .map(SegmentLog.Entry::id)
                            .or(
                                    () ->
                                            found.stream()
                                                    .map(MemberBase::at)
                                                    .filter(it -> it.number() == number)
                                                    .findFirst());
        }
    }

    /** Gives a snapshot that is on disk its name, and lets go what two of them do not need. */
    private void named(SegmentId at, List<Incarnation> epochs, long length) throws IOException {
        Path file = MemberBase.file(folder, at.number());
        disk.rename(folder.resolve(UNFINISHED), file);
        disk.forceFolder(folder);
        synchronized (state) {
            found.add(0, new MemberBase(file, at, epochs, length));
            state.named(at.number());
            if (at.number() > state.last().number()) {
                state.last(at);
            }
            countBytes();
        }
        try {
            letGo();
        } catch (IOException e) {
            LOG.warn(
                    "Older files in {} could not be closed or deleted: the next base tries again",
                    state.path,
                    e);
        }
    }

    private void letGo() throws IOException {
        long older;
        synchronized (state) {
            if (found.size() < 2) {
                return;
            }
            older = found.get(1).at().number();
            chain.forgetBefore(older);
            found.removeIf(it -> it.at().number() < older);
        }
        // Nobody waits for that: a file of a gigabyte takes its time.
        for (long number : MemberBase.numbers(disk, folder)) {
            if (number < older) {
                disk.delete(MemberBase.file(folder, number));
            }
        }
        chain.deleteBefore(older);
        state.forgetDamagesOfLostFiles();
    }

    // ---- reading

    /** Reads one, all of it. */
    void read(long number, Base.SectionReader reader) throws IOException {
        try (Disk.File file = open(number)) {
            whole(file, MemberBase.file(folder, number), number, reader);
        }
    }

    private MemberBase whole(Disk.File file, Path path, long number, Base.SectionReader reader)
            throws IOException {
        return MemberBase.whole(file, path, number, state.service, state.birthOf(number), reader);
    }

    /** Opens one, unless it was let go meanwhile: then to open it would make an empty file. */
    private Disk.File open(long number) throws IOException {
        Path file = MemberBase.file(folder, number);
        synchronized (state) {
            // Before it is deleted, next to this lock, it is not found any more.
            if (found.stream().noneMatch(it -> it.at().number() == number) || !disk.exists(file)) {
                throw MemberBase.gone(file);
            }
            return disk.open(file);
        }
    }

    Optional<ShippedBase> ship() throws IOException {
        for (MemberBase base : all()) {
            long number = base.at().number();
            Disk.File file = null;
            boolean opened = false;
            try {
                file = open(number);
                DigestedFile read = new DigestedFile(file);
                whole(read, MemberBase.file(folder, number), number, (name, content) -> {});
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

    private static void closeQuietly(Disk.File file) {
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                LOG.warn("A base could not be closed", e);
            }
        }
    }

    // ---- receiving

    BaseReceipt receive(long number, long length, String digest) throws IOException {
        state.throwIfDead();
        throwUnlessAbove(number);
        return receive(number, length, digest, false);
    }

    BaseReceipt receiveHeld(long number, long length, String digest) throws IOException {
        state.throwIfDead();
        throwUnlessNewest(number);
        return receive(number, length, digest, true);
    }

    private BaseReceipt receive(long number, long length, String digest, boolean held)
            throws IOException {
        if (state.identity().birth().isEmpty()) {
            throw new IllegalStateException("the generation of the service comes first");
        }
        long room = disk.usableBytes(folder);
        if (length < 0 || length > room) {
            throw new IOException(
                    "a base of "
                            + length
                            + " bytes was announced, and the disk of "
                            + folder
                            + " has room for "
                            + room
                            + ". Make room there");
        }
        begin();
        Disk.File file = null;
        boolean begun = false;
        try {
            file = disk.open(folder.resolve(UNFINISHED));
            file.truncate(0);
            begun = true;
            return new BaseReceipt(this, file, number, length, digest, held);
        } finally {
            if (!begun) {
                closeQuietly(file);
                writing.release();
            }
        }
    }

    private void throwUnlessAbove(long number) {
        if (number <= state.last().number()) {
            throw new IllegalArgumentException(
                    "a base as of segment "
                            + number
                            + " is of no use: segments up to "
                            + state.last()
                            + " are held");
        }
    }

    private void throwUnlessNewest(long number) {
        if (number <= newest().number() || at(number).isEmpty()) {
            throw new IllegalArgumentException(
                    "a base as of segment "
                            + number
                            + " does not take the place of the newest one, which is as of segment "
                            + newest()
                            + ": it is as of a later segment, and one that is held. Segments up to "
                            + state.last()
                            + " are held");
        }
    }

    /** Takes a snapshot that was received into its file next to it, which is on disk. */
    SegmentId received(Disk.File file, long number, boolean held) throws IOException {
        MemberBase base = whole(file, folder.resolve(UNFINISHED), number, (name, content) -> {});
        chain.withoutAppends(
                () -> {
                    if (held) {
                        throwUnlessNewest(number);
                        throwUnlessSame(base.at());
                    } else {
                        throwUnlessAbove(number);
                        // What follows it begins a file of its own, and only the newest may be
                        // torn.
                        chain.roll();
                    }
                    named(base.at(), base.epochs(), base.bytes());
                    return base;
                });
        return base.at();
    }

    private void throwUnlessSame(SegmentId at) {
        SegmentId mine = at(at.number()).orElseThrow();
        if (!mine.equals(at)) {
            throw new IllegalArgumentException(
                    "a base as of segment " + at + " does not belong to segment " + mine);
        }
    }

    RefusedFolderException refusedReceipt(String reason) {
        return new RefusedFolderException(
                folder.resolve(UNFINISHED), -1, reason + ". It is not taken; ask another member");
    }

    /** A snapshot is not being received any more. */
    void receiptClosed(boolean finished) {
        if (!finished && !state.isDead()) {
            state.deleteQuietly(folder.resolve(UNFINISHED));
        }
        writing.release();
    }

    // ---- letting go

    /** Works while none is written or received: it could be of what is let go. */
    <T> T withoutWriting(SegmentChain.Exclusive<T> work) throws IOException {
        writing.acquireUninterruptibly();
        try {
            return work.work();
        } finally {
            writing.release();
        }
    }

    /** Puts those aside that are behind a segment. Holds all locks; on disk when this returns. */
    List<Path> putAside(long stays) throws IOException {
        List<Path> aside = new ArrayList<>();
        for (long number : MemberBase.numbers(disk, folder)) {
            if (number > stays) {
                aside.add(state.putAside(MemberBase.file(folder, number)));
            }
        }
        disk.forceFolder(folder);
        found.removeIf(it -> it.at().number() > stays);
        return aside;
    }
}
