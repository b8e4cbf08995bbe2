package io.saucr.services.members;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.saucr.services.Address;
import io.saucr.services.wire.CheckedFrames;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;

/** Speaks to a member by a plain socket, word by word. */
final class Plain implements AutoCloseable {

    private static final UnpooledByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    final Socket socket;
    final OutputStream out;
    private final InputStream in;
    private final MemberCodec codec;
    private boolean prefaced;

    /**
     * Connects.
     *
     * @param codec null where it speaks no frames
     */
    Plain(Address address, MemberCodec codec) throws IOException {
        this.socket = new Socket(InetAddress.getByName(address.host()), address.port());
        this.out = socket.getOutputStream();
        this.in = socket.getInputStream();
        this.codec = codec;
        if (codec != null) {
            out.write(bytes(codec.preface(ALLOC)));
        }
    }

    private static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    void send(MemberFrame frame) throws IOException {
        out.write(bytes(codec.write(frame, ALLOC)));
    }

    /** Sends the first pieces of a segment. */
    void sendPieces(MemberFrame.Segment segment, int pieces) throws IOException {
        ByteBuffer left = segment.bytes();
        int whole = left.remaining();
        for (int i = 0; i < pieces; i++) {
            out.write(bytes(codec.piece(left, whole, ALLOC)));
        }
    }

    /** The next frame that is no heartbeat. */
    MemberFrame read() throws IOException {
        if (!prefaced) {
            codec.readPreface(Unpooled.wrappedBuffer(exactly(CheckedFrames.PREFACE_BYTES)));
            prefaced = true;
        }
        while (true) {
            byte[] length = exactly(4);
            byte[] frame = exactly(ByteBuffer.wrap(length).getInt());
            if (codec.read(Unpooled.wrappedBuffer(length, frame)) instanceof MemberCodec.Whole whole
                    && !(whole.frame() instanceof MemberFrame.Heartbeat)) {
                return whole.frame();
            }
        }
    }

    private byte[] exactly(int bytes) throws IOException {
        byte[] read = in.readNBytes(bytes);
        if (read.length < bytes) {
            throw new EOFException("the other side has ended");
        }
        return read;
    }

    /** All that comes until the end. */
    byte[] rest() throws IOException {
        try {
            return in.readAllBytes();
        } catch (SocketException e) {
            // A reset may overtake the reason.
            return new byte[0];
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
