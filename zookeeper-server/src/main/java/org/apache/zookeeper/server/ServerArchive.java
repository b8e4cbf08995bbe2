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
 * <p>ZooKeeper's writer encodes a character beyond the basic plane as two surrogates of three bytes
 * each, which its reader turns into six marks of replacement. Here the character is read, in either
 * encoding.
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
    private static final char REPLACEMENT = '\ufffd';

    // Surrogates as three bytes: the first byte is the same for all, the second one has the kind.
    private static final int SURROGATE_BYTES = 3;
    private static final int SURROGATE = 0xed;
    private static final int KIND = 0xf0;
    private static final int HIGH = 0xa0;
    private static final int LOW = 0xb0;

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
            // A reader of a log takes an EOFException for the end of a file, and continues with the
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
        if (bytes == null) {
            return null;
        }
        String text = new String(bytes, UTF_8);
        return text.indexOf(REPLACEMENT) < 0 ? text : withSurrogates(bytes);
    }

    /** The text, its pairs of surrogates read as the characters that they stand for. */
    private static String withSurrogates(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        int begin = 0;
        int at = 0;
        while (at + 2 * SURROGATE_BYTES <= bytes.length) {
            if (isSurrogate(bytes, at, HIGH) && isSurrogate(bytes, at + SURROGATE_BYTES, LOW)) {
                text.append(new String(bytes, begin, at - begin, UTF_8))
                        .append(surrogate(bytes, at))
                        .append(surrogate(bytes, at + SURROGATE_BYTES));
                at += 2 * SURROGATE_BYTES;
                begin = at;
            } else {
                at++;
            }
        }
        return text.append(new String(bytes, begin, bytes.length - begin, UTF_8)).toString();
    }

    private static boolean isSurrogate(byte[] bytes, int at, int kind) {
        return (bytes[at] & 0xff) == SURROGATE
                && (bytes[at + 1] & KIND) == kind
                && (bytes[at + 2] & 0xc0) == 0x80;
    }

    private static char surrogate(byte[] bytes, int at) {
        return (char)
                ((bytes[at] & 0xf) << 12 | (bytes[at + 1] & 0x3f) << 6 | (bytes[at + 2] & 0x3f));
    }
}
