package org.apache.zookeeper.server;

import io.saucr.server.requests.AnswerSize;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.jute.Record;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.server.NIOServerCnxnFactory.SelectorThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection that writes an answer in the thread that made it, as far as the socket
 * takes it without waiting. ZooKeeper's own hands every answer to the selector's thread, and that
 * one to a worker: two wake-ups and an epoll registration for what is one system call.
 *
 * <p>Guarantees: bytes leave in the order of the calls of {@link #sendBuffer}, by any threads; none
 * of these ever waits for the client. What the socket does not take, and everything after it, goes
 * ZooKeeper's way until its queue is empty, and so does the end of the connection.
 */
final class SaucrClientConnection extends NIOServerCnxn
        implements Notifications.Receiver, AnswerSize {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrClientConnection.class);

    /** So much waits for the end of a batch at most; what one write takes by default. */
    private static final int MOST_COLLECTED_BYTES = 32 * 1024;

    private final SocketChannel socket;
    private final ReadAheadChannel input;

    /** Reads what was read ahead, whatever the socket holds. */
    private final SelectionKey readable;

    /**
     * Whether the next request may be handled. While a session is not confirmed it must not: a
     * client that sends requests together with a wrong password would act for another's session.
     */
    private volatile boolean receives = true;

    private final Object receiving = new Object();

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

    // Guarded by sending.

    /** Not sent yet; nothing is in ZooKeeper's queue that was sent after one of them was made. */
    private final List<byte[]> notifications = new ArrayList<>();

    private int notificationBytes;

    /** Whether {@link #flushNotifications} will be called. */
    private boolean flushedLater;

    /** Of the one thread that answers; then of the one that it starts. */
    private final List<ByteBuffer> restOfAnswer = new ArrayList<>();

    /** Of the thread that answers the client's requests, which is one at a time. */
    private int newestAnswerBytes;

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
        this.readable = new ReadableKey(key);
    }

    /**
     * Handles every request that one read brings, unless one of them ends receiving; then the rest
     * is kept.
     */
    @Override
    void doIO(SelectionKey key) throws InterruptedException {
        try {
            super.doIO(key);
            while (receives && input.hasMore() && isSocketOpen() && key.isValid()) {
                super.doIO(readable);
            }
        } finally {
            if (isSocketOpen()) {
                input.keep();
            } else {
                input.discard();
            }
        }
    }

    @Override
    public void disableRecv(boolean waitDisableRecv) {
        synchronized (receiving) {
            receives = false;
            super.disableRecv(waitDisableRecv);
        }
    }

    @Override
    public void enableRecv() {
        if (receives) {
            return;
        }
        synchronized (receiving) {
            receives = true;
            super.enableRecv();
        }
    }

    /** What is kept makes no socket readable; but it can nearly always be written to. */
    @Override
    public int getInterestOps() {
        int operations = super.getInterestOps();
        boolean reads = (operations & SelectionKey.OP_READ) != 0;
        return reads && input.hasMore() ? operations | SelectionKey.OP_WRITE : operations;
    }

    /** What was collected before leaves before it, in the same write. */
    @Override
    public void sendBuffer(ByteBuffer... buffers) {
        synchronized (sending) {
            if (notifications.isEmpty()) {
                if (queued.get() == 0 && !answersWord && written(buffers)) {
                    super.packetSent();
                } else {
                    queue(buffers);
                }
            } else {
                sendNotificationsAnd(buffers);
            }
        }
    }

    @Override
    public int sendResponse(
            ReplyHeader header,
            Record answer,
            String tag,
            String cacheKey,
            Stat stat,
            int operation) {
        int bytes = super.sendResponse(header, answer, tag, cacheKey, stat, operation);
        if (header.getXid() >= 0) {
            newestAnswerBytes = bytes;
        }
        return bytes;
    }

    @Override
    public int newestAnswerBytes() {
        return newestAnswerBytes;
    }

    private void queue(ByteBuffer... buffers) {
        queued.incrementAndGet();
        super.sendBuffer(buffers);
    }

    // ---- Notifications ----

    /**
     * A notification that is made while a commit is applied is collected: see {@link
     * Notifications}. For a client that is slow to read it goes where its answers wait.
     */
    @Override
    public void process(WatchedEvent event, List<ACL> acl) {
        Notifications collecting = Notifications.ofThisThread();
        if (collecting == null || LOG.isTraceEnabled()) {
            super.process(event, acl);
            return;
        }
        byte[] notification = collecting.encoded(event, acl, this);
        if (notification != null && collect(notification)) {
            collecting.flushLater(this);
        }
    }

    /**
     * @return whether the connection has to be flushed from now on
     */
    private boolean collect(byte[] notification) {
        synchronized (sending) {
            if (queued.get() != 0 || answersWord) {
                // Nothing is collected then: it would have gone to the queue first.
                queue(ByteBuffer.wrap(notification));
                return false;
            }
            if (notificationBytes + notification.length > MOST_COLLECTED_BYTES) {
                sendNotificationsAnd();
            }
            notifications.add(notification);
            notificationBytes += notification.length;
            boolean first = !flushedLater;
            flushedLater = true;
            return first;
        }
    }

    @Override
    public void flushNotifications() {
        synchronized (sending) {
            flushedLater = false;
            if (!notifications.isEmpty()) {
                sendNotificationsAnd();
            }
        }
    }

    /** What was collected and what follows it, if there is anything, in one write. */
    private void sendNotificationsAnd(ByteBuffer... following) {
        int collected = notifications.size();
        ByteBuffer[] all = Arrays.copyOf(following, collected + following.length);
        System.arraycopy(following, 0, all, collected, following.length);
        for (int i = 0; i < collected; i++) {
            all[i] = ByteBuffer.wrap(notifications.get(i));
        }
        notifications.clear();
        notificationBytes = 0;
        if (!isSocketOpen()) {
            return;
        }
        if (queued.get() == 0 && !answersWord) {
            written(all);
        }
        for (int i = 0; i < collected; i++) {
            sendRest(all[i]);
        }
        if (following.length > 0) {
            sendRest(following);
        }
    }

    /** Of one packet: whatever is left goes to the queue. */
    private void sendRest(ByteBuffer... packet) {
        for (ByteBuffer each : packet) {
            if (isEndOfConnection(each) || each.hasRemaining()) {
                queue(packet);
                return;
            }
        }
        super.packetSent();
    }

    /**
     * ZooKeeper calls this when everything of one queued call of {@link #sendBuffer} was written.
     */
    @Override
    protected void packetSent() {
        queued.decrementAndGet();
        super.packetSent();
    }

    /**
     * Part of the answer to a four-letter word. A client that asks and does not read holds up
     * nobody but {@link #writeRestOfAnswer}.
     */
    @Override
    void sendBufferSync(ByteBuffer buffer) {
        answersWord = true;
        if (restOfAnswer.isEmpty()) {
            try {
                socket.write(buffer);
            } catch (IOException e) {
                LOG.warn("Cannot answer {}", this, e);
                return;
            }
        }
        if (buffer.hasRemaining()) {
            restOfAnswer.add(buffer);
        } else {
            super.packetSent();
        }
    }

    @Override
    public void close(DisconnectReason reason) {
        if (reason == DisconnectReason.CLOSE_CONNECTION_COMMAND && !restOfAnswer.isEmpty()) {
            Thread thread =
                    new Thread(this::writeRestOfAnswer, "Answer-" + getRemoteSocketAddress());
            thread.setDaemon(true);
            thread.start();
        } else {
            super.close(reason);
        }
    }

    /** A client without a session is closed after a time, which ends this. */
    private void writeRestOfAnswer() {
        try {
            for (ByteBuffer part : restOfAnswer) {
                super.sendBufferSync(part);
            }
        } finally {
            super.close(DisconnectReason.CLOSE_CONNECTION_COMMAND);
        }
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

    /** A connection's key as it is when there is something to read, and nothing else to do. */
    private static final class ReadableKey extends SelectionKey {
        private final SelectionKey key;

        ReadableKey(SelectionKey key) {
            this.key = key;
        }

        @Override
        public int readyOps() {
            return OP_READ;
        }

        @Override
        public SelectableChannel channel() {
            return key.channel();
        }

        @Override
        public Selector selector() {
            return key.selector();
        }

        @Override
        public boolean isValid() {
            return key.isValid();
        }

        @Override
        public void cancel() {
            key.cancel();
        }

        @Override
        public int interestOps() {
            return key.interestOps();
        }

        @Override
        public SelectionKey interestOps(int operations) {
            return key.interestOps(operations);
        }
    }
}
