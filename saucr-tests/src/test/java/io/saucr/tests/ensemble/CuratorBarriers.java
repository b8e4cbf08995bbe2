package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/**
 * A barrier that all clients wait at, and a double barrier that all members but one have entered.
 * Both are in use when the constructor returns. A member of Curator's double barrier gives up when
 * its connection ends. So members are connected to servers that stay up, and the test has no double
 * barrier where the leader dies, which ends every connection.
 */
final class CuratorBarriers {
    private final CuratorClients clients;
    private final CuratorFramework observer;
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

    /**
     * @param everybody waits at the barrier
     * @param members of the double barrier
     */
    CuratorBarriers(
            CuratorClients clients,
            String path,
            List<CuratorFramework> everybody,
            List<CuratorFramework> members)
            throws Exception {
        this.clients = clients;
        this.path = path;
        this.members = members;
        observer = everybody.get(0);
        barrier = new DistributedBarrier(observer, path + "/single");
        barrier.setBarrier();
        for (CuratorFramework client : everybody) {
            // Its server may not have heard of the barrier yet.
            SaucrEnsemble.await(
                    "the barrier", () -> client.checkExists().forPath(path + "/single") != null);
            waiting.add(
                    clients.start(
                            () -> {
                                new DistributedBarrier(client, path + "/single").waitOnBarrier();
                                assertThat(falls).as("the barrier had fallen").isTrue();
                                return null;
                            }));
        }
        for (CuratorFramework member : members) {
            doubles.add(
                    new DistributedDoubleBarrier(member, path + "/double", CuratorClients.COUNT));
        }
        for (int i = 1; i < doubles.size(); i++) {
            entering.add(enter(doubles.get(i)));
        }
        SaucrEnsemble.await("those who wait", () -> waitingMembers() == entering.size());
    }

    private int waitingMembers() throws Exception {
        return observer.checkExists().forPath(path + "/double") == null
                ? 0
                : observer.getChildren().forPath(path + "/double").size();
    }

    private Future<?> enter(DistributedDoubleBarrier member) {
        return clients.start(
                () -> {
                    come.incrementAndGet();
                    member.enter();
                    assertThat(come).as("members that had come").hasValue(CuratorClients.COUNT);
                    return null;
                });
    }

    private Future<?> leave(DistributedDoubleBarrier member) {
        return clients.start(
                () -> {
                    gone.incrementAndGet();
                    member.leave();
                    assertThat(gone).as("members that had gone").hasValue(CuratorClients.COUNT);
                    return null;
                });
    }

    /**
     * Removes the barrier, and the last member enters the double barrier: everybody passes both.
     */
    void fall() throws Exception {
        for (Future<?> task : waiting) {
            assertThat(task).as("before the barrier fell").isNotDone();
        }
        for (Future<?> task : entering) {
            assertThat(task).as("before the last one came").isNotDone();
        }
        falls = true;
        barrier.removeBarrier();
        CuratorClients.finish(waiting);
        if (members.isEmpty()) {
            return;
        }
        entering.add(enter(doubles.get(0)));
        CuratorClients.finish(entering);
        for (int i = 1; i < CuratorClients.COUNT; i++) {
            leaving.add(leave(doubles.get(i)));
        }
    }

    /** The last member leaves the double barrier, so all of them do. */
    void leave() throws Exception {
        if (members.isEmpty()) {
            return;
        }
        for (Future<?> task : leaving) {
            assertThat(task).as("before the last one left").isNotDone();
        }
        leaving.add(leave(doubles.get(0)));
        CuratorClients.finish(leaving);
    }
}
