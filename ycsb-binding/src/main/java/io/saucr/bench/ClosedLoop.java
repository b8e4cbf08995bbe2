package io.saucr.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Clients that go on as fast as they get answers: each a thread with a session of its own that has
 * one operation under way, as a YCSB thread does. Client {@code i} is connected to address {@code i
 * mod k} alone, so that every configuration gets its load in the same way. Used by one thread.
 */
final class ClosedLoop {
    private static final long CONNECT_SECONDS = 60;
    private static final long AFTER_ERROR_MILLIS = 20;

    private final Load load;

    ClosedLoop(Load load) {
        this.load = load;
    }

    /** Told when the time that counts begins and ends; called by the thread that called run. */
    interface Window {
        void begins();

        void ends();
    }

    /**
     * Runs the load. Operations that began in the warm-up and end in the window count for the
     * throughput and the latencies alike.
     *
     * @param addresses connect strings, one or more
     * @param seed of the clients' random choices
     * @throws IllegalStateException if a client cannot connect
     */
    LoadResult run(
            List<String> addresses,
            int clients,
            Duration warmUp,
            Duration counted,
            long seed,
            Window window)
            throws InterruptedException {
        Phase phase = new Phase(clients);
        List<Client> threads = new ArrayList<>();
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int i = 0; i < clients; i++) {
            Client client =
                    new Client(addresses.get(i % addresses.size()), seeds.nextLong(), phase);
            threads.add(client);
            client.start();
        }
        try {
            boolean inTime = phase.connecting.await(CONNECT_SECONDS, TimeUnit.SECONDS);
            requireConnected(threads, inTime);
            TimeUnit.NANOSECONDS.sleep(warmUp.toNanos());
            window.begins();
            long begin = System.nanoTime();
            phase.counting = true;
            TimeUnit.NANOSECONDS.sleep(counted.toNanos());
            phase.counting = false;
            double seconds = (System.nanoTime() - begin) / 1e9;
            window.ends();
            return collect(threads, phase, seconds);
        } finally {
            phase.over = true;
        }
    }

    private static void requireConnected(List<Client> threads, boolean inTime) {
        for (Client thread : threads) {
            if (!inTime || thread.refused != null) {
                throw new IllegalStateException(
                        "a client could not connect to "
                                + thread.address
                                + (thread.refused == null
                                        ? " within " + CONNECT_SECONDS + " s"
                                        : ": " + thread.refused.getMessage()),
                        thread.refused);
            }
        }
    }

    private static LoadResult collect(List<Client> threads, Phase phase, double seconds)
            throws InterruptedException {
        phase.over = true;
        Histogram all = histogram();
        long errors = 0;
        String firstError = "";
        for (Client thread : threads) {
            thread.join();
            all.add(thread.latencies);
            errors += thread.errors;
            if (firstError.isEmpty()) {
                firstError = thread.firstError;
            }
        }
        return new LoadResult(all.getTotalCount(), errors, firstError, seconds, all);
    }

    private static Histogram histogram() {
        Histogram histogram = new Histogram(3);
        histogram.setAutoResize(true);
        return histogram;
    }

    /** Written by the thread that runs the load, read by its clients. */
    private static final class Phase {
        final CountDownLatch connecting;
        volatile boolean counting;
        volatile boolean over;

        Phase(int clients) {
            connecting = new CountDownLatch(clients);
        }
    }

    private final class Client extends Thread {
        private final String address;
        private final long seed;
        private final Phase phase;

        // Read by others after the latch.
        private Exception refused;

        // Read by others after the thread has ended.
        private final Histogram latencies = histogram();
        private long errors;
        private String firstError = "";

        Client(String address, long seed, Phase phase) {
            super("bench client");
            this.address = address;
            this.seed = seed;
            this.phase = phase;
            setDaemon(true);
        }

        @Override
        public void run() {
            Load.Session session = open();
            phase.connecting.countDown();
            if (session == null) {
                return;
            }
            try {
                while (!phase.over) {
                    operate(session);
                }
                session.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private Load.Session open() {
            try {
                return load.open(address, seed);
            } catch (Exception e) {
                refused = e;
                return null;
            }
        }

        private void operate(Load.Session session) throws InterruptedException {
            long start = System.nanoTime();
            try {
                session.operate();
                if (phase.counting) {
                    latencies.recordValue((System.nanoTime() - start) / 1000);
                }
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                errors++;
                firstError = firstError.isEmpty() ? e.getMessage() : firstError;
                Thread.sleep(AFTER_ERROR_MILLIS);
            }
        }
    }
}
