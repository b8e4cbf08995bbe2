package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;

/**
 * Every client takes the same locks, again and again. How many hold a lock at once is counted in
 * this JVM.
 */
abstract class CuratorContention implements CuratorRecipe {
    private final CuratorClients clients;
    private final List<AtomicInteger> rounds = new ArrayList<>();
    private final List<Future<?>> holders = new ArrayList<>();
    private volatile boolean stopped;

    CuratorContention(CuratorClients clients) {
        this.clients = clients;
    }

    /** What one client does with its lock objects. */
    interface Round {
        void run() throws Exception;
    }

    /** Makes the lock objects of one client. */
    abstract Round holder(CuratorFramework client);

    final void start() throws InterruptedException {
        for (CuratorFramework client : clients.connect()) {
            AtomicInteger done = new AtomicInteger();
            rounds.add(done);
            Round round = holder(client);
            holders.add(
                    clients.start(
                            () -> {
                                while (!stopped) {
                                    round.run();
                                    done.incrementAndGet();
                                }
                                return null;
                            }));
        }
    }

    /** Counts one more holder. */
    static void enter(AtomicInteger inside, int most) {
        assertThat(inside.incrementAndGet()).as("inside at once").isLessThanOrEqualTo(most);
        // Gives others, if the lock lets them in, the chance to come in now.
        LockSupport.parkNanos(1);
    }

    final int taken() {
        return rounds.stream().mapToInt(AtomicInteger::get).sum();
    }

    /** Waits until every client has got every lock twice more, from first to last. */
    @Override
    public void awaitProgress() throws Exception {
        List<Integer> before = rounds.stream().map(AtomicInteger::get).toList();
        SaucrEnsemble.await(
                getClass().getSimpleName(),
                () -> {
                    CuratorClients.requireNoFailure(holders);
                    for (int i = 0; i < rounds.size(); i++) {
                        if (rounds.get(i).get() < before.get(i) + 3) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    @Override
    public void stop() throws Exception {
        stopped = true;
        CuratorClients.finish(holders);
    }

    @Override
    public String summary() {
        return getClass().getSimpleName() + " taken " + taken() + " times";
    }
}
