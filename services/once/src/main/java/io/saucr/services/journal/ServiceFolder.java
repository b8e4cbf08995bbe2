package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/**
 * The folder in which a service, or a once client, keeps what must survive: `identity`, `journal`
 * and `base`. One process holds it at a time. Each opening is a new incarnation, whose number and
 * nonce are forced in the folder before the folder is returned, so that nothing that another
 * process sees of this start was ever unknown to the folder (K14). One thread, which may change
 * between calls.
 */
public final class ServiceFolder implements AutoCloseable {

    static final String IDENTITY = "identity";
    static final String JOURNAL = "journal";
    static final String BASE = "base";
    static final String LOCK = "lock";

    private static final int LARGEST_IDENTITY_BYTES = 1 << 20;

    private final Disk disk;
    private final Path path;
    private final Closeable lock;
    private Identity identity;
    private boolean recovered;

    private ServiceFolder(Disk disk, Path path, Closeable lock, Identity identity) {
        this.disk = disk;
        this.path = path;
        this.lock = lock;
        this.identity = identity;
    }

    /**
     * Opens a folder of this machine, or makes it where there is none, and begins an incarnation.
     *
     * @param path of the folder; its parent is made where missing
     * @param name of the service or client, 1 to 255 characters on one line; that with which it was
     *     made
     * @param random for its birth and this start's nonce
     * @throws RefusedFolderException where another process holds it, or it is another's, damaged,
     *     of a newer format or incomplete
     * @throws IOException where the disk fails
     */
    public static ServiceFolder open(Path path, String name, SecureRandom random)
            throws IOException {
        return open(Disk.local(), path, name, random);
    }

    /** The same on any disk. */
    public static ServiceFolder open(Disk disk, Path path, String name, SecureRandom random)
            throws IOException {
        return open(disk, path, name, random, ServiceFolder::refuseElsewhere);
    }

    /**
     * The same of a service that is a member of a group, or is to be: {@link #member} says so once
     * something in the folder may be undone.
     *
     * @param group its path in the ensemble
     * @throws RefusedFolderException also where it is a member of another group
     */
    public static ServiceFolder openMember(
            Disk disk, Path path, String name, String group, SecureRandom random)
            throws IOException {
        return open(
                disk,
                path,
                name,
                random,
                (folder, it) -> {
                    refuseShared(folder, it);
                    if (it.membership().filter(of -> !of.group().equals(group)).isPresent()) {
                        refuseMember(folder, it);
                    }
                });
    }

    /** The same of a folder whose journal is one that it shares, or is to be. */
    static ServiceFolder openSharing(Disk disk, Path path, String name, SecureRandom random)
            throws IOException {
        return open(disk, path, name, random, ServiceFolder::refuseMember);
    }

    /** Refuses a folder for what its identity says. */
    private interface Check {
        void look(Path folder, Identity of) throws RefusedFolderException;
    }

    private static void refuseElsewhere(Path folder, Identity of) throws RefusedFolderException {
        refuseShared(folder, of);
        refuseMember(folder, of);
    }

    private static void refuseShared(Path folder, Identity of) throws RefusedFolderException {
        if (of.shared().isPresent()) {
            throw new RefusedFolderException(
                    folder,
                    -1,
                    "its newest turns are in the journal of generation "
                            + of.shared().get().journal()
                            + ", which it shares with other partitions. Start those and release"
                            + " this one there");
        }
    }

    static void refuseMember(Path folder, Identity of) throws RefusedFolderException {
        if (of.membership().filter(Membership::in).isPresent()) {
            throw new RefusedFolderException(
                    folder,
                    -1,
                    "it is of a member of the group "
                            + of.membership().get().group()
                            + ", whose newest turns may still be undone. Start it as a member of"
                            + " that group and let it leave there");
        }
    }

    private static ServiceFolder open(
            Disk disk, Path path, String name, SecureRandom random, Check check)
            throws IOException {
        if (name.isEmpty() || name.length() > Identity.LONGEST_NAME || name.indexOf('\n') >= 0) {
            throw new IllegalArgumentException(
                    "a folder's name has 1 to %s characters on one line, not \"%s\""
                            .formatted(Identity.LONGEST_NAME, name));
        }
        disk.makeFolder(path);
        Closeable lock = lock(disk, path);
        boolean opened = false;
        try {
            deleteUnfinished(disk, path.resolve(BASE));
            Reserve.releaseIfBelow(disk, path, LARGEST_IDENTITY_BYTES);
            Identity before = identity(disk, path, name, random);
            check.look(path, before);
            Identity identity = before.started(random.nextLong());
            disk.replace(path.resolve(IDENTITY), identity.encode());
            opened = true;
            return new ServiceFolder(disk, path, lock, identity);
        } finally {
            if (!opened) {
                lock.close();
            }
        }
    }

    /** Whether a service or client has begun in that folder. */
    public static boolean isOne(Disk disk, Path path) throws IOException {
        return disk.exists(path.resolve(IDENTITY));
    }

    /**
     * Makes a folder of a state that comes from elsewhere, and begins an incarnation in it. The
     * file {@code identity} comes last, and without it no start takes the folder.
     *
     * @param path empty, or not there yet
     * @param before the starts of the same birth, in the order of their numbers; at least one
     * @param turn whose state the sections hold, at least 1
     * @param sections of the snapshot
     * @return of the birth; {@link #confirm} it once it holds the head
     * @throws RefusedFolderException where another process holds it, or anything is in it; nothing
     *     was changed then
     * @throws IOException where the disk or the sections fail; use another folder then
     */
    public static ServiceFolder make(
            Disk disk,
            Path path,
            String name,
            List<Incarnation> before,
            long turn,
            Base.Sections sections,
            SecureRandom random)
            throws IOException {
        disk.makeFolder(path);
        if (!disk.list(path).isEmpty()) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "it is not empty. Name an empty folder, or one that is not there yet");
        }
        Closeable lock = lock(disk, path);
        boolean made = false;
        try {
            disk.makeFolder(path.resolve(JOURNAL));
            disk.makeFolder(path.resolve(BASE));
            Identity identity = Identity.of(before, name).started(random.nextLong());
            new Base(disk, path.resolve(BASE), identity.newest(), 0).write(turn, sections);
            disk.replace(path.resolve(IDENTITY), identity.encode());
            made = true;
            return new ServiceFolder(disk, path, lock, identity);
        } finally {
            if (!made) {
                lock.close();
            }
        }
    }

    /**
     * Locks a folder that is there.
     *
     * @return frees it when closed
     * @throws RefusedFolderException where another process holds it
     */
    public static Closeable lock(Disk disk, Path path) throws IOException {
        try {
            return disk.lock(path.resolve(LOCK), "process " + ProcessHandle.current().pid());
        } catch (Disk.LockedException e) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "it is in use by "
                            + e.getMessage()
                            + "; one folder is one service's or client's. Stop that process, or use"
                            + " another folder");
        }
    }

    /** A base that was being written may hold the bytes that this start needs. */
    private static void deleteUnfinished(Disk disk, Path bases) throws IOException {
        if (!disk.exists(bases)) {
            return;
        }
        for (String name : disk.list(bases)) {
            if (name.endsWith(".tmp")) {
                disk.delete(bases.resolve(name));
            }
        }
    }

    private static Identity identity(Disk disk, Path path, String name, SecureRandom random)
            throws IOException {
        Path file = path.resolve(IDENTITY);
        Path journal = path.resolve(JOURNAL);
        Path base = path.resolve(BASE);
        if (!disk.exists(file)) {
            // These come before the identity, and their content after it.
            for (Path folder : List.of(journal, base)) {
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
            return Identity.first(new Birth(random.nextLong(), random.nextLong()), name);
        }
        Identity identity = decode(disk, file, name);
        for (Path folder : List.of(journal, base)) {
            if (!disk.exists(folder)) {
                throw new RefusedFolderException(
                        folder, -1, "it is missing, with what was in it. Put it back");
            }
        }
        return identity;
    }

    /** The identity of a folder that has to be of that name. */
    static Identity decode(Disk disk, Path file, String name) throws IOException {
        Identity identity = decode(disk, file);
        if (!identity.name().equals(name)) {
            throw new RefusedFolderException(
                    file,
                    -1,
                    "this folder is that of \"%s\", not of \"%s\". Use the folder of that name"
                            .formatted(identity.name(), name));
        }
        return identity;
    }

    static Identity decode(Disk disk, Path file) throws IOException {
        try (Disk.File opened = disk.open(file)) {
            if (opened.size() > LARGEST_IDENTITY_BYTES) {
                throw new IllegalArgumentException(
                        "it has %s bytes, an identity at most %s"
                                .formatted(opened.size(), LARGEST_IDENTITY_BYTES));
            }
            ByteBuffer content = ByteBuffer.allocate((int) opened.size());
            opened.read(content, 0);
            return Identity.decode(content.array());
        } catch (IllegalArgumentException e) {
            throw new RefusedFolderException(
                    file, 0, e.getMessage() + ". Put back this file as it was at the last start");
        }
    }

    public Path path() {
        return path;
    }

    public String name() {
        return identity.name();
    }

    public Birth birth() {
        return identity.birth();
    }

    /** This start. */
    public Incarnation incarnation() {
        return identity.newest();
    }

    /**
     * The starts of this folder, in the order of their numbers, this one at the end. The oldest are
     * forgotten when they are more than 4096, but not the confirmed one.
     */
    public List<Incarnation> incarnations() {
        return identity.starts();
    }

    /** The highest start that is known to have held the head; 0 for none. */
    public long confirmed() {
        return identity.confirmed();
    }

    /**
     * Notes that this start holds the head; returns when that is forced. Nothing may leave before
     * (K14).
     *
     * @throws IOException where the disk fails: the process has to halt
     */
    public void confirm() throws IOException {
        replace(identity.confirmed(incarnation().number()));
    }

    /**
     * Forgets this start, which wrote nothing outside of the folder and told nobody of itself: the
     * folder does not grow by starts that are refused. The next one has another number. Nothing may
     * follow but {@link #close}.
     *
     * @throws IOException where the disk fails; the start is then remembered
     */
    public void withdraw() throws IOException {
        replace(identity.withdrawn());
    }

    /** Births that were replaced by this one, the first one first (K11). */
    public List<Birth> formers() {
        return identity.formers().stream().map(Identity.Former::birth).toList();
    }

    /** The head that this birth may replace; empty where it replaces none (K11). */
    public Optional<Incarnation> replaces() {
        return identity.replaces();
    }

    /** The birth whose once client's marker this one may replace (E5). */
    public Optional<Birth> marker() {
        return identity.marker();
    }

    /** To which service a client belongs; empty text where it has met none. */
    public String bound() {
        return identity.bound();
    }

    /**
     * Notes to which service a client belongs; returns when that is forced.
     *
     * @param to one line
     */
    public void bind(String to) throws IOException {
        if (to.isEmpty() || to.indexOf('\n') >= 0) {
            throw new IllegalArgumentException("one line, not \"" + to + "\"");
        }
        replace(identity.bound(to));
    }

    /** The group of which its service is a member, or was one; empty where it never was. */
    public Optional<Membership> membership() {
        return identity.membership();
    }

    /** Notes that its service is a member of a group, or has left; returns when that is forced. */
    public void member(Membership of) throws IOException {
        replace(identity.member(of));
    }

    /** The bytes that its disk could still take. */
    public long usableBytes() throws IOException {
        return disk.usableBytes(path);
    }

    /**
     * The bytes of the disk that this folder keeps for acknowledgements and folding (K13); held
     * once {@link Reserve#hold} says so.
     *
     * @param bytes at least 1; two segments and a base are enough
     */
    public Reserve reserve(long bytes) {
        return new Reserve(disk, path, bytes);
    }

    /**
     * The files of messages beyond what memory holds (K13), of which the base's sections tell.
     *
     * @param fileBytes about so many bytes a file has
     */
    public OutboxFiles outbox(int fileBytes) {
        return new OutboxFiles(disk, path, incarnation(), identity::knows, fileBytes);
    }

    /**
     * Reads what survived, cuts what was torn and writes again what may not be on disk (K9). Once.
     *
     * @throws RefusedFolderException where something is damaged that was on disk, or is missing;
     *     nothing was changed then
     * @throws IOException where the disk fails
     */
    public Recovered recover(JournalOptions options) throws IOException {
        if (recovered) {
            throw new IllegalStateException(path + " was recovered already; open it again");
        }
        recovered = true;
        Reserve.releaseIfBelow(disk, path, 2L * options.segmentBytes());
        Recovered result = Recovered.recover(disk, path, identity, options);
        if (!identity.begun()) {
            replace(identity.withJournal());
        }
        return result;
    }

    /** Where its newest turns are; empty where all are in this folder. */
    Optional<Identity.Shared> shared() {
        return identity.shared();
    }

    /** Notes that its newest turns are elsewhere from now on; returns when that is forced. */
    void share(Identity.Shared with) throws IOException {
        replace(identity.shared(with));
    }

    /** Notes that all of its turns are in its base, where there are any; returns when forced. */
    void alone() throws IOException {
        replace(identity.alone(!Base.turns(disk, path.resolve(BASE)).isEmpty()));
    }

    /**
     * The base of a folder that has no journal.
     *
     * @throws RefusedFolderException where it has one, or its base is missing or damaged
     */
    Base base() throws IOException {
        Path bases = path.resolve(BASE);
        if (!Segment.firstTurns(disk, path.resolve(JOURNAL)).isEmpty()) {
            throw new RefusedFolderException(
                    path.resolve(JOURNAL),
                    -1,
                    "this folder has a journal of its own, and a partition's has none. Use the"
                            + " folder of a partition, or one that is not there yet");
        }
        List<Long> turns = Base.turns(disk, bases);
        long turn = Survey.newestWhole(disk, bases, turns, identity::knows);
        if (identity.begun() && turn == 0) {
            throw new RefusedFolderException(bases, -1, "the base is missing. Put it back");
        }
        Base base = new Base(disk, bases, identity.newest(), turn);
        if (turns.size() > 1 && turns.get(0) == turn) {
            // The older ones go, with the files that they alone name, so the newest has to be on
            // disk: the last process perhaps did not see that it is.
            writeAgain(base);
            base.deleteOthers();
        }
        return base;
    }

    /** Puts a base on disk, of which the last process perhaps did not see that it is there. */
    void writeAgain(Base base) throws IOException {
        Recovered.writeBaseAgain(disk, path.resolve(BASE), base.turn());
    }

    /** Reads the base that was found. */
    void sections(Base base, Base.SectionReader reader) throws IOException {
        if (base.turn() > 0) {
            Survey.readBase(disk, path.resolve(BASE), base.turn(), identity::knows, reader);
        }
    }

    private void replace(Identity next) throws IOException {
        disk.replace(path.resolve(IDENTITY), next.encode());
        identity = next;
    }

    /** Lets other processes open the folder. Close the journal first. */
    @Override
    public void close() throws IOException {
        lock.close();
    }
}
