package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.JournalRecovery;
import io.saucr.services.core.journal.SegmentHeader;
import io.saucr.services.core.journal.SegmentScan;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a service's or client's folder holds, read without changing a byte, a name or a time of it,
 * and without its lock: also one that is damaged, foreign, newer or torn, which a start would
 * refuse. Whether a start would is decided by what a start takes itself (K9).
 *
 * <p>A process that runs on the folder changes it meanwhile; then what was found may be of several
 * moments, and {@link #inUseBy} says so. One thread.
 */
public final class FolderReader {

    /**
     * Something that is not as it should be.
     *
     * @param file where
     * @param offset the byte; -1 where it is not about one
     * @param message file and byte, what is wrong, and what to do
     * @param needed false where a whole base covers it, so that nothing is lost
     */
    public record Problem(Path file, long offset, String message, boolean needed) {}

    /**
     * A section of a base.
     *
     * @param content what {@link SectionSummary} made of it
     */
    public record Section(String name, long bytes, String content) {}

    /**
     * A base's file.
     *
     * @param turn that its name says
     * @param whole whether it can be read to its end
     * @param sections those that were read; none where it is not whole
     */
    public record BaseFile(
            Path file, long turn, long bytes, boolean whole, List<Section> sections) {
        public BaseFile {
            sections = List.copyOf(sections);
        }
    }

    /**
     * A segment of the journal.
     *
     * @param start who wrote it; empty where its header cannot be read
     * @param firstTurn that its name says
     * @param lastTurn the newest of its chain; the one before the first where there is none
     * @param records of the chain
     * @param recordBytes of the chain
     * @param end the byte behind the chain
     * @param torn whether anything but zeros stands behind the chain
     * @param needed whether it holds turns above the base
     */
    public record SegmentFile(
            Path file,
            long bytes,
            Optional<Incarnation> start,
            long firstTurn,
            long lastTurn,
            long records,
            long recordBytes,
            long end,
            boolean torn,
            boolean needed) {}

    /** A file or folder that is no part of journal, base or identity. */
    public record Other(Path file, long bytes) {}

    /** Says in a few words what a section holds, or nothing. */
    @FunctionalInterface
    public interface SectionSummary {

        /**
         * Looks at a section.
         *
         * @param content what is left unread is skipped
         */
        String of(String name, InputStream content) throws IOException;
    }

    private final ReadOnlyDisk disk = ReadOnlyDisk.INSTANCE;
    private final Path path;
    private final List<Problem> problems = new ArrayList<>();
    private final List<BaseFile> bases = new ArrayList<>();
    private final List<SegmentFile> segments = new ArrayList<>();
    private final List<Other> others = new ArrayList<>();
    private Optional<String> inUseBy = Optional.empty();
    private Identity identity;
    private List<Long> firstTurns = List.of();
    private long baseTurn;
    private long lastTurn;
    private long forcedTurn;
    private boolean starts;

    private FolderReader(Path path) {
        this.path = path;
    }

    /**
     * Looks at a folder.
     *
     * @param summary of the sections of bases
     * @throws RefusedFolderException where it is not a service's or client's at all; whatever else
     *     is wrong is among the {@link #problems}
     * @throws IOException where the folder itself cannot be listed
     */
    public static FolderReader read(Path path, SectionSummary summary) throws IOException {
        if (!Files.exists(path)) {
            throw new RefusedFolderException(path, -1, "there is no such folder");
        }
        if (!Files.isDirectory(path)) {
            throw new RefusedFolderException(
                    path, -1, "this is a file. Name the folder of a service or client");
        }
        if (!Files.exists(path.resolve(ServiceFolder.IDENTITY))
                && Files.exists(
                        path.resolve(ServiceFolder.JOURNAL).resolve(ServiceFolder.IDENTITY))) {
            throw new RefusedFolderException(
                    path, -1, "this is the folder of a service in partitions" + below(path));
        }
        FolderReader reader = new FolderReader(path);
        if (!reader.has(ServiceFolder.IDENTITY)
                && !reader.has(ServiceFolder.JOURNAL)
                && !reader.has(ServiceFolder.BASE)) {
            throw new RefusedFolderException(
                    path, -1, "this is not the folder of a service or client" + below(path));
        }
        reader.look(summary);
        return reader;
    }

    private boolean has(String name) {
        return Files.exists(path.resolve(name));
    }

    private static String below(Path path) throws IOException {
        List<String> folders = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            for (Path entry : entries) {
                if (Files.exists(entry.resolve(ServiceFolder.IDENTITY))) {
                    folders.add(entry.toString());
                }
            }
        }
        folders.sort(null);
        return folders.isEmpty()
                ? ": it has no identity, journal and base"
                : ". These in it are: " + String.join(", ", folders);
    }

    private void look(SectionSummary summary) throws IOException {
        try {
            inUseBy = LocalDisk.holder(path.resolve(ServiceFolder.LOCK));
        } catch (IOException e) {
            problem(path.resolve(ServiceFolder.LOCK), e, false);
        }
        identity = readIdentity();
        Predicate<Incarnation> known = identity == null ? it -> true : identity::knows;
        lookAtBases(known, summary);
        lookAtSegments(known);
        for (String name : disk.list(path)) {
            switch (name) {
                case ServiceFolder.IDENTITY,
                        ServiceFolder.JOURNAL,
                        ServiceFolder.BASE,
                        ServiceFolder.LOCK -> {}
                default -> others.add(other(path.resolve(name)));
            }
        }
        lastTurn = chainEnd();
        forcedTurn = Math.max(forcedTurn, baseTurn);
        if (identity != null && has(ServiceFolder.JOURNAL) && has(ServiceFolder.BASE)) {
            decide();
        }
    }

    private Identity readIdentity() {
        Path file = path.resolve(ServiceFolder.IDENTITY);
        try {
            if (!disk.exists(file)) {
                throw new RefusedFolderException(
                        file, -1, "it is missing. Put the file back, or use another folder");
            }
            for (String folder : List.of(ServiceFolder.JOURNAL, ServiceFolder.BASE)) {
                if (!disk.exists(path.resolve(folder))) {
                    problem(
                            new RefusedFolderException(
                                    path.resolve(folder),
                                    -1,
                                    "it is missing, with what was in it. Put it back"),
                            true);
                }
            }
            return ServiceFolder.decode(disk, file);
        } catch (IOException e) {
            problem(file, e, true);
            return null;
        }
    }

    private void lookAtBases(Predicate<Incarnation> known, SectionSummary summary) {
        Path folder = path.resolve(ServiceFolder.BASE);
        try {
            if (!disk.exists(folder)) {
                return;
            }
            for (long turn : Base.turns(disk, folder)) {
                bases.add(base(folder, turn, known, summary));
            }
            for (String name : disk.list(folder)) {
                Path file = folder.resolve(name);
                if (bases.stream().noneMatch(it -> it.file().equals(file))) {
                    others.add(other(file));
                }
            }
        } catch (IOException e) {
            problem(folder, e, true);
        }
        baseTurn =
                bases.stream()
                        .filter(BaseFile::whole)
                        .mapToLong(BaseFile::turn)
                        .findFirst()
                        .orElse(0);
    }

    private BaseFile base(
            Path folder, long turn, Predicate<Incarnation> known, SectionSummary summary) {
        Path file = Base.file(folder, turn);
        List<Section> sections = new ArrayList<>();
        try {
            Survey.readBase(
                    disk,
                    folder,
                    turn,
                    known,
                    (name, content) -> sections.add(section(name, content, summary)));
            return new BaseFile(file, turn, bytes(file), true, sections);
        } catch (IOException e) {
            // An older one may serve, but a base was on disk before it got its name.
            problem(file, e, true);
            return new BaseFile(file, turn, bytes(file), false, List.of());
        }
    }

    private Section section(String name, InputStream content, SectionSummary summary)
            throws IOException {
        Counted counted = new Counted(content);
        String what;
        try {
            what = summary.of(name, counted);
        } catch (RefusedFolderException e) {
            throw e;
        } catch (IOException e) {
            what = e.getMessage();
        }
        counted.skipAll();
        return new Section(name, counted.bytes, what);
    }

    private void lookAtSegments(Predicate<Incarnation> known) {
        Path folder = path.resolve(ServiceFolder.JOURNAL);
        try {
            if (!disk.exists(folder)) {
                return;
            }
            firstTurns = Segment.firstTurns(disk, folder);
            int needed = JournalRecovery.firstNeeded(firstTurns, baseTurn);
            for (int index = 0; index < firstTurns.size(); index++) {
                segments.add(segment(folder, index, index >= needed, known));
            }
            for (String name : disk.list(folder)) {
                Path file = folder.resolve(name);
                if (segments.stream().noneMatch(it -> it.file().equals(file))) {
                    others.add(other(file));
                }
            }
        } catch (IOException e) {
            problem(folder, e, true);
        }
    }

    private SegmentFile segment(
            Path folder, int index, boolean needed, Predicate<Incarnation> known) {
        long first = firstTurns.get(index);
        Path file = Segment.file(folder, first);
        long[] records = new long[1];
        try {
            SegmentScan scan =
                    Survey.scan(disk, folder, firstTurns, index, (turn, delta) -> records[0]++);
            Incarnation start = scan.header().start();
            if (!needed && !known.test(start)) {
                problem(
                        new RefusedFolderException(
                                file,
                                16,
                                "the segment was written by another folder's start, " + start),
                        false);
            }
            if (needed) {
                forcedTurn = Math.max(forcedTurn, Math.max(scan.calledForced(), first - 1));
            }
            return new SegmentFile(
                    file,
                    bytes(file),
                    Optional.of(start),
                    first,
                    scan.lastTurn(),
                    records[0],
                    scan.end() - (long) SegmentHeader.BYTES,
                    scan.end(),
                    scan.torn(),
                    needed);
        } catch (IOException e) {
            problem(file, e, needed);
            return new SegmentFile(
                    file, bytes(file), Optional.empty(), first, first - 1, 0, 0, 0, false, needed);
        }
    }

    /** As a start decides; why it refuses is mostly among the problems already. */
    private void decide() {
        try {
            lastTurn = Survey.of(disk, path, identity).decision().lastTurn();
            starts = true;
        } catch (IOException e) {
            problem(path, e, true);
        }
    }

    /** The newest turn that follows on the base without a gap. */
    private long chainEnd() {
        long last = baseTurn;
        for (SegmentFile segment : segments) {
            if (segment.needed() && segment.firstTurn() <= last + 1) {
                last = Math.max(last, segment.lastTurn());
            }
        }
        return last;
    }

    private static Other other(Path file) {
        return new Other(file, bytes(file));
    }

    private static long bytes(Path file) {
        try {
            return Files.isDirectory(file) ? 0 : Files.size(file);
        } catch (IOException e) {
            return 0;
        }
    }

    private void problem(Path file, IOException e, boolean needed) {
        if (e instanceof RefusedFolderException refused) {
            problem(refused, needed);
        } else if (e instanceof NoSuchFileException || e instanceof FileNotFoundException) {
            add(new Problem(file, -1, file + ": it cannot be read: " + e.getMessage(), needed));
        } else {
            add(new Problem(file, -1, file + ": it cannot be read: " + e, needed));
        }
    }

    private void problem(RefusedFolderException refused, boolean needed) {
        add(new Problem(refused.file(), refused.offset(), refused.getMessage(), needed));
    }

    private void add(Problem problem) {
        if (problems.stream().noneMatch(it -> it.message().equals(problem.message()))) {
            problems.add(problem);
        }
    }

    /**
     * Reads the sections of the newest base that is whole; none where there is none.
     *
     * @throws IOException of the reader, or where the file changed since it was looked at
     */
    public void sections(Base.SectionReader reader) throws IOException {
        if (baseTurn > 0) {
            Predicate<Incarnation> known = identity == null ? it -> true : identity::knows;
            Survey.readBase(disk, path.resolve(ServiceFolder.BASE), baseTurn, known, reader);
        }
    }

    /**
     * Reads the turns above the base, in order, up to the first gap.
     *
     * @throws IOException of the reader, or where a file changed since it was looked at
     */
    public void turns(Recovered.TurnReader reader) throws IOException {
        Path folder = path.resolve(ServiceFolder.JOURNAL);
        long[] next = {baseTurn + 1};
        for (int index = 0; index < segments.size(); index++) {
            SegmentFile segment = segments.get(index);
            if (segment.needed() && segment.start().isPresent()) {
                Survey.scan(
                        disk,
                        folder,
                        firstTurns,
                        index,
                        (turn, delta) -> {
                            if (turn == next[0]) {
                                next[0]++;
                                reader.turn(turn, delta);
                            }
                        });
            }
        }
    }

    /**
     * Looks at the files of outboxes that the base names, as a start does (K10, K13); where it
     * would refuse them that is a problem.
     *
     * @param needed of which streams messages wait, and behind which count
     */
    public void outbox(Map<Long, Long> needed) {
        if (identity == null || identity.starts().isEmpty()) {
            return;
        }
        OutboxFiles outbox = new OutboxFiles(disk, path, identity.newest(), identity::knows, 0);
        try {
            sections(outbox.beside((name, content) -> {}));
            for (Map.Entry<Long, Long> each : needed.entrySet()) {
                outbox.expectNamed(each.getKey(), each.getValue());
            }
        } catch (IOException e) {
            problem(path.resolve(OutboxFiles.FOLDER), e, true);
            starts = false;
        }
    }

    public Path path() {
        return path;
    }

    /** The process that runs on it, as it calls itself; empty where none does. */
    public Optional<String> inUseBy() {
        return inUseBy;
    }

    /** Whose journal has the newest turns, by its generation; empty where this folder has all. */
    public Optional<Birth> sharedJournal() {
        return Optional.ofNullable(identity)
                .flatMap(Identity::shared)
                .map(Identity.Shared::journal);
    }

    /** The group of which the service is a member, or was one; empty where it never was. */
    public Optional<Membership> membership() {
        return Optional.ofNullable(identity).flatMap(Identity::membership);
    }

    /** The name of the service or client; empty where the identity cannot be read. */
    public Optional<String> name() {
        return Optional.ofNullable(identity).map(Identity::name);
    }

    /** The starts of this folder, the newest at the end; none where they cannot be read. */
    public List<Incarnation> incarnations() {
        return identity == null ? List.of() : identity.starts();
    }

    /** The highest start that is known to have held the head; 0 for none. */
    public long confirmed() {
        return identity == null ? 0 : identity.confirmed();
    }

    /** Whether a start would continue from here. */
    public boolean starts() {
        return starts;
    }

    /** The turn of the newest base that is whole; 0 without one. */
    public long baseTurn() {
        return baseTurn;
    }

    /** The newest turn, or the last before the first gap; 0 where there is none. */
    public long lastTurn() {
        return lastTurn;
    }

    /** Up to which turn something says that it was forced. */
    public long forcedTurn() {
        return forcedTurn;
    }

    /** The newest first. */
    public List<BaseFile> bases() {
        return List.copyOf(bases);
    }

    /** The oldest first. */
    public List<SegmentFile> segments() {
        return List.copyOf(segments);
    }

    /** What else lies there: the reserve, unfinished files, folders of others. */
    public List<Other> others() {
        return List.copyOf(others);
    }

    /** What is not as it should be; none where a start would find nothing to complain of. */
    public List<Problem> problems() {
        return List.copyOf(problems);
    }

    /** Counts what is read of a section. */
    private static final class Counted extends InputStream {

        private final InputStream in;
        private long bytes;

        Counted(InputStream in) {
            this.in = in;
        }

        @Override
        public int read() throws IOException {
            int value = in.read();
            bytes += value < 0 ? 0 : 1;
            return value;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = in.read(into, offset, length);
            bytes += Math.max(0, read);
            return read;
        }

        void skipAll() throws IOException {
            byte[] part = new byte[8_192];
            while (read(part, 0, part.length) >= 0) {
                // Counted.
            }
        }
    }
}
