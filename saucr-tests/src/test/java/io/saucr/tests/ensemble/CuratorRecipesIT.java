package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.crash.process.LoopbackHosting.Disk;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/**
 * Curator's recipes, which nobody here wrote, keep their promises while servers lose power, die and
 * return, and the ensemble goes from fast mode to slow and back. All recipes are in use all the
 * time. No client's session ends but the one that the test ends: sessions outlast the faults, so no
 * recipe has that excuse.
 */
class CuratorRecipesIT {
    private static final int VOTERS = 3;
    private static final int CLIENTS = 3;
    private static final int SESSION_MILLIS = 60_000;
    private static final int RETRY_MILLIS = 50;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final List<CuratorFramework> candidates = new ArrayList<>();
    private final List<CuratorFramework> connected = new ArrayList<>();
    private final AtomicInteger sessionsLost = new AtomicInteger();

    @Test
    void recipesKeepTheirPromisesWhileServersDieAndReturnAndTheModeChanges() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("curator-recipes", VOTERS)
                                .set("maxSessionTimeout", Integer.toString(SESSION_MILLIS))
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h")
                                .disk(Disk.SHIM_WITH_JOURNAL))) {
            ensemble.awaitFast();
            try {
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(connect(ensemble.connectString()));
                    candidates.add(connect(ensemble.connectString()));
                }
                tell(ensemble);
            } finally {
                threads.shutdownNow();
                connected.forEach(CuratorFramework::close);
            }
        }
    }

    private void tell(SaucrEnsemble ensemble) throws Exception {
        Locks locks = new Locks();
        Latches latches = new Latches();
        try (Caches caches = new Caches()) {
            locks.awaitProgress();
            latches.awaitProgress();

            fault(
                    ensemble,
                    "power cut of a follower",
                    ensemble.followers().get(0),
                    () -> {
                        locks.awaitProgress();
                        latches.awaitProgress();
                        caches.awaitAgreement();
                    });
            latches.endTheLeadersSession();
            fault(
                    ensemble,
                    "power cut of the leader",
                    ensemble.leader(),
                    () -> {
                        locks.awaitProgress();
                        latches.awaitProgress();
                        caches.awaitAgreement();
                    });

            locks.awaitProgress();
            latches.awaitProgress();
            locks.stop();
            latches.stop();
            caches.stop();
            caches.awaitAgreement();
            assertThat(sessionsLost).as("sessions lost").hasValue(1);
            System.out.printf(
                    "Curator's recipes: %d locks, %d terms, %d cached changes%n",
                    locks.taken(), latches.terms(), caches.changes());
        }
        DistributedAtomicLong counter =
                new DistributedAtomicLong(clients.get(0), "/atomic", new RetryNTimes(10, 10));
        for (int i = 0; i < 20; i++) {
            assertThat(counter.increment().succeeded()).isTrue();
        }
        assertThat(counter.get().postValue()).isEqualTo(20);
    }

    /** What is to be done in slow mode, while one server is away. */
    private interface Meanwhile {
        void run() throws Exception;
    }

    /**
     * One server loses power in fast mode; the rest goes on in slow mode; it returns, recovers, and
     * the mode is fast again. Barriers are up before it does, fall while it is away, and the last
     * of those who passed leaves when it is back.
     */
    private void fault(SaucrEnsemble ensemble, String what, int victim, Meanwhile meanwhile)
            throws Exception {
        ensemble.awaitFast();
        List<CuratorFramework> members = new ArrayList<>();
        if (ensemble.leader() != victim) {
            String survivors =
                    ensemble.all().stream()
                            .filter(id -> id != victim)
                            .map(id -> ensemble.server(id).address().client())
                            .collect(Collectors.joining(","));
            for (int i = 0; i < CLIENTS; i++) {
                members.add(connect(survivors));
            }
        }
        Barriers barriers = new Barriers("/barriers/" + victim, members);
        ensemble.awaitMemoryAlone(victim);
        LocalTime cut = SaucrEnsemble.now();
        ensemble.losePower(victim);
        assertThat(ensemble.markers(victim).crashedInFastMode()).as(what).isTrue();
        int leader = ensemble.leader();
        assertThat(leader).as(what).isNotEqualTo(victim);
        ensemble.awaitServing();
        ensemble.awaitSlow(leader);
        barriers.fall();
        meanwhile.run();
        assertThat(ensemble.fast(leader)).as("fast with a bare majority").isFalse();

        ensemble.restart(victim);
        ensemble.awaitServing();
        assertThat(ensemble.log(victim, cut, "Recovered through")).as(what).isNotEmpty();
        assertThat(ensemble.awaitFast()).as(what).isEqualTo(leader);
        barriers.leave();
    }

    private CuratorFramework connect(String addresses) throws InterruptedException {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(
                        addresses,
                        SESSION_MILLIS,
                        (int) SaucrEnsemble.PATIENCE.toMillis(),
                        new RetryForever(RETRY_MILLIS));
        curator.getConnectionStateListenable()
                .addListener(
                        (client, state) -> {
                            if (state == ConnectionState.LOST) {
                                sessionsLost.incrementAndGet();
                            }
                        });
        connected.add(curator);
        curator.start();
        assertThat(
                        curator.blockUntilConnected(
                                (int) SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return curator;
    }

    private static void finish(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) {
            task.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Fails as soon as one of them has failed. */
    private static void requireNoFailure(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) {
            if (task.isDone()) {
                task.get();
            }
        }
    }

    private static byte[] bytes(long value) {
        return Long.toString(value).getBytes(StandardCharsets.US_ASCII);
    }

    private static long number(byte[] bytes) {
        return Long.parseLong(new String(bytes, StandardCharsets.US_ASCII));
    }

    /**
     * Every client takes a mutex, a semaphore of two leases, and a read-write lock for reading and
     * for writing, again and again. How many are inside is counted in this JVM; and under the mutex
     * a number in the ensemble is read and written, without a version: what is lost of it, or read
     * too old, shows in the end.
     */
    private final class Locks {
        private static final int LEASES = 2;

        private final AtomicInteger inMutex = new AtomicInteger();
        private final AtomicInteger inSemaphore = new AtomicInteger();
        private final AtomicInteger reading = new AtomicInteger();
        private final AtomicInteger writing = new AtomicInteger();
        private final List<AtomicInteger> rounds = new ArrayList<>();
        private final List<Future<?>> holders = new ArrayList<>();
        private volatile boolean stopped;

        Locks() throws Exception {
            clients.get(0).create().creatingParentsIfNeeded().forPath("/locks/number", bytes(0));
            for (CuratorFramework client : clients) {
                AtomicInteger done = new AtomicInteger();
                rounds.add(done);
                holders.add(
                        threads.submit(
                                () -> {
                                    hold(client, done);
                                    return null;
                                }));
            }
        }

        private void hold(CuratorFramework client, AtomicInteger done) throws Exception {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/mutex");
            InterProcessSemaphoreV2 semaphore =
                    new InterProcessSemaphoreV2(client, "/locks/semaphore", LEASES);
            InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, "/locks/both");
            while (!stopped) {
                mutex.acquire();
                enter(inMutex, 1);
                long number = number(client.getData().forPath("/locks/number"));
                client.setData().forPath("/locks/number", bytes(number + 1));
                inMutex.decrementAndGet();
                done.incrementAndGet();
                mutex.release();

                Lease lease = semaphore.acquire();
                enter(inSemaphore, LEASES);
                inSemaphore.decrementAndGet();
                semaphore.returnLease(lease);

                both.readLock().acquire();
                reading.incrementAndGet();
                assertThat(writing).as("writers beside a reader").hasValue(0);
                reading.decrementAndGet();
                both.readLock().release();

                both.writeLock().acquire();
                enter(writing, 1);
                assertThat(reading).as("readers beside a writer").hasValue(0);
                writing.decrementAndGet();
                both.writeLock().release();
            }
        }

        private void enter(AtomicInteger inside, int most) {
            assertThat(inside.incrementAndGet()).as("inside at once").isLessThanOrEqualTo(most);
            // Whoever else is let in has the chance to come in now.
            LockSupport.parkNanos(1);
        }

        int taken() {
            return rounds.stream().mapToInt(AtomicInteger::get).sum();
        }

        /** Every client gets every lock twice more, from first to last. */
        void awaitProgress() throws Exception {
            List<Integer> before = rounds.stream().map(AtomicInteger::get).toList();
            SaucrEnsemble.await(
                    "locks",
                    () -> {
                        requireNoFailure(holders);
                        for (int i = 0; i < CLIENTS; i++) {
                            if (rounds.get(i).get() < before.get(i) + 3) {
                                return false;
                            }
                        }
                        return true;
                    });
        }

        void stop() throws Exception {
            stopped = true;
            finish(holders);
            InterProcessMutex mutex = new InterProcessMutex(clients.get(0), "/locks/mutex");
            mutex.acquire();
            assertThat(number(clients.get(0).getData().forPath("/locks/number")))
                    .as("under the mutex, one after the other")
                    .isEqualTo(taken());
            mutex.release();
        }
    }

    /**
     * Every client runs for leader, and who leads writes, in one transaction with a look at the
     * node that makes it leader. So the ensemble itself says, by the order of its transactions, who
     * led when: each leader's writes are together, and never does one write again after another.
     */
    private final class Latches {
        /** A write of a leader. The number is that of the node that it leads by. */
        private record Write(long zxid, long term) {}

        private final List<LeaderLatch> latches = new ArrayList<>();
        private final ConcurrentLinkedQueue<Write> writes = new ConcurrentLinkedQueue<>();
        private final AtomicInteger leading = new AtomicInteger();
        private final List<Future<?>> leaders = new ArrayList<>();
        private volatile boolean stopped;

        Latches() throws Exception {
            candidates.get(0).create().forPath("/led");
            for (int i = 0; i < CLIENTS; i++) {
                CuratorFramework client = candidates.get(i);
                LeaderLatch latch = new LeaderLatch(client, "/latch", "candidate-" + i);
                latches.add(latch);
                latch.start();
                leaders.add(
                        threads.submit(
                                () -> {
                                    lead(client, latch);
                                    return null;
                                }));
            }
        }

        private void lead(CuratorFramework client, LeaderLatch latch) throws Exception {
            while (!stopped) {
                if (!latch.await(RETRY_MILLIS, TimeUnit.MILLISECONDS)) {
                    continue;
                }
                String node = latch.getLastPathIsLeader();
                try {
                    Stat stat =
                            client.transaction()
                                    .forOperations(
                                            client.transactionOp().check().forPath(node),
                                            client.transactionOp().setData().forPath("/led"))
                                    .get(1)
                                    .getResultStat();
                    long term = Long.parseLong(node.substring(node.lastIndexOf('-') + 1));
                    writes.add(new Write(stat.getMzxid(), term));
                    leading.incrementAndGet();
                } catch (KeeperException.NoNodeException e) {
                    // Not leader any more.
                }
            }
        }

        /** Whoever leads does so ten times more. */
        void awaitProgress() {
            int before = leading.get();
            SaucrEnsemble.await(
                    "leaders' writes",
                    () -> {
                        requireNoFailure(leaders);
                        return leading.get() >= before + 10;
                    });
        }

        /** As the ensemble sees the death of a client. Another one leads then. */
        void endTheLeadersSession() throws Exception {
            AtomicInteger first = new AtomicInteger(-1);
            SaucrEnsemble.await(
                    "a leader",
                    () -> {
                        for (int i = 0; i < CLIENTS; i++) {
                            if (latches.get(i).hasLeadership()) {
                                first.set(i);
                                return true;
                            }
                        }
                        return false;
                    });
            CuratorFramework dead = candidates.get(first.get());
            ZooKeeper session = dead.getZookeeperClient().getZooKeeper();
            String addresses = dead.getZookeeperClient().getCurrentConnectionString();
            CompletableFuture<Void> taken = new CompletableFuture<>();
            ZooKeeper heir =
                    new ZooKeeper(
                            addresses,
                            SESSION_MILLIS,
                            event -> taken.complete(null),
                            session.getSessionId(),
                            session.getSessionPasswd());
            taken.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
            heir.close();
            SaucrEnsemble.await(
                    "another leader",
                    () -> {
                        requireNoFailure(leaders);
                        for (int i = 0; i < CLIENTS; i++) {
                            if (i != first.get() && latches.get(i).hasLeadership()) {
                                return true;
                            }
                        }
                        return false;
                    });
        }

        long terms() {
            return writes.stream().mapToLong(Write::term).distinct().count();
        }

        void stop() throws Exception {
            stopped = true;
            finish(leaders);
            TreeMap<Long, Long> byZxid = new TreeMap<>();
            writes.forEach(write -> byZxid.put(write.zxid(), write.term()));
            assertThat(byZxid).hasSize(writes.size());
            assertThat(List.copyOf(byZxid.values()))
                    .as("who led, in the ensemble's order")
                    .isSorted();
            assertThat(terms()).isGreaterThan(1);
            for (LeaderLatch latch : latches) {
                latch.close();
            }
        }
    }

    /**
     * One client changes a tree without pause; caches of another one follow it: one of the whole
     * tree, one of a single node.
     */
    private final class Caches implements AutoCloseable {
        private static final int NODES = 20;

        private final CuratorFramework writer = clients.get(0);
        private final CuratorFramework reader = clients.get(1);
        private final CuratorCache tree = CuratorCache.build(reader, "/cached");
        private final CuratorCache node =
                CuratorCache.build(
                        reader, "/cached/single", CuratorCache.Options.SINGLE_NODE_CACHE);
        private final Map<String, Long> newest = new ConcurrentHashMap<>();
        private final AtomicLong changes = new AtomicLong();
        private final AtomicInteger backwards = new AtomicInteger();
        private final List<Future<?>> changing = new ArrayList<>();
        private final Object writing = new Object();
        private volatile boolean stopped;

        Caches() throws Exception {
            writer.create().creatingParentsIfNeeded().forPath("/cached/single", bytes(0));
            tree.listenable()
                    .addListener(
                            CuratorCacheListener.builder()
                                    .forCreatesAndChanges((before, now) -> follows(now))
                                    .build());
            tree.start();
            node.start();
            changing.add(
                    threads.submit(
                            () -> {
                                change();
                                return null;
                            }));
        }

        private void follows(ChildData now) {
            changes.incrementAndGet();
            long zxid = now.getStat().getMzxid();
            newest.merge(
                    now.getPath(),
                    zxid,
                    (before, after) -> {
                        if (after < before) {
                            backwards.incrementAndGet();
                        }
                        return after;
                    });
        }

        private void change() throws Exception {
            for (long i = 1; !stopped; i++) {
                synchronized (writing) {
                    String path = "/cached/" + i % NODES;
                    if (i % 7 == 0) {
                        writer.delete().quietly().forPath(path);
                    } else {
                        writer.create().orSetData().forPath(path, bytes(i));
                    }
                    writer.setData().forPath("/cached/single", bytes(i));
                }
            }
        }

        long changes() {
            return changes.get();
        }

        /**
         * The caches follow, and then, while nothing changes, they show what the ensemble has, node
         * by node and version by version.
         */
        void awaitAgreement() throws Exception {
            long goal = changes.get() + 2 * NODES;
            SaucrEnsemble.await(
                    "cached changes",
                    () -> {
                        requireNoFailure(changing);
                        return stopped || changes.get() >= goal;
                    });
            synchronized (writing) {
                Map<String, String> there = new TreeMap<>();
                there.put("/cached", "of version 0");
                for (String child : writer.getChildren().forPath("/cached")) {
                    String path = "/cached/" + child;
                    Stat stat = new Stat();
                    byte[] data = writer.getData().storingStatIn(stat).forPath(path);
                    there.put(path, number(data) + " of version " + stat.getVersion());
                }
                assertThat(there).hasSizeGreaterThan(NODES / 2);
                SaucrEnsemble.await("the cache", () -> content(tree).equals(there));
                String single = there.get("/cached/single");
                SaucrEnsemble.await(
                        "the cache of one node",
                        () -> content(node).equals(Map.of("/cached/single", single)));
            }
            assertThat(backwards).as("changes that went back in time").hasValue(0);
        }

        private Map<String, String> content(CuratorCache cache) {
            Map<String, String> found = new TreeMap<>();
            cache.stream()
                    .forEach(
                            data ->
                                    found.put(
                                            data.getPath(),
                                            (data.getPath().equals("/cached")
                                                            ? "of version "
                                                            : number(data.getData())
                                                                    + " of version ")
                                                    + data.getStat().getVersion()));
            return found;
        }

        void stop() throws Exception {
            stopped = true;
            finish(changing);
            assertThat(changes.get()).isGreaterThan(NODES);
        }

        @Override
        public void close() {
            stopped = true;
            tree.close();
            node.close();
        }
    }

    /**
     * A barrier that all clients wait at, and a double barrier that all members but one have come
     * to. They are up when the constructor returns. A member of Curator's double barrier gives up
     * when its connection ends: members are connected to servers that live on, and there are none
     * where the leader dies, which ends every connection.
     */
    private final class Barriers {
        private final String path;
        private final List<CuratorFramework> members;
        private final DistributedBarrier barrier;
        private final List<DistributedDoubleBarrier> doubles = new ArrayList<>();
        private final List<Future<?>> waiting = new ArrayList<>();
        private final List<Future<?>> entering = new ArrayList<>();
        private final List<Future<?>> leaving = new ArrayList<>();
        private final AtomicInteger come = new AtomicInteger();
        private final AtomicInteger gone = new AtomicInteger();
        private volatile boolean falls;

        Barriers(String path, List<CuratorFramework> members) throws Exception {
            this.path = path;
            this.members = members;
            barrier = new DistributedBarrier(clients.get(0), path + "/single");
            barrier.setBarrier();
            for (CuratorFramework client : clients) {
                // Its server may not have heard of the barrier yet.
                SaucrEnsemble.await(
                        "the barrier",
                        () -> client.checkExists().forPath(path + "/single") != null);
                waiting.add(
                        threads.submit(
                                () -> {
                                    new DistributedBarrier(client, path + "/single")
                                            .waitOnBarrier();
                                    assertThat(falls).as("the barrier had fallen").isTrue();
                                    return null;
                                }));
            }
            for (CuratorFramework member : members) {
                doubles.add(new DistributedDoubleBarrier(member, path + "/double", CLIENTS));
            }
            for (int i = 1; i < doubles.size(); i++) {
                entering.add(enter(doubles.get(i)));
            }
            SaucrEnsemble.await("those who wait", () -> waitingMembers() == entering.size());
        }

        private int waitingMembers() throws Exception {
            return clients.get(0).checkExists().forPath(path + "/double") == null
                    ? 0
                    : clients.get(0).getChildren().forPath(path + "/double").size();
        }

        private Future<?> enter(DistributedDoubleBarrier member) {
            return threads.submit(
                    () -> {
                        come.incrementAndGet();
                        member.enter();
                        assertThat(come).as("members that had come").hasValue(CLIENTS);
                        return null;
                    });
        }

        private Future<?> leave(DistributedDoubleBarrier member) {
            return threads.submit(
                    () -> {
                        gone.incrementAndGet();
                        member.leave();
                        assertThat(gone).as("members that had gone").hasValue(CLIENTS);
                        return null;
                    });
        }

        /** The one is removed, the last member comes to the other: everybody passes. */
        void fall() throws Exception {
            for (Future<?> task : waiting) {
                assertThat(task).as("before the barrier fell").isNotDone();
            }
            for (Future<?> task : entering) {
                assertThat(task).as("before the last one came").isNotDone();
            }
            falls = true;
            barrier.removeBarrier();
            finish(waiting);
            if (members.isEmpty()) {
                return;
            }
            entering.add(enter(doubles.get(0)));
            finish(entering);
            for (int i = 1; i < CLIENTS; i++) {
                leaving.add(leave(doubles.get(i)));
            }
        }

        /** The last member leaves: everybody does. */
        void leave() throws Exception {
            if (members.isEmpty()) {
                return;
            }
            for (Future<?> task : leaving) {
                assertThat(task).as("before the last one left").isNotDone();
            }
            leaving.add(leave(doubles.get(0)));
            finish(leaving);
        }
    }
}
