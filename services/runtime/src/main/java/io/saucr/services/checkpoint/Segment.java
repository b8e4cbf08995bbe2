package io.saucr.services.checkpoint;

import io.saucr.services.checkpoint.RefusedSegmentException.Reason;
import io.saucr.services.core.standby.SegmentId;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * What the turns of one checkpoint changed, as it lies on disks and goes to standbys: written once
 * (C2), and chained to the segment before by that one's digest, so that the one that knows the last
 * digest can vouch for the whole chain (C4). Immutable; any thread.
 *
 * <p>The bytes, big endian:
 *
 * <pre>
 * header   0  magic "saucrseg"                                                     8
 *          8  format, 1                                                            4
 *         12  bytes of the header, h                                               4
 *         16  birth of the service                                                16
 *         32  epoch                                                                8
 *         40  nonce of the process that holds the epoch                            8
 *         48  number                                                               8
 *         56  first turn                                                           8
 *         64  last turn                                                            8
 *         72  number of the newest segment that the head named by then             8
 *         80  digest of the segment before, zeros for number 1                    32
 *        112  bytes of the body, b                                                 4
 *        116  name of the service, UTF-8                                     h - 120
 *      h - 4  CRC32C of the header before this                                     4
 * frames   each but the last one has 65,536 bytes of the body; none where b = 0
 *             bytes of the body in this frame                                      4
 *             CRC32C of: the checksum before (the last frame's, or the header's),
 *             the length, the content; so that frames keep their places            4
 *             content
 * trailer     frames                                                               4
 *             bytes of the body, b                                                 8
 *             SHA-256 of everything before: the segment's digest                  32
 * </pre>
 */
public final class Segment {

    /** The most bytes that a body may have. */
    public static final int LARGEST_BODY_BYTES = 191 << 20;

    /** The most bytes that a whole segment may have. */
    public static final int LARGEST_BYTES = 192 << 20;

    static final String ANOTHER_COPY =
            ". It was left as it is; take the segment from another member";

    static final int TRAILER_BYTES = 44;

    private static final int DIGEST_BYTES = 32;
    private static final int FRAME_BYTES = 8;
    private static final int CONTENT_BYTES = 64 << 10;

    private final SegmentHeader header;
    private final int headerBytes;
    private final int bodyBytes;
    private final SegmentId id;

    /** From position 0 to the limit; never handed out but read-only, or to be written. */
    private final ByteBuffer encoded;

    private Segment(SegmentHeader header, int headerBytes, int bodyBytes, ByteBuffer encoded) {
        this.header = header;
        this.headerBytes = headerBytes;
        this.bodyBytes = bodyBytes;
        this.encoded = encoded;
        byte[] digest = new byte[DIGEST_BYTES];
        encoded.duplicate().position(encoded.limit() - DIGEST_BYTES).get(digest);
        this.id =
                new SegmentId(
                        header.by().number(), header.number(), HexFormat.of().formatHex(digest));
    }

    /**
     * Makes a segment.
     *
     * @param header what it says about itself
     * @param body what its turns changed, at most {@link #LARGEST_BODY_BYTES}; no bytes exactly
     *     where it holds no turn
     * @throws IllegalArgumentException where the body is too large, or does not fit the turns
     */
    public static Segment of(SegmentHeader header, byte[] body) {
        if (body.length > LARGEST_BODY_BYTES) {
            throw new IllegalArgumentException(
                    "a segment's body has at most "
                            + LARGEST_BODY_BYTES
                            + " bytes, not "
                            + body.length
                            + ": cut more often, or change less in one turn");
        }
        if (header.isEmpty() != (body.length == 0)) {
            throw new IllegalArgumentException(
                    "turns "
                            + header.firstTurn()
                            + " to "
                            + header.lastTurn()
                            + " with a body of "
                            + body.length
                            + " bytes: a segment has a body exactly where it has turns");
        }
        ByteBuffer head = header.encode(body.length);
        int headerBytes = head.remaining();
        int checksum = head.getInt(headerBytes - Integer.BYTES);
        ByteBuffer bytes = ByteBuffer.allocate(bytes(headerBytes, body.length)).put(head);
        for (int from = 0; from < body.length; from += CONTENT_BYTES) {
            int length = Math.min(CONTENT_BYTES, body.length - from);
            checksum = checksum(checksum, ByteBuffer.wrap(body, from, length));
            bytes.putInt(length).putInt(checksum).put(body, from, length);
        }
        bytes.putInt(frames(body.length)).putLong(body.length);
        bytes.put(digest(bytes.duplicate().flip())).flip();
        return new Segment(header, headerBytes, body.length, bytes);
    }

    /**
     * Reads and checks what {@link #encoded} gave. Whose it is, the caller checks with {@link
     * SegmentHeader#throwUnlessOf}.
     *
     * @param encoded from position to limit, all of it; its content must not change afterwards
     * @throws RefusedSegmentException where it is anything else than one whole segment
     */
    public static Segment decode(ByteBuffer encoded) throws RefusedSegmentException {
        ByteBuffer bytes = encoded.slice();
        SegmentHeader.Found found = SegmentHeader.decode(bytes);
        int length = found.segmentBytes();
        int at = found.headerBytes();
        int checksum = found.checksum();
        for (int left = found.bodyBytes(); left > 0; ) {
            int expected = Math.min(CONTENT_BYTES, left);
            if (bytes.limit() < at + FRAME_BYTES + expected) {
                throw torn(bytes.limit(), "its body");
            }
            ByteBuffer content =
                    bytes.duplicate().limit(at + FRAME_BYTES + expected).position(at + FRAME_BYTES);
            checksum = checksum(checksum, content);
            if (bytes.getInt(at) != expected || bytes.getInt(at + 4) != checksum) {
                throw damaged(at, "its body is damaged");
            }
            at += FRAME_BYTES + expected;
            left -= expected;
        }
        if (bytes.limit() < length) {
            throw torn(bytes.limit(), "its trailer");
        }
        if (bytes.limit() > length) {
            throw new RefusedSegmentException(
                    Reason.TRAILING,
                    length,
                    "it ends here, and " + (bytes.limit() - length) + " bytes follow");
        }
        byte[] digest = new byte[DIGEST_BYTES];
        bytes.duplicate().position(length - DIGEST_BYTES).get(digest);
        if (bytes.getInt(at) != frames(found.bodyBytes())
                || bytes.getLong(at + 4) != found.bodyBytes()
                || !Arrays.equals(digest, digest(bytes.duplicate().limit(length - DIGEST_BYTES)))) {
            throw damaged(at, "its trailer does not fit what is before it");
        }
        return new Segment(found.header(), found.headerBytes(), found.bodyBytes(), bytes);
    }

    private static int checksum(int before, ByteBuffer content) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(8).putInt(before).putInt(content.remaining()).flip());
        crc.update(content);
        return (int) crc.getValue();
    }

    private static byte[] digest(ByteBuffer bytes) {
        MessageDigest digest = sha256();
        digest.update(bytes);
        return digest.digest();
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java has SHA-256", e);
        }
    }

    private static RefusedSegmentException damaged(long offset, String what) {
        return new RefusedSegmentException(Reason.GARBLED, offset, what + ANOTHER_COPY);
    }

    static RefusedSegmentException torn(long end, String within) {
        return new RefusedSegmentException(
                Reason.TORN, end, "its bytes end here, within " + within + ANOTHER_COPY);
    }

    private static int frames(int bodyBytes) {
        return (bodyBytes + CONTENT_BYTES - 1) / CONTENT_BYTES;
    }

    /** The bytes of a whole segment. */
    static int bytes(int headerBytes, int bodyBytes) {
        return headerBytes + frames(bodyBytes) * FRAME_BYTES + bodyBytes + TRAILER_BYTES;
    }

    public SegmentHeader header() {
        return header;
    }

    public SegmentId id() {
        return id;
    }

    /** What its turns changed, read-only; copied together at each call where it is long. */
    public ByteBuffer body() {
        int at = headerBytes + FRAME_BYTES;
        if (bodyBytes <= CONTENT_BYTES) {
            int from = bodyBytes == 0 ? headerBytes : at;
            return encoded.duplicate()
                    .limit(from + bodyBytes)
                    .position(from)
                    .slice()
                    .asReadOnlyBuffer();
        }
        ByteBuffer body = ByteBuffer.allocate(bodyBytes);
        while (body.hasRemaining()) {
            int length = Math.min(CONTENT_BYTES, body.remaining());
            body.put(encoded.duplicate().limit(at + length).position(at));
            at += length + FRAME_BYTES;
        }
        return body.flip().asReadOnlyBuffer();
    }

    /** All its bytes, read-only. */
    public ByteBuffer encoded() {
        return encoded.asReadOnlyBuffer();
    }

    /** All its bytes, to be written to a file, and not changed. */
    ByteBuffer toWrite() {
        return encoded.duplicate();
    }

    /** How many bytes it has. */
    public int bytes() {
        return encoded.limit();
    }
}
