package org.apache.zookeeper.server.persistence;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.saucr.core.Zxid;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.persistence.SnapStream.StreamMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides by what a file holds whether it can be the log or the snapshot that its name says.
 *
 * <p>A file of text is neither. A snapshot of ZooKeeper 3.9 ends with the last zxid that its tree
 * shows, if {@code serializeLastProcessedZxid.enabled} was not switched off. That zxid is the one
 * in the name, or a later one if transactions were applied while the snapshot was written. A file
 * whose name says more is a copy under another name.
 *
 * <p>Safe for all threads.
 */
final class DataContent {
    private static final Logger LOG = LoggerFactory.getLogger(DataContent.class);

    private static final int LOOKED_AT = 16;
    private static final String LOG_MAGIC = "ZKLG";
    private static final String SNAPSHOT_MAGIC = "ZKSN";

    /** A checksum, and a string that is a slash. */
    private static final byte[] SLASH = {0, 0, 0, 1, '/'};

    private static final int SEAL_BYTES = Long.BYTES + SLASH.length;

    /** A seal, the last zxid, and the seal of both. */
    private static final int END_BYTES = SEAL_BYTES + Long.BYTES + SEAL_BYTES;

    private static final int ADLER_BASE = 65521;
    private static final int ADLER_BITS = 16;
    private static final int ADLER_MASK = (1 << ADLER_BITS) - 1;

    /** To find the end of a compressed snapshot all of it is read, so it is read once. */
    private static final Map<Path, Compressed> COMPRESSED = new ConcurrentHashMap<>();

    private static final Set<Path> LEFT_ALONE = ConcurrentHashMap.newKeySet();

    private record Compressed(FileTime modified, long size, long lastZxid) {}

    private DataContent() {}

    /**
     * Whether a log file or snapshot of this name may hold what the file holds. A file that cannot
     * be read may, and so may a compressed snapshot: to look at its end takes as long as to load
     * it, so {@link #showsLess} does that for the newest ones.
     *
     * @param zxid that the name says
     */
    static boolean mayBe(Path file, long zxid) {
        try {
            if (isText(file)) {
                leftAlone(file, "it holds text");
                return false;
            }
            return isCompressed(file) || !showsLess(file, zxid);
        } catch (IOException e) {
            return true;
        }
    }

    /** Once for each file. */
    private static void leftAlone(Path file, String why) {
        if (LEFT_ALONE.add(file)) {
            LOG.warn("{} is not this server's, and is left alone: {}", file, why);
        }
    }

    /** Whether the file begins with text, as no log, no snapshot and no torn one does. */
    private static boolean isText(Path file) throws IOException {
        byte[] first;
        try (InputStream in = Files.newInputStream(file)) {
            first = in.readNBytes(LOOKED_AT);
        }
        if (first.length == 0) {
            return false;
        }
        for (byte each : first) {
            boolean control = each >= 0 && each < ' ' && each != '\n' && each != '\r';
            if (control && each != '\t') {
                return false;
            }
        }
        String text = new String(first, ISO_8859_1);
        return !LOG_MAGIC.startsWith(text)
                && !text.startsWith(LOG_MAGIC)
                && !SNAPSHOT_MAGIC.startsWith(text)
                && !text.startsWith(SNAPSHOT_MAGIC);
    }

    /** Whether it is a snapshot that cannot show what a tree of this zxid has. */
    static boolean showsLess(Path file, long zxid) {
        long last = lastZxid(file);
        boolean less = last >= 0 && last < zxid;
        if (less) {
            leftAlone(file, "it shows the tree of " + Zxid.toString(last) + " and nothing later");
        }
        return less;
    }

    /** The last zxid that a snapshot's tree shows, -1 if the file does not say or is damaged. */
    static long lastZxid(Path snapshot) {
        try {
            return isCompressed(snapshot)
                    ? lastZxidOfCompressed(snapshot)
                    : lastZxid(plainEnd(snapshot));
        } catch (IOException e) {
            return -1;
        }
    }

    static boolean isCompressed(Path file) {
        return SnapStream.getStreamMode(file.getFileName().toString()) != StreamMode.CHECKED;
    }

    private static long lastZxidOfCompressed(Path snapshot) throws IOException {
        FileTime modified = Files.getLastModifiedTime(snapshot);
        long size = Files.size(snapshot);
        Compressed known = COMPRESSED.get(snapshot);
        if (known == null || !known.modified.equals(modified) || known.size != size) {
            known = new Compressed(modified, size, lastZxid(compressedEnd(snapshot)));
            COMPRESSED.keySet().removeIf(Files::notExists);
            COMPRESSED.put(snapshot, known);
        }
        return known.lastZxid;
    }

    private static ByteBuffer plainEnd(Path snapshot) throws IOException {
        ByteBuffer end = ByteBuffer.allocate(END_BYTES);
        try (FileChannel channel = FileChannel.open(snapshot, StandardOpenOption.READ)) {
            long at = channel.size() - END_BYTES;
            for (int read = at < 0 ? -1 : 0; read >= 0 && end.hasRemaining(); ) {
                read = channel.read(end, at + end.position());
            }
        }
        return end.flip();
    }

    private static ByteBuffer compressedEnd(Path snapshot) throws IOException {
        byte[] block = new byte[1 << 16];
        int kept = 0;
        try (InputStream in = SnapStream.getInputStream(snapshot.toFile())) {
            for (int read; (read = in.read(block, kept, block.length - kept)) >= 0; ) {
                kept += read;
                if (kept == block.length) {
                    System.arraycopy(block, kept - END_BYTES, block, 0, END_BYTES);
                    kept = END_BYTES;
                }
            }
        }
        return ByteBuffer.wrap(block, Math.max(0, kept - END_BYTES), Math.min(kept, END_BYTES))
                .slice();
    }

    /** The checksum of the first seal, continued over what follows it, is that of the last one. */
    private static long lastZxid(ByteBuffer end) {
        if (end.remaining() < END_BYTES) {
            return -1;
        }
        int lastSeal = SEAL_BYTES + Long.BYTES;
        boolean sealed =
                end.slice(Long.BYTES, SLASH.length).equals(ByteBuffer.wrap(SLASH))
                        && end.slice(lastSeal + Long.BYTES, SLASH.length)
                                .equals(ByteBuffer.wrap(SLASH))
                        && continued(end.getLong(0), end.slice(0, lastSeal))
                                == end.getLong(lastSeal);
        return sealed ? end.getLong(SEAL_BYTES) : -1;
    }

    /** Adler32, which Java's class begins anew each time. */
    private static long continued(long checksum, ByteBuffer bytes) {
        long low = checksum & ADLER_MASK;
        long high = checksum >>> ADLER_BITS;
        while (bytes.hasRemaining()) {
            low = (low + Byte.toUnsignedInt(bytes.get())) % ADLER_BASE;
            high = (high + low) % ADLER_BASE;
        }
        return high << ADLER_BITS | low;
    }
}
