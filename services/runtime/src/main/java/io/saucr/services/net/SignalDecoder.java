package io.saucr.services.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.saucr.services.wire.BadFrameException;
import java.util.List;

/**
 * Cuts a peer's bytes into {@link Signal}s. A length that exceeds the limit ends the connection
 * before a byte behind it is kept, so it never holds more than the largest frame and one read.
 * After the first bad frame it drops everything. Event loop.
 */
final class SignalDecoder extends ByteToMessageDecoder {

    private final FrameCodec codec;
    private boolean preface = true;
    private boolean over;

    SignalDecoder(FrameCodec codec) {
        this.codec = codec;
    }

    /** How many bytes wait for the rest of their frame. */
    int held() {
        return actualReadableBytes();
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
            return;
        }
        try {
            Signal signal = preface ? codec.readPreface(in) : codec.read(in);
            if (signal == null) {
                return;
            }
            preface = false;
            out.add(signal);
        } catch (BadFrameException e) {
            over = true;
            in.skipBytes(in.readableBytes());
            throw e;
        }
    }
}
