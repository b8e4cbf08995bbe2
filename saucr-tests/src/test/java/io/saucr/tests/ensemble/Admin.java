package io.saucr.tests.ensemble;

import java.io.IOException;
import org.apache.zookeeper.admin.ZooKeeperAdmin;

/** Apache's own client for reconfigurations, connected when {@link #connected} returns. */
final class Admin extends ZooKeeperAdmin {
    private Admin(String addresses) throws IOException {
        super(addresses, (int) SaucrEnsemble.PATIENCE.toMillis(), event -> {});
    }

    static Admin connected(String addresses) throws IOException {
        Admin admin = new Admin(addresses);
        SaucrEnsemble.await("a connection to " + addresses, () -> admin.getState().isConnected());
        return admin;
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
