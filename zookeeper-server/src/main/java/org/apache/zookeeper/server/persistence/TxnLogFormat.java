package org.apache.zookeeper.server.persistence;

import io.saucr.core.Zxid;
import java.nio.ByteBuffer;
import java.util.zip.Adler32;
import org.apache.zookeeper.server.ServerArchive;

/**
 * The format of ZooKeeper's log files, for all who write, read or search them: a header, then the
 * entries (checksum, length, bytes, an end mark), then perhaps zeros, with which a file is filled
 * ahead of its end. A file is named after the zxid of its first entry.
 *
 * <p>Knows bytes and names, does no I/O and holds no state. Nothing here allocates: it is used on
 * the write path.
 */
final class TxnLogFormat {
    static final int FILE_HEADER_BYTES = 16;

    /** Before the bytes of an entry: their checksum and how many they are. */
    static final int ENTRY_PREFIX_BYTES = Long.BYTES + Integer.BYTES;

    static final byte END_OF_RECORD = 0x42;

    /** What an entry takes in a file in addition to its own bytes. */
    static final int ENTRY_OVERHEAD_BYTES = ENTRY_PREFIX_BYTES + 1;

    /** In the bytes of an entry: the session and the client's own number come first. */
    static final int ZXID_OFFSET = Long.BYTES + Integer.BYTES;

    /** The header that every transaction begins with. */
    static final int LEAST_ENTRY_BYTES = 32;

    /** A length above this one is damage, and no reason to allocate so much. */
    static final int LARGEST_ENTRY_BYTES = ServerArchive.LARGEST_BYTES;

    /** The first entry of the first epoch: nothing was ever before it. */
    static final long FIRST_ZXID_EVER = 0x1_0000_0001L;

    private TxnLogFormat() {}

    /**
     * The header of a file. Its last number is a database number for ZooKeeper, which writes 0 and
     * never looks at it. Here it is the entry that came before the file, so that a file that is
     * gone is missed, even if it ended with its epoch (R26).
     *
     * @param last where the history before the file ends; that is the beginning of an epoch, and no
     *     entry, where a snapshot was taken there
     * @param first the file's first entry
     */
    static void putFileHeader(ByteBuffer to, long last, long first) {
        boolean known = Zxid.counter(last) != 0 && last < first;
        to.putInt(FileTxnLog.TXNLOG_MAGIC).putInt(FileTxnLog.VERSION).putLong(known ? last : 0);
    }

    /** Whether a file that begins with these two numbers is a log. */
    static boolean isFileHeader(int magic, int version) {
        return magic == FileTxnLog.TXNLOG_MAGIC && version == FileTxnLog.VERSION;
    }

    static void putEntryPrefix(ByteBuffer to, long checksum, int length) {
        to.putLong(checksum).putInt(length);
    }

    /**
     * The checksum of an entry's bytes.
     *
     * @param reused so that nothing is allocated
     */
    static long checksum(Adler32 reused, byte[] entry) {
        reused.reset();
        reused.update(entry, 0, entry.length);
        return reused.getValue();
    }

    /** The same for what remains in the buffer, which is used up. */
    static long checksum(Adler32 reused, ByteBuffer entry) {
        reused.reset();
        reused.update(entry);
        return reused.getValue();
    }

    /** The name of the file that begins with this entry; {@link DataFolder} reads it back. */
    static String fileName(long firstZxid) {
        return Util.makeLogName(firstZxid);
    }
}
