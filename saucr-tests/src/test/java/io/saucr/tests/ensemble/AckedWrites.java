package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Creates nodes below one node, several in flight, and remembers which ones the ensemble has
 * acknowledged. A write whose connection was lost counts as unknown and is not repeated.
 *
 * <p>The writing thread belongs to this object; answers come on the client's event thread.
 */
final class AckedWrites implements AutoCloseable {
    /** So many that the parent's list of children still fits into one packet. */
    private static final int MOST = 60_000;

    /** From here on the writer takes its time, so that it is not done before the test is. */
    private static final int MANY = 40_000;

    private static final long PACE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Client client;
    private final String parent;
    private final int window;
    private final Semaphore inFlight;
    private final Set<String> acked = ConcurrentHashMap.newKeySet();
    private final AtomicLong lastZxid = new AtomicLong();
    private final Thread writer = new Thread(this::write, "writer");
    private volatile boolean stopped;
    private volatile boolean paused;

    /**
     * Starts writing.
     *
     * @param client used by this object alone, and closed with it
     * @param parent a path that does not exist yet
     * @param window how many writes are in flight at most
     */
    AckedWrites(Client client, String parent, int window)
            throws KeeperException, InterruptedException {
        this.client = client;
        this.parent = parent;
        this.window = window;
        this.inFlight = new Semaphore(window);
        client.create(parent, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        writer.setDaemon(true);
        writer.start();
    }

    /**
     * At least so many writes, all of them acknowledged when this returns.
     *
     * @param client is closed
     */
    static AckedWrites written(Client client, String parent, int window, int count)
            throws KeeperException, InterruptedException {
        AckedWrites writes = new AckedWrites(client, parent, window);
        try (writes) {
            writes.awaitMore(count);
            writes.stop();
        }
        return writes;
    }

    private void write() {
        for (int i = 0; i < MOST && !stopped; i++) {
            String name = "n" + Integer.toHexString(i);
            if (i >= MANY) {
                LockSupport.parkNanos(PACE_NANOS);
            }
            while (paused && !stopped) {
                LockSupport.parkNanos(PACE_NANOS);
            }
            inFlight.acquireUninterruptibly();
            client.create(
                    parent + "/" + name,
                    name.getBytes(StandardCharsets.US_ASCII),
                    Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT,
                    (int code, String path, Object context, String created, Stat stat) -> {
                        if (code == Code.OK.intValue()) {
                            lastZxid.accumulateAndGet(stat.getCzxid(), Math::max);
                            acked.add(name);
                        }
                        inFlight.release();
                    },
                    null);
        }
    }

    /** What the nodes are below. */
    String parent() {
        return parent;
    }

    /** How many writes were acknowledged. */
    int count() {
        return acked.size();
    }

    /** The highest zxid that was acknowledged. */
    long lastZxid() {
        return lastZxid.get();
    }

    /** Waits until that many more writes are acknowledged than now. */
    void awaitMore(int more) {
        int goal = count() + more;
        SaucrEnsemble.await(more + " more writes", () -> count() >= goal);
    }

    /** No more writes until {@link #goOn}; those in flight may still be answered. */
    void pause() {
        paused = true;
    }

    /** Ends a pause. */
    void goOn() {
        paused = false;
    }

    /** No more writes; waits for the answers of those in flight. The client stays connected. */
    void stop() throws InterruptedException {
        stopped = true;
        writer.join();
        inFlight.acquire(window);
        inFlight.release(window);
    }

    /** S1: nothing that was acknowledged is missing from what this client's server shows. */
    void assertAllIn(ZooKeeper reader) throws KeeperException, InterruptedException {
        Set<String> expected = new HashSet<>(acked);
        reader.sync(parent, (code, path, context) -> {}, null);
        Set<String> missing = new HashSet<>(expected);
        missing.removeAll(new HashSet<>(reader.getChildren(parent, false)));
        assertThat(missing).as("acknowledged but missing, of %d", expected.size()).isEmpty();
    }

    /** The same of every server. */
    void assertAllOnEachOf(SaucrEnsemble ensemble) throws Exception {
        for (int id : ensemble.all()) {
            try (Client reader = ensemble.connect(id)) {
                assertAllIn(reader);
            }
        }
    }

    @Override
    public void close() {
        stopped = true;
        client.close();
    }
}
