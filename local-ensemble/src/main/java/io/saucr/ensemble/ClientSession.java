package io.saucr.ensemble;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** A session of ZooKeeper's client, ten seconds long, that is connected when it is handed out. */
public final class ClientSession extends ZooKeeper {
    private static final int SESSION_TIMEOUT_MILLIS = 10_000;

    private ClientSession(String servers, Watcher watcher, ZKClientConfig configuration)
            throws IOException {
        super(servers, SESSION_TIMEOUT_MILLIS, watcher, configuration);
    }

    /**
     * @param servers host and port of one or more, separated by commas
     * @throws EnsembleException if none of them answers in time
     */
    public static ClientSession connected(String servers, Duration limit)
            throws IOException, InterruptedException {
        return connected(servers, limit, new ZKClientConfig());
    }

    /** The same without TLS, also in a process whose clients use it. */
    static ClientSession connectedWithoutTls(String servers, Duration limit)
            throws IOException, InterruptedException {
        ZKClientConfig plain = new ZKClientConfig();
        plain.setProperty(ZKClientConfig.SECURE_CLIENT, "false");
        return connected(servers, limit, plain);
    }

    private static ClientSession connected(
            String servers, Duration limit, ZKClientConfig configuration)
            throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ClientSession session =
                new ClientSession(
                        servers,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        },
                        configuration);
        if (!connected.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            session.close();
            throw new EnsembleException("cannot connect to " + servers);
        }
        return session;
    }

    /** Ends the session. If this is interrupted, the thread is so afterwards. */
    @Override
    public synchronized void close() {
        try {
            super.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
