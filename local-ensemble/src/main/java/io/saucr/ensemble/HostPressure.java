package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Watches whether this machine has the processors that a measurement needs: what other processes
 * take, what the hypervisor gives to other machines (steal), and how long a thread of this process
 * that should wake up is kept waiting. Where Linux does not say the first two, only the last
 * counts. Thread-safe; {@link #close} ends its thread.
 */
public final class HostPressure implements AutoCloseable {
    private static final long TICK_MILLIS = 20;

    /** A thread that wakes up so late waited for a processor, and not for its timer. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Processes are looked at so often: what one that ends takes after the last look is missed. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final double SHORTEST_SECONDS = 5;

    /** The unit of {@code /proc}. */
    private static final double TICKS_PER_SECOND = 100;

    /**
     * What was seen from one reading to the next.
     *
     * @param seconds between them
     * @param others processors that other processes took, on the average
     * @param stolen processors that other machines took
     * @param longestPause the longest time that a thread was kept waiting
     * @param paused the sum of such times, of those that are long enough to tell
     */
    public record Reading(
            double seconds,
            int processors,
            double others,
            double stolen,
            double longestPause,
            double paused) {
        private static final double MUCH = 0.25;
        private static final double MUCH_STOLEN = 0.05;
        private static final double LONG_SECONDS = 0.3;
        private static final double OFTEN = 0.05;

        /** What stood in the way of a measurement, in a sentence; empty if nothing did. */
        public Optional<String> complaint() {
            List<String> causes = new ArrayList<>();
            if (others >= MUCH * processors) {
                causes.add(
                        "other processes took %s of %d processors"
                                .formatted(number(others), processors));
            }
            if (stolen >= MUCH_STOLEN * processors) {
                causes.add(
                        "other machines on the same host took %s of %d processors"
                                .formatted(number(stolen), processors));
            }
            if (longestPause >= LONG_SECONDS || paused >= OFTEN * seconds) {
                causes.add(
                        "this program was kept waiting for a processor for up to %s s, %s s in all"
                                .formatted(number(longestPause), number(paused)));
            }
            return causes.isEmpty()
                    ? Optional.empty()
                    : Optional.of("The machine stalled: " + String.join("; ", causes) + ".");
        }

        private static String number(double value) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
    }

    private final Path proc;
    private final Supplier<LongStream> ours;
    private final Thread watcher;
    private final Map<Long, Long> lastTicks = new HashMap<>();

    private long startNanos;
    private long[] startTicks;
    private long oursTicks;
    private long longestNanos;
    private long pausedNanos;

    private HostPressure(Path proc, Supplier<LongStream> ours) {
        this.proc = proc;
        this.ours = ours;
        this.watcher = new Thread(this::watch, "host-pressure");
        watcher.setDaemon(true);
        look();
        begin();
    }

    /**
     * @param ours the processes that belong to the measurement, at the time of the call
     */
    public static HostPressure watch(Supplier<LongStream> ours) {
        HostPressure pressure = new HostPressure(Path.of("/proc"), ours);
        pressure.watcher.start();
        return pressure;
    }

    /** This process, and all that it and its children start, belong to the measurement. */
    public static HostPressure watchThisAndItsChildren() {
        return watch(
                () ->
                        LongStream.concat(
                                LongStream.of(ProcessHandle.current().pid()),
                                ProcessHandle.current()
                                        .descendants()
                                        .mapToLong(ProcessHandle::pid)));
    }

    /**
     * Runs measurements of this process and its children, and warns behind them if the machine
     * stalled meanwhile. What took less than a few seconds has measured nothing.
     *
     * @return what they return
     */
    public static int around(IntSupplier measurements, Consumer<String> warning) {
        try (HostPressure pressure = watchThisAndItsChildren()) {
            int status = measurements.getAsInt();
            Reading reading = pressure.read();
            if (reading.seconds() >= SHORTEST_SECONDS) {
                reading.complaint()
                        .ifPresent(
                                stall ->
                                        warning.accept(
                                                stall
                                                        + " The numbers say little about what was"
                                                        + " measured; measure again when the"
                                                        + " machine is quiet."));
            }
            return status;
        }
    }

    /** Without a thread, on another {@code /proc}. */
    static HostPressure of(Path proc, Supplier<LongStream> ours) {
        return new HostPressure(proc, ours);
    }

    /** What was seen since the last call, or since the watch began. */
    public synchronized Reading read() {
        look();
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        long[] now = ticks();
        double all = (now[0] - startTicks[0]) / TICKS_PER_SECOND;
        Reading reading =
                new Reading(
                        seconds,
                        Runtime.getRuntime().availableProcessors(),
                        Math.max(0, all - oursTicks / TICKS_PER_SECOND) / seconds,
                        (now[1] - startTicks[1]) / TICKS_PER_SECOND / seconds,
                        longestNanos / 1e9,
                        pausedNanos / 1e9);
        begin();
        return reading;
    }

    private synchronized void begin() {
        startNanos = System.nanoTime();
        startTicks = ticks();
        oursTicks = 0;
        longestNanos = 0;
        pausedNanos = 0;
    }

    private void watch() {
        long lookNanos = System.nanoTime();
        try {
            while (!Thread.interrupted()) {
                long before = System.nanoTime();
                Thread.sleep(TICK_MILLIS);
                long now = System.nanoTime();
                late(now - before - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
                if (now - lookNanos > LOOK_NANOS) {
                    look();
                    lookNanos = now;
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    synchronized void late(long nanos) {
        if (nanos >= LATE_NANOS) {
            longestNanos = Math.max(longestNanos, nanos);
            pausedNanos += nanos;
        }
    }

    /** Adds what our processes took since the last look. */
    private synchronized void look() {
        Map<Long, Long> ticks = new HashMap<>();
        ours.get()
                .forEach(
                        pid -> {
                            try {
                                String[] fields = ProcStat.fields(proc.resolve(Long.toString(pid)));
                                ticks.put(
                                        pid,
                                        Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
                            } catch (IOException e) {
                                // It has ended.
                            }
                        });
        ticks.forEach((pid, now) -> oursTicks += now - lastTicks.getOrDefault(pid, 0L));
        lastTicks.clear();
        lastTicks.putAll(ticks);
    }

    /** Of all processors: what processes took, and what was stolen. */
    private long[] ticks() {
        try {
            String line = Files.readAllLines(proc.resolve("stat")).get(0);
            long[] columns =
                    Arrays.stream(line.trim().split(" +"))
                            .skip(1)
                            .mapToLong(Long::parseLong)
                            .toArray();
            // user nice system idle iowait irq softirq steal
            return new long[] {
                columns[0] + columns[1] + columns[2] + columns[5] + columns[6], columns[7]
            };
        } catch (IOException | RuntimeException e) {
            return new long[2];
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
