package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** A lock that each client takes for reading and then for writing: writers are alone. */
final class CuratorReadWriteLock extends CuratorContention {
    private final AtomicInteger reading = new AtomicInteger();
    private final AtomicInteger writing = new AtomicInteger();

    CuratorReadWriteLock(CuratorClients clients) throws Exception {
        super(clients);
        start();
    }

    @Override
    Round holder(CuratorFramework client) {
        InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, "/locks/both");
        return () -> {
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
        };
    }
}
