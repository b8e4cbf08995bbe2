package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
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
 *
 * <p>A file, big endian: 8 bytes "saucrbox", format (4), checksum of the file before it (4), birth
 * (16), incarnation (8), nonce (8), stream (8), index (8), zero (4), CRC32C of all that (4). Then
 * messages: length (4), CRC32C of the checksum before it, length, count and content (4), count (8),
 * content.
 */
public final class OutboxFiles {

    static final String FOLDER = "outbox";

    /** The section of a base that names streams; a release that knows no streams refuses it. */
    private static final String SECTION = "outbox";

    /** The section of a base that holds the messages; a release that knows none refuses it. */
    private static final String MESSAGES = "messages";

    private static final int MESSAGES_FORMAT = 1;

    /** So much is read at once for a base, so that it holds nobody up who waits to read. */
    private static final int INSIDE_BYTES = 1 << 20;

    private static final int MOST_INSIDE = 1 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(OutboxFiles.class);

    private static final Pattern NAME = Pattern.compile("([0-9]{19})-([0-9]{9})\\.box");
    private static final long MAGIC = 0x7361756372626f78L;
    private static final int FORMAT = 1;
    private static final int HEADER_BYTES = 72;
    private static final int RECORD_BYTES = 16;
    private static final int READ_BYTES = 64 << 10;
    private static final int MOST_FILE_BYTES = 16 << 20;
    private static final int MOST_STREAMS = 1 << 24;

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

    private final Map<Long, Stream> streams = new TreeMap<>();
    private boolean hasFolder;
    private volatile long bytes;
    private volatile int dirty;

    // Of the turn thread.
    private ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);

    private static final class Stream {
        final long number;
        final Deque<Segment> segments = new ArrayDeque<>();

        /**
         * Whose successors are gone: nobody needs them, and they were not deleted, or came back.
         */
        final List<Path> leftOver = new ArrayList<>();

        /** Of the newest file, or that which a base named and which is gone. */
        long index;

        int checksum;
        long last;
        long released;

        // Guarded by the lock for reading.
        Segment at;
        long atOffset;
        int atChecksum;
        long atCount;

        Stream(long number) {
            this.number = number;
        }
    }

    private static final class Segment {
        final Path path;
        final long index;
        final int before;
        long first;
        long last;
        long end = HEADER_BYTES;
        long forced;
        boolean named;
        Disk.File file;

        Segment(Path path, long index, int before) {
            this.path = path;
            this.index = index;
            this.before = before;
        }
    }

    /** One stream as a base names it. */
    private record Named(long stream, long index, long end, int checksum, long last, Segment at) {}

    /** Streams, and how far they were written. Immutable. */
    public static final class Names {

        /** No streams. */
        public static final Names NONE = new Names(List.of());

        private final List<Named> all;

        private Names(List<Named> all) {
            this.all = List.copyOf(all);
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
        return folder.resolve(String.format(Locale.ROOT, "%019d-%09d.box", stream, index));
    }

    // ---- a start

    /** Whether a section of a base is one that names streams, or holds them. */
    public static boolean isSection(String section) {
        return section.equals(SECTION) || section.equals(MESSAGES);
    }

    /**
     * Reads a base's sections, apart from those that name streams or hold them. Nothing is changed
     * by a base that names streams; the messages of one that holds them are written to files, in
     * place of what may be there. {@link #cut} has to follow.
     */
    public Base.SectionReader beside(Base.SectionReader others) {
        return (section, content) -> {
            if (section.equals(SECTION)) {
                load(content);
            } else if (section.equals(MESSAGES)) {
                take(content);
            } else {
                others.section(section, content);
            }
        };
    }

    private void load(InputStream content) throws IOException {
        List<Named> named = new ArrayList<>();
        DataInputStream in = new DataInputStream(content);
        try {
            int count = in.readInt();
            if (count < 0 || count > MOST_STREAMS) {
                throw new IOException("a base's section " + SECTION + " names no " + count);
            }
            for (int index = 0; index < count; index++) {
                named.add(
                        new Named(
                                in.readLong(),
                                in.readLong(),
                                in.readLong(),
                                in.readInt(),
                                in.readLong(),
                                null));
            }
        } catch (EOFException e) {
            throw new IOException("a base's section " + SECTION + " ends early", e);
        }
        Map<Long, NavigableMap<Long, Path>> there = there();
        for (Named each : named) {
            load(each, there.getOrDefault(each.stream(), new TreeMap<>()));
        }
    }

    private Map<Long, NavigableMap<Long, Path>> there() throws IOException {
        Map<Long, NavigableMap<Long, Path>> there = new HashMap<>();
        if (disk.exists(folder)) {
            for (String name : disk.list(folder)) {
                Matcher matcher = NAME.matcher(name);
                if (matcher.matches()) {
                    there.computeIfAbsent(Long.valueOf(matcher.group(1)), it -> new TreeMap<>())
                            .put(Long.valueOf(matcher.group(2)), folder.resolve(name));
                }
            }
        }
        return there;
    }

    private void load(Named named, NavigableMap<Long, Path> files) throws IOException {
        Stream stream = new Stream(named.stream());
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
                Segment segment = header(path, file, named.stream(), each.getKey());
                if (!stream.segments.isEmpty() && segment.before != checksum) {
                    throw damaged(path, 12);
                }
                Reader reader =
                        new Reader(
                                path,
                                file,
                                HEADER_BYTES,
                                headerChecksum(file),
                                newest ? named.end() : file.size());
                while (reader.next()) {
                    segment.first = segment.first == 0 ? reader.count : segment.first;
                    segment.last = reader.count;
                }
                if (newest
                        && (reader.checksum != named.checksum()
                                || segment.last != named.last()
                                || reader.at != named.end())) {
                    throw damaged(path, reader.at);
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

    private void leave(Stream stream) {
        for (Segment segment : stream.segments) {
            stream.leftOver.add(segment.path);
            synchronized (lock) {
                bytes -= segment.end;
            }
        }
        stream.segments.clear();
    }

    private Segment header(Path path, Disk.File file, long stream, long index) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        file.read(header, 0);
        if (header.hasRemaining() || header.getLong(0) != MAGIC) {
            throw new RefusedFolderException(path, 0, "these are no messages of a service");
        }
        if (header.getInt(HEADER_BYTES - 4) != checksum(header)) {
            throw damaged(path, 0);
        }
        if (header.getInt(8) != FORMAT) {
            throw new RefusedFolderException(
                    path,
                    8,
                    "the messages have format "
                            + header.getInt(8)
                            + ", and this release reads format "
                            + FORMAT
                            + "; use the release that wrote it");
        }
        Incarnation writer =
                new Incarnation(
                        new Birth(header.getLong(16), header.getLong(24)),
                        header.getLong(32),
                        header.getLong(40));
        if (!known.test(writer)) {
            throw new RefusedFolderException(
                    path,
                    16,
                    "the messages were written by another folder's start, "
                            + writer
                            + "; put back the files of this folder");
        }
        if (header.getLong(48) != stream || header.getLong(56) != index) {
            throw new RefusedFolderException(
                    path,
                    48,
                    "it is file "
                            + header.getLong(56)
                            + " of stream "
                            + header.getLong(48)
                            + ", not that of its name; give it its name back");
        }
        return new Segment(path, index, header.getInt(12));
    }

    private static int headerChecksum(Disk.File file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        file.read(header, 0);
        return header.getInt(HEADER_BYTES - 4);
    }

    private static int checksum(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().limit(HEADER_BYTES - 4).position(0));
        return (int) crc.getValue();
    }

    private static RefusedFolderException damaged(Path path, long offset) {
        return new RefusedFolderException(
                path,
                offset,
                "messages that wait for a peer are damaged, although they were on disk. Put the file"
                        + " back from a copy under a new generation, or give the service up");
    }

    private static RefusedFolderException missing(Path path) {
        return new RefusedFolderException(
                path, -1, "it is missing, with messages that wait for a peer. Put it back");
    }

    /** Cuts off what the base does not name: the turns above it bring it again. */
    public void cut() throws IOException {
        for (Map.Entry<Long, NavigableMap<Long, Path>> each : there().entrySet()) {
            Stream stream = streams.get(each.getKey());
            for (Map.Entry<Long, Path> file : each.getValue().entrySet()) {
                if (stream == null || file.getKey() > stream.index) {
                    disk.delete(file.getValue());
                }
            }
        }
        for (Stream stream : streams.values()) {
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
     * Whoever recovered needs the messages of a stream behind this count.
     *
     * @throws RefusedFolderException where they are not there
     */
    public void expect(long number, long after) throws RefusedFolderException {
        Stream stream = streams.get(number);
        if (stream == null || stream.segments.isEmpty()) {
            throw missing(file(number, stream == null ? 1 : stream.index));
        }
        Segment first = stream.segments.getFirst();
        if (first.first > after + 1 && first.index > 1) {
            throw missing(file(number, first.index - 1));
        }
        if (first.first > after + 1 || stream.last <= after) {
            throw damaged(first.path, HEADER_BYTES);
        }
    }

    /**
     * As {@link #expect}, of what the base names; for whoever did not write what came above it.
     *
     * @throws RefusedFolderException where they are not there
     */
    void expectNamed(long number, long after) throws RefusedFolderException {
        Stream stream = streams.get(number);
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
        Stream stream;
        Segment segment;
        synchronized (lock) {
            stream = streams.computeIfAbsent(number, Stream::new);
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
        if (buffer.capacity() < RECORD_BYTES + length) {
            buffer = ByteBuffer.allocate(RECORD_BYTES + length);
        }
        buffer.clear().putInt(length).putInt(0).putLong(count).put(message).flip();
        int checksum = checksum(stream.checksum, buffer);
        buffer.putInt(4, checksum);
        segment.file.write(buffer, segment.end);
        if (buffer.capacity() > 1 << 20) {
            buffer = ByteBuffer.allocate(READ_BYTES);
        }
        synchronized (lock) {
            dirty += segment.forced == segment.end || begins ? 1 : 0;
            if (begins) {
                segment.first = count;
                stream.segments.add(segment);
                stream.index = segment.index;
                bytes += HEADER_BYTES;
            }
            segment.last = count;
            segment.end += RECORD_BYTES + length;
            bytes += RECORD_BYTES + length;
            stream.checksum = checksum;
            stream.last = count;
        }
    }

    private static int checksum(int before, ByteBuffer record) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(8).putInt(before).putInt(record.getInt(0)).flip());
        crc.update(record.duplicate().position(8));
        return (int) crc.getValue();
    }

    private Segment begin(Stream stream) throws IOException {
        if (!hasFolder) {
            disk.makeFolder(folder);
            hasFolder = true;
        }
        long index = stream.index + 1;
        Segment segment = new Segment(file(stream.number, index), index, stream.checksum);
        ByteBuffer header =
                ByteBuffer.allocate(HEADER_BYTES)
                        .putLong(MAGIC)
                        .putInt(FORMAT)
                        .putInt(stream.checksum)
                        .putLong(start.birth().high())
                        .putLong(start.birth().low())
                        .putLong(start.number())
                        .putLong(start.nonce())
                        .putLong(stream.number)
                        .putLong(index)
                        .putInt(0)
                        .putInt(0);
        int checksum = checksum(header);
        header.putInt(HEADER_BYTES - 4, checksum).flip();
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
        stream.checksum = checksum;
        closeForced();
        return segment;
    }

    /** Files that are not written any more, or not soon. */
    private void closeForced() throws IOException {
        List<Disk.File> files = new ArrayList<>();
        synchronized (lock) {
            for (Stream stream : streams.values()) {
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
                Stream stream = streams.get(number);
                Segment newest = stream.segments.peekLast();
                all.add(
                        new Named(
                                number,
                                stream.index,
                                newest == null ? 0 : newest.end,
                                stream.checksum,
                                stream.last,
                                newest));
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
                Stream stream = streams.get(each.stream());
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
                write(names, writer.section(SECTION));
            }
        };
    }

    /**
     * The sections with the messages of these streams behind them, for a base that needs no files
     * beside it. Messages that are released meanwhile may be left out: who released them has made
     * sure that nobody needs them who reads that base. They may be written on any thread.
     */
    public Base.Sections inside(Names names, Base.Sections others) {
        return writer -> {
            others.writeTo(writer);
            if (!names.all.isEmpty()) {
                // Nobody needs the files on disk; but only those that are forced are closed.
                force(names);
                DataOutputStream out = new DataOutputStream(writer.section(MESSAGES));
                out.writeInt(MESSAGES_FORMAT);
                out.writeInt(names.all.size());
                for (Named each : names.all) {
                    write(each, out);
                }
                out.flush();
            }
        };
    }

    /** Number, last count, messages each with its count and length; a count of 0 ends them. */
    private void write(Named named, DataOutputStream out) throws IOException {
        out.writeLong(named.stream());
        out.writeLong(named.last());
        long after = neededAfter(named.stream());
        while (after < named.last()) {
            int most = (int) Math.min(MOST_INSIDE, named.last() - after);
            List<byte[]> messages = read(named.stream(), after, most, INSIDE_BYTES);
            for (byte[] message : messages) {
                out.writeLong(++after);
                out.writeInt(message.length);
                out.write(message);
            }
            if (messages.isEmpty()) {
                after = neededAfter(named.stream());
            }
        }
        out.writeLong(0);
    }

    /** The count before the first message that is there and not released. */
    private long neededAfter(long number) {
        synchronized (lock) {
            Stream stream = streams.get(number);
            if (stream == null) {
                return Long.MAX_VALUE;
            }
            long before =
                    stream.segments.isEmpty() ? stream.last : stream.segments.getFirst().first - 1;
            return Math.max(stream.released, before);
        }
    }

    private void take(InputStream content) throws IOException {
        DataInputStream in = new DataInputStream(content);
        try {
            int format = in.readInt();
            if (format != MESSAGES_FORMAT) {
                throw new IOException(
                        "a base's section "
                                + MESSAGES
                                + " has format "
                                + format
                                + ", and this release reads format "
                                + MESSAGES_FORMAT
                                + "; use the release that wrote it");
            }
            int count = in.readInt();
            if (count < 0 || count > MOST_STREAMS) {
                throw damagedInside("it holds no " + count + " streams");
            }
            for (int index = 0; index < count; index++) {
                takeStream(in);
            }
            if (in.read() >= 0) {
                throw damagedInside("it goes on behind its last stream");
            }
        } catch (EOFException e) {
            throw new IOException("a base's section " + MESSAGES + " ends early", e);
        }
    }

    private void takeStream(DataInputStream in) throws IOException {
        long number = in.readLong();
        long last = in.readLong();
        Stream stream = new Stream(number);
        synchronized (lock) {
            if (number < 1 || last < 1 || streams.putIfAbsent(number, stream) != null) {
                throw damagedInside("it begins stream " + number + " up to " + last);
            }
        }
        long before = 0;
        for (long count = in.readLong(); count != 0; count = in.readLong()) {
            if (count < 1 || count > last || (before > 0 && count != before + 1)) {
                throw damagedInside(
                        "in stream " + number + " message " + count + " is behind " + before);
            }
            int length = in.readInt();
            if (length < 0) {
                throw damagedInside("message " + count + " has " + length + " bytes");
            }
            // As much as is there, whatever the length says.
            byte[] message = in.readNBytes(length);
            if (message.length < length) {
                throw new EOFException();
            }
            append(number, count, message);
            before = count;
        }
        if (before > 0 && before != last) {
            throw damagedInside("stream " + number + " ends with " + before + ", not " + last);
        }
        synchronized (lock) {
            // Where all were released, what follows is behind them nevertheless.
            stream.last = last;
        }
    }

    private static IOException damagedInside(String how) {
        return new IOException("a base's section " + MESSAGES + " is damaged: " + how);
    }

    private static void write(Names names, OutputStream to) throws IOException {
        DataOutputStream out = new DataOutputStream(to);
        out.writeInt(names.all.size());
        for (Named each : names.all) {
            out.writeLong(each.stream());
            out.writeLong(each.index());
            out.writeLong(each.end());
            out.writeInt(each.checksum());
            out.writeLong(each.last());
        }
        out.flush();
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
            Optional<Place> place = place(number, after);
            while (place.isPresent() && found.size() < most) {
                Place from = place.get();
                boolean full = false;
                try (Disk.File file = disk.open(from.segment.path)) {
                    Reader reader =
                            new Reader(
                                    from.segment.path, file, from.offset, from.checksum, from.end);
                    if (from.offset == HEADER_BYTES) {
                        reader.checksum = headerChecksum(file);
                    }
                    long at = from.offset;
                    int checksum = reader.checksum;
                    long last = from.count;
                    while (!full && reader.next()) {
                        if (reader.count > after) {
                            if (reader.count != after + 1 + found.size()) {
                                throw damaged(from.segment.path, at);
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
                    keep(number, from.segment, at, checksum, last);
                }
                place = full ? Optional.empty() : next(number, from);
            }
            if (found.isEmpty() && !isReleased(number, after)) {
                throw missing(file(number, 1));
            }
            return found;
        }
    }

    /** Where to read on, and up to where. */
    private record Place(Segment segment, long offset, int checksum, long end, long count) {}

    private boolean isReleased(long number, long after) {
        synchronized (lock) {
            Stream stream = streams.get(number);
            return stream == null || stream.released > after;
        }
    }

    private Optional<Place> place(long number, long after) {
        synchronized (lock) {
            Stream stream = streams.get(number);
            if (stream == null || stream.released > after) {
                return Optional.empty();
            }
            if (stream.at != null && stream.atCount <= after && stream.at.last > after) {
                return Optional.of(
                        new Place(
                                stream.at,
                                stream.atOffset,
                                stream.atChecksum,
                                stream.at.end,
                                stream.atCount));
            }
            return stream.segments.stream()
                    .filter(it -> it.last > after)
                    .findFirst()
                    .map(it -> new Place(it, HEADER_BYTES, 0, it.end, 0));
        }
    }

    private Optional<Place> next(long number, Place before) {
        synchronized (lock) {
            Stream stream = streams.get(number);
            return stream == null
                    ? Optional.empty()
                    : stream.segments.stream()
                            .filter(it -> it.index > before.segment.index)
                            .findFirst()
                            .map(it -> new Place(it, HEADER_BYTES, 0, it.end, 0));
        }
    }

    private void keep(long number, Segment segment, long offset, int checksum, long count) {
        synchronized (lock) {
            Stream stream = streams.get(number);
            if (stream != null && offset > HEADER_BYTES) {
                stream.at = segment;
                stream.atOffset = offset;
                stream.atChecksum = checksum;
                stream.atCount = count;
            }
        }
    }

    /** Reads one message after the other. */
    private static final class Reader {

        private final Path path;
        private final Disk.File file;
        private final long end;
        private ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES).limit(0);
        private long at;
        private int checksum;
        private long count;
        private byte[] content;

        Reader(Path path, Disk.File file, long at, int checksum, long end) {
            this.path = path;
            this.file = file;
            this.at = at;
            this.checksum = checksum;
            this.end = end;
        }

        boolean next() throws IOException {
            if (at >= end) {
                return false;
            }
            fill(RECORD_BYTES);
            int length = buffer.getInt(buffer.position());
            if (length < 0 || at + RECORD_BYTES + length > end) {
                throw damaged(path, at);
            }
            fill(RECORD_BYTES + length);
            ByteBuffer record = buffer.slice(buffer.position(), RECORD_BYTES + length);
            int expected = OutboxFiles.checksum(checksum, record);
            if (record.getInt(4) != expected) {
                throw damaged(path, at);
            }
            checksum = expected;
            count = record.getLong(8);
            content = new byte[length];
            record.get(RECORD_BYTES, content);
            buffer.position(buffer.position() + RECORD_BYTES + length);
            at += RECORD_BYTES + length;
            return true;
        }

        private void fill(int needed) throws IOException {
            if (buffer.remaining() >= needed) {
                return;
            }
            ByteBuffer larger = buffer.capacity() >= needed ? buffer : ByteBuffer.allocate(needed);
            // What is left of the buffer is read again: that is simple, and little.
            larger.clear().limit((int) Math.min(larger.capacity(), end - at));
            file.read(larger, at);
            buffer = larger.flip();
            if (buffer.remaining() < needed) {
                throw damaged(path, at);
            }
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
            Stream stream = streams.get(number);
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
            for (Stream stream : streams.values()) {
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
