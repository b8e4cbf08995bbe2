package io.saucr.tests.powercut;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * Clients that count up, each in a znode of its own and with a short pause between two writes, and
 * remember what was acknowledged. A write that was lost shows as a counter below its last
 * acknowledged value. Thread-safe.
 */
final class Counters implements AutoCloseable {
    private static final int VALUE_BYTES = 1024;
    private static final int SESSION_MILLIS = 20_000;

    private final String connectString;
    private final AtomicLongArray acknowledged;
    private final AtomicLong total = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private final int pauseMillis;
    private volatile boolean stopped;
    private volatile boolean paused;

    /**
     * @param pauseMillis of each client between an answer and its next write; 0 for none
     */
    Counters(String connectString, int clients, int pauseMillis) {
        this.connectString = connectString;
        this.pauseMillis = pauseMillis;
        this.acknowledged = new AtomicLongArray(clients);
    }

    void start() {
        for (int client = 0; client < acknowledged.length(); client++) {
            int own = client;
            Thread thread = new Thread(() -> count(own), "counter-" + client);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    /** Acknowledged writes of all clients so far. */
    long total() {
        return total.get();
    }

    /** Holds the clients back, so that the ensemble is quiet; what is under way may still end. */
    void pause(boolean quiet) {
        paused = quiet;
    }

    /** Forgets what was acknowledged, after a loss that an operator has accepted. */
    void forget() {
        for (int client = 0; client < acknowledged.length(); client++) {
            acknowledged.set(client, 0);
        }
    }

    @SuppressWarnings("try") // close() may be interrupted like everything else here
    private void count(int client) {
        String path = "/counter-" + client;
        while (!stopped) {
            try (ZooKeeper zookeeper = connect()) {
                try {
                    zookeeper.create(path, value(0), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                } catch (KeeperException.NodeExistsException e) {
                    // From an earlier session.
                }
                long next = ByteBuffer.wrap(zookeeper.getData(path, false, null)).getLong() + 1;
                while (!stopped) {
                    if (paused) {
                        TimeUnit.MILLISECONDS.sleep(10);
                        continue;
                    }
                    zookeeper.setData(path, value(next), -1);
                    acknowledged.set(client, next);
                    total.incrementAndGet();
                    next++;
                    TimeUnit.MILLISECONDS.sleep(pauseMillis);
                }
            } catch (KeeperException | IOException e) {
                // Connect again: what was not acknowledged does not count.
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private ZooKeeper connect() throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zookeeper =
                new ZooKeeper(
                        connectString,
                        SESSION_MILLIS,
                        event -> {
                            if (event.getState() == KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        if (!connected.await(2, TimeUnit.SECONDS)) {
            zookeeper.close(0);
            throw new IOException("no connection");
        }
        return zookeeper;
    }

    private static byte[] value(long number) {
        return ByteBuffer.allocate(VALUE_BYTES).putLong(number).array();
    }

    /**
     * Reads every counter from a server that is synchronised with the leader.
     *
     * @return one line for each counter that is below what was acknowledged
     */
    @SuppressWarnings("try")
    List<String> missing() throws IOException, InterruptedException, KeeperException {
        List<String> result = new ArrayList<>();
        long[] expected = new long[acknowledged.length()];
        for (int client = 0; client < expected.length; client++) {
            expected[client] = acknowledged.get(client);
        }
        try (ZooKeeper zookeeper = connect()) {
            zookeeper.sync("/");
            for (int client = 0; client < expected.length; client++) {
                long found = 0;
                try {
                    byte[] data = zookeeper.getData("/counter-" + client, false, null);
                    found = ByteBuffer.wrap(data).getLong();
                } catch (KeeperException.NoNodeException e) {
                    found = -1;
                }
                if (found < expected[client]) {
                    result.add(
                            "counter-"
                                    + client
                                    + " is "
                                    + found
                                    + ", acknowledged was "
                                    + expected[client]);
                }
            }
        }
        return result;
    }

    @Override
    public void close() {
        stopped = true;
        threads.forEach(Thread::interrupt);
    }
}
