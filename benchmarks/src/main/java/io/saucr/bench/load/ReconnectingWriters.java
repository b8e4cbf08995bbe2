package io.saucr.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.GetDataRequest;
import org.apache.zookeeper.proto.GetDataResponse;
import org.apache.zookeeper.proto.ReplyHeader;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.proto.SyncRequest;
import org.apache.zookeeper.proto.SyncResponse;

/**
 * Clients that count in a node each, one write after the other's answer, and connect to the next
 * server at once when a connection is lost: what they wait is the servers' pause, and not their
 * own. After each new connection a client reads its node before it writes: what was acknowledged
 * must be there. Thread-safe; closing it ends the clients.
 */
public final class ReconnectingWriters implements AutoCloseable {
    private static final int SESSION_MILLIS = 30_000;
    private static final int ANSWER_MILLIS = 10_000;
    private static final long RETRY_MILLIS = 5;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private volatile boolean stopped;

    // Guarded by this; times are System.nanoTime().
    private final long[] last;
    private final long[] longest;
    private long lastOfAll = System.nanoTime();
    private long longestOfAll;
    private long acknowledged;

    private ReconnectingWriters(int clients) {
        last = new long[clients];
        longest = new long[clients];
    }

    /**
     * Starts them.
     *
     * @param addresses {@code HOST:PORT} of all servers; client i begins with the i-th
     * @param thinkMillis between an answer and the next write
     */
    public static ReconnectingWriters start(List<String> addresses, int clients, long thinkMillis) {
        ReconnectingWriters writers = new ReconnectingWriters(clients);
        for (int i = 0; i < clients; i++) {
            Client client = writers.new Client(i, addresses, thinkMillis);
            Thread thread = new Thread(client::run, "bench writer " + i);
            thread.setDaemon(true);
            writers.threads.add(thread);
            thread.start();
        }
        return writers;
    }

    private synchronized void acknowledged(int client) {
        long now = System.nanoTime();
        longestOfAll = Math.max(longestOfAll, now - lastOfAll);
        lastOfAll = now;
        longest[client] = last[client] == 0 ? 0 : Math.max(longest[client], now - last[client]);
        last[client] = now;
        acknowledged++;
        notifyAll();
    }

    /** Begins to look for the longest pauses anew. */
    public synchronized void begin() {
        longestOfAll = 0;
        Arrays.fill(longest, 0);
    }

    /**
     * Waits until each client has had an answer to a write after this call.
     *
     * @throws IOException if that takes a minute, or a client has found that a write is lost
     */
    public synchronized void awaitEach() throws IOException, InterruptedException {
        long begin = System.nanoTime();
        while (Arrays.stream(last).anyMatch(each -> each - begin < 0)) {
            requireNoFailure();
            long left = PATIENCE_NANOS - (System.nanoTime() - begin);
            if (left <= 0) {
                throw new IOException("no write of a client is acknowledged for a minute");
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        requireNoFailure();
    }

    private void requireNoFailure() throws IOException {
        if (failure.get() != null) {
            throw new IOException(failure.get().getMessage(), failure.get());
        }
    }

    /** Seconds between two answers to the same client, of the client that waited for longest. */
    public synchronized double longestOfOne() {
        return Arrays.stream(longest).max().orElseThrow() / 1e9;
    }

    /** Seconds in which no client had an answer. */
    public synchronized double longestOfAll() {
        return longestOfAll / 1e9;
    }

    /** Writes so far. */
    public synchronized long acknowledged() {
        return acknowledged;
    }

    @Override
    public void close() {
        stopped = true;
        for (Thread each : threads) {
            try {
                each.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One of them. Used by its own thread. */
    private final class Client {
        private final int number;
        private final List<String> addresses;
        private final long thinkMillis;
        private final String path;
        private RawConnection.Session session = RawConnection.Session.NEW;
        private int next;
        private int xid;
        private boolean created;

        /** What was acknowledged last, and what was sent last. */
        private long acked;

        private long sent;

        Client(int number, List<String> addresses, long thinkMillis) {
            this.number = number;
            this.addresses = addresses;
            this.thinkMillis = thinkMillis;
            this.path = "/writer-" + System.nanoTime() + "-" + number;
            this.next = number;
        }

        void run() {
            try {
                while (!stopped) {
                    try (RawConnection connection = new RawConnection()) {
                        write(connection);
                    } catch (IOException lost) {
                        // The next server, at once, unless no server is there.
                        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
                    }
                }
            } catch (InterruptedException | IllegalStateException e) {
                failure.compareAndSet(null, e);
            }
        }

        private void write(RawConnection connection) throws IOException, InterruptedException {
            String address = addresses.get(next++ % addresses.size());
            session = connection.open(address, session, SESSION_MILLIS, ANSWER_MILLIS);
            create(connection);
            check(connection, address);
            while (!stopped) {
                sent++;
                SetDataRequest write = new SetDataRequest(path, data(sent), -1);
                require(Code.OK, call(connection, ZooDefs.OpCode.setData, write));
                acked = sent;
                acknowledged(number);
                if (thinkMillis > 0) {
                    TimeUnit.MILLISECONDS.sleep(thinkMillis);
                }
            }
        }

        private void create(RawConnection connection) throws IOException {
            if (!created) {
                CreateRequest create =
                        new CreateRequest(
                                path,
                                data(0),
                                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                CreateMode.PERSISTENT.toFlag());
                Code code = call(connection, ZooDefs.OpCode.create, create);
                require(code == Code.NODEEXISTS ? Code.NODEEXISTS : Code.OK, code);
                created = true;
            }
        }

        /**
         * @throws IllegalStateException if something is missing that was acknowledged
         */
        private void check(RawConnection connection, String address) throws IOException {
            require(
                    Code.OK,
                    call(
                            connection,
                            ZooDefs.OpCode.sync,
                            new SyncRequest(path),
                            new SyncResponse()));
            GetDataResponse read = new GetDataResponse(new byte[0], new Stat());
            Code code =
                    call(connection, ZooDefs.OpCode.getData, new GetDataRequest(path, false), read);
            long value = code == Code.OK ? ByteBuffer.wrap(read.getData()).getLong() : -1;
            if (code == Code.NONODE || (code == Code.OK && (value < acked || value > sent))) {
                throw new IllegalStateException(
                        "%s has %s of %s, where %s was acknowledged and %s sent"
                                .formatted(address, value, path, acked, sent));
            }
            require(Code.OK, code);
            sent = Math.max(sent, value);
        }

        private Code call(RawConnection connection, int type, org.apache.jute.Record body)
                throws IOException {
            return call(connection, type, body, null);
        }

        private Code call(
                RawConnection connection,
                int type,
                org.apache.jute.Record body,
                org.apache.jute.Record response)
                throws IOException {
            xid++;
            connection.send(new RequestHeader(xid, type), body);
            ReplyHeader header = new ReplyHeader();
            connection.answer(header, response);
            if (header.getXid() != xid) {
                throw new IOException("an answer to another request");
            }
            return Code.get(header.getErr());
        }

        private void require(Code wanted, Code code) throws IOException {
            if (code != wanted) {
                throw new IOException("the server answers " + code);
            }
        }

        private byte[] data(long value) {
            return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
        }
    }
}
