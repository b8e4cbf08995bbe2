package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.OutboxStream.Place;
import io.saucr.services.journal.OutboxStream.Segment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that wait for peers beyond what memory holds, in files (K13). A stream is the messages
 * for one peer, with rising counts, in files of a bounded size: the first ones go as their messages
 * are needed no more.
 *
 * <p>The journal has each message, too, until a base names the streams, and how far each was
 * written and forced by then (K10). A start keeps what its base names and cuts off the rest, which
 * the turns above that base bring again. So nothing is forced before a base is written, and what
 * was not forced is never needed.
 *
 * <p>The turn thread appends; it never waits for a read. One other thread forces, others read and
 * release.
 *
 * <p>A base that travels to another folder has the messages inside: {@link #inside}. Files are
 * nothing but room then, begun anew by each start.
 */
public final class OutboxFiles {

    static final String FOLDER = "outbox";

    private static final Logger LOG = LoggerFactory.getLogger(OutboxFiles.class);

    private static final int MOST_FILE_BYTES = 16 << 20;

    private final Disk disk;
    private final Path folder;
    private final Incarnation start;
    private final Predicate<Incarnation> known;
    private final long fileBytes;

    /** Held for moments only; guards all fields. */
    private final Object lock = new Object();

    /** Held while files are read, and while they are deleted. */
    private final Object reading = new Object();

    /** Held while a file is forced, and while one that is deleted is closed. */
    private final Object forcing = new Object();

    private final Map<Long, OutboxStream> streams = new TreeMap<>();
    private boolean hasFolder;
    private volatile long bytes;
    private volatile int dirty;

    // Of the turn thread.
    private ByteBuffer buffer = ByteBuffer.allocate(OutboxFile.READ_BYTES);

    /** One stream as a base names it. */
    record Named(long stream, long index, long end, int checksum, long last) {}

    /** Streams, and how far they were written. Immutable. */
    public static final class Names {

        /** No streams. */
        public static final Names NONE = new Names(List.of());

        private final List<Named> all;

        private Names(List<Named> all) {
            this.all = List.copyOf(all);
        }

        List<Named> all() {
            return all;
        }
    }

    /**
     * Files of a service's folder, of which nothing is known yet.
     *
     * @param folder of the service
     * @param start of the service
     * @param known whether a start is one of this folder
     * @param fileBytes about so many bytes a file has, at most 16 MiB
     */
    public OutboxFiles(
            Disk disk,
            Path folder,
            Incarnation start,
            Predicate<Incarnation> known,
            int fileBytes) {
        this.disk = disk;
        this.folder = folder.resolve(FOLDER);
        this.start = start;
        this.known = known;
        this.fileBytes = Math.min(fileBytes, MOST_FILE_BYTES);
    }

    /** No files: for who sees to it that nothing waits beyond what memory holds. */
    public static OutboxFiles none() {
        return new OutboxFiles(null, Path.of(""), null, start -> false, 0);
    }

    /** Whether nothing may be appended. */
    public boolean isNone() {
        return disk == null;
    }

    private Path file(long stream, long index) {
        return OutboxFile.path(folder, stream, index);
    }

    // ---- a start

    /** Whether a section of a base is one that names streams, or holds them. */
    public static boolean isSection(String section) {
        return section.equals(OutboxSections.NAMES) || section.equals(OutboxSections.MESSAGES);
    }

    /**
     * Reads a base's sections, apart from those that name streams or hold them. Nothing is changed
     * by a base that names streams; the messages of one that holds them are written to files, in
     * place of what may be there. {@link #cut} has to follow.
     */
    public Base.SectionReader beside(Base.SectionReader others) {
        return (section, content) -> {
            if (section.equals(OutboxSections.NAMES)) {
                load(OutboxSections.names(content));
            } else if (section.equals(OutboxSections.MESSAGES)) {
                OutboxSections.take(content, this);
            } else {
                others.section(section, content);
            }
        };
    }

    /**
     * Begins with what these names say, in place of {@link #beside} and {@link #cut}: an earlier
     * life of this process wrote that, and is over. It is put on disk, as from now on it counts as
     * recovered.
     */
    public void recover(Names names) throws IOException {
        if (isNone()) {
            return;
        }
        close();
        synchronized (lock) {
            streams.clear();
            bytes = 0;
            dirty = 0;
        }
        load(names.all);
        for (OutboxStream stream : streams.values()) {
            for (Segment segment : stream.segments) {
                try (Disk.File file = disk.open(segment.path)) {
                    file.force();
                }
            }
        }
        if (!streams.isEmpty()) {
            disk.forceFolder(folder);
        }
        cut();
    }

    private void load(List<Named> named) throws IOException {
        Map<Long, NavigableMap<Long, Path>> there = OutboxFile.there(disk, folder);
        for (Named each : named) {
            load(each, there.getOrDefault(each.stream(), new TreeMap<>()));
        }
    }

    private void load(Named named, NavigableMap<Long, Path> files) throws IOException {
        OutboxStream stream = new OutboxStream(named.stream());
        stream.index = named.index();
        stream.checksum = named.checksum();
        stream.last = named.last();
        long next = 0;
        int checksum = 0;
        // The first ones may be gone, as their messages were acked after the base. A power cut may
        // bring back any of these, so that others are missing: only expect() says what is needed.
        for (Map.Entry<Long, Path> each : files.headMap(named.index(), true).entrySet()) {
            Path path = each.getValue();
            if (each.getKey() != next) {
                leave(stream);
            }
            boolean newest = each.getKey() == named.index();
            try (Disk.File file = disk.open(path)) {
                ByteBuffer header =
                        OutboxFile.header(path, file, known, named.stream(), each.getKey());
                Segment segment = new Segment(path, each.getKey(), ChainedFile.before(header));
                if (!stream.segments.isEmpty() && segment.before != checksum) {
                    throw OutboxFile.damaged(path, 12);
                }
                OutboxFile.Reader reader =
                        new OutboxFile.Reader(
                                path,
                                file,
                                OutboxFile.HEADER_BYTES,
                                ChainedFile.headerChecksum(header),
                                newest ? named.end() : file.size());
                while (reader.next()) {
                    segment.first = segment.first == 0 ? reader.count : segment.first;
                    segment.last = reader.count;
                }
                if (newest
                        && (reader.checksum != named.checksum()
                                || segment.last != named.last()
                                || reader.at != named.end())) {
                    throw OutboxFile.damaged(path, reader.at);
                }
                segment.end = reader.at;
                segment.forced = reader.at;
                segment.named = true;
                checksum = reader.checksum;
                stream.segments.add(segment);
                synchronized (lock) {
                    bytes += segment.end;
                }
            }
            next = each.getKey() + 1;
        }
        if (next <= named.index()) {
            leave(stream);
        }
        streams.put(named.stream(), stream);
    }

    private void leave(OutboxStream stream) {
        for (Segment segment : stream.segments) {
            stream.leftOver.add(segment.path);
            synchronized (lock) {
                bytes -= segment.end;
            }
        }
        stream.segments.clear();
    }

    /** Cuts off what the base does not name: the turns above it bring it again. */
    public void cut() throws IOException {
        for (Map.Entry<Long, NavigableMap<Long, Path>> each :
                OutboxFile.there(disk, folder).entrySet()) {
            OutboxStream stream = streams.get(each.getKey());
            for (Map.Entry<Long, Path> file : each.getValue().entrySet()) {
                if (stream == null || file.getKey() > stream.index) {
                    disk.delete(file.getValue());
                }
            }
        }
        for (OutboxStream stream : streams.values()) {
            if (!stream.segments.isEmpty()) {
                Segment newest = stream.segments.getLast();
                try (Disk.File file = disk.open(newest.path)) {
                    if (file.size() > newest.end) {
                        file.truncate(newest.end);
                    }
                }
            }
        }
    }

    /**
     * The one that recovered needs the messages of a stream behind this count.
     *
     * @throws RefusedFolderException where they are not there
     */
    public void expect(long number, long after) throws RefusedFolderException {
        OutboxStream stream = streams.get(number);
        if (stream == null) {
            throw OutboxFile.missing(file(number, 1));
        }
        stream.expect(folder, after);
    }

    /**
     * As {@link #expect}, of what the base names; for the one that did not write what came above
     * it.
     *
     * @throws RefusedFolderException where they are not there
     */
    void expectNamed(long number, long after) throws RefusedFolderException {
        OutboxStream stream = streams.get(number);
        if (stream != null && stream.last > after) {
            expect(number, after);
        }
    }

    // ---- writing

    /**
     * Writes a message behind those that are there. Turn thread.
     *
     * @param number of the stream, which begins with its first message
     * @param count larger than that of the message before
     * @throws IllegalStateException where there are {@link #none}
     */
    public void append(long number, long count, byte[] message) throws IOException {
        if (isNone()) {
            throw new IllegalStateException("message " + count + " has no file to go to");
        }
        OutboxStream stream;
        Segment segment;
        synchronized (lock) {
            stream = streams.computeIfAbsent(number, OutboxStream::new);
            if (count <= stream.last) {
                throw new IllegalArgumentException(
                        "message " + count + " of stream " + number + " is behind " + stream.last);
            }
            segment = stream.segments.peekLast();
        }
        boolean begins = segment == null || segment.end >= fileBytes;
        if (begins) {
            segment = begin(stream);
        } else if (segment.file == null) {
            segment.file = disk.open(segment.path);
        }
        int length = message.length;
        if (buffer.capacity() < OutboxFile.RECORD_BYTES + length) {
            buffer = ByteBuffer.allocate(OutboxFile.RECORD_BYTES + length);
        }
        buffer.clear().putInt(length).putInt(0).putLong(count).put(message).flip();
        int checksum = OutboxFile.checksum(stream.checksum, buffer);
        buffer.putInt(4, checksum);
        segment.file.write(buffer, segment.end);
        if (buffer.capacity() > 1 << 20) {
            buffer = ByteBuffer.allocate(OutboxFile.READ_BYTES);
        }
        synchronized (lock) {
            dirty += segment.forced == segment.end || begins ? 1 : 0;
            if (begins) {
                segment.first = count;
                stream.segments.add(segment);
                stream.index = segment.index;
                bytes += OutboxFile.HEADER_BYTES;
            }
            segment.last = count;
            segment.end += OutboxFile.RECORD_BYTES + length;
            bytes += OutboxFile.RECORD_BYTES + length;
            stream.checksum = checksum;
            stream.last = count;
        }
    }

    private Segment begin(OutboxStream stream) throws IOException {
        if (!hasFolder) {
            disk.makeFolder(folder);
            hasFolder = true;
        }
        long index = stream.index + 1;
        Segment segment = new Segment(file(stream.number, index), index, stream.checksum);
        ByteBuffer header =
                ChainedFile.header(OutboxFile.KIND, stream.checksum, start, stream.number, index);
        segment.file = disk.open(segment.path);
        boolean done = false;
        try {
            segment.file.truncate(0);
            segment.file.write(header, 0);
            done = true;
        } finally {
            if (!done) {
                segment.file.close();
            }
        }
        stream.checksum = ChainedFile.headerChecksum(header);
        closeForced();
        return segment;
    }

    /** Files that are not written any more, or not soon. */
    private void closeForced() throws IOException {
        List<Disk.File> files = new ArrayList<>();
        synchronized (lock) {
            for (OutboxStream stream : streams.values()) {
                for (Segment segment : stream.segments) {
                    if (segment.file != null && segment.forced == segment.end) {
                        files.add(segment.file);
                        segment.file = null;
                    }
                }
            }
        }
        for (Disk.File file : files) {
            file.close();
        }
    }

    /** How far these streams are written now, for a base. Turn thread. */
    public Names names(Set<Long> which) {
        if (which.isEmpty()) {
            return Names.NONE;
        }
        List<Named> all = new ArrayList<>();
        synchronized (lock) {
            for (long number : which) {
                all.add(streams.get(number).named());
            }
        }
        return new Names(all);
    }

    /**
     * Puts on disk what these names say; before the base that names them. One thread.
     *
     * @throws IOException where that fails: what is on disk then is unknown, and nothing that was
     *     written may ever be named
     */
    public void force(Names names) throws IOException {
        boolean named = false;
        for (Named each : names.all) {
            List<Segment> unforced = new ArrayList<>();
            synchronized (lock) {
                OutboxStream stream = streams.get(each.stream());
                if (stream == null) {
                    continue;
                }
                for (Segment segment : stream.segments) {
                    if (segment.forced < segment.end && segment.index <= each.index()) {
                        unforced.add(segment);
                    }
                }
            }
            for (Segment segment : unforced) {
                named |= force(segment);
            }
        }
        if (named) {
            disk.forceFolder(folder);
        }
    }

    /** Whether its name has to be forced, too. */
    private boolean force(Segment segment) throws IOException {
        synchronized (forcing) {
            long end;
            synchronized (lock) {
                if (segment.file == null) {
                    // Released meanwhile.
                    return false;
                }
                end = segment.end;
            }
            segment.file.force();
            synchronized (lock) {
                boolean named = segment.named;
                segment.forced = end;
                segment.named = true;
                dirty -= segment.end == end ? 1 : 0;
                return !named;
            }
        }
    }

    /** The sections with that which names streams behind them. */
    public static Base.Sections with(Names names, Base.Sections others) {
        return writer -> {
            others.writeTo(writer);
            if (!names.all.isEmpty()) {
                OutboxSections.write(names, writer.section(OutboxSections.NAMES));
            }
        };
    }

    /**
     * The sections with the messages of these streams behind them, for a base that needs no files
     * next to it. Messages that are released meanwhile may be left out: who released them has made
     * sure that nobody needs them who reads that base. They may be written on any thread.
     */
    public Base.Sections inside(Names names, Base.Sections others) {
        return writer -> {
            others.writeTo(writer);
            if (!names.all.isEmpty()) {
                // Nobody needs the files on disk; but only those that are forced are closed.
                force(names);
                OutboxSections.write(names, writer.section(OutboxSections.MESSAGES), this);
            }
        };
    }

    /** Begins a stream whose messages follow; false where there is one of that number. */
    boolean begin(long number) {
        synchronized (lock) {
            return streams.putIfAbsent(number, new OutboxStream(number)) == null;
        }
    }

    /** Where all were released, what follows is behind them nevertheless. */
    void end(long number, long last) {
        synchronized (lock) {
            streams.get(number).last = last;
        }
    }

    /** The count before the first message that is there and not released. */
    long neededAfter(long number) {
        synchronized (lock) {
            OutboxStream stream = streams.get(number);
            return stream == null ? Long.MAX_VALUE : stream.neededAfter();
        }
    }

    // ---- reading

    /**
     * Reads messages behind a count, in their order; empty where they were released meanwhile. Not
     * the turn thread.
     *
     * @param most so many at most
     * @param bytesAtMost of them all, but at least one
     * @throws IOException where they cannot be read: the process has to halt
     */
    public List<byte[]> read(long number, long after, int most, long bytesAtMost)
            throws IOException {
        synchronized (reading) {
            List<byte[]> found = new ArrayList<>();
            long left = bytesAtMost;
            Optional<Place> place = ask(number, it -> it.place(after));
            while (place.isPresent() && found.size() < most) {
                Place from = place.get();
                boolean full = false;
                try (Disk.File file = disk.open(from.segment().path)) {
                    OutboxFile.Reader reader =
                            new OutboxFile.Reader(
                                    from.segment().path,
                                    file,
                                    from.offset(),
                                    from.checksum(),
                                    from.end());
                    if (from.offset() == OutboxFile.HEADER_BYTES) {
                        reader.checksum =
                                ChainedFile.headerChecksum(
                                        ChainedFile.header(OutboxFile.KIND, file));
                    }
                    long at = from.offset();
                    int checksum = reader.checksum;
                    long last = from.count();
                    while (!full && reader.next()) {
                        if (reader.count > after) {
                            if (reader.count != after + 1 + found.size()) {
                                throw OutboxFile.damaged(from.segment().path, at);
                            }
                            left -= reader.content.length;
                            full = found.size() == most || (left < 0 && !found.isEmpty());
                            if (full) {
                                break;
                            }
                            found.add(reader.content);
                        }
                        at = reader.at;
                        checksum = reader.checksum;
                        last = reader.count;
                    }
                    Place stopped = new Place(from.segment(), at, checksum, from.end(), last);
                    ask(number, it -> it.keep(stopped));
                }
                place = full ? Optional.empty() : ask(number, it -> it.next(from));
            }
            if (found.isEmpty() && ask(number, it -> it.needs(after)).isPresent()) {
                throw OutboxFile.missing(file(number, 1));
            }
            return found;
        }
    }

    /** Asks a stream; nothing where it was released. */
    private <T> Optional<T> ask(long number, Function<OutboxStream, Optional<T>> question) {
        synchronized (lock) {
            return Optional.ofNullable(streams.get(number)).flatMap(question);
        }
    }

    // ---- giving space back

    /**
     * Lets the files go of which no message is needed any more. Not the turn thread.
     *
     * @param upTo nobody needs the messages up to this count; {@link Long#MAX_VALUE} for all
     */
    public void release(long number, long upTo) throws IOException {
        List<Segment> gone = new ArrayList<>();
        List<Path> paths = new ArrayList<>();
        synchronized (lock) {
            OutboxStream stream = streams.get(number);
            if (stream == null) {
                return;
            }
            paths.addAll(stream.leftOver);
            stream.leftOver.clear();
            stream.released = Math.max(stream.released, upTo);
            for (Iterator<Segment> each = stream.segments.iterator(); each.hasNext(); ) {
                Segment segment = each.next();
                boolean whole = segment.last <= upTo && segment.index < stream.index;
                if (!whole && upTo < Long.MAX_VALUE) {
                    break;
                }
                each.remove();
                gone.add(segment);
                paths.add(segment.path);
                bytes -= segment.end;
                dirty -= segment.forced < segment.end ? 1 : 0;
            }
            if (upTo == Long.MAX_VALUE) {
                streams.remove(number);
            }
        }
        synchronized (reading) {
            for (Path path : paths) {
                disk.delete(path);
            }
        }
        synchronized (forcing) {
            for (Segment segment : gone) {
                Disk.File file;
                synchronized (lock) {
                    file = segment.file;
                    segment.file = null;
                }
                if (file != null) {
                    file.close();
                }
            }
        }
    }

    /** Bytes of all files. Any thread. */
    public long bytes() {
        return bytes;
    }

    /** How many files are open and not forced: a base is due where these are many. Any thread. */
    public int dirty() {
        return dirty;
    }

    /** Closes what is open. */
    public void close() {
        synchronized (lock) {
            for (OutboxStream stream : streams.values()) {
                for (Segment segment : stream.segments) {
                    if (segment.file != null) {
                        try {
                            segment.file.close();
                        } catch (IOException e) {
                            LOG.warn("{} could not be closed", segment.path, e);
                        }
                        segment.file = null;
                    }
                }
            }
        }
    }
}
