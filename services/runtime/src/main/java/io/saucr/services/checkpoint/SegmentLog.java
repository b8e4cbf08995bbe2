package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.RefusedSegmentException.Reason;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.FileWindow;
import io.saucr.services.journal.RefusedFolderException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the log files of a member's folder, which hold whole segments, one behind the other without
 * a gap. A file bears the number of its first segment. Stateless.
 */
final class SegmentLog {

    private static final Pattern NAME = Pattern.compile("([0-9]{19})\\.log");

    private static final int DIGEST_BYTES = 32;
    private static final int COPIED_BYTES = 1 << 20;
    private static final int WINDOW_BYTES = 256 << 10;

    private SegmentLog() {}

    /** Where a segment is, and what its header says. */
    record Entry(
            SegmentId id,
            String previous,
            long firstTurn,
            long lastTurn,
            long named,
            Path file,
            long offset,
            int bytes) {

        long number() {
            return id.number();
        }

        Entry after(String same) {
            return new Entry(id, same, firstTurn, lastTurn, named, file, offset, bytes);
        }
    }

    /**
     * What a file holds.
     *
     * @param entries in order, each continuing the one before
     * @param end the byte behind the last one
     * @param size of the file
     * @param problem of what stands at that byte; empty where the file ends there
     */
    record Scan(
            Path file,
            List<Entry> entries,
            long end,
            long size,
            Optional<RefusedSegmentException> problem) {

        Scan {
            entries = List.copyOf(entries);
        }

        /** The problem, with its place in the file. */
        Optional<Damage> damage() {
            return problem.map(it -> new Damage(file, end + it.offset(), it.getMessage()));
        }
    }

    /** The numbers of the first segments of the files, rising. */
    static List<Long> firstNumbers(Disk disk, Path folder) throws IOException {
        return numbers(disk, folder, NAME);
    }

    /** The numbers that names of files bear, rising. */
    static List<Long> numbers(Disk disk, Path folder, Pattern names) throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (String name : disk.list(folder)) {
            Matcher matcher = names.matcher(name);
            if (matcher.matches()) {
                try {
                    numbers.add(Long.parseLong(matcher.group(1)));
                } catch (NumberFormatException e) {
                    throw new RefusedFolderException(
                            folder.resolve(name),
                            -1,
                            "no segment has such a number: it is not ours. Take it out of here");
                }
            }
        }
        numbers.sort(null);
        return numbers;
    }

    static Path file(Path folder, long firstNumber) {
        return folder.resolve(String.format(Locale.ROOT, "%019d.log", firstNumber));
    }

    /**
     * Reads a file up to the first thing in it that is not as it should be.
     *
     * @param first the number that its name says
     * @param service whose file it has to be
     * @param births of that service, by numbers of segments
     * @param whole whether all bytes are checked; else headers and trailers only
     */
    static Scan scan(
            Disk disk,
            Path path,
            long first,
            String service,
            LongFunction<Birth> births,
            boolean whole)
            throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (Disk.File file = disk.open(path)) {
            long size = file.size();
            FileWindow window = new FileWindow(file, size, WINDOW_BYTES);
            long at = 0;
            RefusedSegmentException problem = null;
            while (at < size && problem == null) {
                try {
                    Entry entry = entry(path, window, at, size, service, births, whole);
                    String previous =
                            entries.isEmpty()
                                    ? entry.previous()
                                    : entries.get(entries.size() - 1).id().digest();
                    if (entry.number() != first + entries.size()
                            || !entry.previous().equals(previous)) {
                        throw new RefusedSegmentException(
                                Reason.OUT_OF_PLACE,
                                0,
                                "segment "
                                        + entry.id()
                                        + " stands where segment "
                                        + (first + entries.size())
                                        + " would be, after "
                                        + previous.substring(0, 8)
                                        + ". Put back the files of this folder");
                    }
                    // The same text: there may be a million of these.
                    entries.add(entry.after(previous));
                    at += entry.bytes();
                } catch (RefusedSegmentException e) {
                    problem = e;
                }
            }
            return new Scan(path, entries, at, size, Optional.ofNullable(problem));
        }
    }

    private static Entry entry(
            Path path,
            FileWindow file,
            long at,
            long size,
            String service,
            LongFunction<Birth> births,
            boolean whole)
            throws IOException {
        int there = (int) Math.min(SegmentHeader.MOST_BYTES, size - at);
        SegmentHeader.Found found = SegmentHeader.decode(file.read(at, there));
        SegmentHeader header = found.header();
        header.throwUnlessOf(service, births.apply(header.number()));
        int bytes = found.segmentBytes();
        if (at + bytes > size) {
            throw Segment.torn(size - at, "its body or trailer");
        }
        SegmentId id;
        if (whole) {
            id = Segment.decode(file.read(at, bytes)).id();
        } else {
            byte[] digest = file.read(at + bytes - DIGEST_BYTES, DIGEST_BYTES).array();
            id =
                    new SegmentId(
                            header.by().number(),
                            header.number(),
                            HexFormat.of().formatHex(digest));
        }
        return new Entry(
                id,
                header.previous(),
                header.firstTurn(),
                header.lastTurn(),
                header.named(),
                path,
                at,
                bytes);
    }

    /** Reads segments; keeps a file open while the next one is in it, too. One thread. */
    static final class Reader implements Closeable {

        private final Disk disk;
        private Path path;
        private Disk.File file;
        private FileWindow window;

        Reader(Disk disk) {
            this.disk = disk;
        }

        /** Reads and checks the segment of an entry. */
        Segment read(Entry entry) throws IOException {
            if (!entry.file().equals(path)) {
                close();
                if (!disk.exists(entry.file())) {
                    // To open it would make an empty one.
                    throw new MissingSegmentException(
                            entry.file() + " is missing, with segment " + entry.id());
                }
                file = disk.open(entry.file());
                path = entry.file();
            }
            if (window == null || window.size() < entry.offset() + entry.bytes()) {
                window = new FileWindow(file, file.size(), WINDOW_BYTES);
            }
            long there = Math.max(0, window.size() - entry.offset());
            Segment segment =
                    Segment.decode(
                            window.read(entry.offset(), (int) Math.min(entry.bytes(), there)));
            if (!segment.id().equals(entry.id())) {
                throw new RefusedSegmentException(
                        Reason.OUT_OF_PLACE,
                        0,
                        "segment " + segment.id() + " stands where " + entry.id() + " was");
            }
            return segment;
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                Disk.File open = file;
                file = null;
                path = null;
                window = null;
                open.close();
            }
        }
    }

    /** Whether another segment seems to begin behind a byte. */
    static boolean beginsAfter(Disk.File file, long offset) throws IOException {
        long size = file.size();
        for (long at = offset + 1; at + Long.BYTES <= size; at += COPIED_BYTES) {
            int length = (int) Math.min(COPIED_BYTES + Long.BYTES - 1, size - at);
            ByteBuffer content = FileWindow.read(file, at, length);
            for (int index = 0; index + Long.BYTES <= length; index++) {
                if (content.getLong(index) == SegmentHeader.MAGIC) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Copies bytes of a file to another one; on disk but for its name. */
    static void copy(Disk disk, Disk.File from, long offset, long end, Path to) throws IOException {
        try (Disk.File copy = disk.open(to)) {
            copy.truncate(0);
            for (long at = offset; at < end; at += COPIED_BYTES) {
                ByteBuffer part = FileWindow.read(from, at, (int) Math.min(COPIED_BYTES, end - at));
                copy.write(part, at - offset);
            }
            copy.force();
        }
    }
}
