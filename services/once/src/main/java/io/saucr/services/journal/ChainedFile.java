package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.zip.CRC32C;

/**
 * The bytes that files have in common which are a header and frames behind it: each frame's
 * checksum continues that of the frame before, so that nothing of another file passes for a part of
 * this one.
 *
 * <p>Header, big endian: 8 bytes of the kind, format (4), the checksum that the file continues, or
 * zero (4), birth (16), incarnation (8), nonce (8), one or two numbers that the file's name says (8
 * each), zero (4), CRC32C of all that (4). The first frame continues this CRC32C.
 */
final class ChainedFile {

    private static final int FORMAT = 1;
    private static final int NUMBERS_AT = 48;

    private ChainedFile() {}

    /**
     * What files of one kind begin with, and are called.
     *
     * @param numbers how many the header has
     * @param none what a file is that is of another kind: a sentence without a period
     * @param have their subject, and "has" or "have"
     * @param were the same with "was" or "were"
     */
    record Kind(long magic, int numbers, String none, String have, String were) {

        int headerBytes() {
            return NUMBERS_AT + Long.BYTES * numbers + 8;
        }
    }

    /** Where damage was found; says what to do. */
    interface Damaged {
        RefusedFolderException at(long offset);
    }

    /** CRC32C of a checksum and of parts, each from its position to its limit. */
    static int checksum(int before, ByteBuffer... parts) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(Integer.BYTES).putInt(before).flip());
        for (ByteBuffer part : parts) {
            crc.update(part.duplicate());
        }
        return (int) crc.getValue();
    }

    /** A header to be written; its checksum is its last four bytes. */
    static ByteBuffer header(Kind kind, int before, Incarnation start, long... numbers) {
        ByteBuffer header =
                ByteBuffer.allocate(kind.headerBytes())
                        .putLong(kind.magic())
                        .putInt(FORMAT)
                        .putInt(before)
                        .putLong(start.birth().high())
                        .putLong(start.birth().low())
                        .putLong(start.number())
                        .putLong(start.nonce());
        Arrays.stream(numbers).forEach(header::putLong);
        return header.putInt(0).putInt(ownChecksum(header)).flip();
    }

    private static int ownChecksum(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().limit(header.capacity() - 4).position(0));
        return (int) crc.getValue();
    }

    /** The checksum of a header that was checked before. */
    static int headerChecksum(ByteBuffer header) {
        return header.getInt(header.capacity() - 4);
    }

    /** The checksum that a file continues. */
    static int before(ByteBuffer header) {
        return header.getInt(12);
    }

    /** Reads a header without a check. */
    static ByteBuffer header(Kind kind, Disk.File file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(kind.headerBytes());
        file.read(header, 0);
        return header;
    }

    /**
     * Reads a header and checks it.
     *
     * @param known whether the file may be of that start
     * @param name says which numbers the file has, up to "of its name"
     * @param numbers that the file's name says
     * @throws RefusedFolderException where it is not that of such a file
     */
    static ByteBuffer header(
            Kind kind,
            Path path,
            Disk.File file,
            Predicate<Incarnation> known,
            Damaged damaged,
            Function<long[], String> name,
            long... numbers)
            throws IOException {
        ByteBuffer header = header(kind, file);
        if (header.hasRemaining() || header.getLong(0) != kind.magic()) {
            throw new RefusedFolderException(path, 0, kind.none());
        }
        if (headerChecksum(header) != ownChecksum(header) || header.getLong(32) < 1) {
            throw damaged.at(0);
        }
        if (header.getInt(8) != FORMAT) {
            throw new RefusedFolderException(
                    path,
                    8,
                    kind.have()
                            + " format "
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
                    kind.were()
                            + " written by another folder's start, "
                            + writer
                            + "; put back the files of this folder");
        }
        long[] found = new long[kind.numbers()];
        header.position(NUMBERS_AT).asLongBuffer().get(found);
        if (!Arrays.equals(found, numbers)) {
            throw new RefusedFolderException(
                    path, NUMBERS_AT, name.apply(found) + " of its name; give it its name back");
        }
        return header;
    }
}
