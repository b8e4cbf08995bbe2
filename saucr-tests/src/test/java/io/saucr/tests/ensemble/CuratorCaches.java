package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.zookeeper.data.Stat;

/**
 * One client changes a tree all the time; caches of another client follow it, one of the whole tree
 * and one of a single node.
 */
final class CuratorCaches implements CuratorRecipe {
    private static final int NODES = 20;

    private final CuratorFramework writer;
    private final CuratorCache tree;
    private final CuratorCache node;
    private final Map<String, Long> newest = new ConcurrentHashMap<>();
    private final AtomicLong changes = new AtomicLong();
    private final AtomicInteger backwards = new AtomicInteger();
    private final List<Future<?>> changing = new ArrayList<>();
    private final Object writing = new Object();
    private volatile boolean stopped;

    CuratorCaches(CuratorClients clients) throws Exception {
        writer = clients.connectOne();
        CuratorFramework reader = clients.connectOne();
        tree = CuratorCache.build(reader, "/cached");
        node = CuratorCache.build(reader, "/cached/single", CuratorCache.Options.SINGLE_NODE_CACHE);
        writer.create()
                .creatingParentsIfNeeded()
                .forPath("/cached/single", CuratorClients.bytes(0));
        tree.listenable()
                .addListener(
                        CuratorCacheListener.builder()
                                .forCreatesAndChanges((before, now) -> follows(now))
                                .build());
        tree.start();
        node.start();
        changing.add(
                clients.start(
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
                    writer.create().orSetData().forPath(path, CuratorClients.bytes(i));
                }
                writer.setData().forPath("/cached/single", CuratorClients.bytes(i));
            }
        }
    }

    @Override
    public String summary() {
        return changes + " cached changes";
    }

    /**
     * Waits until the caches have followed. Then the changes stop, and the caches must show what
     * the ensemble has, node by node and version by version.
     */
    @Override
    public void awaitProgress() throws Exception {
        long goal = changes.get() + 2 * NODES;
        SaucrEnsemble.await(
                "cached changes",
                () -> {
                    CuratorClients.requireNoFailure(changing);
                    return stopped || changes.get() >= goal;
                });
        synchronized (writing) {
            Map<String, String> there = new TreeMap<>();
            there.put("/cached", "of version 0");
            for (String child : writer.getChildren().forPath("/cached")) {
                String path = "/cached/" + child;
                Stat stat = new Stat();
                byte[] data = writer.getData().storingStatIn(stat).forPath(path);
                there.put(path, CuratorClients.number(data) + " of version " + stat.getVersion());
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
                                                        : CuratorClients.number(data.getData())
                                                                + " of version ")
                                                + data.getStat().getVersion()));
        return found;
    }

    /** Waits until the caches show the last change, too. */
    @Override
    public void stop() throws Exception {
        stopped = true;
        CuratorClients.finish(changing);
        awaitProgress();
        assertThat(changes.get()).isGreaterThan(NODES);
    }

    @Override
    public void close() {
        stopped = true;
        tree.close();
        node.close();
    }
}
