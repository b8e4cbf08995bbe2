package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.saucr.services.net.BadFrameException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Cuts another member's bytes into frames, and puts the pieces of a segment together: a segment
 * comes out whole or not at all. What it holds grows with what arrives, not with what was
 * announced. After the first bad frame it drops everything. Event loop.
 */
final class MemberDecoder extends ByteToMessageDecoder {

    /** Room for a segment at first; what it holds is at most this and eight times what arrived. */
    static final int ROOM_BYTES = 256 << 10;

    static final int GROWS_BY = 8;

    private final MemberCodec codec;
    private final Runnable heard;
    private boolean preface = true;
    private boolean over;

    /** Of the segment under way; null where none is. */
    private byte[] segment;

    private int segmentLength;
    private int segmentArrived;

    /**
     * Makes the decoder of one direction.
     *
     * @param heard runs whenever bytes arrive
     */
    MemberDecoder(MemberCodec codec, Runnable heard) {
        this.codec = codec;
        this.heard = heard;
    }

    /** Drops what arrives from now on. */
    void stop() {
        over = true;
        segment = null;
    }

    /** How many bytes it holds, or keeps room for. */
    int held() {
        return actualReadableBytes() + (segment == null ? 0 : segment.length);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        heard.run();
        super.channelRead(context, message);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
            return;
        }
        try {
            if (preface) {
                preface = !codec.readPreface(in);
                return;
            }
            MemberCodec.Arrived arrived = codec.read(in);
            if (arrived instanceof MemberCodec.Piece piece) {
                add(piece, out);
            } else if (arrived instanceof MemberCodec.Whole whole) {
                checkBetween(whole.frame());
                out.add(whole.frame());
            }
        } catch (BadFrameException e) {
            stop();
            in.skipBytes(in.readableBytes());
            throw e;
        }
    }

    private void checkBetween(MemberFrame frame) {
        if (segment != null
                && !(frame instanceof MemberFrame.Heartbeat)
                && !(frame instanceof MemberFrame.Sorry)) {
            throw new BadFrameException(
                    frame.getClass().getSimpleName()
                            + " after "
                            + segmentArrived
                            + " of the "
                            + segmentLength
                            + " bytes of a segment");
        }
    }

    private void add(MemberCodec.Piece piece, List<Object> out) {
        if (piece.length() > 0) {
            if (segment != null) {
                throw new BadFrameException(
                        "a segment begins after "
                                + segmentArrived
                                + " of the "
                                + segmentLength
                                + " bytes of another");
            }
            segment = new byte[Math.min(piece.length(), ROOM_BYTES)];
            segmentLength = piece.length();
            segmentArrived = 0;
        } else if (segment == null) {
            throw new BadFrameException("a segment goes on, and none has begun");
        }
        int length = piece.bytes().readableBytes();
        if (length > segmentLength - segmentArrived) {
            throw new BadFrameException(
                    (segmentArrived + length)
                            + " bytes came of a segment that has "
                            + segmentLength);
        }
        if (length > segment.length - segmentArrived) {
            long room = Math.max(segmentArrived + length, (long) GROWS_BY * segmentArrived);
            byte[] larger = new byte[(int) Math.min(room, segmentLength)];
            System.arraycopy(segment, 0, larger, 0, segmentArrived);
            segment = larger;
        }
        piece.bytes().readBytes(segment, segmentArrived, length);
        segmentArrived += length;
        if (segmentArrived == segmentLength) {
            out.add(new MemberFrame.Segment(ByteBuffer.wrap(segment)));
            segment = null;
        }
    }
}
