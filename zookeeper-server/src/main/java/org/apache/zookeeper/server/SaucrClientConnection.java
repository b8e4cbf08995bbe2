package org.apache.zookeeper.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.server.NIOServerCnxnFactory.SelectorThread;

/**
 * A client's connection that writes an answer in the thread that made it, as far as the socket
 * takes it without waiting. ZooKeeper's own hands every answer to the selector's thread, and that
 * one to a worker: two wake-ups and an epoll registration for what is one system call.
 *
 * <p>Guarantees: bytes leave in the order of the calls of {@link #sendBuffer}, by any threads; none
 * of these ever waits for the client. What the socket does not take, and everything after it, goes
 * ZooKeeper's way until its queue is empty, and so does the end of the connection.
 */
final class SaucrClientConnection extends NIOServerCnxn {
    private final SocketChannel socket;
    private final ReadAheadChannel input;

    /** Held for every write of this class and every addition to ZooKeeper's queue. */
    private final Object sending = new Object();

    /**
     * Calls whose bytes are in ZooKeeper's queue. Raised under {@code sending} before they are put
     * there; lowered by a worker after the last of a call's bytes was written.
     */
    private final AtomicInteger queued = new AtomicInteger();

    /**
     * The answer to a four-letter word bypasses the queue, so {@code queued} is not right any more.
     */
    private volatile boolean answersWord;

    SaucrClientConnection(
            ZooKeeperServer server,
            SocketChannel socket,
            SelectionKey key,
            NIOServerCnxnFactory port,
            SelectorThread selector)
            throws IOException {
        this(server, socket, new ReadAheadChannel(socket), key, port, selector);
    }

    private SaucrClientConnection(
            ZooKeeperServer server,
            SocketChannel socket,
            ReadAheadChannel input,
            SelectionKey key,
            NIOServerCnxnFactory port,
            SelectorThread selector)
            throws IOException {
        super(server, input, key, port, selector);
        this.socket = socket;
        this.input = input;
    }

    /** Handles every request that one read brings. */
    @Override
    void doIO(SelectionKey key) throws InterruptedException {
        try {
            super.doIO(key);
            while (input.hasMore() && isSocketOpen() && key.isValid()) {
                super.doIO(key);
            }
        } finally {
            input.discard();
        }
    }

    @Override
    public void sendBuffer(ByteBuffer... buffers) {
        synchronized (sending) {
            if (queued.get() == 0 && !answersWord && written(buffers)) {
                super.packetSent();
            } else {
                queued.incrementAndGet();
                super.sendBuffer(buffers);
            }
        }
    }

    /**
     * ZooKeeper calls this when everything of one queued call of {@link #sendBuffer} was written.
     */
    @Override
    protected void packetSent() {
        queued.decrementAndGet();
        super.packetSent();
    }

    @Override
    void sendBufferSync(ByteBuffer buffer) {
        answersWord = true;
        super.sendBufferSync(buffer);
    }

    /**
     * Writes what the socket takes and moves the buffers' positions behind it.
     *
     * @return whether that was everything
     */
    private boolean written(ByteBuffer[] buffers) {
        ByteBuffer direct = NIOServerCnxnFactory.getDirectBuffer();
        if (direct == null) {
            return false;
        }
        direct.clear();
        for (ByteBuffer buffer : buffers) {
            if (isEndOfConnection(buffer) || buffer.remaining() > direct.remaining()) {
                return false;
            }
            direct.put(buffer.duplicate());
        }
        direct.flip();
        int taken;
        try {
            taken = socket.write(direct);
        } catch (IOException e) {
            // The worker meets the same error, and closes the connection as it always does.
            return false;
        }
        for (ByteBuffer buffer : buffers) {
            int part = Math.min(taken, buffer.remaining());
            buffer.position(buffer.position() + part);
            taken -= part;
        }
        return !direct.hasRemaining();
    }

    @SuppressWarnings("ReferenceEquality") // a mark, not bytes
    private static boolean isEndOfConnection(ByteBuffer buffer) {
        return buffer == ServerCnxnFactory.closeConn;
    }
}
