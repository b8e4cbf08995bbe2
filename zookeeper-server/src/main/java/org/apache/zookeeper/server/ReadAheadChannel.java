package org.apache.zookeeper.server;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;

/**
 * A client's socket that is read once where its reader asks for two pieces: ZooKeeper reads each
 * request's length and then its content, with a system call for each. What one read brings, up to
 * {@value #BUFFER_BYTES} bytes, lies in a buffer of the thread and is handed out from there.
 *
 * <p>The reader has to continue until {@link #hasMore} is false, or to call {@link #keep} or {@link
 * #discard}, before its thread reads from another channel. Reads by one thread at a time; writes by
 * any.
 */
final class ReadAheadChannel extends SocketChannel {
    static final int BUFFER_BYTES = 64 * 1024;

    private static final ThreadLocal<ByteBuffer> BUFFERS =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0));

    private final SocketChannel socket;

    /** The buffer of the thread that reads, or what was kept of it; null if nothing is left. */
    private ByteBuffer ahead;

    /**
     * @param socket in non-blocking mode
     */
    ReadAheadChannel(SocketChannel socket) throws IOException {
        super(socket.provider());
        this.socket = socket;
        // So that a change of the mode arrives at the socket.
        configureBlocking(false);
    }

    /** Whether bytes were read that nobody has asked for yet. */
    boolean hasMore() {
        return ahead != null && ahead.hasRemaining();
    }

    /**
     * Keeps what was read and not yet asked for, so that the thread may read from another channel.
     */
    void keep() {
        if (hasMore() && ahead.isDirect()) {
            ahead = ByteBuffer.allocate(ahead.remaining()).put(ahead).flip();
        }
    }

    /** Forgets what nobody will ask for: the connection is closed. */
    void discard() {
        ahead = null;
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        if (!hasMore()) {
            if (to.remaining() >= BUFFER_BYTES) {
                return socket.read(to);
            }
            ByteBuffer buffer = BUFFERS.get();
            int count = socket.read(buffer.clear());
            buffer.flip();
            if (count <= 0) {
                return count;
            }
            ahead = buffer;
        }
        int count = Math.min(to.remaining(), ahead.remaining());
        to.put(to.position(), ahead, ahead.position(), count).position(to.position() + count);
        ahead.position(ahead.position() + count);
        if (!ahead.hasRemaining()) {
            ahead = null;
        }
        return count;
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, to.length);
        for (int i = offset; i < offset + length; i++) {
            if (to[i].hasRemaining()) {
                return read(to[i]);
            }
        }
        return 0;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return socket.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return socket.write(from, offset, length);
    }

    @Override
    public Socket socket() {
        return socket.socket();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        socket.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        socket.configureBlocking(block);
    }

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        socket.bind(local);
        return this;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        socket.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return socket.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return socket.supportedOptions();
    }

    @Override
    public SocketChannel shutdownInput() throws IOException {
        socket.shutdownInput();
        return this;
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    @Override
    public boolean isConnected() {
        return socket.isConnected();
    }

    @Override
    public boolean isConnectionPending() {
        return socket.isConnectionPending();
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        return socket.connect(remote);
    }

    @Override
    public boolean finishConnect() throws IOException {
        return socket.finishConnect();
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        return socket.getRemoteAddress();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        return socket.getLocalAddress();
    }
}
