package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/**
 * A mutex. Under it a number in the ensemble is read and written, without a version: what is lost
 * of it, or read too old, shows in the end.
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
