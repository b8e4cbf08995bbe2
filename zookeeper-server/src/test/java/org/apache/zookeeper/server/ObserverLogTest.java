package org.apache.zookeeper.server;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An observer's log has everything, in order and in few pieces, and nobody waits for it. */
@Timeout(60)
class ObserverLogTest {
    private final Database database = new Database();
    private final Server server = new Server();
    private final AtomicInteger snapshots = new AtomicInteger();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch diskHangs;
    private ObserverLog log;
    private long next = 1;

    /** What is appended and what is forced. */
    private final class Database extends ZKDatabase {
        private final List<Long> appended = new CopyOnWriteArrayList<>();
        private final List<Integer> forcedAt = new CopyOnWriteArrayList<>();
        private final List<Integer> rolledAt = new CopyOnWriteArrayList<>();
        private volatile boolean refuses;

        Database() {
            super(null);
        }

        @Override
        public boolean append(Request request) {
            appended.add(request.zxid);
            return true;
        }

        @Override
        public int getTxnCount() {
            return appended.size() - (rolledAt.isEmpty() ? 0 : rolledAt.get(rolledAt.size() - 1));
        }

        @Override
        public long getTxnSize() {
            return 0;
        }

        @Override
        public void rollLog() {
            rolledAt.add(appended.size());
        }

        @Override
        public void commit() throws IOException {
            CountDownLatch hangs = diskHangs;
            if (hangs != null) {
                try {
                    hangs.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            if (refuses) {
                throw new IOException("as the test wants");
            }
            forcedAt.add(appended.size());
        }
    }

    private final class Server extends ZooKeeperServer {
        Server() {
            setZKDatabase(database);
        }

        @Override
        public ZooKeeperServerListener getZooKeeperServerListener() {
            return (thread, code) -> failures.add(thread);
        }

        @Override
        public File takeSnapshot() {
            snapshots.incrementAndGet();
            return null;
        }
    }

    @BeforeEach
    void start() {
        log = new ObserverLog(server);
        log.start();
    }

    @AfterEach
    void end() {
        CountDownLatch hangs = diskHangs;
        if (hangs != null) {
            hangs.countDown();
        }
        log.shutdown();
        SyncRequestProcessor.setSnapCount(ZooKeeperServer.getSnapCount());
    }

    private List<Request> entries(int count) {
        List<Request> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            TxnHeader header = new TxnHeader(1, 1, next++, 1, OpCode.setData);
            entries.add(new Request(header, new SetDataTxn("/a", new byte[0], 1), null));
        }
        return entries;
    }

    @Test
    void aBatchIsForcedInOnePiece() {
        log.append(entries(20));
        await().until(() -> !database.forcedAt.isEmpty());
        assertThat(database.forcedAt).containsExactly(20);
    }

    @Test
    void whatComesWhileTheDiskHangsKeepsNobodyAndIsForcedInOnePiece() {
        diskHangs = new CountDownLatch(1);
        log.append(entries(1));
        await().until(() -> database.appended.size() == 1);
        for (int i = 0; i < 100; i++) {
            log.append(entries(3));
        }
        assertThat(database.appended).hasSize(1);
        diskHangs.countDown();
        await().until(() -> database.forcedAt.size() == 2);
        assertThat(database.forcedAt).containsExactly(1, 301);
        assertThat(database.appended).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void theEndOfTheServerWaitsUntilEverythingIsForced() {
        for (int i = 0; i < 10; i++) {
            log.append(entries(2));
        }
        log.shutdown();
        assertThat(database.appended).hasSize(20);
        assertThat(database.forcedAt).endsWith(20);
        log.append(entries(1));
        log.processRequest(entries(1).get(0));
        log.shutdown();
        assertThat(database.appended).as("after the end").hasSize(20);
    }

    @Test
    void entryByEntryIsTheSame() {
        entries(5).forEach(log::processRequest);
        log.shutdown();
        assertThat(database.appended).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(database.forcedAt).endsWith(5);
    }

    @Test
    void snapshotsAreTakenAsOftenAsByZooKeeper() {
        SyncRequestProcessor.setSnapCount(100);
        log.shutdown();
        log = new ObserverLog(server);
        log.start();
        for (int i = 0; i < 10; i++) {
            log.append(entries(100));
        }
        log.shutdown();
        // After half to all of a hundred each.
        assertThat(database.rolledAt).hasSizeBetween(9, 20);
        await().until(() -> snapshots.get() > 0);
        assertThat(failures).isEmpty();
    }

    @Test
    void aFailureOfTheDiskReachesTheListener() {
        database.refuses = true;
        log.append(entries(1));
        await().until(() -> !failures.isEmpty());
        assertThat(failures).containsExactly(log.getName());
    }
}
