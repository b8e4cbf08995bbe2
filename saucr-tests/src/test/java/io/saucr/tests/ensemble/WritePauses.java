package io.saucr.tests.ensemble;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;

/**
 * Clients that write one after the other's answer, and the longest time without an answer: of each
 * of them, and of all together. Closing it ends them.
 */
final class WritePauses implements AutoCloseable {
    private final List<Thread> writers = new ArrayList<>();
    private volatile boolean stopped;

    // Guarded by this.
    private final long[] last;
    private final long[] longest;
    private long lastOfAll = System.nanoTime();
    private long longestOfAll;

    WritePauses(SaucrEnsemble ensemble, int clients) throws Exception {
        last = new long[clients];
        longest = new long[clients];
        for (int i = 0; i < clients; i++) {
            int number = i;
            Client client = ensemble.connect();
            String path = "/pauses-" + System.nanoTime();
            client.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            Thread writer = new Thread(() -> write(client, path, number), "writer " + i);
            writer.start();
            writers.add(writer);
        }
    }

    private void write(Client client, String path, int number) {
        try (client) {
            while (!stopped) {
                try {
                    client.setData(path, new byte[0], -1);
                    answered(number);
                } catch (KeeperException.ConnectionLossException e) {
                    Thread.sleep(1);
                }
            }
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private synchronized void answered(int number) {
        long now = System.nanoTime();
        longestOfAll = Math.max(longestOfAll, now - lastOfAll);
        lastOfAll = now;
        longest[number] = last[number] == 0 ? 0 : Math.max(longest[number], now - last[number]);
        last[number] = now;
        notifyAll();
    }

    /** Begins to measure anew. */
    synchronized void begin() {
        longestOfAll = 0;
        Arrays.fill(longest, 0);
    }

    /** Waits until each client has had an answer after this call. */
    synchronized void awaitEach() throws InterruptedException {
        long now = System.nanoTime();
        while (Arrays.stream(last).anyMatch(each -> each < now)) {
            wait();
        }
    }

    /** Milliseconds in which no client had an answer. */
    synchronized double ofAll() {
        return longestOfAll / 1e6;
    }

    /** Milliseconds in which one of the clients had no answer, of each. */
    synchronized List<Double> ofEach() {
        return Arrays.stream(longest).mapToObj(each -> each / 1e6).toList();
    }

    @Override
    public void close() {
        stopped = true;
        for (Thread each : writers) {
            try {
                each.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
