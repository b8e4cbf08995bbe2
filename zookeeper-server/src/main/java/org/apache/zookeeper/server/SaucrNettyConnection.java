package org.apache.zookeeper.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.saucr.server.requests.AnswerSize;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.jute.Record;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.ReplyHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's connection on Netty's port, with TLS or without, that collects what it sends. The
 * answers of one round of its event loop leave in one write, with TLS in one record for each 16 KB,
 * and so do those of one stretch of applied commits. ZooKeeper's own writes each answer, and wakes
 * the event loop for each that another thread makes.
 *
 * <p>Guarantees: bytes leave in the order of the calls of {@link #sendBuffer}, by any threads; none
 * of these waits for the client; the end of the session comes after them. Only the event loop takes
 * what was collected.
 *
 * <p>A client that does not read gets no more into Netty than one write, since TLS encrypts what it
 * is given at once, into memory outside of the heap. A few such clients would fill that memory, and
 * the event loops of all clients would wait for it. What else is for that client stays here, and is
 * dropped if the connection ends otherwise than after its session.
 */
public final class SaucrNettyConnection extends NettyServerCnxn
        implements Notifications.Receiver, AnswerSize {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrNettyConnection.class);

    /** More than that goes to Netty as it is, not copied into one buffer. */
    private static final int MOST_COPIED_BYTES = 64 * 1024;

    /** A write takes no further packet from there on. */
    private static final int MOST_WRITTEN_BYTES = 256 * 1024;

    private final Channel channel;

    /** The event loop's, at the end of its rounds. */
    private final Runnable endOfRound = this::endRound;

    private final Object lock = new Object();

    // Guarded by lock.
    private List<ByteBuffer[]> collected = new ArrayList<>();

    /** Whether a thread that is not the event loop has promised to wake it. */
    private boolean wakes;

    /** The event loop's: whether {@link #endOfRound} is put off. */
    private boolean inRound;

    /** Whether the end was sent as packets are, as after the end of a session. */
    private volatile boolean endsInOrder;

    /** The event loop's: whether Netty has a write that the socket has not taken yet. */
    private boolean writing;

    /**
     * Called by the event loop of the channel. The connection of another server is ZooKeeper's own.
     *
     * @param server null if none serves
     */
    public static NettyServerCnxn of(
            Channel channel, ZooKeeperServer server, NettyServerCnxnFactory port) {
        return server instanceof BatchingServer
                ? new SaucrNettyConnection(channel, server, port)
                : new NettyServerCnxn(channel, server, port);
    }

    /** Of the thread that answers the client's requests, which is one at a time. */
    private int newestAnswerBytes;

    SaucrNettyConnection(Channel channel, ZooKeeperServer server, NettyServerCnxnFactory port) {
        super(channel, server, port);
        this.channel = channel;
        SelectorBatch.begin(channel.eventLoop());
    }

    @Override
    public int sendResponse(
            ReplyHeader header,
            Record answer,
            String tag,
            String cacheKey,
            Stat stat,
            int operation)
            throws IOException {
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

    @Override
    public void sendBuffer(ByteBuffer... buffers) {
        if (isEndOfConnection(buffers)) {
            endsInOrder = true;
            super.sendBuffer(buffers);
        } else {
            collect(Notifications.ofThisThread(), buffers);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a mark, not bytes
    private static boolean isEndOfConnection(ByteBuffer... buffers) {
        return buffers.length == 1 && buffers[0] == ServerCnxnFactory.closeConn;
    }

    /** Every watcher of a node gets the same bytes. */
    @Override
    public void process(WatchedEvent event, List<ACL> acl) {
        Notifications collecting = Notifications.ofThisThread();
        if (collecting == null || LOG.isTraceEnabled()) {
            super.process(event, acl);
            return;
        }
        byte[] notification = collecting.encoded(event, acl, this);
        if (notification != null) {
            collect(collecting, ByteBuffer.wrap(notification));
        }
    }

    /**
     * @param applying what this thread collects while it applies; null if it does not
     */
    private void collect(Notifications applying, ByteBuffer... packet) {
        boolean ownLoop = channel.eventLoop().inEventLoop();
        synchronized (lock) {
            collected.add(packet);
            if (!ownLoop) {
                if (wakes) {
                    return;
                }
                wakes = true;
            }
        }
        if (!ownLoop) {
            if (applying == null) {
                flushNotifications();
            } else {
                applying.flushSoon(this);
            }
        } else if (!inRound) {
            inRound = SelectorBatch.putOff(endOfRound);
            if (!inRound) {
                send();
            }
        }
    }

    private void endRound() {
        inRound = false;
        send();
    }

    /** Wakes the event loop. */
    @Override
    public void flushNotifications() {
        wake(this::send);
    }

    private void wake(Runnable sends) {
        try {
            channel.eventLoop().execute(sends);
        } catch (RejectedExecutionException e) {
            LOG.debug("Nothing is sent to {} any more", this, e);
        }
    }

    /**
     * Sends what is there, or leaves it to the end of the write that is in progress. Called by the
     * event loop.
     */
    private void send() {
        if (!writing) {
            List<ByteBuffer[]> packets = taken(MOST_WRITTEN_BYTES);
            if (!packets.isEmpty()) {
                writing = true;
                write(packets, this::written);
            }
        }
    }

    private void written(boolean successful) {
        writing = false;
        if (successful) {
            send();
        } else {
            // Nobody reads it any more.
            taken(Long.MAX_VALUE);
        }
    }

    /** Takes the oldest packets: all of them, or until they have this many bytes. */
    private List<ByteBuffer[]> taken(long enough) {
        synchronized (lock) {
            wakes = false;
            int count = 0;
            for (long bytes = 0; count < collected.size() && bytes < enough; count++) {
                bytes += bytesOf(collected.get(count));
            }
            List<ByteBuffer[]> oldest = collected.subList(0, count);
            List<ByteBuffer[]> packets = new ArrayList<>(oldest);
            oldest.clear();
            return packets;
        }
    }

    private void write(List<ByteBuffer[]> packets, Consumer<Boolean> then) {
        channel.writeAndFlush(inOnePiece(packets))
                .addListener(
                        written -> {
                            for (int i = 0; written.isSuccess() && i < packets.size(); i++) {
                                packetSent();
                            }
                            then.accept(written.isSuccess());
                        });
    }

    private static long bytesOf(ByteBuffer... packet) {
        long bytes = 0;
        for (ByteBuffer part : packet) {
            bytes += part.remaining();
        }
        return bytes;
    }

    private ByteBuf inOnePiece(List<ByteBuffer[]> packets) {
        ByteBuffer[] parts = packets.stream().flatMap(Stream::of).toArray(ByteBuffer[]::new);
        long bytes = bytesOf(parts);
        if (bytes > MOST_COPIED_BYTES) {
            return Unpooled.wrappedBuffer(parts);
        }
        ByteBuf all = channel.alloc().ioBuffer((int) bytes);
        for (ByteBuffer part : parts) {
            all.writeBytes(part);
        }
        return all;
    }

    /**
     * What was collected leaves before the end of the connection. But where the end was not sent
     * itself, a slow client loses what the write in progress does not hold.
     */
    @Override
    public void close() {
        if (channel.eventLoop().inEventLoop()) {
            sendRest();
        } else {
            wake(this::sendRest);
        }
        super.close();
    }

    private void sendRest() {
        List<ByteBuffer[]> packets = taken(Long.MAX_VALUE);
        if (!packets.isEmpty() && (endsInOrder || !writing)) {
            write(packets, successful -> {});
        }
    }
}
