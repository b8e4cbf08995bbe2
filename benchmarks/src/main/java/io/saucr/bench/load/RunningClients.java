package io.saucr.bench.load;

import io.saucr.ensemble.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.zookeeper.KeeperException;

/**
 * Clients of a closed loop that run until they are closed, and continue when an operation fails,
 * with a new session if theirs has expired. Thread-safe.
 */
public final class RunningClients implements AutoCloseable {
    private static final long AFTER_ERROR_MILLIS = 20;
    private static final long JOIN_MILLIS = 10_000;

    private static final long POLL_MILLIS = 5;

    private final Load load;
    private final List<String> addresses;
    private final AckRecord acks = new AckRecord(System.nanoTime());
    private final Recorder latencies = new Recorder(3);
    private final AtomicLongArray operationsByClient;
    private final AtomicReference<String> firstError = new AtomicReference<>("");
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean over;

    private RunningClients(Load load, List<String> addresses, int clients) {
        this.load = load;
        this.addresses = List.copyOf(addresses);
        this.operationsByClient = new AtomicLongArray(clients);
    }

    /**
     * Connects the clients one after the other, and lets them begin.
     *
     * @param addresses connect strings that the clients take turns with
     */
    public static RunningClients start(Load load, List<String> addresses, int clients)
            throws Exception {
        RunningClients running = new RunningClients(load, addresses, clients);
        List<Load.Session> sessions = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            sessions.add(running.open(i));
        }
        for (int i = 0; i < clients; i++) {
            int client = i;
            Thread thread =
                    new Thread(() -> running.operate(client, sessions.get(client)), "bench client");
            thread.setDaemon(true);
            running.threads.add(thread);
            thread.start();
        }
        return running;
    }

    private Load.Session open(int client) throws Exception {
        return load.open(addresses.get(client % addresses.size()), client);
    }

    private void operate(int client, Load.Session first) {
        Load.Session session = first;
        try {
            while (!over) {
                try {
                    long begun = System.nanoTime();
                    session.operate();
                    long ended = System.nanoTime();
                    operationsByClient.incrementAndGet(client);
                    acks.acknowledged(ended);
                    latencies.recordValue((ended - begun) / 1000);
                } catch (InterruptedException e) {
                    throw e;
                } catch (KeeperException.SessionExpiredException e) {
                    firstError.compareAndSet("", e.getMessage());
                    session = renewed(client, session);
                } catch (Exception e) {
                    firstError.compareAndSet("", String.valueOf(e.getMessage()));
                    Thread.sleep(AFTER_ERROR_MILLIS);
                }
            }
            session.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A new session; if no server gives one now, the expired one, so that the next try repeats it.
     */
    private Load.Session renewed(int client, Load.Session expired) throws InterruptedException {
        try {
            Load.Session fresh = open(client);
            expired.close();
            return fresh;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            Thread.sleep(AFTER_ERROR_MILLIS);
            return expired;
        }
    }

    /**
     * Waits until each client has seen another operation succeed.
     *
     * @throws IllegalStateException if that does not happen in time
     */
    public void awaitEach(Duration patience) throws InterruptedException {
        Deadline deadline = Deadline.in(patience);
        for (int i = 0; i < operationsByClient.length(); i++) {
            int client = i;
            long before = operationsByClient.get(client);
            Deadline.await(
                    deadline.left(),
                    POLL_MILLIS,
                    () -> operationsByClient.get(client) != before,
                    () ->
                            "a client of %s is not served any more; %s"
                                    .formatted(
                                            addresses.get(client % addresses.size()),
                                            firstError()));
        }
    }

    /** What they see, in windows that the caller begins. */
    public AckRecord acks() {
        return acks;
    }

    /** Microseconds of the operations that have succeeded since this was last asked. */
    public Histogram latencies() {
        return latencies.getIntervalHistogram();
    }

    /** Operations that have succeeded so far. */
    public long operations() {
        return acks.operations();
    }

    /** When the last of them was answered, {@link System#nanoTime}. */
    public long lastNanos() {
        return acks.lastNanos();
    }

    /** The message of the first failure, empty if there was none. */
    public String firstError() {
        return firstError.get();
    }

    @Override
    public void close() {
        over = true;
        for (Thread thread : threads) {
            try {
                thread.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            thread.interrupt();
        }
    }
}
