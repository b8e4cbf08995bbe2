package io.saucr.ensemble;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A point in time after which waiting is an error. Immutable; the clock is monotonic. */
public final class Deadline {
    private static final long SHORTEST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 100_000_000;

    private final long startNanos;
    private final long endNanos;

    private Deadline(long startNanos, long endNanos) {
        this.startNanos = startNanos;
        this.endNanos = endNanos;
    }

    public static Deadline in(Duration time) {
        long now = System.nanoTime();
        return new Deadline(now, now + time.toNanos());
    }

    public boolean hasPassed() {
        return System.nanoTime() - endNanos > 0;
    }

    /** The time that is left, at least 0. */
    public Duration left() {
        return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
    }

    /**
     * @throws EnsembleException with the message, if the time has passed
     */
    public void requireTimeLeft(Supplier<String> message) {
        if (hasPassed()) {
            throw new EnsembleException(message.get());
        }
    }

    /** What is waited for. */
    @FunctionalInterface
    public interface Condition<E extends Exception> {
        boolean holds() throws E;
    }

    /**
     * Waits until something holds.
     *
     * @param pollMillis between two looks
     * @throws EnsembleException with the message, if it does not in time
     */
    public static <E extends Exception> void await(
            Duration patience, long pollMillis, Condition<E> condition, Supplier<String> otherwise)
            throws E, InterruptedException {
        Deadline deadline = in(patience);
        while (!condition.holds()) {
            deadline.requireTimeLeft(otherwise);
            TimeUnit.MILLISECONDS.sleep(pollMillis);
        }
    }

    /** Waits for a moment between two looks at a condition, {@link #pauseAfter}. */
    public void pause() {
        try {
            TimeUnit.NANOSECONDS.sleep(
                    pauseAfter(Duration.ofNanos(System.nanoTime() - startNanos)).toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted", e);
        }
    }

    /**
     * How long to wait between two looks at a condition that has been waited for so long: a tenth
     * of that, 20 to 100 ms. A look costs the servers more than what they do meanwhile.
     */
    public static Duration pauseAfter(Duration waited) {
        long tenth = waited.toNanos() / 10;
        return Duration.ofNanos(
                Math.max(SHORTEST_PAUSE_NANOS, Math.min(LONGEST_PAUSE_NANOS, tenth)));
    }
}
