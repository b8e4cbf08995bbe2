package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

/**
 * Curator's clients, with sessions that outlast every fault, and the threads that use them. Closing
 * ends all of them. Used by the test's thread.
 */
final class CuratorClients implements AutoCloseable {
    /** How many clients take part in each recipe. */
    static final int COUNT = 3;

    static final int SESSION_MILLIS = 60_000;
    private static final int RETRY_MILLIS = 50;

    private final String connectString;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<CuratorFramework> connected = new ArrayList<>();
    private final AtomicInteger sessionsLost = new AtomicInteger();

    CuratorClients(String connectString) {
        this.connectString = connectString;
    }

    /** A new client that may connect to any server. */
    CuratorFramework connectOne() throws InterruptedException {
        return connectOne(connectString);
    }

    /** New clients that may connect to any server, one for each participant of a recipe. */
    List<CuratorFramework> connect() throws InterruptedException {
        return connect(connectString);
    }

    /** The same, but they connect to these servers only. */
    List<CuratorFramework> connect(String addresses) throws InterruptedException {
        List<CuratorFramework> clients = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            clients.add(connectOne(addresses));
        }
        return clients;
    }

    private CuratorFramework connectOne(String addresses) throws InterruptedException {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(
                        addresses,
                        SESSION_MILLIS,
                        (int) SaucrEnsemble.PATIENCE.toMillis(),
                        new RetryForever(RETRY_MILLIS));
        curator.getConnectionStateListenable()
                .addListener(
                        (client, state) -> {
                            if (state == ConnectionState.LOST) {
                                sessionsLost.incrementAndGet();
                            }
                        });
        connected.add(curator);
        curator.start();
        assertThat(
                        curator.blockUntilConnected(
                                (int) SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return curator;
    }

    int sessionsLost() {
        return sessionsLost.get();
    }

    /** Runs the task in a thread of its own, which is interrupted when the clients are closed. */
    Future<?> start(Callable<?> task) {
        return threads.submit(task);
    }

    static void finish(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) {
            task.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** Fails as soon as one of the tasks has failed. */
    static void requireNoFailure(List<Future<?>> tasks) throws Exception {
        for (Future<?> task : tasks) {
            if (task.isDone()) {
                task.get();
            }
        }
    }

    static byte[] bytes(long value) {
        return Long.toString(value).getBytes(StandardCharsets.US_ASCII);
    }

    static long number(byte[] bytes) {
        return Long.parseLong(new String(bytes, StandardCharsets.US_ASCII));
    }

    @Override
    public void close() {
        threads.shutdownNow();
        connected.forEach(CuratorFramework::close);
    }
}
