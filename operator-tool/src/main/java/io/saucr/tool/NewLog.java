package io.saucr.tool;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.Adler32;
import java.util.zip.GZIPOutputStream;
import org.apache.zookeeper.server.persistence.FileTxnLog;

/**
 * A transaction log that is written entry by entry, and then synced to disk. Used by one thread.
 */
final class NewLog implements Closeable {
    private final FileChannel channel;
    private final GZIPOutputStream gzip;
    private final DataOutputStream out;
    private final Adler32 checksum = new Adler32();

    /**
     * @param after the entry before its first one, which the servers of this project look for in
     *     the header
     */
    NewLog(Path file, long after, boolean compressed) throws IOException {
        channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        OutputStream plain = new BufferedOutputStream(Channels.newOutputStream(channel));
        gzip = compressed ? new GZIPOutputStream(plain) : null;
        out = new DataOutputStream(compressed ? gzip : plain);
        out.writeInt(FileTxnLog.TXNLOG_MAGIC);
        out.writeInt(FileTxnLog.VERSION);
        // The beginning of an epoch is no entry.
        out.writeLong((after & 0xffff_ffffL) == 0 ? 0 : after);
    }

    void append(LogEntries.Entry entry) throws IOException {
        byte[] bytes = entry.bytes();
        checksum.reset();
        checksum.update(bytes, 0, bytes.length);
        out.writeLong(checksum.getValue());
        out.writeInt(bytes.length);
        out.write(bytes);
        out.writeByte(LogEntries.END);
    }

    /** Writes its end, and syncs it. */
    void commit() throws IOException {
        if (gzip != null) {
            gzip.finish();
        }
        out.flush();
        channel.force(true);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
