package io.saucr.services.ensemble;

import io.saucr.services.Credentials;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** How a session with the ensemble begins and ends. Any thread. */
public final class Sessions {

    private Sessions() {}

    /**
     * Begins to connect, and does not wait.
     *
     * @throws IOException where that is not possible
     */
    public static ZooKeeper open(
            String connect, Duration timeout, Optional<Credentials> credentials, Watcher watcher)
            throws IOException {
        ZooKeeper opened = new ZooKeeper(connect, Math.toIntExact(timeout.toMillis()), watcher);
        credentials.ifPresent(
                it ->
                        opened.addAuthInfo(
                                it.scheme(), it.secret().getBytes(StandardCharsets.UTF_8)));
        return opened;
    }

    /** Ends it; who is interrupted meanwhile stays so. */
    public static void close(ZooKeeper session) {
        try {
            session.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
