package io.saucr.tool;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.Adler32;
import java.util.zip.ZipException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.util.SerializeUtils;
import org.apache.zookeeper.txn.TxnDigest;

/**
 * The entries of a transaction log, one after the other. Each is checked: its checksum, and that it
 * follows the one before. Used by one thread.
 */
final class LogEntries implements Closeable {
    private static final int ZXID_OFFSET = Long.BYTES + Integer.BYTES;
    private static final int LARGEST_ENTRY = 256 << 20;
    static final byte END = 'B';

    /** One write as servers log it. Immutable. */
    static final class Entry {
        private final byte[] bytes;

        Entry(byte[] bytes) {
            this.bytes = bytes;
        }

        long zxid() {
            return ByteBuffer.wrap(bytes).getLong(ZXID_OFFSET);
        }

        /** Milliseconds since 1970 on the clock of the server that led. */
        long time() {
            return ByteBuffer.wrap(bytes).getLong(ZXID_OFFSET + Long.BYTES);
        }

        /** Not a copy. */
        byte[] bytes() {
            return bytes;
        }

        boolean sameAs(Entry other) {
            return Arrays.equals(bytes, other.bytes);
        }

        /** Whether it is a write that was refused, or none at all: it changes no tree. */
        boolean changesNothing() {
            return ByteBuffer.wrap(bytes).getInt(ZXID_OFFSET + 2 * Long.BYTES)
                    == ZooDefs.OpCode.error;
        }

        /**
         * Of the tree after it, as the leader calculated it; null if it changes nothing, or the
         * ensemble keeps none.
         */
        TxnDigest digest() throws IOException {
            return SerializeUtils.deserializeTxn(bytes).getDigest();
        }
    }

    private final String name;
    private final InputStream source;
    private final Adler32 checksum = new Adler32();
    private DataInputStream in;
    private long previous;

    /** Any entry may come first. */
    static final long ANYWHERE = -1;

    /**
     * @param name of the log, for messages
     * @param after the entry that comes before its first one, or {@link #ANYWHERE}
     */
    LogEntries(String name, InputStream source, long after) {
        this.name = name;
        this.source = source;
        this.previous = after;
    }

    /**
     * The next one; null at the end.
     *
     * @throws UnusableFileException if it is damaged, or entries before it are missing
     */
    Entry next() throws IOException {
        try {
            if (in == null) {
                in = new DataInputStream(new BufferedInputStream(source));
                if (in.readInt() != FileTxnLog.TXNLOG_MAGIC || in.readInt() != FileTxnLog.VERSION) {
                    throw new UnusableFileException(name + ": it is no log of a ZooKeeper server");
                }
                in.readLong();
            }
            in.mark(1);
            if (in.read() < 0) {
                return null;
            }
            in.reset();
            return read();
        } catch (EOFException | ZipException e) {
            throw damaged();
        }
    }

    private Entry read() throws IOException {
        long expected = in.readLong();
        int length = in.readInt();
        if (length < ZXID_OFFSET + 2 * Long.BYTES + Integer.BYTES || length > LARGEST_ENTRY) {
            throw damaged();
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        checksum.reset();
        checksum.update(bytes, 0, length);
        if (checksum.getValue() != expected || in.readByte() != END) {
            throw damaged();
        }
        Entry entry = new Entry(bytes);
        if (previous != ANYWHERE && !follows(entry.zxid(), previous)) {
            throw new UnusableFileException(
                    "%s: there are entries missing between %s and %s"
                            .formatted(name, Snapshot.hex(previous), Snapshot.hex(entry.zxid())));
        }
        previous = entry.zxid();
        return entry;
    }

    /** The next of the same epoch, or the first of a later one. */
    static boolean follows(long zxid, long previous) {
        long epoch = zxid >>> Integer.SIZE;
        return zxid == previous + 1
                || (epoch > previous >>> Integer.SIZE && (zxid & 0xffff_ffffL) == 1);
    }

    private UnusableFileException damaged() {
        return new UnusableFileException(
                name
                        + ": it is damaged "
                        + (previous == ANYWHERE
                                ? "at its beginning"
                                : "after " + Snapshot.hex(previous)));
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
