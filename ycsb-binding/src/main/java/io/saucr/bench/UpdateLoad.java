package io.saucr.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Clients that update nodes as fast as they get answers: each a thread with a session of its own
 * that has one operation under way, as a YCSB thread does. Client {@code i} is connected to address
 * {@code i mod k} alone, so that every configuration gets its load in the same way. Used by one
 * thread.
 */
final class UpdateLoad {
    private static final String ROOT = "/saucr-bench";
    private static final int SESSION_TIMEOUT_MILLIS = 30_000;
    private static final long CONNECT_SECONDS = 60;
    private static final int LOADS_IN_FLIGHT = 100;
    private static final long AFTER_ERROR_MILLIS = 20;

    private final int records;
    private final byte[] value;

    UpdateLoad(int records, int valueBytes) {
        this.records = records;
        this.value = new byte[valueBytes];
        new SplittableRandom(records).nextBytes(value);
    }

    /** Told when the time that counts begins and ends; called by the thread that called run. */
    interface Window {
        void begins();

        void ends();
    }

    /**
     * Creates the nodes that will be updated.
     *
     * @throws IllegalStateException if one cannot be created
     */
    void prepare(String address) throws Exception {
        ZooKeeper client = connect(List.of(address)).get(0);
        try {
            create(client, ROOT, new byte[0]);
            Semaphore free = new Semaphore(LOADS_IN_FLIGHT);
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
            free.acquire(LOADS_IN_FLIGHT);
            if (failure.get() != null) {
                throw new IllegalStateException(
                        "the nodes to update cannot be created: " + failure.get());
            }
        } finally {
            client.close();
        }
    }

    private static void create(ZooKeeper client, String path, byte[] data) throws Exception {
        try {
            client.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // From an earlier run against the same ensemble.
        }
    }

    private static String path(int record) {
        return ROOT + "/record" + record;
    }

    /**
     * Runs the load. Operations that began in the warm-up and end in the window count for the
     * throughput and the latencies alike.
     *
     * @param addresses connect strings, one or more
     * @param seed of the choice of nodes
     */
    LoadResult run(
            List<String> addresses,
            int clients,
            Duration warmUp,
            Duration counted,
            long seed,
            Window window)
            throws Exception {
        List<String> each = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            each.add(addresses.get(i % addresses.size()));
        }
        List<ZooKeeper> sessions = connect(each);
        Phase phase = new Phase();
        List<Client> threads = new ArrayList<>();
        SplittableRandom seeds = new SplittableRandom(seed);
        for (ZooKeeper session : sessions) {
            Client client = new Client(session, seeds.split(), phase);
            threads.add(client);
            client.start();
        }
        try {
            TimeUnit.NANOSECONDS.sleep(warmUp.toNanos());
            window.begins();
            long begin = System.nanoTime();
            phase.counting = true;
            TimeUnit.NANOSECONDS.sleep(counted.toNanos());
            phase.counting = false;
            double seconds = (System.nanoTime() - begin) / 1e9;
            window.ends();
            phase.over = true;
            return collect(threads, seconds);
        } finally {
            phase.over = true;
            close(sessions);
        }
    }

    private static LoadResult collect(List<Client> threads, double seconds)
            throws InterruptedException {
        Histogram all = histogram();
        long errors = 0;
        String firstError = "";
        for (Client thread : threads) {
            thread.join();
            all.add(thread.latencies);
            errors += thread.errors;
            if (firstError.isEmpty()) {
                firstError = thread.firstError;
            }
        }
        return new LoadResult(all.getTotalCount(), errors, firstError, seconds, all);
    }

    private static Histogram histogram() {
        Histogram histogram = new Histogram(3);
        histogram.setAutoResize(true);
        return histogram;
    }

    private static List<ZooKeeper> connect(List<String> addresses) throws Exception {
        List<ZooKeeper> sessions = new ArrayList<>();
        CountDownLatch missing = new CountDownLatch(addresses.size());
        for (String address : addresses) {
            CountDownLatch own = new CountDownLatch(1);
            sessions.add(
                    new ZooKeeper(
                            address,
                            SESSION_TIMEOUT_MILLIS,
                            event -> {
                                if (event.getState() == KeeperState.SyncConnected
                                        && own.getCount() == 1) {
                                    own.countDown();
                                    missing.countDown();
                                }
                            }));
        }
        if (!missing.await(CONNECT_SECONDS, TimeUnit.SECONDS)) {
            long unconnected = missing.getCount();
            close(sessions);
            throw new IllegalStateException(
                    unconnected
                            + " of "
                            + addresses.size()
                            + " clients could not connect within "
                            + CONNECT_SECONDS
                            + " s to "
                            + addresses.stream().distinct().toList());
        }
        return sessions;
    }

    /** Ends the sessions side by side: one after the other, each would wait for its own force. */
    private static void close(List<ZooKeeper> sessions) throws InterruptedException {
        List<Thread> closers = new ArrayList<>();
        for (ZooKeeper session : sessions) {
            Thread closer =
                    new Thread(
                            () -> {
                                try {
                                    session.close();
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                }
                            },
                            "close session");
            closers.add(closer);
            closer.start();
        }
        for (Thread closer : closers) {
            closer.join();
        }
    }

    /** Written by the thread that runs the load, read by its clients. */
    private static final class Phase {
        volatile boolean counting;
        volatile boolean over;
    }

    private final class Client extends Thread {
        private final ZooKeeper session;
        private final SplittableRandom random;
        private final Phase phase;

        // Read by others after the thread has ended.
        private final Histogram latencies = histogram();
        private long errors;
        private String firstError = "";

        Client(ZooKeeper session, SplittableRandom random, Phase phase) {
            super("bench client");
            this.session = session;
            this.random = random;
            this.phase = phase;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!phase.over) {
                String path = path(random.nextInt(records));
                long start = System.nanoTime();
                try {
                    session.setData(path, value, -1);
                    if (phase.counting) {
                        latencies.recordValue((System.nanoTime() - start) / 1000);
                    }
                } catch (KeeperException e) {
                    errors++;
                    firstError = firstError.isEmpty() ? e.getMessage() : firstError;
                    pause();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private void pause() {
            try {
                Thread.sleep(AFTER_ERROR_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
