package io.saucr.tests.ensemble;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** A semaphore with fewer leases than clients. */
final class CuratorSemaphore extends CuratorContention {
    private static final int LEASES = 2;

    private final AtomicInteger inside = new AtomicInteger();

    CuratorSemaphore(CuratorClients clients) throws Exception {
        super(clients);
        start();
    }

    @Override
    Round holder(CuratorFramework client) {
        InterProcessSemaphoreV2 semaphore =
                new InterProcessSemaphoreV2(client, "/locks/semaphore", LEASES);
        return () -> {
            Lease lease = semaphore.acquire();
            enter(inside, LEASES);
            inside.decrementAndGet();
            semaphore.returnLease(lease);
        };
    }
}
