package io.saucr.server.metrics;

import io.saucr.server.runtime.FlushCause;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.zookeeper.metrics.Summary;

/**
 * Counts what a server's log does. Thread-safe; never reset, so that rates can be taken from
 * differences. Forces have a count but no summary: ZooKeeper's {@code fsynctime} is one.
 */
public final class LogMetrics {
    private final LongAdder forces = new LongAdder();
    private final LongAdder forceNanos = new LongAdder();
    private final LongAdder flushNanos = new LongAdder();
    private final Map<FlushCause, LongAdder> flushes = new EnumMap<>(FlushCause.class);
    private final RecentEvents recentFlushes = new RecentEvents();
    private final Summary flushTime = Exposition.ofThisProcess().summary(Metric.FLUSH_TIME);

    public LogMetrics() {
        for (FlushCause cause : FlushCause.values()) {
            flushes.put(cause, new LongAdder());
        }
    }

    /** A file of the log was forced. */
    public void forced(long nanos) {
        forces.increment();
        forceNanos.add(nanos);
    }

    /**
     * A flush ended with the latest-on-disk marker (R10, R13).
     *
     * @param reason one sentence
     * @param zxid the last entry that it covered
     */
    public void flushed(FlushCause cause, String reason, long zxid, long nanos) {
        long micros = TimeUnit.NANOSECONDS.toMicros(nanos);
        flushes.get(cause).increment();
        flushNanos.add(nanos);
        flushTime.add(micros);
        if (!cause.routine()) {
            recentFlushes.add(cause.label(), reason, zxid, micros);
        }
    }

    /** How often a file of the log was forced. */
    public long forces() {
        return forces.sum();
    }

    /** Time spent in forces, microseconds. */
    public long forceMicros() {
        return TimeUnit.NANOSECONDS.toMicros(forceNanos.sum());
    }

    /** How often everything was flushed and marked. */
    public long flushes() {
        return flushes.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** The same by cause; every cause has a value. */
    public Map<String, Number> flushesByCause() {
        Map<String, Number> result = new LinkedHashMap<>();
        flushes.forEach((cause, count) -> result.put(cause.label(), count.sum()));
        return result;
    }

    /** Time spent in flushes, microseconds. */
    public long flushMicros() {
        return TimeUnit.NANOSECONDS.toMicros(flushNanos.sum());
    }

    /** The last flushes that were no routine, with their reasons. */
    public RecentEvents recentFlushes() {
        return recentFlushes;
    }
}
