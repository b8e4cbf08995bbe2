package io.saucr.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Clients of a closed loop that run until they are closed, and go on when an operation fails.
 * Thread-safe.
 */
final class RunningClients implements AutoCloseable {
    private static final long AFTER_ERROR_MILLIS = 20;
    private static final long JOIN_MILLIS = 10_000;

    private final LongAdder operations = new LongAdder();
    private final AtomicReference<String> firstError = new AtomicReference<>("");
    private final List<Thread> threads = new ArrayList<>();
    private volatile long lastNanos = System.nanoTime();
    private volatile boolean over;

    private RunningClients() {}

    /**
     * Connects the clients one after the other, and lets them begin.
     *
     * @param addresses connect strings that the clients take turns with
     */
    static RunningClients start(Load load, List<String> addresses, int clients) throws Exception {
        RunningClients running = new RunningClients();
        List<Load.Session> sessions = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            sessions.add(load.open(addresses.get(i % addresses.size()), i));
        }
        for (Load.Session session : sessions) {
            Thread thread = new Thread(() -> running.operate(session), "bench client");
            thread.setDaemon(true);
            running.threads.add(thread);
            thread.start();
        }
        return running;
    }

    private void operate(Load.Session session) {
        try {
            while (!over) {
                try {
                    session.operate();
                    operations.increment();
                    lastNanos = System.nanoTime();
                } catch (InterruptedException e) {
                    throw e;
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

    /** Operations that have succeeded so far. */
    long operations() {
        return operations.sum();
    }

    /** When the last of them was answered, {@link System#nanoTime}. */
    long lastNanos() {
        return lastNanos;
    }

    /** The message of the first failure, empty if there was none. */
    String firstError() {
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
