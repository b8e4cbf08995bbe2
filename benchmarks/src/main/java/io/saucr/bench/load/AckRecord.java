package io.saucr.bench.load;

/**
 * What all clients of an ensemble saw acknowledged, and the longest time in which none of them saw
 * anything; in {@link System#nanoTime}. Thread-safe.
 */
public final class AckRecord {
    /**
     * What happened between two instants.
     *
     * @param seconds its length, greater than 0
     * @param longestPause seconds, greater than 0; one that had begun before counts from its
     *     beginning, one that had not ended counts as far as it had gone
     */
    public record Window(double seconds, long operations, double longestPause) {
        /** Without any operation, the value is that of a single one at the window's end. */
        public double secondsPerThousand() {
            return seconds * 1000 / Math.max(1, operations);
        }
    }

    private long operations;
    private long lastNanos;
    private long longestNanos;
    private long beginNanos;
    private long operationsBefore;

    /**
     * @param now from which the first pause counts
     */
    AckRecord(long now) {
        lastNanos = now;
        beginNanos = now;
    }

    /**
     * An operation was acknowledged.
     *
     * @param now may be earlier than that of another client that came first
     */
    synchronized void acknowledged(long now) {
        operations++;
        longestNanos = Math.max(longestNanos, now - lastNanos);
        lastNanos = Math.max(lastNanos, now);
    }

    /** A new window, in place of the one before. */
    public synchronized void begin(long now) {
        beginNanos = now;
        operationsBefore = operations;
        longestNanos = 0;
    }

    /** What happened in the window so far. */
    public synchronized Window window(long now) {
        long pause = Math.max(longestNanos, now - lastNanos);
        return new Window(
                Math.max(1, now - beginNanos) / 1e9,
                operations - operationsBefore,
                Math.max(1, pause) / 1e9);
    }

    /** Since the beginning, all windows. */
    synchronized long operations() {
        return operations;
    }

    /** When the last was acknowledged. */
    synchronized long lastNanos() {
        return lastNanos;
    }
}
