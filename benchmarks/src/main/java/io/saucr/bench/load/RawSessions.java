package io.saucr.bench.load;

import io.saucr.ensemble.Deadline;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.jute.Record;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.proto.AddWatchRequest;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.proto.SetWatches;

/**
 * Many sessions, each a socket alone: as many clients of ZooKeeper's would need two threads each.
 * One thread keeps them alive, and reads and counts what they are sent. Used by one thread.
 */
public final class RawSessions implements AutoCloseable {
    private static final String EPHEMERALS = "/ephemerals";
    private static final int WATCHES_EACH = 1000;
    private static final int THREADS = 16;
    private static final int ANSWER_MILLIS = 30_000;
    private static final int PING_XID = -2;
    private static final int NOTIFICATION_XID = -1;
    private static final int BUFFER_BYTES = 64 << 10;

    /** Lets a few packets come together, as at a client that has something else to do. */
    private static final long READ_PAUSE_MILLIS = 2;

    private static final long POLL_MILLIS = 5;

    /** What a session asks for first. */
    private record Request(int type, Record body) {}

    private final int timeoutMillis;
    private final Selector selector;
    private final Thread reader;
    private final AtomicLong notifications = new AtomicLong();
    private final AtomicInteger open = new AtomicInteger();
    private final Queue<SelectionKey> keys = new ConcurrentLinkedQueue<>();
    private volatile boolean pings = true;
    private volatile boolean over;

    private RawSessions(int timeoutMillis) throws IOException {
        this.timeoutMillis = timeoutMillis;
        this.selector = Selector.open();
        this.reader = new Thread(this::read, "raw sessions");
        reader.setDaemon(true);
    }

    /**
     * Opens sessions that do nothing.
     *
     * @param addresses {@code HOST:PORT} of servers, in turns
     * @throws IOException if one is refused
     */
    public static RawSessions idle(List<String> addresses, int count, int timeoutMillis)
            throws Exception {
        return open(addresses, count, timeoutMillis, number -> null);
    }

    /**
     * Opens sessions, and creates the ephemeral nodes of each in one transaction.
     *
     * @param nodes of each session
     * @throws IOException if one is refused
     */
    public static RawSessions withEphemerals(
            List<String> addresses, int count, int nodes, int timeoutMillis) throws Exception {
        UpdateLoad.ensure(addresses.get(0), EPHEMERALS);
        return open(
                addresses,
                count,
                timeoutMillis,
                number -> {
                    MultiOperationRecord creates = new MultiOperationRecord();
                    for (int i = 0; i < nodes; i++) {
                        creates.add(
                                Op.create(
                                        EPHEMERALS + "/s" + number + "-" + i,
                                        new byte[0],
                                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                        CreateMode.EPHEMERAL));
                    }
                    return new Request(ZooDefs.OpCode.multi, creates);
                });
    }

    /**
     * Opens sessions that watch, a thousand nodes each, for the creation of nodes that nobody
     * creates.
     *
     * @param watches of all sessions together
     * @throws IOException if one is refused
     */
    public static RawSessions withWatches(List<String> addresses, int watches, int timeoutMillis)
            throws Exception {
        return open(
                addresses,
                (watches + WATCHES_EACH - 1) / WATCHES_EACH,
                timeoutMillis,
                number ->
                        new Request(
                                ZooDefs.OpCode.setWatches,
                                new SetWatches(
                                        Long.MAX_VALUE,
                                        List.of(),
                                        IntStream.range(
                                                        number * WATCHES_EACH,
                                                        Math.min(
                                                                watches,
                                                                (number + 1) * WATCHES_EACH))
                                                .mapToObj(i -> "/watched-" + i)
                                                .toList(),
                                        List.of())));
    }

    /**
     * Opens sessions that are notified of every write, by a persistent recursive watch of the root.
     *
     * @throws IOException if one is refused
     */
    public static RawSessions watchers(List<String> addresses, int count, int timeoutMillis)
            throws Exception {
        return open(
                addresses,
                count,
                timeoutMillis,
                number ->
                        new Request(
                                ZooDefs.OpCode.addWatch,
                                new AddWatchRequest(
                                        "/", AddWatchMode.PERSISTENT_RECURSIVE.getMode())));
    }

    private static RawSessions open(
            List<String> addresses, int count, int timeoutMillis, IntFunction<Request> first)
            throws Exception {
        RawSessions sessions = new RawSessions(timeoutMillis);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            sessions.reader.start();
            List<Future<?>> opened = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                String address = addresses.get(i % addresses.size());
                opened.add(
                        threads.submit(
                                () -> {
                                    sessions.open(address, first.apply(number));
                                    return null;
                                }));
            }
            for (Future<?> each : opened) {
                each.get();
            }
            return sessions;
        } catch (Exception e) {
            sessions.close();
            throw e;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Opens one, has its first request answered, and leaves it to the reader. */
    private void open(String address, Request first) throws IOException {
        RawConnection connection = new RawConnection();
        try {
            connection.open(address, RawConnection.Session.NEW, timeoutMillis, ANSWER_MILLIS);
            if (first != null) {
                connection.send(new RequestHeader(1, first.type), first.body);
                ReplyHeader reply = new ReplyHeader();
                do {
                    connection.answer(reply);
                    if (reply.getXid() == NOTIFICATION_XID) {
                        notifications.incrementAndGet();
                    }
                } while (reply.getXid() != 1);
                if (reply.getErr() != 0) {
                    throw new IOException(
                            address + " refuses what a session asks for: " + reply.getErr());
                }
            }
            SocketChannel channel = connection.channel();
            channel.configureBlocking(false);
            open.incrementAndGet();
            keys.add(channel.register(selector, SelectionKey.OP_READ, new Frames()));
            selector.wakeup(); // It does not see the new one before.
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    // ---- The reader ----

    /** Finds where the packets of one session begin. */
    private final class Frames {
        private long beginning;
        private int known;
        private int skip;

        void read(ByteBuffer in) {
            while (in.hasRemaining()) {
                if (skip > 0) {
                    int now = Math.min(skip, in.remaining());
                    in.position(in.position() + now);
                    skip -= now;
                } else {
                    beginning = (beginning << 8) | (in.get() & 0xff);
                    if (++known == Long.BYTES) {
                        // The length, which does not count itself, and the xid.
                        known = 0;
                        skip = (int) (beginning >>> 32) - Integer.BYTES;
                        if ((int) beginning == NOTIFICATION_XID) {
                            notifications.incrementAndGet();
                        }
                    }
                }
            }
        }
    }

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        long pingNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis / 4);
        long nextPing = System.nanoTime() + pingNanos;
        try {
            while (!over) {
                selector.select(timeoutMillis / 4);
                Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
                while (ready.hasNext()) {
                    SelectionKey key = ready.next();
                    ready.remove();
                    receive(key, buffer);
                }
                if (pings && System.nanoTime() - nextPing > 0) {
                    nextPing += pingNanos;
                    keys.forEach(this::ping);
                }
                TimeUnit.MILLISECONDS.sleep(READ_PAUSE_MILLIS);
            }
        } catch (IOException | InterruptedException e) {
            over = true;
        }
    }

    private void receive(SelectionKey key, ByteBuffer buffer) {
        try {
            int read = ((SocketChannel) key.channel()).read(buffer.clear());
            if (read >= 0) {
                ((Frames) key.attachment()).read(buffer.flip());
                return;
            }
        } catch (IOException e) {
            // The server has closed it, as at an end.
        }
        lose(key);
    }

    private void ping(SelectionKey key) {
        try {
            if (key.isValid()) {
                ping((SocketChannel) key.channel());
            }
        } catch (IOException e) {
            lose(key);
        }
    }

    private static void ping(SocketChannel channel) throws IOException {
        RawConnection.send(channel, new RequestHeader(PING_XID, ZooDefs.OpCode.ping));
    }

    private void lose(SelectionKey key) {
        if (key.isValid()) {
            key.cancel();
            open.decrementAndGet();
            closeQuietly(key.channel());
        }
    }

    // ---- The owner ----

    /** Notifications of watches that all of them have received so far. */
    public long notifications() {
        return notifications.get();
    }

    /**
     * @throws IOException if the server has closed the connection of one
     */
    public void requireOpen() throws IOException {
        int lost = keys.size() - open.get();
        if (lost > 0) {
            throw new IOException(
                    "%s of %s sessions besides the load have lost their connection"
                            .formatted(lost, keys.size()));
        }
    }

    /** All sessions are heard once more, and then never again: they expire together. */
    public void cut() throws IOException {
        pings = false;
        for (SelectionKey each : keys) {
            ping((SocketChannel) each.channel());
        }
        close();
    }

    /**
     * Ends all sessions, and waits until the servers have.
     *
     * @throws IllegalStateException if they do not
     */
    public void end() throws Exception {
        requireOpen();
        pings = false;
        for (SelectionKey each : keys) {
            RawConnection.send(
                    (SocketChannel) each.channel(),
                    new RequestHeader(2, ZooDefs.OpCode.closeSession));
        }
        Deadline.await(
                Duration.ofMillis(ANSWER_MILLIS),
                POLL_MILLIS,
                () -> open.get() == 0,
                () -> open.get() + " sessions are not ended by their servers");
        close();
    }

    @Override
    public void close() {
        over = true;
        selector.wakeup();
        try {
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        keys.forEach(key -> closeQuietly(key.channel()));
        closeQuietly(selector);
    }

    private static void closeQuietly(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            // It is given up anyway.
        }
    }
}
