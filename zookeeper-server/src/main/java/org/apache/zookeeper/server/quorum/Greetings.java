package org.apache.zookeeper.server.quorum;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections to the election port until they are taken: the handshake of TLS, the greeting and the
 * login. Each has a thread for that, so a peer that stays silent or sends a byte from time to time
 * keeps no other peer waiting. There are at most {@value #MOST} at a time. If one more comes, the
 * oldest of them is closed: a peer that behaves needs milliseconds. Thread-safe.
 */
final class Greetings {
    private static final Logger LOG = LoggerFactory.getLogger(Greetings.class);

    /** A connection costs a thread, and the buffers of TLS. */
    static final int MOST = 32;

    private static final int VERSION_BYTES = Long.BYTES;
    private static final int REST_BYTES = Long.BYTES + Integer.BYTES;

    private final long mySid;
    private final Consumer<Socket> taker;
    private final Semaphore free = new Semaphore(MOST);
    private final LogRateLimiter closedEarly = new LogRateLimiter();

    /** The oldest first. Guarded by its own monitor. */
    private final Set<Socket> untaken = new LinkedHashSet<>();

    /** Guarded by {@link #untaken}. */
    private boolean closed;

    /**
     * @param taker takes a connection, whose input begins with the greeting, or closes it; called
     *     by several threads at a time
     */
    Greetings(long mySid, Consumer<Socket> taker) {
        this.mySid = mySid;
        this.taker = taker;
    }

    /** A new connection. If there are too many it waits until the thread of one has ended. */
    void read(Socket socket) {
        if (!free.tryAcquire()) {
            closeOldest();
            try {
                free.acquire();
            } catch (InterruptedException e) {
                hangUp(socket);
                Thread.currentThread().interrupt();
                return;
            }
        }
        boolean started = false;
        try {
            if (begins(socket)) {
                Thread thread =
                        new Thread(
                                () -> handle(socket),
                                "Greeting-" + socket.getRemoteSocketAddress());
                thread.setDaemon(true);
                thread.start();
                started = true;
            }
        } finally {
            if (!started) {
                ended(socket);
                free.release();
                hangUp(socket);
            }
        }
    }

    private boolean begins(Socket socket) {
        synchronized (untaken) {
            return !closed && untaken.add(socket);
        }
    }

    private void ended(Socket socket) {
        synchronized (untaken) {
            untaken.remove(socket);
        }
    }

    private void handle(Socket socket) {
        try {
            taker.accept(greeted(socket));
        } catch (IOException | RuntimeException e) {
            LOG.info("No greeting from {}: {}", socket.getRemoteSocketAddress(), e.toString());
            LOG.debug("The reason", e);
            hangUp(socket);
        } finally {
            ended(socket);
            free.release();
        }
    }

    private void closeOldest() {
        Socket oldest;
        synchronized (untaken) {
            Iterator<Socket> sockets = untaken.iterator();
            if (!sockets.hasNext()) {
                return;
            }
            oldest = sockets.next();
            sockets.remove();
        }
        long count = closedEarly.refused(mySid, System.nanoTime());
        if (count > 0) {
            LOG.warn(
                    "{} connections to the election port were closed before they had greeted, since"
                            + " there were more than {}; the last one came from {}",
                    count,
                    MOST,
                    oldest.getRemoteSocketAddress());
        }
        hangUp(oldest);
    }

    /** Closes those that are not taken yet; later ones are closed at once. */
    void close() {
        Set<Socket> open;
        synchronized (untaken) {
            closed = true;
            open = Set.copyOf(untaken);
            untaken.clear();
        }
        open.forEach(Greetings::hangUp);
    }

    /** Closes without waiting, neither for unsent bytes nor for the end of TLS. */
    static void hangUp(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            LOG.debug("It is closed already", e);
        }
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("Closing a connection", e);
        }
    }

    /** Reads the greeting, and no byte after it. What is wrong with it, its reader finds. */
    private static Socket greeted(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        DataInputStream data = new DataInputStream(in);
        ByteBuffer greeting =
                ByteBuffer.allocate(VERSION_BYTES + REST_BYTES + QuorumCnxManager.maxBuffer);
        long versionOrNumber = data.readLong();
        greeting.putLong(versionOrNumber);
        if (versionOrNumber < 0) {
            greeting.putLong(data.readLong());
            int length = data.readInt();
            greeting.putInt(length);
            if (length > 0 && length <= QuorumCnxManager.maxBuffer) {
                greeting.put(data.readNBytes(length));
            }
        }
        return new Greeted(
                socket,
                new SequenceInputStream(
                        new ByteArrayInputStream(greeting.array(), 0, greeting.position()), in));
    }

    /** The connection, with an input that begins with what was read of it before. */
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // the other one synchronizes
    private static final class Greeted extends Socket {
        private final Socket socket;
        private final InputStream in;

        Greeted(Socket socket, InputStream in) throws IOException {
            super((SocketImpl) null);
            this.socket = socket;
            this.in = in;
        }

        @Override
        public InputStream getInputStream() {
            return in;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return socket.getOutputStream();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }

        @Override
        public boolean isClosed() {
            return socket.isClosed();
        }

        @Override
        public boolean isConnected() {
            return socket.isConnected();
        }

        @Override
        public boolean isBound() {
            return socket.isBound();
        }

        @Override
        public InetAddress getInetAddress() {
            return socket.getInetAddress();
        }

        @Override
        public int getPort() {
            return socket.getPort();
        }

        @Override
        public SocketAddress getRemoteSocketAddress() {
            return socket.getRemoteSocketAddress();
        }

        @Override
        public InetAddress getLocalAddress() {
            return socket.getLocalAddress();
        }

        @Override
        public int getLocalPort() {
            return socket.getLocalPort();
        }

        @Override
        public SocketAddress getLocalSocketAddress() {
            return socket.getLocalSocketAddress();
        }

        @Override
        public void setSoTimeout(int millis) throws SocketException {
            socket.setSoTimeout(millis);
        }

        @Override
        public int getSoTimeout() throws SocketException {
            return socket.getSoTimeout();
        }

        @Override
        public void setSoLinger(boolean on, int seconds) throws SocketException {
            socket.setSoLinger(on, seconds);
        }

        @Override
        public void setTcpNoDelay(boolean on) throws SocketException {
            socket.setTcpNoDelay(on);
        }

        @Override
        public void setKeepAlive(boolean on) throws SocketException {
            socket.setKeepAlive(on);
        }

        @Override
        public String toString() {
            return socket.toString();
        }
    }
}
