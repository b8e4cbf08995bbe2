package io.saucr.tests.ensemble;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.client.ZKClientConfig;

/** Apache's own Java client, connected when {@link #connected} returns. It can reconfigure. */
final class Client extends ZooKeeperAdmin {
    private final String addresses;
    private final int sessionMillis;

    private Client(
            String addresses, int sessionMillis, Watcher watcher, ZKClientConfig configuration)
            throws IOException {
        super(addresses, sessionMillis, watcher, configuration);
        this.addresses = addresses;
        this.sessionMillis = sessionMillis;
    }

    /**
     * @throws IllegalStateException if none of the servers answers in time
     */
    static Client connected(String addresses, int sessionMillis)
            throws IOException, InterruptedException {
        ZKClientConfig withoutLogin = new ZKClientConfig();
        // Tests of the servers' logins set this JVM's login configuration, for a moment.
        withoutLogin.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        return connected(addresses, sessionMillis, withoutLogin);
    }

    /** As {@link #connected(String, int)}, configured. */
    static Client connected(String addresses, int sessionMillis, ZKClientConfig configuration)
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
                        },
                        configuration);
        if (!connected.await(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException("no connection to " + addresses);
        }
        return client;
    }

    /** Another session with the same servers; this one is left as it is. */
    Client again() throws IOException, InterruptedException {
        return connected(addresses, sessionMillis, getClientConfig());
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
