package io.saucr.crash.campaign;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * One client that creates nodes without pause, several at a time, and remembers which of them were
 * acknowledged before {@link #faultBegins}. A write whose acknowledgement was lost is not repeated.
 *
 * <p>The writer is a thread of its own; the lists are guarded by this object's lock, which an
 * acknowledgement and the beginning of a fault both take.
 */
public final class Workload implements AutoCloseable {
    private static final int WINDOW = 16;
    private static final int DATA_BYTES = 100;
    private static final int MOST_WRITES = 3000;
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(6);

    private final ZooKeeper client;
    private final String prefix;
    private final Semaphore window = new Semaphore(WINDOW);
    private final List<String> acknowledged = new ArrayList<>();
    private final Thread writer = new Thread(this::write, "workload");
    private boolean counting = true;
    private volatile boolean stopped;

    /**
     * Starts to write at once.
     *
     * @param prefix of the nodes' paths; a number follows
     */
    public Workload(String connectString, String prefix) throws java.io.IOException {
        this.prefix = prefix;
        client = new ZooKeeper(connectString, (int) SESSION_TIMEOUT.toMillis(), event -> {});
        writer.setDaemon(true);
        writer.start();
    }

    /** What a node of this path must hold. */
    static byte[] data(String path) {
        return Arrays.copyOf(path.getBytes(StandardCharsets.UTF_8), DATA_BYTES);
    }

    private void write() {
        try {
            for (int i = 0; i < MOST_WRITES && !stopped; i++) {
                window.acquire();
                String path = prefix + i;
                client.create(
                        path,
                        data(path),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT,
                        (status, asked, context, name) -> {
                            window.release();
                            if (status == KeeperException.Code.OK.intValue()) {
                                acknowledge(asked);
                            }
                        },
                        null);
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private synchronized void acknowledge(String path) {
        if (counting) {
            acknowledged.add(path);
            notifyAll();
        }
    }

    /**
     * @return whether that many writes were acknowledged in time
     */
    public synchronized boolean await(int count, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (acknowledged.size() < count) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    /** The writes acknowledged so far. */
    public synchronized int count() {
        return acknowledged.size();
    }

    /** Writes no more and waits a while for what is on its way. */
    void stop(Duration timeout) throws InterruptedException {
        stopped = true;
        if (window.tryAcquire(WINDOW, timeout.toMillis(), TimeUnit.MILLISECONDS)) {
            window.release(WINDOW);
        }
    }

    /** Acknowledgements from now on do not count; returns those that do. */
    synchronized List<String> faultBegins() {
        counting = false;
        return List.copyOf(acknowledged);
    }

    /** Leaves the session to expire where no server can end it. */
    @Override
    public void close() {
        stopped = true;
        writer.interrupt();
        Thread closer =
                new Thread(
                        () -> {
                            try {
                                client.close();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "close workload");
        closer.setDaemon(true);
        closer.start();
    }
}
