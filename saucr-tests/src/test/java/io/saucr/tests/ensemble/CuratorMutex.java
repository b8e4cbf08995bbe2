package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * A mutex. While a client holds it, it reads a number from the ensemble and writes the next one,
 * without checking a version. A lost write or a stale read shows in the final number.
 */
final class CuratorMutex extends CuratorContention {
    private static final String MUTEX = "/locks/mutex";
    private static final String NUMBER = "/locks/number";

    private final AtomicInteger inside = new AtomicInteger();
    private final CuratorFramework reader;

    CuratorMutex(CuratorClients clients) throws Exception {
        super(clients);
        reader = clients.connectOne();
        reader.create().creatingParentsIfNeeded().forPath(NUMBER, CuratorClients.bytes(0));
        start();
    }

    @Override
    Round holder(CuratorFramework client) {
        InterProcessMutex mutex = new InterProcessMutex(client, MUTEX);
        return () -> {
            mutex.acquire();
            enter(inside, 1);
            long number = CuratorClients.number(client.getData().forPath(NUMBER));
            client.setData().forPath(NUMBER, CuratorClients.bytes(number + 1));
            inside.decrementAndGet();
            mutex.release();
        };
    }

    @Override
    public void stop() throws Exception {
        super.stop();
        InterProcessMutex mutex = new InterProcessMutex(reader, MUTEX);
        mutex.acquire();
        assertThat(CuratorClients.number(reader.getData().forPath(NUMBER)))
                .as("under the mutex, one after the other")
                .isEqualTo(taken());
        mutex.release();
    }
}
