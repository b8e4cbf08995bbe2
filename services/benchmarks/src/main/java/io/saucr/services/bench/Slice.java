package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.bench.result.ProcessUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * One contender in a JVM of its own, for one slice of one round: it warms up, makes turns for a
 * while with a thread for each pair, and prints one line of JSON, a {@link Result}. The counters
 * are read back at the end: a contender that lost a turn fails.
 */
final class Slice {

    /** Longest latency that is told apart. */
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);

    private static final double LEAST_CPU_SECONDS = 0.01;

    /** What a turn may take at most; a peer that takes longer is stuck. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** A line that says that the warm-up is over; the slice continues once it gets one. */
    static final String WARM = "warm";

    private Slice() {}

    /** Waits until what the disk is to be like has been set. */
    private interface Pause {
        void await() throws IOException;
    }

    /**
     * What one slice showed.
     *
     * @param allTurns that were made, those of the warm-up included
     * @param turns that count
     * @param seconds that they took
     * @param meanMicros of a turn, as its pair saw it
     * @param p50Micros half of the turns took no longer
     * @param p99Micros 99 of 100 turns took no longer
     * @param cpuSeconds of this process and those that it started
     */
    record Result(
            long allTurns,
            long turns,
            double seconds,
            double meanMicros,
            double p50Micros,
            double p99Micros,
            double cpuSeconds) {

        double turnsPerSecond() {
            return turns / seconds;
        }

        /** At least the unit in which the time is counted: less than that is not zero. */
        double cpuMicrosPerTurn() {
            return Math.max(cpuSeconds, LEAST_CPU_SECONDS) * 1e6 / turns;
        }
    }

    /** Arguments: contender, pairs, warm-up and length in milliseconds, folder. */
    @SuppressWarnings("CatchAndPrintStackTrace") // Who started this process reads it.
    public static void main(String[] arguments) {
        // A peer's processes must not stay, whatever happened to it.
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () ->
                                        ProcessHandle.current()
                                                .descendants()
                                                .forEach(ProcessHandle::destroyForcibly)));
        try {
            Result result =
                    run(
                            Contender.of(arguments[0]),
                            Integer.parseInt(arguments[1]),
                            Duration.ofMillis(Long.parseLong(arguments[2])),
                            Duration.ofMillis(Long.parseLong(arguments[3])),
                            Path.of(arguments[4]),
                            () -> {
                                System.out.println(WARM);
                                if (System.in.read() < 0) {
                                    throw new IOException("nobody waits for this slice");
                                }
                            });
            System.out.println(new ObjectMapper().writeValueAsString(result));
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
        // A peer's threads must not keep the process.
        System.exit(0);
    }

    private static Result run(
            Contender contender,
            int pairs,
            Duration warmUp,
            Duration length,
            Path folder,
            Pause pause)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(pairs);
        try (Contestant contestant = contender.open(folder, pairs)) {
            long[] counters = new long[pairs];
            turns(contestant, counters, warmUp, PATIENCE, threads);
            pause.await();
            for (int pair = 0; pair < pairs; pair++) {
                counters[pair] = contestant.reached(pair, counters[pair]);
            }
            double cpuBefore = cpuSeconds();
            long before = System.nanoTime();
            Histogram latencies = turns(contestant, counters, length, PATIENCE, threads);
            double seconds = (System.nanoTime() - before) / 1e9;
            double cpu = cpuSeconds() - cpuBefore;
            contestant.stop();
            long allTurns = 0;
            for (int pair = 0; pair < pairs; pair++) {
                long counter = contestant.counter(pair);
                allTurns += counter;
                if (contestant.goesOn() ? counter < counters[pair] : counter != counters[pair]) {
                    throw new IllegalStateException(
                            contender
                                    + ": pair "
                                    + pair
                                    + " counted to "
                                    + counters[pair]
                                    + " and kept "
                                    + counter);
                }
            }
            return new Result(
                    allTurns,
                    latencies.getTotalCount(),
                    seconds,
                    latencies.getMean() / 1000,
                    latencies.getValueAtPercentile(50) / 1000.0,
                    latencies.getValueAtPercentile(99) / 1000.0,
                    cpu);
        } finally {
            threads.shutdownNow();
        }
    }

    /**
     * Lets all pairs count for a while.
     *
     * @param counters of the pairs; left where they are then
     * @param length after it no turn begins, but for the first of a pair
     * @param patience how long the last turns may take beyond that
     * @throws IOException if one took longer
     */
    static Histogram turns(
            Contestant contestant,
            long[] counters,
            Duration length,
            Duration patience,
            ExecutorService threads)
            throws Exception {
        long end = System.nanoTime() + length.toNanos();
        List<Future<Histogram>> running = new ArrayList<>();
        for (int pair = 0; pair < counters.length; pair++) {
            int each = pair;
            running.add(threads.submit(() -> turns(contestant, each, counters, end)));
        }
        Histogram all = new Histogram(LONGEST_NANOS, 3);
        long late = end + patience.toNanos();
        for (int pair = 0; pair < counters.length; pair++) {
            try {
                all.add(running.get(pair).get(late - System.nanoTime(), TimeUnit.NANOSECONDS));
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            } catch (TimeoutException e) {
                throw new IOException(
                        "pair " + pair + ": a turn was not done after " + patience, e);
            }
        }
        return all;
    }

    private static Histogram turns(Contestant contestant, int pair, long[] counters, long end)
            throws Exception {
        Histogram latencies = new Histogram(LONGEST_NANOS, 3);
        long n = counters[pair];
        long now = System.nanoTime();
        // At least one, however late this thread begins.
        do {
            contestant.turn(pair, ++n);
            long then = System.nanoTime();
            latencies.recordValue(Math.min(then - now, LONGEST_NANOS));
            now = then;
        } while (now < end);
        counters[pair] = n;
        return latencies;
    }

    private static double cpuSeconds() {
        double seconds = ProcessUsage.of(ProcessHandle.current().pid()).cpuSeconds();
        for (ProcessHandle child : ProcessHandle.current().descendants().toList()) {
            if (child.isAlive()) {
                seconds += ProcessUsage.of(child.pid()).cpuSeconds();
            }
        }
        return seconds;
    }
}
