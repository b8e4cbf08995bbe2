package org.apache.zookeeper.server;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a server takes a snapshot: as often as ZooKeeper's log does, which rolls the log and takes
 * one after {@code snapCount} entries or {@code snapSizeLimitInKb}, a random part less.
 *
 * <p>By the thread that appends.
 */
final class SnapshotSchedule {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSchedule.class);

    private final ZooKeeperServer server;
    private final AtomicBoolean snapshotting = new AtomicBoolean();
    private int atCount;
    private boolean bySize;
    private long atBytes;

    SnapshotSchedule(ZooKeeperServer server) {
        this.server = server;
        choose();
    }

    private void choose() {
        int half = Math.max(1, SyncRequestProcessor.getSnapCount() / 2);
        atCount = half + ThreadLocalRandom.current().nextInt(half);
        // Reads the system's properties, so not for each entry.
        long bytes = ZooKeeperServer.getSnapSizeInBytes();
        bySize = bytes > 0;
        long halfBytes = Math.max(1, bytes / 2);
        atBytes = halfBytes + ThreadLocalRandom.current().nextLong(halfBytes);
    }

    /** Another entry is appended. */
    void snapshotIfDue() throws IOException {
        ZKDatabase database = server.getZKDatabase();
        boolean tooLarge = bySize && database.getTxnSize() > atBytes;
        if (database.getTxnCount() <= atCount && !tooLarge) {
            return;
        }
        choose();
        database.rollLog();
        if (snapshotting.getAndSet(true)) {
            LOG.warn("The last snapshot is still being written, no other one begins");
            return;
        }
        new ZooKeeperThread("Snapshot Thread") {
            @Override
            public void run() {
                try {
                    server.takeSnapshot();
                } catch (Exception e) {
                    LOG.warn("No snapshot could be taken", e);
                } finally {
                    snapshotting.set(false);
                }
            }
        }.start();
    }
}
