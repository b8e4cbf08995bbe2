package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/**
 * Segments in a folder that members share, of this machine or a network's: a file for each, which
 * gets its name once it is on disk. Any thread.
 */
public final class FolderStore implements SharedStore {

    private static final String UNFINISHED = ".tmp";

    private final Disk disk;
    private final Path folder;
    private final String service;
    private final Birth birth;
    private final SecureRandom random;

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
        this.disk = disk;
        this.folder = folder;
        this.service = service;
        this.birth = birth;
        this.random = random;
        disk.makeFolder(folder);
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
        // Also where it is there: whoever wrote it may not have come to force it.
        Path beside =
                folder.resolve(
                        file.getFileName()
                                + "."
                                + HexFormat.of().toHexDigits(random.nextLong())
                                + UNFINISHED);
        boolean written = false;
        try {
            try (Disk.File opened = disk.open(beside)) {
                opened.write(segment.toWrite(), 0);
                opened.force();
            }
            disk.rename(beside, file);
            written = true;
        } finally {
            if (!written) {
                deleteQuietly(beside);
            }
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

    @Override
    public List<SegmentId> list() throws IOException {
        return SegmentName.parse(disk.list(folder));
    }

    @Override
    public void drop(SegmentId id) throws IOException {
        disk.delete(folder.resolve(SegmentName.of(id)));
        disk.forceFolder(folder);
    }

    /**
     * Deletes what was left by processes that ended while they wrote a segment; not while any may
     * be writing.
     *
     * @throws IOException where the disk fails
     */
    public void sweep() throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(UNFINISHED)) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    @Override
    public void close() {}
}
