package org.apache.zookeeper.server.persistence;

import io.saucr.core.recovery.RecoveryMessage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.zip.Adler32;

/**
 * The entries of a running server after a zxid, as the bytes of one log file: what completes a
 * snapshot that was taken while clients wrote. Ends with the entry that it is to go through: what
 * is logged behind it may be proposed, and never committed.
 *
 * <p>Used by one thread. If the log is truncated meanwhile, what comes is not the history any more:
 * reading fails then.
 */
public final class LogStream extends InputStream {
    private final SaucrTxnSnapLog txnSnapLog;
    private final RunningHistory history;
    private final Iterator<RecoveryMessage.Entry> entries;
    private final long through;
    private final long truncations;
    private final Adler32 checksum = new Adler32();
    private ByteBuffer rest;

    /**
     * @param through the last entry that is known to be committed
     * @throws RunningHistory.MissingException if the log does not have the entry behind {@code
     *     after}
     * @throws IOException if the log cannot be read
     */
    public LogStream(SaucrTxnSnapLog txnSnapLog, long after, long through) throws IOException {
        this.txnSnapLog = txnSnapLog;
        this.through = through;
        this.truncations = txnSnapLog.log().truncations();
        this.history = new RunningHistory(txnSnapLog);
        rest = ByteBuffer.allocate(TxnLogFormat.FILE_HEADER_BYTES);
        try {
            this.entries = history.after(after);
            // Before an answer begins, whose status would say that all is well.
            boolean unused = entries.hasNext();
        } catch (UncheckedIOException e) {
            history.close();
            throw e.getCause();
        }
        TxnLogFormat.putFileHeader(rest, after, after + 1);
        rest.flip();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!rest.hasRemaining() && !next()) {
            return -1;
        }
        int part = Math.min(length, rest.remaining());
        rest.get(into, offset, part);
        return part;
    }

    private boolean next() throws IOException {
        try {
            boolean more = entries.hasNext();
            if (txnSnapLog.log().truncations() != truncations) {
                throw new IOException("the log was truncated while it was read");
            }
            if (!more) {
                return false;
            }
            RecoveryMessage.Entry entry = entries.next();
            if (entry.zxid() > through) {
                return false;
            }
            byte[] bytes = entry.transaction().toArray();
            rest = ByteBuffer.allocate(bytes.length + TxnLogFormat.ENTRY_OVERHEAD_BYTES);
            TxnLogFormat.putEntryPrefix(rest, TxnLogFormat.checksum(checksum, bytes), bytes.length);
            rest.put(bytes).put(TxnLogFormat.END_OF_RECORD).flip();
            return true;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @Override
    public void close() throws IOException {
        history.close();
    }
}
