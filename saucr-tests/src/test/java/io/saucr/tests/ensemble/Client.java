package io.saucr.tests.ensemble;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** Apache's own Java client, connected when {@link #connected} returns. */
final class Client extends ZooKeeper {
    private Client(String addresses, int sessionMillis, Watcher watcher) throws IOException {
        super(addresses, sessionMillis, watcher);
    }

    /**
     * @throws IllegalStateException if none of the servers answers in time
     */
    static Client connected(String addresses, int sessionMillis)
            throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        Client client =
                new Client(
                        addresses,
                        sessionMillis,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        if (!connected.await(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException("no connection to " + addresses);
        }
        return client;
    }

    /** The connection ends without a word, and the session goes on until it expires. */
    void vanish() {
        cnxn.disconnect();
    }

    @Override
    public synchronized void close() {
        try {
            super.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
