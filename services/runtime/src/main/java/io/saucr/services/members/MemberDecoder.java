package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.saucr.services.wire.BadFrameException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Cuts another member's bytes into frames, and collects the pieces of a segment: a segment comes
 * out whole or not at all. It never makes room for more than the next piece or two: what it holds
 * grows with what arrives, not with what was announced, and no array of a segment's size keeps the
 * event loop from heartbeats. After the first bad frame it drops everything. Event loop.
 *
 * <p>Out come {@link MemberFrame}s, but {@link Collected} for a segment.
 */
final class MemberDecoder extends ByteToMessageDecoder {

    /** Of a segment, held together. */
    static final int CHUNK_BYTES = 256 << 10;

    /**
     * A segment that is whole, but not in one piece.
     *
     * @param chunks become free while they are joined
     * @param length of all
     */
    record Collected(Deque<byte[]> chunks, int length) {

        /** In one piece; once. Takes its time: not on an event loop. */
        MemberFrame.Segment join() {
            if (chunks.size() == 1) {
                return new MemberFrame.Segment(ByteBuffer.wrap(chunks.remove()));
            }
            ByteBuffer whole = ByteBuffer.allocate(length);
            while (!chunks.isEmpty()) {
                whole.put(chunks.remove());
            }
            return new MemberFrame.Segment(whole.flip());
        }
    }

    private final MemberCodec codec;
    private final Runnable heard;
    private boolean preface = true;
    private boolean over;

    /** Of the segment under way; null where none is. */
    private Deque<byte[]> segment;

    private int segmentLength;
    private int segmentArrived;

    /** The last chunk, and how much room it has. */
    private byte[] chunk;

    private int chunkLeft;

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
        drop();
    }

    private void drop() {
        segment = null;
        chunk = null;
        chunkLeft = 0;
    }

    /** How many bytes it holds, or keeps room for. */
    int held() {
        return actualReadableBytes() + (segment == null ? 0 : segmentArrived + chunkLeft);
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
            segment = new ArrayDeque<>();
            segmentLength = piece.length();
            segmentArrived = 0;
        } else if (segment == null) {
            throw new BadFrameException("a piece continues a segment, and none has begun");
        }
        int length = piece.bytes().readableBytes();
        if (length > segmentLength - segmentArrived) {
            throw new BadFrameException(
                    (segmentArrived + length)
                            + " bytes came of a segment that has "
                            + segmentLength);
        }
        while (piece.bytes().isReadable()) {
            if (chunkLeft == 0) {
                chunk = new byte[Math.min(CHUNK_BYTES, segmentLength - segmentArrived)];
                chunkLeft = chunk.length;
                segment.add(chunk);
            }
            int part = Math.min(chunkLeft, piece.bytes().readableBytes());
            piece.bytes().readBytes(chunk, chunk.length - chunkLeft, part);
            chunkLeft -= part;
            segmentArrived += part;
        }
        if (segmentArrived == segmentLength) {
            out.add(new Collected(segment, segmentLength));
            drop();
        }
    }
}
