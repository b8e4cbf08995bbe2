package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.Adler32;
import org.apache.zookeeper.server.persistence.FileTxnLog;

/**
 * What a transaction log holds, read from its first byte to its last. Immutable.
 *
 * @param first zxid of its first entry; 0 if it has none
 * @param last zxid of its last entry; the zxid that it was to begin behind if it has none
 */
record LogFile(long first, long last, long entries, long bytes) {
    private static final int ZXID_OFFSET = Long.BYTES + Integer.BYTES;
    private static final int LARGEST_ENTRY = 256 << 20;
    private static final byte END = 'B';

    /**
     * Reads a log that must hold every entry after a zxid, and at least up to another one. If both
     * are the same it may have no entry.
     *
     * @param after the last one that a snapshot has for sure
     * @param through the last one that it may show
     * @throws UnusableFileException if it is damaged, or lacks an entry
     */
    static LogFile read(Path file, long after, long through) throws IOException {
        long previous = after;
        long first = 0;
        long entries = 0;
        Adler32 checksum = new Adler32();
        try (DataInputStream in =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            if (in.readInt() != FileTxnLog.TXNLOG_MAGIC || in.readInt() != FileTxnLog.VERSION) {
                throw new UnusableFileException(file + ": it is no log of a ZooKeeper server");
            }
            in.readLong();
            while (true) {
                long expected;
                try {
                    expected = in.readLong();
                } catch (EOFException e) {
                    break;
                }
                int length = in.readInt();
                if (length <= ZXID_OFFSET + Long.BYTES || length > LARGEST_ENTRY) {
                    throw damaged(file, previous);
                }
                byte[] entry = new byte[length];
                in.readFully(entry);
                checksum.reset();
                checksum.update(entry, 0, length);
                if (checksum.getValue() != expected || in.readByte() != END) {
                    throw damaged(file, previous);
                }
                long zxid = ByteBuffer.wrap(entry).getLong(ZXID_OFFSET);
                if (!follows(zxid, previous)) {
                    throw new UnusableFileException(
                            "%s: there are entries missing between %s and %s"
                                    .formatted(file, Snapshot.hex(previous), Snapshot.hex(zxid)));
                }
                first = entries == 0 ? zxid : first;
                previous = zxid;
                entries++;
            }
        } catch (EOFException e) {
            throw damaged(file, previous);
        }
        if (previous < through) {
            throw new UnusableFileException(
                    "%s: it ends at %s, and should reach %s"
                            .formatted(file, Snapshot.hex(previous), Snapshot.hex(through)));
        }
        return new LogFile(first, previous, entries, Files.size(file));
    }

    /** The next of the same epoch, or the first of a later one. */
    private static boolean follows(long zxid, long previous) {
        long epoch = zxid >>> Integer.SIZE;
        return zxid == previous + 1
                || (epoch > previous >>> Integer.SIZE && (zxid & 0xffff_ffffL) == 1);
    }

    private static UnusableFileException damaged(Path file, long previous) {
        return new UnusableFileException(file + ": it is damaged after " + Snapshot.hex(previous));
    }

    /** The name that a server finds it by. */
    String fileName() {
        return "log." + Long.toHexString(first);
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("first", Snapshot.hex(first));
        json.put("last", Snapshot.hex(last));
        json.put("entries", entries);
        json.put("bytes", bytes);
        return json;
    }
}
