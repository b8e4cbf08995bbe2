package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Every client runs for leader. The leader writes, in a transaction that also checks the node that
 * makes it leader. So the order of the ensemble's transactions says who led when: the writes of one
 * leader are together, and none comes after those of another.
 */
final class CuratorLeaderLatch implements CuratorRecipe {
    /** A write of a leader. The number is that of the node by which it leads. */
    private record Write(long zxid, long term) {}

    private static final int TRY_MILLIS = 50;

    private final List<CuratorFramework> candidates;
    private final List<LeaderLatch> latches = new ArrayList<>();
    private final ConcurrentLinkedQueue<Write> writes = new ConcurrentLinkedQueue<>();
    private final AtomicInteger leading = new AtomicInteger();
    private final List<Future<?>> leaders = new ArrayList<>();
    private volatile boolean stopped;

    CuratorLeaderLatch(CuratorClients clients) throws Exception {
        candidates = clients.connect();
        candidates.get(0).create().forPath("/led");
        for (int i = 0; i < candidates.size(); i++) {
            CuratorFramework client = candidates.get(i);
            LeaderLatch latch = new LeaderLatch(client, "/latch", "candidate-" + i);
            latches.add(latch);
            latch.start();
            leaders.add(
                    clients.start(
                            () -> {
                                lead(client, latch);
                                return null;
                            }));
        }
    }

    private void lead(CuratorFramework client, LeaderLatch latch) throws Exception {
        while (!stopped) {
            if (!latch.await(TRY_MILLIS, TimeUnit.MILLISECONDS)) {
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

    /** Waits until whoever leads has written ten times more. */
    @Override
    public void awaitProgress() {
        int before = leading.get();
        SaucrEnsemble.await(
                "leaders' writes",
                () -> {
                    CuratorClients.requireNoFailure(leaders);
                    return leading.get() >= before + 10;
                });
    }

    /**
     * Ends the session of the leading client, which looks to the ensemble like its death. Another
     * one leads then.
     */
    void endTheLeadersSession() throws Exception {
        AtomicInteger first = new AtomicInteger(-1);
        SaucrEnsemble.await(
                "a leader",
                () -> {
                    for (int i = 0; i < candidates.size(); i++) {
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
                        CuratorClients.SESSION_MILLIS,
                        event -> taken.complete(null),
                        session.getSessionId(),
                        session.getSessionPasswd());
        taken.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        heir.close();
        SaucrEnsemble.await(
                "another leader",
                () -> {
                    CuratorClients.requireNoFailure(leaders);
                    for (int i = 0; i < candidates.size(); i++) {
                        if (i != first.get() && latches.get(i).hasLeadership()) {
                            return true;
                        }
                    }
                    return false;
                });
    }

    private long terms() {
        return writes.stream().mapToLong(Write::term).distinct().count();
    }

    @Override
    public void stop() throws Exception {
        stopped = true;
        CuratorClients.finish(leaders);
        TreeMap<Long, Long> byZxid = new TreeMap<>();
        writes.forEach(write -> byZxid.put(write.zxid(), write.term()));
        assertThat(byZxid).hasSize(writes.size());
        assertThat(List.copyOf(byZxid.values())).as("who led, in the ensemble's order").isSorted();
        assertThat(terms()).isGreaterThan(1);
        for (LeaderLatch latch : latches) {
            latch.close();
        }
    }

    @Override
    public String summary() {
        return terms() + " terms of leaders";
    }
}
