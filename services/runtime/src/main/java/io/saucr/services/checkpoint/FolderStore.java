package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Segments and bases in a folder that members share, of this machine or a network's: a file for
 * each, which gets its name once it is on disk (C2). Any thread.
 */
public final class FolderStore implements SharedStore {

    private static final String UNFINISHED = ".tmp";
    private static final int PART_BYTES = 64 << 10;

    private final Disk disk;
    private final Path folder;
    private final String service;
    private final Birth birth;
    private final SecureRandom random;

    /** What this process is writing, by all its stores there: no sweep of its own takes it. */
    private final Set<String> writing;

    private final boolean onlyRead;

    /**
     * Those of a service, in a folder that is there; each birth has a folder in it.
     *
     * @param random for names of files that are being written
     */
    public static Opener in(Disk disk, Path shared, String service, SecureRandom random) {
        Set<String> writing = ConcurrentHashMap.newKeySet();
        return opener(
                disk,
                shared,
                (folder, birth) -> {
                    disk.makeFolder(folder);
                    return new FolderStore(disk, folder, service, birth, random, writing, false);
                });
    }

    /**
     * The same, to look at: nothing of it is changed, so it may be mounted to be read only. Of a
     * birth of which there is nothing, nothing is there.
     */
    public static Opener toRead(Path shared, String service) {
        Disk disk = Disk.readOnly();
        return opener(
                disk,
                shared,
                (folder, birth) ->
                        new FolderStore(
                                disk, folder, service, birth, new SecureRandom(), Set.of(), true));
    }

    private interface OfBirth {
        FolderStore open(Path folder, Birth birth) throws IOException;
    }

    private static Opener opener(Disk disk, Path shared, OfBirth each) {
        return new Opener() {
            @Override
            public SharedStore open(Birth birth) throws IOException {
                throwUnlessThere(disk, shared);
                return each.open(shared.resolve(birth.toString()), birth);
            }

            @Override
            public String where() {
                return shared.toString();
            }

            @Override
            public void close() {}
        };
    }

    /**
     * Whether a folder can be shared: it is there, and files can be made in it.
     *
     * @throws RefusedFolderException where not; says what to do
     */
    public static void check(Disk disk, Path shared, SecureRandom random) throws IOException {
        throwUnlessThere(disk, shared);
        Path probe =
                shared.resolve(
                        "probe." + HexFormat.of().toHexDigits(random.nextLong()) + UNFINISHED);
        try {
            disk.open(probe).close();
            disk.delete(probe);
        } catch (IOException e) {
            throw new RefusedFolderException(
                    shared,
                    -1,
                    "members are to share their segments here, and no file can be made in it: "
                            + e
                            + ". Let the user that runs the members write there");
        }
    }

    private static void throwUnlessThere(Disk disk, Path shared) throws IOException {
        if (!disk.exists(shared)) {
            // To make it might make one where a network's should be mounted.
            throw new RefusedFolderException(
                    shared,
                    -1,
                    "members are to share their segments here, and there is no such folder. Mount"
                            + " it, or make it");
        }
        try {
            List<String> unused = disk.list(shared);
        } catch (IOException e) {
            throw new RefusedFolderException(
                    shared,
                    -1,
                    "members are to share their segments here, and it cannot be read as a folder: "
                            + e);
        }
    }

    /**
     * Makes the folder, where there is none.
     *
     * @param service whose segments are in it
     * @param birth of that service
     * @param random for names of files that are being written
     * @throws IOException where the disk fails
     */
    public FolderStore(Disk disk, Path folder, String service, Birth birth, SecureRandom random)
            throws IOException {
        this(disk, folder, service, birth, random, ConcurrentHashMap.newKeySet(), false);
        disk.makeFolder(folder);
    }

    private FolderStore(
            Disk disk,
            Path folder,
            String service,
            Birth birth,
            SecureRandom random,
            Set<String> writing,
            boolean onlyRead) {
        this.disk = disk;
        this.folder = folder;
        this.service = service;
        this.birth = birth;
        this.random = random;
        this.writing = writing;
        this.onlyRead = onlyRead;
    }

    /**
     * {@inheritDoc}
     *
     * @throws RefusedFolderException where a file of its name holds something else; it was left as
     *     it is
     */
    @Override
    public void append(Segment segment) throws IOException {
        SegmentName.throwUnlessOf(segment, service, birth);
        Path file = folder.resolve(SegmentName.of(segment.id()));
        if (disk.exists(file) && !content(file).equals(segment.encoded())) {
            throw new RefusedFolderException(
                    file,
                    -1,
                    "it holds something else than segment "
                            + segment.id()
                            + ": it is damaged, or another program's. It was left as it is; take it"
                            + " out of the folder");
        }
        // Also where it is there: the one that wrote it may not have come to force it.
        put(file, to -> to.write(segment.toWrite(), 0));
    }

    private interface Content {
        void writeTo(Disk.File file) throws IOException;
    }

    /** A file gets its name once its content is on disk. */
    private void put(Path file, Content content) throws IOException {
        Path beside =
                folder.resolve(
                        file.getFileName()
                                + "."
                                + HexFormat.of().toHexDigits(random.nextLong())
                                + UNFINISHED);
        String name = beside.getFileName().toString();
        writing.add(name);
        boolean written = false;
        try {
            try (Disk.File opened = disk.open(beside)) {
                content.writeTo(opened);
                opened.force();
            }
            disk.rename(beside, file);
            written = true;
        } catch (FileSystemException e) {
            // By the name that it is to have: the other one is new each time.
            String why = e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
            throw (IOException) new FileSystemException(file.toString(), null, why).initCause(e);
        } finally {
            if (!written) {
                deleteQuietly(beside);
            }
            writing.remove(name);
        }
        disk.forceFolder(folder);
    }

    private void deleteQuietly(Path beside) {
        try {
            disk.delete(beside);
        } catch (IOException e) {
            // What made this fail is thrown already; sweep finds the file.
        }
    }

    private ByteBuffer content(Path file) throws IOException {
        try (Disk.File opened = disk.open(file)) {
            if (opened.size() > Segment.LARGEST_BYTES) {
                throw new RefusedSegmentException(
                        RefusedSegmentException.Reason.LENGTH,
                        Segment.LARGEST_BYTES,
                        file
                                + " has "
                                + opened.size()
                                + " bytes, and segments have at most "
                                + Segment.LARGEST_BYTES
                                + ". It was left as it is; take it out of the folder");
            }
            ByteBuffer content = ByteBuffer.allocate((int) opened.size());
            opened.read(content, 0);
            return content.flip();
        }
    }

    @Override
    public Segment read(SegmentId id) throws IOException {
        Path file = folder.resolve(SegmentName.of(id));
        if (!disk.exists(file)) {
            // To open it would make an empty one.
            throw new MissingSegmentException("segment " + id + " is not in " + folder);
        }
        return SegmentName.checked(id, Segment.decode(content(file)), service, birth);
    }

    /** On disk, also where the one that gave them did not come to force them. */
    private List<String> names() throws IOException {
        if (onlyRead) {
            return disk.exists(folder) ? disk.list(folder) : List.of();
        }
        List<String> names = disk.list(folder);
        disk.forceFolder(folder);
        return names;
    }

    @Override
    public List<SegmentId> list() throws IOException {
        return SegmentName.parse(names());
    }

    @Override
    public List<SegmentId> bases() throws IOException {
        return SegmentName.parseBases(names());
    }

    @Override
    public void putBase(ShippedBase base) throws IOException {
        put(
                folder.resolve(SegmentName.ofBase(base.at())),
                to -> {
                    long at = 0;
                    for (ByteBuffer part = base.next(PART_BYTES);
                            part.hasRemaining();
                            part = base.next(PART_BYTES)) {
                        int bytes = part.remaining();
                        to.write(part, at);
                        at += bytes;
                    }
                });
    }

    @Override
    public ShippedBase base(SegmentId at) throws IOException {
        Path file = folder.resolve(SegmentName.ofBase(at));
        if (!disk.exists(file)) {
            // To open it would make an empty one.
            throw new MissingSegmentException("the base as of " + at + " is not in " + folder);
        }
        Disk.File opened = disk.open(file);
        boolean whole = false;
        try {
            ShippedBase base = SegmentName.checkedBase(at, opened, file, service, birth);
            whole = true;
            return base;
        } finally {
            if (!whole) {
                opened.close();
            }
        }
    }

    @Override
    public void drop(SegmentId id) throws IOException {
        delete(SegmentName.of(id));
    }

    @Override
    public void dropBase(SegmentId at) throws IOException {
        delete(SegmentName.ofBase(at));
    }

    private void delete(String name) throws IOException {
        disk.delete(folder.resolve(name));
        disk.forceFolder(folder);
    }

    @Override
    public void sweep() throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(UNFINISHED) && !writing.contains(name)) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    @Override
    public void close() {}
}
