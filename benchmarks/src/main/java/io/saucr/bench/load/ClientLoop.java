package io.saucr.bench.load;

import io.saucr.bench.result.LoadResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Clients with one operation under way each: a thread with a session of its own, as a YCSB thread
 * is. Client {@code i} is connected to address {@code i mod k} alone, so that every configuration
 * gets its load in the same way. Used by one thread.
 *
 * <p>Without a rate each continues as fast as it gets answers (closed loop). With a rate,
 * operations are to begin at equal distances whatever happened to those before (open loop):
 * whichever client is free takes the next one, and its latency is counted from when it was to
 * begin, so that time in which no client was free is part of it (no coordinated omission).
 */
public final class ClientLoop {
    private static final long CONNECT_SECONDS = 60;
    private static final long AFTER_ERROR_MILLIS = 20;

    /** How often a sleeping client checks whether the load is over. */
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Load load;

    /** Runs this load; each client gets an operation of its own. */
    public ClientLoop(Load load) {
        this.load = load;
    }

    /** Told when the time that counts begins and ends; called by the thread that called run. */
    public interface Window {
        /** For a load whose numbers are not used. */
        Window NOT_COUNTED =
                new Window() {
                    @Override
                    public void begins() {}

                    @Override
                    public void ends() {}
                };

        void begins();

        void ends();
    }

    /** Runs the load for a time so that the servers' JVMs compile what it needs. */
    public void compile(List<String> addresses, int clients, Duration time)
            throws InterruptedException {
        run(addresses, clients, 0, time, Duration.ofMillis(1), 0, Window.NOT_COUNTED);
    }

    /**
     * Runs the load. Operations that end in the window count for the throughput. In a closed loop
     * the same operations count for the latencies. In an open loop those count that were to begin
     * in the window; one that has not ended by its end counts with the time that it has taken so
     * far.
     *
     * @param addresses connect strings, one or more
     * @param rate operations to begin per second, 0 for a closed loop
     * @param seed of the clients' random choices
     * @throws IllegalStateException if a client cannot connect
     */
    public LoadResult run(
            List<String> addresses,
            int clients,
            double rate,
            Duration warmUp,
            Duration counted,
            long seed,
            Window window)
            throws InterruptedException {
        Phase phase = new Phase(clients, rate);
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
            phase.start();
            TimeUnit.NANOSECONDS.sleep(warmUp.toNanos());
            window.begins();
            long beginMillis = System.currentTimeMillis();
            phase.begin();
            TimeUnit.NANOSECONDS.sleep(counted.toNanos());
            double seconds = phase.end();
            window.ends();
            return collect(threads, phase, beginMillis, seconds);
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

    private static LoadResult collect(
            List<Client> threads, Phase phase, long beginMillis, double seconds)
            throws InterruptedException {
        phase.over = true;
        Histogram all = histogram();
        all.setStartTimeStamp(beginMillis);
        all.setEndTimeStamp(beginMillis + (long) (seconds * 1000));
        long operations = 0;
        long errors = 0;
        String firstError = "";
        for (Client thread : threads) {
            thread.join();
            all.add(thread.latencies);
            operations += thread.operations;
            errors += thread.errors;
            if (firstError.isEmpty()) {
                firstError = thread.firstError;
            }
        }
        phase.countUntaken(all);
        return new LoadResult(operations, errors, firstError, seconds, all);
    }

    private static Histogram histogram() {
        Histogram histogram = new Histogram(3);
        histogram.setAutoResize(true);
        return histogram;
    }

    /** Written by the thread that runs the load, read by its clients. */
    private static final class Phase {
        final CountDownLatch connecting;
        final CountDownLatch started = new CountDownLatch(1);
        volatile boolean over;

        private final double rate;
        private final AtomicLong next = new AtomicLong();
        private long start;
        private volatile long begin = Long.MAX_VALUE;
        private volatile long end = Long.MAX_VALUE;

        Phase(int clients, double rate) {
            connecting = new CountDownLatch(clients);
            this.rate = rate;
        }

        void start() {
            start = System.nanoTime();
            started.countDown();
        }

        void begin() {
            begin = System.nanoTime();
        }

        /** Ends the window; its length in seconds. */
        double end() {
            long now = System.nanoTime();
            end = now;
            return (now - begin) / 1e9;
        }

        boolean open() {
            return rate > 0;
        }

        /** When the next operation is to begin: now, or when its turn is. */
        long takeTurn() {
            return open() ? turn(next.getAndIncrement()) : System.nanoTime();
        }

        private long turn(long operation) {
            return start + (long) (operation * 1e9 / rate);
        }

        boolean inWindow(long nanos) {
            return nanos >= begin && nanos < end;
        }

        /** Microseconds from when the operation was to begin until it, or the window, ended. */
        long micros(long intended, long ended) {
            return (Math.min(ended, end) - intended) / 1000;
        }

        /**
         * Counts the turns that nobody took before the window's end, with the time that they
         * waited.
         */
        void countUntaken(Histogram latencies) {
            if (!open()) {
                return;
            }
            long operation = next.get();
            for (long turn = turn(operation); turn < end; turn = turn(++operation)) {
                if (turn >= begin) {
                    latencies.recordValue(micros(turn, end));
                }
            }
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
        private long operations;
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
                phase.started.await();
                while (!phase.over) {
                    long intended = phase.takeTurn();
                    if (waitUntil(intended)) {
                        operate(session, intended);
                    }
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

        /**
         * Waits until an operation is to begin. False if the load is over before that; if the turn
         * was in the window, it counts with the time that it waited.
         */
        private boolean waitUntil(long intended) {
            long left = intended - System.nanoTime();
            while (left > 0 && !phase.over) {
                LockSupport.parkNanos(Math.min(left, SLEEP_NANOS));
                left = intended - System.nanoTime();
            }
            if (!phase.over) {
                return true;
            }
            if (phase.open() && phase.inWindow(intended)) {
                latencies.recordValue(phase.micros(intended, Long.MAX_VALUE));
            }
            return false;
        }

        private void operate(Load.Session session, long intended) throws InterruptedException {
            try {
                session.operate();
                long ended = System.nanoTime();
                boolean inTime = phase.inWindow(ended);
                if (inTime) {
                    operations++;
                }
                if (phase.open() ? phase.inWindow(intended) : inTime) {
                    latencies.recordValue(phase.micros(intended, ended));
                }
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                errors++;
                firstError = firstError.isEmpty() ? String.valueOf(e.getMessage()) : firstError;
                Thread.sleep(AFTER_ERROR_MILLIS);
            }
        }
    }
}
