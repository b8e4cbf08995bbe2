package io.saucr.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Clients that write without pause and know what they were promised. Each client has a number of
 * registers (znodes) and at most one write to each in flight, so that what a register may hold is
 * known at every time: it counts up, and the znode's version counts the writes.
 *
 * <p>{@link #start} to {@link #stop} write; {@link #measure} may be called by another thread
 * meanwhile. {@link #missing} is for afterwards.
 */
public final class WriteLoad implements AutoCloseable {
    private static final int SESSION_TIMEOUT_MILLIS = 10_000;
    private static final int VALUE_BYTES = 100;
    private static final long RETRY_MILLIS = 20;
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(2);
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(30);

    private final String connectString;
    private final String root;
    private final int registersPerClient;
    private final List<Client> clients = new ArrayList<>();
    private final Recorder latencyMicros = new Recorder(LONGEST_MICROS, 3);
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder uncertain = new LongAdder();
    private final ScheduledExecutorService retries =
            Executors.newSingleThreadScheduledExecutor(
                    task -> {
                        Thread thread = new Thread(task, "write-retry");
                        thread.setDaemon(true);
                        return thread;
                    });
    private volatile boolean writing;

    /**
     * Connects and creates the registers.
     *
     * @param root path of a znode that does not exist yet; everything is written under it
     * @param clients number of sessions, at least 1
     * @param registersPerClient writes that each session has in flight, at least 1
     */
    public WriteLoad(String connectString, String root, int clients, int registersPerClient)
            throws IOException, InterruptedException, KeeperException {
        this.connectString = connectString;
        this.root = root;
        this.registersPerClient = registersPerClient;
        for (int i = 0; i < clients; i++) {
            this.clients.add(new Client(i));
        }
        ZooKeeper first = this.clients.get(0).session;
        first.create(root, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (Client client : this.clients) {
            for (Register register : client.registers) {
                client.session.create(
                        register.path,
                        value(0),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
            }
        }
    }

    public void start() {
        writing = true;
        for (Client client : clients) {
            for (Register register : client.registers) {
                client.write(register);
            }
        }
    }

    /** Ends writing and waits until every write in flight has an outcome. */
    public void stop(Duration limit) throws InterruptedException {
        writing = false;
        Deadline deadline = Deadline.in(limit);
        for (Client client : clients) {
            for (Register register : client.registers) {
                while (register.isInFlight()) {
                    deadline.requireTimeLeft(
                            () ->
                                    "a write to "
                                            + register.path
                                            + " has no outcome after "
                                            + limit.toSeconds()
                                            + " s");
                    deadline.pause();
                }
            }
        }
    }

    /** Latencies in microseconds of the writes that were acknowledged since the last call. */
    public Histogram measure() {
        return latencyMicros.getIntervalHistogram();
    }

    public long acknowledged() {
        return acknowledged.sum();
    }

    /** Writes whose connection broke before an answer came: they may have been done or not. */
    public long uncertain() {
        return uncertain.sum();
    }

    /**
     * Compares every register, as one server shows it after a sync, with what was acknowledged.
     *
     * @return one line for each register that misses an acknowledged write; empty if all is there
     */
    public List<String> missing(String server)
            throws IOException, InterruptedException, KeeperException {
        List<String> missing = new ArrayList<>();
        ZooKeeper session = connect(server);
        try {
            CountDownLatch synced = new CountDownLatch(1);
            session.sync(root, (code, path, context) -> synced.countDown(), null);
            if (!synced.await(CONNECT_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new EnsembleException(server + " does not answer a sync");
            }
            for (Client client : clients) {
                for (Register register : client.registers) {
                    Stat stat = new Stat();
                    long found =
                            ByteBuffer.wrap(session.getData(register.path, false, stat)).getLong();
                    String fault = register.fault(found, stat.getVersion());
                    if (fault != null) {
                        missing.add(fault);
                    }
                }
            }
        } finally {
            session.close();
        }
        return missing;
    }

    /** Removes what was written. */
    public void remove() throws InterruptedException, KeeperException {
        ZKUtil.deleteRecursive(clients.get(0).session, root);
    }

    @Override
    public void close() {
        writing = false;
        retries.shutdownNow();
        try {
            for (Client client : clients) {
                client.session.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ZooKeeper connect(String servers) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper session =
                new ZooKeeper(
                        servers,
                        SESSION_TIMEOUT_MILLIS,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        if (!connected.await(CONNECT_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            session.close();
            throw new EnsembleException("cannot connect to " + servers);
        }
        return session;
    }

    private static byte[] value(long number) {
        return ByteBuffer.allocate(VALUE_BYTES).putLong(0, number).array();
    }

    /**
     * One znode. Written by one event thread at a time; its lock makes that visible to the others.
     */
    private static final class Register {
        private final String path;
        private long proposed;
        private long lastAcknowledged;
        private long acknowledgedWrites;
        private long uncertainWrites;
        private boolean inFlight;

        Register(String path) {
            this.path = path;
        }

        synchronized long next() {
            inFlight = true;
            return ++proposed;
        }

        synchronized void acknowledge() {
            lastAcknowledged = proposed;
            acknowledgedWrites++;
            inFlight = false;
        }

        synchronized void doubt() {
            uncertainWrites++;
            inFlight = false;
        }

        synchronized boolean isInFlight() {
            return inFlight;
        }

        /** What is wrong with a value and version that were read, or null. */
        synchronized String fault(long found, long version) {
            // Each write adds one to the version: a lost write in the middle shows there.
            boolean enough = found >= lastAcknowledged && version >= acknowledgedWrites;
            boolean invented = found > proposed || version > acknowledgedWrites + uncertainWrites;
            if (enough && !invented) {
                return null;
            }
            return path
                    + " holds "
                    + found
                    + " at version "
                    + version
                    + "; acknowledged were "
                    + lastAcknowledged
                    + " and "
                    + acknowledgedWrites
                    + " writes, "
                    + uncertainWrites
                    + " more may have been done";
        }
    }

    /** One session and its registers. The session is replaced when it expires. */
    private final class Client implements Watcher {
        private final List<Register> registers = new ArrayList<>();
        private volatile ZooKeeper session;

        Client(int number) throws IOException, InterruptedException {
            for (int i = 0; i < registersPerClient; i++) {
                registers.add(new Register(root + "/" + number + "-" + i));
            }
            session = connect(connectString);
            session.register(this);
        }

        void write(Register register) {
            long number = register.next();
            long startNanos = System.nanoTime();
            session.setData(
                    register.path,
                    value(number),
                    -1,
                    (code, path, context, stat) -> {
                        if (code == KeeperException.Code.OK.intValue()) {
                            long micros = (System.nanoTime() - startNanos) / 1000;
                            latencyMicros.recordValue(Math.min(micros, LONGEST_MICROS));
                            register.acknowledge();
                            acknowledged.increment();
                            if (writing) {
                                write(register);
                            }
                        } else {
                            register.doubt();
                            uncertain.increment();
                            retryLater(register);
                        }
                    },
                    null);
        }

        private void retryLater(Register register) {
            if (!writing) {
                return;
            }
            try {
                var unused =
                        retries.schedule(
                                () -> {
                                    if (writing) {
                                        write(register);
                                    }
                                },
                                RETRY_MILLIS,
                                TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                writing = false;
            }
        }

        @Override
        public void process(WatchedEvent event) {
            if (event.getState() == Event.KeeperState.Expired && writing) {
                try {
                    session = new ZooKeeper(connectString, SESSION_TIMEOUT_MILLIS, this);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }
}
