package io.saucr.services.members;

import static io.saucr.services.wire.FrameFields.need;
import static io.saucr.services.wire.FrameFields.readBirth;
import static io.saucr.services.wire.FrameFields.readFlag;
import static io.saucr.services.wire.FrameFields.readLong;
import static io.saucr.services.wire.FrameFields.readName;
import static io.saucr.services.wire.FrameFields.readText;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.wire.BadFrameException;
import io.saucr.services.wire.CheckedFrames;
import io.saucr.services.wire.FrameFields;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The bytes of a link. Each direction begins with a preface, which every format shares, as it
 * shares SORRY:
 *
 * <pre>
 * magic "SAUM" | format, 4
 * </pre>
 *
 * then {@link CheckedFrames}, all numbers big-endian:
 *
 * <pre>
 * SORRY      text
 * HELLO      service, a name | 0, or 1 and birth | member, 8 | nonce, 8
 * FOLLOW     segment | base, 8
 * SEGMENT    length of the whole, 4 | its first bytes
 * MORE       the next bytes of the segment that began last
 * BASE       number, 8 | length, 8 | digest, 32
 * BASE_PART  bytes
 * BASE_END
 * COMMITTED  segment
 * HEARTBEAT  waiting ms, 8 | state, 8
 * WRITTEN    number, 8
 * STORED     number, 8
 * FETCH      from, 8 | to, 8
 * MISSING    number, 8 | text
 * NEEDS_BASE from, 8
 * </pre>
 *
 * A segment is its epoch, number, 8 each, and digest, 32; names, texts and births are those of
 * {@link FrameFields}. No frame carries more than {@link #PIECE_BYTES} of a segment, so that a
 * HEARTBEAT or SORRY can go between any two; nothing else may.
 *
 * <p>Whatever bytes arrive, reading gives a frame, asks for more, or throws {@link
 * BadFrameException}; lengths are checked before anything of that length is made. Immutable, any
 * thread.
 */
final class MemberCodec {

    /** Of a segment, in one frame. */
    static final int PIECE_BYTES = 64 << 10;

    private static final int DIGEST_BYTES = 32;
    static final int MOST_BYTES =
            CheckedFrames.KIND_BYTES + 4 + PIECE_BYTES + CheckedFrames.CHECK_BYTES;

    private static final int SORRY = 1;
    private static final int HELLO = 2;
    private static final int FOLLOW = 3;
    private static final int SEGMENT = 4;
    private static final int MORE = 5;
    private static final int BASE = 6;
    private static final int BASE_PART = 7;
    private static final int BASE_END = 8;
    private static final int COMMITTED = 9;
    private static final int HEARTBEAT = 10;
    private static final int WRITTEN = 11;
    private static final int STORED = 12;
    private static final int FETCH = 13;
    private static final int MISSING = 14;
    private static final int NEEDS_BASE = 15;

    private static final HexFormat HEX = HexFormat.of();

    private final int format;

    /**
     * Makes a codec.
     *
     * @param format of both sides
     */
    MemberCodec(int format) {
        this.format = format;
    }

    /** What a peer's bytes say. */
    sealed interface Arrived {}

    /** A frame that is whole. */
    record Whole(MemberFrame frame) implements Arrived {}

    /**
     * A piece of a segment.
     *
     * @param length of the segment that begins with it; 0 where it continues with one
     * @param bytes of the frame it came in: not to be kept
     */
    record Piece(int length, ByteBuf bytes) implements Arrived {}

    ByteBuf preface(ByteBufAllocator alloc) {
        return CheckedFrames.preface(CheckedFrames.MAGIC_OF_STANDBYS, format, alloc);
    }

    /** Writes a frame other than a segment. */
    ByteBuf write(MemberFrame frame, ByteBufAllocator alloc) {
        if (frame instanceof MemberFrame.Sorry sorry) {
            byte[] text = FrameFields.textBytes(sorry.reason());
            ByteBuf out = begin(SORRY, 2 + text.length, alloc);
            FrameFields.writeText(out, text);
            return CheckedFrames.end(out);
        } else if (frame instanceof MemberFrame.Hello hello) {
            return hello(hello, alloc);
        } else if (frame instanceof MemberFrame.Follow follow) {
            ByteBuf out = begin(FOLLOW, 16 + DIGEST_BYTES + 8, alloc);
            writeSegmentId(out, follow.last());
            return CheckedFrames.end(out.writeLong(follow.base()));
        } else if (frame instanceof MemberFrame.Base base) {
            ByteBuf out = begin(BASE, 16 + DIGEST_BYTES, alloc);
            out.writeLong(base.number()).writeLong(base.length());
            return CheckedFrames.end(out.writeBytes(HEX.parseHex(base.digest())));
        } else if (frame instanceof MemberFrame.BasePart part) {
            ByteBuffer bytes = part.bytes();
            return CheckedFrames.end(begin(BASE_PART, bytes.remaining(), alloc).writeBytes(bytes));
        } else if (frame instanceof MemberFrame.BaseEnd) {
            return CheckedFrames.end(begin(BASE_END, 0, alloc));
        } else if (frame instanceof MemberFrame.Committed committed) {
            ByteBuf out = begin(COMMITTED, 16 + DIGEST_BYTES, alloc);
            writeSegmentId(out, committed.segment());
            return CheckedFrames.end(out);
        } else if (frame instanceof MemberFrame.Heartbeat heartbeat) {
            ByteBuf out = begin(HEARTBEAT, 16, alloc);
            return CheckedFrames.end(
                    out.writeLong(heartbeat.waitingMillis()).writeLong(heartbeat.state()));
        } else if (frame instanceof MemberFrame.Written written) {
            return CheckedFrames.end(begin(WRITTEN, 8, alloc).writeLong(written.number()));
        } else if (frame instanceof MemberFrame.Stored stored) {
            return CheckedFrames.end(begin(STORED, 8, alloc).writeLong(stored.number()));
        } else if (frame instanceof MemberFrame.Fetch fetch) {
            return CheckedFrames.end(
                    begin(FETCH, 16, alloc).writeLong(fetch.from()).writeLong(fetch.to()));
        } else if (frame instanceof MemberFrame.Missing missing) {
            byte[] text = FrameFields.textBytes(missing.reason());
            ByteBuf out = begin(MISSING, 8 + 2 + text.length, alloc).writeLong(missing.number());
            FrameFields.writeText(out, text);
            return CheckedFrames.end(out);
        } else if (frame instanceof MemberFrame.NeedsBase needs) {
            return CheckedFrames.end(begin(NEEDS_BASE, 8, alloc).writeLong(needs.from()));
        }
        throw new IllegalArgumentException("a segment goes in pieces");
    }

    /**
     * Writes the next piece of a segment.
     *
     * @param left what of the segment is not yet written; moves on by what is
     * @param whole length of the segment
     */
    ByteBuf piece(ByteBuffer left, int whole, ByteBufAllocator alloc) {
        int length = Math.min(left.remaining(), PIECE_BYTES);
        boolean first = left.remaining() == whole;
        ByteBuf out = first ? begin(SEGMENT, 4 + length, alloc) : begin(MORE, length, alloc);
        if (first) {
            out.writeInt(whole);
        }
        int end = left.position() + length;
        int limit = left.limit();
        left.limit(end);
        out.writeBytes(left);
        left.limit(limit);
        return CheckedFrames.end(out);
    }

    private static ByteBuf hello(MemberFrame.Hello hello, ByteBufAllocator alloc) {
        byte[] name = FrameFields.nameBytes("service", hello.service());
        int birth = hello.birth().isPresent() ? FrameFields.BIRTH_BYTES : 0;
        ByteBuf out = begin(HELLO, 2 + name.length + 1 + birth + 16, alloc);
        FrameFields.writeName(out, name);
        out.writeByte(hello.birth().isPresent() ? 1 : 0);
        hello.birth().ifPresent(b -> FrameFields.writeBirth(out, b));
        out.writeLong(Long.parseUnsignedLong(hello.member(), 16));
        return CheckedFrames.end(out.writeLong(hello.nonce()));
    }

    private static ByteBuf begin(int kind, int fields, ByteBufAllocator alloc) {
        int length = CheckedFrames.KIND_BYTES + fields + CheckedFrames.CHECK_BYTES;
        return alloc.buffer(CheckedFrames.LENGTH_BYTES + length).writeInt(length).writeByte(kind);
    }

    private static void writeSegmentId(ByteBuf out, SegmentId id) {
        out.writeLong(id.epoch()).writeLong(id.number()).writeBytes(HEX.parseHex(id.digest()));
    }

    /**
     * Reads the preface.
     *
     * @return whether it was there; nothing was taken else
     */
    boolean readPreface(ByteBuf in) {
        return CheckedFrames.readPreface(
                in, CheckedFrames.MAGIC_OF_STANDBYS, format, MemberCodec::other, "all members");
    }

    private static String other(int magic) {
        return magic == CheckedFrames.MAGIC_OF_SERVICES
                ? "it speaks as another service or a client; here members of one service talk"
                : FrameFields.foreign(magic);
    }

    /**
     * Reads a frame.
     *
     * @return null where bytes are missing; nothing was taken then
     */
    Arrived read(ByteBuf in) {
        return CheckedFrames.read(in, MOST_BYTES, this::readWhole);
    }

    private Arrived readWhole(ByteBuf in) {
        int kind = in.readUnsignedByte();
        return switch (kind) {
            case SEGMENT -> segment(in);
            case MORE -> piece(0, in);
            case SORRY -> new Whole(new MemberFrame.Sorry(FrameFields.printable(readText(in))));
            case HELLO -> new Whole(hello(in));
            case FOLLOW -> new Whole(new MemberFrame.Follow(segmentId(in), readLong(in)));
            case BASE -> new Whole(new MemberFrame.Base(readLong(in), readLong(in), digest(in)));
            case BASE_PART -> new Whole(new MemberFrame.BasePart(rest(in)));
            case BASE_END -> new Whole(new MemberFrame.BaseEnd());
            case COMMITTED -> new Whole(new MemberFrame.Committed(segmentId(in)));
            case HEARTBEAT -> new Whole(new MemberFrame.Heartbeat(readLong(in), readLong(in)));
            case WRITTEN -> new Whole(new MemberFrame.Written(readLong(in)));
            case STORED -> new Whole(new MemberFrame.Stored(readLong(in)));
            case FETCH -> new Whole(new MemberFrame.Fetch(readLong(in), readLong(in)));
            case MISSING ->
                    new Whole(
                            new MemberFrame.Missing(
                                    readLong(in), FrameFields.printable(readText(in))));
            case NEEDS_BASE -> new Whole(new MemberFrame.NeedsBase(readLong(in)));
            default -> throw new BadFrameException("there is no frame of kind " + kind);
        };
    }

    private static Piece segment(ByteBuf in) {
        need(in, 4);
        int whole = in.readInt();
        if (whole < 1 || whole > MemberFrame.SEGMENT_BYTES) {
            throw new BadFrameException(
                    "a segment has 1 to "
                            + MemberFrame.SEGMENT_BYTES
                            + " bytes, not "
                            + Integer.toUnsignedString(whole));
        }
        return piece(whole, in);
    }

    private static Piece piece(int whole, ByteBuf in) {
        int length = in.readableBytes();
        if (length < 1 || length > PIECE_BYTES) {
            throw new BadFrameException(
                    "a piece of a segment has 1 to " + PIECE_BYTES + " bytes, not " + length);
        }
        return new Piece(whole, in.readSlice(length));
    }

    private MemberFrame.Hello hello(ByteBuf in) {
        String service = readName(in);
        Optional<Birth> birth = readFlag(in) ? Optional.of(readBirth(in)) : Optional.empty();
        String member = HEX.toHexDigits(readLong(in));
        return new MemberFrame.Hello(service, birth, member, readLong(in), format);
    }

    private static SegmentId segmentId(ByteBuf in) {
        long epoch = readLong(in);
        return new SegmentId(epoch, readLong(in), digest(in));
    }

    private static String digest(ByteBuf in) {
        need(in, DIGEST_BYTES);
        byte[] bytes = new byte[DIGEST_BYTES];
        in.readBytes(bytes);
        return HEX.formatHex(bytes);
    }

    private static ByteBuffer rest(ByteBuf in) {
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }
}
