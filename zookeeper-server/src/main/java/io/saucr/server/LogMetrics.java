package io.saucr.server;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what a server's log does. Thread-safe; never reset, so that rates can be taken from
 * differences.
 */
public final class LogMetrics {
    private final LongAdder forces = new LongAdder();
    private final LongAdder forceNanos = new LongAdder();
    private final LongAdder flushes = new LongAdder();
    private final LongAdder flushNanos = new LongAdder();

    /** A file of the log was forced. */
    public void forced(long nanos) {
        forces.increment();
        forceNanos.add(nanos);
    }

    /** A flush ended with the latest-on-disk marker (R10, R13). */
    public void flushed(long nanos) {
        flushes.increment();
        flushNanos.add(nanos);
    }

    /** How often a file of the log was forced. */
    public long forces() {
        return forces.sum();
    }

    /** Time spent in forces, microseconds. */
    public long forceMicros() {
        return forceNanos.sum() / 1_000;
    }

    /** How often everything was flushed and marked. */
    public long flushes() {
        return flushes.sum();
    }

    /** Time spent in flushes, microseconds. */
    public long flushMicros() {
        return flushNanos.sum() / 1_000;
    }
}
