package org.apache.zookeeper.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.jute.BinaryInputArchive;

/**
 * Reads what servers have written: logs, snapshots and packets between them. ZooKeeper holds jute's
 * limit, {@code jute.maxbuffer}, against these, too; but that one is for what clients send, and the
 * transaction that closes a large session is longer than any request. What a server has logged it
 * can read.
 *
 * <p>Nothing is allocated because of a length alone: memory grows with the bytes that are there.
 *
 * <p>One thread at a time.
 */
public final class ServerArchive extends BinaryInputArchive {
    /** A length above this one is damage. */
    public static final int LARGEST_BYTES = 256 * 1024 * 1024;

    /**
     * The same for what another server sends before it is known to be one: its largest packet has
     * twelve bytes for each of its sessions.
     */
    private static final int LARGEST_OF_LEARNER_BYTES = 16 * 1024 * 1024;

    private static final int LEAST_EXTRA_BYTES = 1024;

    /** What ZooKeeper's archive reads. */
    private static final long READ_BY_ZOOKEEPER_BYTES =
            (long) maxBuffer
                    + Math.max(
                            LEAST_EXTRA_BYTES,
                            Integer.getInteger("zookeeper.jute.maxbuffer.extrasize", maxBuffer));

    private static final int PIECE_BYTES = 1024 * 1024;

    private final DataInput in;
    private final int largest;

    /** Reads a log, a snapshot, or what a leader sends. */
    public ServerArchive(DataInput in) {
        this(in, LARGEST_BYTES);
    }

    private ServerArchive(DataInput in, int largest) {
        super(in, largest, 0);
        this.in = in;
        this.largest = largest;
    }

    /** Reads what a learner sends. */
    public static ServerArchive ofLearner(DataInput in) {
        long most = Math.max(READ_BY_ZOOKEEPER_BYTES, LARGEST_OF_LEARNER_BYTES);
        return new ServerArchive(in, (int) Math.min(most, LARGEST_BYTES));
    }

    @Override
    public byte[] readBuffer(String tag) throws IOException {
        int length = in.readInt();
        if (length == -1) {
            return null;
        }
        if (length < 0 || length > largest) {
            throw new IOException(UNREASONBLE_LENGTH + length);
        }
        byte[] bytes = new byte[Math.min(length, PIECE_BYTES)];
        try {
            in.readFully(bytes);
            while (bytes.length < length) {
                int known = bytes.length;
                bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * known));
                in.readFully(bytes, known, bytes.length - known);
            }
        } catch (EOFException e) {
            // Whoever reads a log takes an EOFException for the end of a file, and goes on with the
            // next one. A length that ZooKeeper refuses was never passed over.
            throw length > READ_BY_ZOOKEEPER_BYTES
                    ? new IOException(UNREASONBLE_LENGTH + length, e)
                    : e;
        }
        return bytes;
    }

    @Override
    public String readString(String tag) throws IOException {
        byte[] bytes = readBuffer(tag);
        return bytes == null ? null : new String(bytes, UTF_8);
    }
}
