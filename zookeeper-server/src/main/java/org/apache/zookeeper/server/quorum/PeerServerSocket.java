package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;

/** Where a leader listens for its learners: what it accepts is a {@link PeerSocket}. */
final class PeerServerSocket extends ServerSocket {
    private final ServerSocketChannel channel = ServerSocketChannel.open();
    private final PeerTls tls;

    PeerServerSocket() throws IOException {
        this(null);
    }

    /**
     * It is bound by a call of {@link #bind}.
     *
     * @param tls null for connections without TLS
     */
    PeerServerSocket(PeerTls tls) throws IOException {
        this.tls = tls;
    }

    @Override
    public void bind(SocketAddress address) throws IOException {
        channel.socket().bind(address);
    }

    @Override
    public void bind(SocketAddress address, int backlog) throws IOException {
        channel.socket().bind(address, backlog);
    }

    @Override
    public Socket accept() throws IOException {
        try {
            return new PeerSocket(channel.accept(), tls);
        } catch (ClosedChannelException e) {
            SocketException closed = new SocketException("Socket closed");
            closed.initCause(e);
            throw closed;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    @Override
    public boolean isBound() {
        return channel.socket().isBound();
    }

    @Override
    public InetAddress getInetAddress() {
        return channel.socket().getInetAddress();
    }

    @Override
    public int getLocalPort() {
        return channel.socket().getLocalPort();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return channel.socket().getLocalSocketAddress();
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        channel.socket().setReuseAddress(on);
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return channel.socket().getReuseAddress();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
