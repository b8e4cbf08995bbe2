package io.saucr.tool;

import io.saucr.core.NamedErrors;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.Adler32;
import java.util.zip.GZIPOutputStream;
import org.apache.zookeeper.server.persistence.FileTxnLog;

/**
 * A transaction log that is written entry by entry into a temporary file, and whole when this is
 * closed. It is synced where it is copied to. Used by one thread.
 */
final class NewLog implements Closeable {
    private final Path file;
    private final DataOutputStream out;
    private final Adler32 checksum = new Adler32();

    /**
     * @param after the entry before its first one, which the servers of this project look for in
     *     the header
     */
    NewLog(Path file, long after, boolean compressed) throws IOException {
        this.file = file;
        OutputStream plain = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW);
        out =
                new DataOutputStream(
                        new BufferedOutputStream(compressed ? new GZIPOutputStream(plain) : plain));
        out.writeInt(FileTxnLog.TXNLOG_MAGIC);
        out.writeInt(FileTxnLog.VERSION);
        // The beginning of an epoch is no entry.
        out.writeLong((after & 0xffff_ffffL) == 0 ? 0 : after);
    }

    void append(LogEntries.Entry entry) throws IOException {
        byte[] bytes = entry.bytes();
        NamedErrors.in(file, () -> write(bytes));
    }

    private void write(byte[] bytes) throws IOException {
        checksum.reset();
        checksum.update(bytes, 0, bytes.length);
        out.writeLong(checksum.getValue());
        out.writeInt(bytes.length);
        out.write(bytes);
        out.writeByte(LogEntries.END);
    }

    @Override
    public void close() throws IOException {
        NamedErrors.in(file, out::close);
    }
}
