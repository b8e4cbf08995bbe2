package io.saucr.bench.load;

import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Blind updates of nodes chosen at random, all of one size. Immutable. */
public final class UpdateLoad implements Load {
    /** However large the values, all nodes together hold no more than this. */
    private static final int MOST_BYTES = 16 << 20;

    private static final int SESSION_TIMEOUT_MILLIS = 30_000;
    private static final long CONNECT_SECONDS = 50;
    private static final int CREATES_IN_FLIGHT = 100;

    private final String root;
    private final int records;
    private final byte[] value;

    /**
     * @param records nodes; fewer, down to 1, if their values would be too much together
     * @param valueBytes size of each value, 1 to 1,000,000
     */
    public UpdateLoad(int records, int valueBytes) {
        this.root = "/update-" + valueBytes;
        this.records = Math.max(1, Math.min(records, MOST_BYTES / valueBytes));
        this.value = new byte[valueBytes];
        new SplittableRandom(records).nextBytes(value);
    }

    @Override
    public void prepare(String address) throws Exception {
        ZooKeeper client = connect(address);
        try {
            create(client, root);
            Semaphore free = new Semaphore(CREATES_IN_FLIGHT);
            AtomicReference<KeeperException.Code> failure = new AtomicReference<>();
            for (int i = 0; i < records; i++) {
                free.acquire();
                client.create(
                        path(i),
                        value,
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT,
                        (code, path, context, name) -> {
                            KeeperException.Code result = KeeperException.Code.get(code);
                            if (result != KeeperException.Code.OK
                                    && result != KeeperException.Code.NODEEXISTS) {
                                failure.set(result);
                            }
                            free.release();
                        },
                        null);
            }
            free.acquire(CREATES_IN_FLIGHT);
            if (failure.get() != null) {
                throw new IllegalStateException(
                        "the nodes to update cannot be created: " + failure.get());
            }
        } finally {
            client.close();
        }
    }

    /** Creates a node if it is not there. */
    static void ensure(String address, String path) throws Exception {
        ZooKeeper client = connect(address);
        try {
            create(client, path);
        } finally {
            client.close();
        }
    }

    private static void create(ZooKeeper client, String path) throws Exception {
        try {
            client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // From an earlier run against the same ensemble.
        }
    }

    private String path(int record) {
        return root + "/record" + record;
    }

    /**
     * A client that is connected.
     *
     * @throws IllegalStateException if nobody answers
     */
    public static ZooKeeper connect(String address) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client =
                new ZooKeeper(
                        address,
                        SESSION_TIMEOUT_MILLIS,
                        event -> {
                            if (event.getState() == KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        if (!connected.await(CONNECT_SECONDS, TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException("no answer within " + CONNECT_SECONDS + " s");
        }
        return client;
    }

    @Override
    public Session open(String address, long seed) throws Exception {
        ZooKeeper client = connect(address);
        SplittableRandom random = new SplittableRandom(seed);
        return new Session() {
            @Override
            public void operate() throws Exception {
                client.setData(path(random.nextInt(records)), value, -1);
            }

            @Override
            public void close() throws InterruptedException {
                client.close();
            }
        };
    }
}
