package io.saucr.services.journal;

import io.saucr.services.core.journal.SegmentHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One file of a journal. It bears the name of its first turn once everything before that turn and
 * its own header are on disk; before, a name that recovery passes over. Filled by the turn thread;
 * named, forced and sealed by the force thread; what both read is guarded by the journal's lock.
 */
final class Segment {

    private static final Pattern NAME = Pattern.compile("([0-9]{19})\\.log");
    private static final String UNNAMED = ".tmp";
    private static final int FILL_BYTES = 1 << 20;

    private final Disk.File file;
    private final long firstTurn;
    private final int mark;
    private final int capacity;
    private Path path;
    private boolean named;
    private long lastTurn;
    private long recordBytes;

    private Segment(
            Path path, Disk.File file, long firstTurn, int mark, int capacity, boolean named) {
        this.path = path;
        this.file = file;
        this.firstTurn = firstTurn;
        this.mark = mark;
        this.capacity = capacity;
        this.named = named;
        this.lastTurn = firstTurn - 1;
    }

    /** The first turns of the segments in a folder, rising. */
    static List<Long> firstTurns(Disk disk, Path folder) throws IOException {
        List<Long> turns = new ArrayList<>();
        for (String name : disk.list(folder)) {
            Matcher matcher = NAME.matcher(name);
            if (matcher.matches()) {
                try {
                    turns.add(Long.parseLong(matcher.group(1)));
                } catch (NumberFormatException e) {
                    throw new RefusedFolderException(
                            folder.resolve(name), -1, "no turn has such a number: it is not ours");
                }
            }
        }
        turns.sort(null);
        return turns;
    }

    static Path file(Path folder, long firstTurn) {
        return folder.resolve(String.format(Locale.ROOT, "%019d.log", firstTurn));
    }

    /** A file for a segment, which has no header yet. */
    static Path unnamed(Path folder, long number) {
        return folder.resolve(number + UNNAMED);
    }

    /** Deletes files that got no name: nothing in them was ever reported as forced. */
    static void deleteUnnamed(Disk disk, Path folder) throws IOException {
        for (String name : disk.list(folder)) {
            if (name.endsWith(UNNAMED)) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    /** A segment that takes no turns any more, with no file open. */
    static Segment sealed(Path path, long firstTurn, long lastTurn, long recordBytes) {
        Segment segment = new Segment(path, null, firstTurn, 0, 0, true);
        segment.lastTurn = lastTurn;
        segment.recordBytes = recordBytes;
        return segment;
    }

    /** The first segment of a start: on disk, name and all, when this returns. */
    static Segment begin(Disk disk, Path folder, int segmentBytes, SegmentHeader header)
            throws IOException {
        Path path = unnamed(folder, 0);
        for (String name : disk.list(folder)) {
            if (name.endsWith(UNNAMED)) {
                path = folder.resolve(name);
            }
        }
        Disk.File file = disk.open(path);
        boolean done = false;
        try {
            // What the last process had ready, or did not get to name, serves again.
            if (file.size() != segmentBytes) {
                file.truncate(0);
                zeros(file, segmentBytes, false);
            }
            Segment segment = fill(path, file, segmentBytes, header);
            segment.name(disk);
            done = true;
            return segment;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }

    /**
     * Fills a file with zeros, so that a force later has no size or block to write next to records.
     *
     * @param inParts whether to force it part by part, as forces of other files wait for what is
     *     under way
     */
    static void zeros(Disk.File file, int segmentBytes, boolean inParts) throws IOException {
        byte[] zeros = new byte[Math.min(FILL_BYTES, segmentBytes)];
        for (int at = 0; at < segmentBytes; at += zeros.length) {
            file.write(ByteBuffer.wrap(zeros, 0, Math.min(zeros.length, segmentBytes - at)), at);
            if (inParts) {
                file.force();
            }
        }
    }

    /** Begins a segment in a file that holds zeros, or what it held in an earlier use. */
    static Segment fill(Path path, Disk.File file, int capacity, SegmentHeader header)
            throws IOException {
        file.write(header.encode(), 0);
        return new Segment(path, file, header.firstTurn(), header.mark(), capacity, false);
    }

    /**
     * Puts it on disk and gives it its name, where it has none. Everything before it is on disk.
     */
    void name(Disk disk) throws IOException {
        file.force();
        if (!named) {
            Path folder = path.getParent();
            Path to = file(folder, firstTurn);
            disk.rename(path, to);
            disk.forceFolder(folder);
            path = to;
            named = true;
        }
    }

    boolean isNamed() {
        return named;
    }

    /** An empty one always has: a record that is larger than a segment makes its file grow. */
    boolean hasRoom(long bytes) {
        return recordBytes == 0 || SegmentHeader.BYTES + recordBytes + bytes <= capacity;
    }

    /** Writes a record behind the others; it is not one of them before {@link #appended}. */
    void write(ByteBuffer record) throws IOException {
        file.write(record, SegmentHeader.BYTES + recordBytes);
    }

    void appended(long turn, long bytes) {
        lastTurn = turn;
        recordBytes += bytes;
    }

    void close() throws IOException {
        if (file != null) {
            file.close();
        }
    }

    Path path() {
        return path;
    }

    int mark() {
        return mark;
    }

    long firstTurn() {
        return firstTurn;
    }

    long lastTurn() {
        return lastTurn;
    }

    long recordBytes() {
        return recordBytes;
    }
}
