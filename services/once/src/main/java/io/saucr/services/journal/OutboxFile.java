package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names and bytes of the files of {@link OutboxFiles}. The header is that of a {@link ChainedFile}
 * of the kind "saucrbox", with the numbers of the stream and of the file in it; it continues the
 * checksum of the file before it. Then messages, big endian: length (4), CRC32C of the checksum
 * before it, length, count and content (4), count (8), content.
 */
final class OutboxFile {

    static final ChainedFile.Kind KIND =
            new ChainedFile.Kind(
                    0x7361756372626f78L,
                    2,
                    "these are no messages of a service",
                    "the messages have",
                    "the messages were");

    static final int HEADER_BYTES = KIND.headerBytes();
    static final int RECORD_BYTES = 16;
    static final int READ_BYTES = 64 << 10;

    private static final Pattern NAME = Pattern.compile("([0-9]{19})-([0-9]{9})\\.box");

    private OutboxFile() {}

    static Path path(Path folder, long stream, long index) {
        return folder.resolve(String.format(Locale.ROOT, "%019d-%09d.box", stream, index));
    }

    /** The files of a folder, by stream and index. */
    static Map<Long, NavigableMap<Long, Path>> there(Disk disk, Path folder) throws IOException {
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

    /**
     * Checks the header.
     *
     * @throws RefusedFolderException where it is not that of such a file
     */
    static ByteBuffer header(
            Path path, Disk.File file, Predicate<Incarnation> known, long stream, long index)
            throws IOException {
        return ChainedFile.header(
                KIND,
                path,
                file,
                known,
                offset -> damaged(path, offset),
                numbers -> "it is file " + numbers[1] + " of stream " + numbers[0] + ", not that",
                stream,
                index);
    }

    /** The checksum of a message, whose record is from position 0 to its limit. */
    static int checksum(int before, ByteBuffer record) {
        return ChainedFile.checksum(
                before,
                record.duplicate().limit(Integer.BYTES).position(0),
                record.duplicate().position(8));
    }

    static RefusedFolderException damaged(Path path, long offset) {
        return new RefusedFolderException(
                path,
                offset,
                "messages that wait for a peer are damaged, although they were on disk. Put the file"
                        + " back from a copy under a new generation, or give the service up");
    }

    static RefusedFolderException missing(Path path) {
        return new RefusedFolderException(
                path, -1, "it is missing, with messages that wait for a peer. Put it back");
    }

    /** Reads one message after the other. */
    static final class Reader {

        private final Path path;
        private final FileWindow window;
        long at;
        int checksum;
        long count;
        byte[] content;

        Reader(Path path, Disk.File file, long at, int checksum, long end) {
            this.path = path;
            this.window = new FileWindow(file, end, READ_BYTES);
            this.at = at;
            this.checksum = checksum;
        }

        boolean next() throws IOException {
            if (at >= window.size()) {
                return false;
            }
            int length = part(RECORD_BYTES).getInt(0);
            if (length < 0 || at + RECORD_BYTES + length > window.size()) {
                throw damaged(path, at);
            }
            ByteBuffer record = part(RECORD_BYTES + length);
            int expected = OutboxFile.checksum(checksum, record);
            if (record.getInt(4) != expected) {
                throw damaged(path, at);
            }
            checksum = expected;
            count = record.getLong(8);
            content = new byte[length];
            record.get(RECORD_BYTES, content);
            at += RECORD_BYTES + length;
            return true;
        }

        private ByteBuffer part(int bytes) throws IOException {
            ByteBuffer part = window.there(at, bytes);
            if (part.remaining() < bytes) {
                throw damaged(path, at);
            }
            return part;
        }
    }
}
